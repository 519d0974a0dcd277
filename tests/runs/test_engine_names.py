"""Engines by name: what a user may type, and what an engine in a file of their own needs."""

import subprocess
import sys
import textwrap

import pytest

import quickstudy as qs
from quickstudy.base.errors import UsageError
from quickstudy.runs.engines import choose_engine
from quickstudy.runs.engines.messages import Bundle
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.run_spec import Setting

COUNTING = '''
from dataclasses import dataclass
from typing import ClassVar

from quickstudy.base.registries import engine
from quickstudy.base.parameters import parameter
from quickstudy.runs.engines.messages import Bundle
from quickstudy.runs.engines.serial import SerialEngine


@engine("counting", version=1)
@dataclass(frozen=True)
class Counting:
    """Runs every bundle as it comes back from JSON, and counts them."""

    address: str = parameter("")
    workers: int | None = parameter(None, at_least=1)
    here: ClassVar[bool] = False
    bundles: ClassVar[list] = []

    def planned_workers(self):
        return self.workers or 1

    def open(self):
        made = SerialEngine()
        submit = made.submit

        def count(bundle):
            self.bundles.append((self.address, bundle.setting.learner))
            submit(Bundle.from_json(bundle.as_json()))

        made.submit = count
        return made
'''


def test_engines_are_chosen_by_name_or_by_the_number_of_workers():
    assert choose_engine(0).id == "serial"
    assert (choose_engine(3).id, choose_engine(3).planned_workers()) == ("process", 3)
    assert choose_engine(engine="process?workers=2") == choose_engine(2, "process")
    assert choose_engine(0, "serial") == choose_engine(engine="serial")


@pytest.mark.parametrize(
    ("engine", "workers", "message"),
    [
        ("proces", None, 'no engine "proces"; did you mean "process"'),
        ("serial", 4, "engine serial has no workers; leave out workers=4"),
        ("process", 0, "workers must be at least 1, got 0"),
        ("process?workers=2", 3, "give the number of workers once"),
        ("process?workers=two", None, 'workers must be a whole number or none, got "two"'),
        ("process?cores=2", None, 'no parameter "cores"'),
        ("process?workers", None, "must be parameter=value"),
        ("serial://here", None, 'no parameter "address"'),
        (None, -1, "whole number from 0"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(engine, workers, message):
    with pytest.raises(UsageError) as caught:
        ExecuteOptions(engine=engine, workers=workers)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_names_an_unknown_engine_before_anything_is_run(tmp_path):
    command = ["run", "language/qa", "--learner", "majority", "--engine", "dsk://here"]
    done = subprocess.run(
        [sys.executable, "-m", "quickstudy", *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith('no engine "dsk"')
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_bundle_is_the_same_after_a_journey_as_json():
    settings = tuple(
        Setting("language/qa", name, "published", 7, {"sequences": 20}) for name in ("esn", "gru")
    )
    bundle = Bundle(
        settings[0], (0, 3), ("a", "b"), "/out", 2, ("/a.py",), limit_seconds=1.5, beside=settings
    )
    assert Bundle.from_json(bundle.as_json()) == bundle


def test_an_engine_in_a_file_of_ones_own_gives_the_same_numbers(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(COUNTING))
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
        import quickstudy as qs
        from quickstudy.base.registries import engine
        qs.include("mine.py")
        given = dict(seeds=2, protocol={"sequences": 20}, controls=False)
        mine = qs.run("language/qa", ["majority", "uniform"], out="a", engine="counting://there",
                      **given)
        print(sorted(engine.get("counting").bundles))
        ours = qs.run("language/qa", ["majority", "uniform"], out="b", engine="serial", **given)
        scores = [{r.key: r.scores for r in one.records} for one in (mine, ours)]
        print(len(scores[0]), scores[0] == scores[1])
        """)
    )
    done = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert done.stdout.splitlines() == [
        "[('there', 'majority'), ('there', 'uniform')]",
        "4 True",
    ], done.stderr


def test_the_command_line_knows_an_engine_of_an_included_file(tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(COUNTING))
    words = ["run", "language/qa", "-l", "majority", "--seeds", "1", "--set", "sequences=20"]
    words += ["--no-controls", "--include", "mine.py", "--engine", "counting://there", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "quickstudy", *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "results" / "report.html").is_file()


def test_what_is_defined_here_runs_on_no_other_machine():
    class Learner:
        def __init__(self, brief, seed):
            pass

        def learn(self, inputs, targets):
            pass

        def predict(self, inputs):
            return [[1.0, 0.0]] * len(inputs)

    class Elsewhere:
        id, here = "elsewhere", False

        def planned_workers(self):
            return 1

    with pytest.raises(UsageError, match="put it into a file, or leave out the engine"):
        qs.run("language/qa", Learner, engine=Elsewhere())
