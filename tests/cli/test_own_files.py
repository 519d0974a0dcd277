"""Messages about files of a user's own, and about what cannot be: one line, what is wrong and what
to do.
"""

from __future__ import annotations

import pytest

import quickstudy as qs
from quickstudy.api.run import _by_family
from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault, UsageError, nearest
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.host import Hosted
from quickstudy.learners.host_values import checked_rows
from quickstudy.learners.learner_spec import choose_learner, learner_names
from quickstudy.testing.check import check_name

TASK = '''
from dataclasses import dataclass
import numpy as np
import quickstudy as qs
from quickstudy.base.parameters import parameter


@qs.task("language/own-file-{number}", version=1, controls=("uniform",))
@dataclass(frozen=True)
class Own:
    """Say the last symbol again."""

    size: int = parameter(3, at_least=2)
    vocabulary = ("a", "b", "c")
    oracle = None

    def sample(self, rng, count):
        if self.size != 3:
            raise ValueError(f"size is {{self.size}}")
        symbols = rng.integers(3, size=(6, count))
        asked = np.ones((6, count), bool)
        return qs.Examples(symbols, symbols, asked, np.full(count, 6))
'''


def in_file(tmp_path, text, name="mine.py"):
    file = tmp_path / name
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "class M:\n    def fit(self): pass\n    def predict(self, x): pass\n",
            "the class has no learn, it has fit, predict",
        ),
        (
            "class M:\n    def __init__(self): pass\n    learn = predict = print\n",
            r"made by M\(brief, seed\), and this one takes \(\)",
        ),
        (
            (
                "class M:\n    def __init__(self, brief, seed, width): pass\n    learn = predict ="
                " print\n"
            ),
            "parameter width has no default; type mine.py:M:width=...",
        ),
        (
            (
                "import quickstudy as qs\n@qs.control('mine-oracle', version=1, role='oracle')\n"
                "class M:\n    def __init__(self, task, brief, seed): pass\n    learn = predict ="
                " print\n"
            ),
            "made for a task, as its oracle; name it by its id: mine-oracle --include mine.py",
        ),
    ],
)
def test_what_a_class_lacks_is_said_with_and_without_its_name(tmp_path, text, message):
    file = in_file(tmp_path, text)
    for typed in (f"{file}", f"{file}:M"):
        with pytest.raises(UsageError, match=message):
            choose_learner(typed, "corrected")


def test_a_module_of_torch_is_to_be_wrapped(tmp_path):
    pytest.importorskip("torch")
    file = in_file(
        tmp_path, "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x): return x\n"
    )
    with pytest.raises(UsageError, match=r"wrap it: class Model\(SequenceModel\)"):
        choose_learner(str(file), "corrected")


def test_names_are_compared_without_case_and_nothing_far_is_offered():
    with pytest.raises(UsageError, match='no learner "LSTM"; did you mean "lstm"'):
        choose_learner("LSTM", "corrected")
    assert (
        nearest("zzzzqqqq", learner_names())
        == f"none of the {len(learner_names())} known names is near"
    )


def test_a_family_that_does_not_exist_is_answered_by_those_that_do():
    with pytest.raises(UsageError, match='no task "nothing/x"; families are continual, curriculum'):
        registries.typed_task("nothing/x")


def test_none_is_named():
    with pytest.raises(LearnerFault, match="predict returned None"):
        checked_rows(None, 3, Tokens(2), "order")
    with pytest.raises(LearnerFault, match="returned None; what is called with"):
        Hosted(lambda brief, seed: None).begin(
            Brief(Tokens(2), Tokens(2), "cross-entropy", 1, 1), [Streams(0, "x", 0)]
        )


def test_parameters_of_one_family_alone():
    tasks = ["language/periodic", "dynamics/narma-10"]
    assert _by_family(tasks, {"language.sequences": 200, "dynamics.window": 20}) == {
        "language": {"sequences": 200},
        "dynamics": {"window": 20},
    }
    assert _by_family(tasks[:1], {"sequences": 200}) == {"language": {"sequences": 200}}
    with pytest.raises(UsageError, match='no task of the family "games" is run'):
        _by_family(tasks, {"games.episodes": 3})
    with pytest.raises(UsageError, match="protocol must be a mapping"):
        qs.run(tasks, "esn", protocol="sequences=20")


def test_workers_are_a_number():
    with pytest.raises(
        UsageError,
        match="workers must be a whole number from 0, or None for one per core, got 'all'",
    ):
        qs.run("language/periodic", "esn", workers="all")


def test_parameters_of_a_task_in_a_file_count(tmp_path):
    file = in_file(tmp_path, TASK.format(number=1), "own_task_1.py")
    assert registries.typed_task(f"{file}:Own:size=4").size == 4
    assert any("size is 4" in str(finding) for finding in check_name(f"{file}:Own:size=4"))
    assert not any("size is" in str(finding) for finding in check_name(f"{file}:Own"))


def test_a_task_alone_in_a_file_need_not_be_named(tmp_path):
    file = in_file(tmp_path, TASK.format(number=7), "alone.py")
    assert registries.typed_task(str(file)).id == "language/own-file-7"
    two = in_file(
        tmp_path,
        TASK.format(number=8) + TASK.format(number=9).replace("class Own", "class Other"),
        "two.py",
    )
    with pytest.raises(UsageError, match=r"which task of .*two.py\?; known: Own, Other"):
        registries.typed_task(str(two))


def test_a_parameter_of_one_family_is_refused_with_how_to_set_it():
    from quickstudy.api.options import RunOptions
    from quickstudy.api.run import plan_runs
    from quickstudy.runs.merge import Reading

    with pytest.raises(
        UsageError, match=r"dynamics: no parameter \"sequences\".*FAMILY.sequences sets it in one"
    ):
        plan_runs(
            ["language/periodic", "dynamics/narma-10"],
            ["esn"],
            RunOptions(seeds=1, protocol={"sequences": 9}),
            reading=Reading(),
        )
