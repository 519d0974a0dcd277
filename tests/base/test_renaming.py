"""What is renamed keeps its runs: old names may be typed, keys stay, and rows do not split."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import textwrap
from dataclasses import dataclass

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import changed_parameters, configure, parameter, parameters_of
from quickstudy.base.registry import Registry

COMPONENTS = """
from dataclasses import dataclass
import numpy as np
import quickstudy as qs
from quickstudy.base.measure import Score


@qs.learner("{learner}", version=1{was_learner})
class Constant:
    def __init__(self, brief, seed, {parameter}=0):
        self.outputs, self.answer = brief.outputs.size, {parameter}

    def learn(self, inputs, targets): ...

    def predict(self, inputs):
        return np.eye(self.outputs)[np.full(len(inputs), self.answer)]


@qs.core("{core}", version=1{was_core})
@dataclass(frozen=True)
class Core:
    {field}: int = qs.parameter(20, at_least=1{was_field})
    frozen = True

    def build(self, inputs, rng):
        from quickstudy.base import registries

        return registries.core.get("esn")(units=self.{field}).build(inputs, rng)


@qs.measure("{measure}", version=1{was_measure}, kinds=("learning-curve",), chance="none",
            equation="x / 2", scores=(
                Score("{score}", unit="share", better="higher", range=(0, 1){was_score}),
            ))
def half(trace, convention):
    return {{"{score}": float(trace.arrays["accuracy"][-1]) / 2}}
"""
OLD = {
    "learner": "steady",
    "was_learner": "",
    "core": "pool",
    "was_core": "",
    "field": "nodes",
    "was_field": "",
    "score": "halved",
    "was_score": "",
    "parameter": "answer",
    "measure": "half",
    "was_measure": "",
}
NEW = {
    **OLD,
    "learner": "constant",
    "was_learner": ', alias="steady"',
    "core": "reservoir",
    "was_core": ', alias="pool"',
    "field": "units",
    "was_field": ', alias="nodes"',
    "score": "half-accuracy",
    "was_score": ', alias="halved"',
    "measure": "halves",
    "was_measure": ', alias="half"',
}


def write(folder: pathlib.Path, names: dict[str, str]) -> None:
    (folder / "mine.py").write_text(COMPONENTS.format(**names))


def python(folder: pathlib.Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# In the installed file code is part of no identity; here it would be, and every edit is another
# component. The test is about names, so what an edit does to the code is put aside.
PROLOGUE = """
    import json
    import quickstudy as qs
    from quickstudy.learners import learner_spec
    from quickstudy.runs import run_spec, scoring
    for module in (learner_spec, run_spec, scoring):
        module.code_of = lambda *components: {}
    qs.include("mine.py")
    few = {"sequences": 20}
    def run(learners, seeds, measure="half"):
        return qs.run("language/periodic:longest=2", learners, seeds=seeds, protocol=few,
                      controls=False, measures=[measure], workers=0, out="out")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs under the old names, then two repetitions more under the new ones."""
    place = tmp_path_factory.mktemp("renamed")
    write(place, OLD)
    python(place, PROLOGUE + '    run(["steady", "pool:nodes=8"], 2)\n')
    write(place, NEW)
    said = python(
        place,
        PROLOGUE
        + """
    typed_old = run(["steady", "pool:nodes=8"], 2).execution
    found = [typed_old.ok, typed_old.found]
    results = run(["constant", "reservoir:units=8"], 3)
    found.append([results.execution.ok, results.execution.found])
    found.append(sorted({one.labels["learner"] for one in results.records}))
    found.append([sorted(one.scores["halves"]["values"]) for one in results.records])
    from quickstudy.runs.grouping import task_groups
    rows = [[learner.title, len(learner.records)]
            for table in task_groups(results.records) for learner in table.learners]
    found.append(rows)
    print(json.dumps(found))
    """,
    )
    return place, json.loads(said)


def test_old_commands_find_old_runs(folder):
    assert folder[1][:2] == [0, {"ok": 4}]


def test_new_commands_extend_them(folder):
    assert folder[1][2] == [2, {"ok": 4}]


def test_records_have_the_present_names(folder):
    assert folder[1][3] == ["constant", "reservoir:units=8"]
    assert folder[1][4] == [["half-accuracy"]] * 6


def test_rows_do_not_split(folder):
    assert folder[1][5] == [["constant", 3], ["reservoir:units=8", 3]]


def test_two_names_for_one_parameter_are_refused():
    @dataclass(frozen=True)
    class Component:
        units: int = parameter(20, alias="nodes")

    assert configure("x", Component, {"nodes": "7"}).units == 7
    assert parameters_of(configure("x", Component, {"units": "7"})) == {"nodes": 7}
    assert changed_parameters(configure("x", Component, {"nodes": "7"})) == {"units": 7}
    with pytest.raises(UsageError, match="nodes is the earlier name of units; give one of them"):
        configure("x", Component, {"nodes": "7", "units": "7"})


def test_an_alias_that_is_the_name_of_another_is_refused():
    kind = Registry("thing", lambda: iter(()))
    kind("old", version=1)(type("Old", (), {}))
    with pytest.raises(UsageError, match='its alias "old" is the name of another one'):
        kind("new", version=1, alias="old")(type("New", (), {}))


def test_an_alias_is_read_from_the_text(tmp_path):
    path = tmp_path / "room.py"
    path.write_text('@thing("new", version=2, alias="old")\nclass A:\n    """What it is."""\n')
    kind = Registry("thing", lambda: iter([("room", path)]))
    assert (kind.names(), "old" in kind, kind.find("old").id) == (["new"], True, "new")
    assert kind.find("old@2").summary == "What it is."


def test_the_earlier_name_of_a_verb_works_and_is_not_in_the_help():
    said = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; source = sys.modules\n"
            "import quickstudy.cli, importlib.util as u\n"
            "spec = u.find_spec('quickstudy.cli.main')\n"
            "text = open(spec.origin).read().replace('RENAMED: dict[str, str] = {}',"
            " \"RENAMED = {'list': 'ls'}\")\n"
            "room = {'__name__': 'quickstudy.cli.main'}\n"
            "exec(compile(text, spec.origin, 'exec'), room)\n"
            "for arguments in (['list', 'studies', '--json'], ['--help']):\n"
            "    try: room['main'](arguments)\n"
            "    except SystemExit as ended: print('status', ended.code)\n",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    listing, shown = said.split("status 0", 1)
    assert "wade-table4" in listing
    assert "\n  ls " in shown
    assert "\n  list " not in shown
