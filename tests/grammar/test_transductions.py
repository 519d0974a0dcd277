"""Functions of strings: worked examples, draws that check out, rules, and whole runs of which the
outcome is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.study import find_study
from quickstudy.base.trace import Trace
from quickstudy.learners.learner_spec import bring_all
from quickstudy.measures.grammar import length_generalisation
from quickstudy.protocols.transduction import TransductionProtocol
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting
from quickstudy.tasks.grammar.transductions import BLANK, FUNCTIONS
from quickstudy.testing import check_learner, check_task
from quickstudy.testing.learners import LEARNS_NOTHING

WORKED = {
    "even-pairs": ("0 0 1 1 1 0", "0"),
    "modular-arithmetic": ("1 - 2 * 3 + 4", "4"),
    "parity-check": ("1 0 1 1", "1"),
    "cycle-navigation": ("right left stay left left", "3"),
    "stack-manipulation": ("0 1 1 0 push-1 pop pop", "1 1 0 #"),
    "reverse-string": ("0 1 1", "1 1 0"),
    "modular-arithmetic-brackets": ("( ( 4 * 3 ) - ( 1 + - 3 ) )", "4"),
    "solve-equation": ("( 1 - ( x + 2 ) ) = 3", "1"),
    "duplicate-string": ("0 1", "0 1 0 1"),
    "missing-duplicate": ("1 0 1 1 ? 1 -", "0"),
    "odds-first": ("0 0 1 1 0 1 0 1", "0 1 0 0 0 1 1 1"),
    "binary-addition": ("0 0 1 + 0 1 1 0 1", "0 1 0 1 1 #"),
    "binary-multiplication": ("1 0 0 1 * 0 0 0 0 0 1", "0 0 0 0 0 1 0 0 1 #"),
    "compute-sqrt": ("1 0 0 1 0 1", "1 1 0"),
    "bucket-sort": ("1 0 2 0 4 1 1 2", "0 0 1 1 1 2 2 4"),
}
NO_STRINGS = {
    "modular-arithmetic": ("1 +", "1 2 3", "+"),
    "modular-arithmetic-brackets": ("( 1 + 2", "1 + 2", "( 1 ( 2 )", ")"),
    "solve-equation": ("( 1 + 2 ) = 3", "x", "( x + x ) = 1", "x - 1", "x = 1 1"),
    "missing-duplicate": ("0 1 0 1", "? ?", "?"),
    "binary-addition": ("0 1", "1 + 1 + 1", "+ 1"),
    "parity-check": ("", "0 2", "0 ."),
}


def made(kind: str, **given: Any) -> Any:
    return registries.task.get(f"grammar/{kind}")(**given)


def outcome(learner: str, kind: str = "parity-check", task: str = "", **protocol: Any) -> Any:
    given = {"sequences": 300, "upto": 24, "each": 4, **protocol}
    (found,) = examine(
        Setting(f"grammar/{kind}:longest=8{task}", learner, "corrected", 0, given), [0]
    )
    return found


def scores(found: Any) -> dict[str, float]:
    assert found.record.status == "ok", found.record.reason
    return found.record.scores["length-generalisation"]["values"]


def test_every_function_has_a_worked_example():
    assert {f"grammar/{kind}" for kind in WORKED} == set(FUNCTIONS)


@pytest.mark.parametrize("kind", WORKED)
def test_worked_examples(kind):
    string, answer = WORKED[kind]
    assert made(kind).solved(string.split()) == answer.split()


@pytest.mark.parametrize(
    ("kind", "string"), [(kind, one) for kind in NO_STRINGS for one in NO_STRINGS[kind]]
)
def test_what_is_no_string_is_refused(kind, string):
    with pytest.raises(UsageError, match=f'^grammar/{kind}: ".*" is not a string of the task$'):
        made(kind).solved(string.split())


@pytest.mark.parametrize("kind", WORKED)
def test_tasks_keep_their_promises(kind):
    assert [str(finding) for finding in check_task(made(kind)) if not finding.ok] == []


@pytest.mark.parametrize("rule", ["by-place", "say-again", "transduction-oracle"])
def test_rules_keep_their_promises(rule):
    findings = check_learner(rule, made("stack-manipulation", longest=12), sequences=30)
    assert [
        str(one) for one in findings if not one.ok and not one.what.endswith(LEARNS_NOTHING)
    ] == []


@pytest.mark.parametrize("kind", WORKED)
def test_strings_have_the_lengths_that_are_asked_for_and_say_nothing_of_their_answers(kind):
    task, own = made(kind), FUNCTIONS[f"grammar/{kind}"]
    lengths = [*range(own.shortest, 60), 300]
    drawn = task.of_lengths(np.random.default_rng(1), lengths)
    assert drawn.asked.any(axis=0).all()
    blank = task.vocabulary.index(BLANK)
    for index, length in enumerate(lengths):
        inputs = drawn.inputs[: drawn.lengths[index], index]
        read = length - (length % 2 == 0) if kind == "modular-arithmetic" else length
        assert np.argmax(inputs == blank) == read
        assert (inputs[read:] == blank).all()
        if own.ends:
            assert len(inputs) == 2 * read + 1


def test_grouping_changes_no_draw():
    task = made("solve-equation")
    whole = task.sample(np.random.default_rng(3), 9)
    rng = np.random.default_rng(3)
    parts = type(whole).joined([task.sample(rng, 4), task.sample(rng, 5)])
    assert np.array_equal(parts.targets[parts.asked], whole.targets[whole.asked])
    assert np.array_equal(parts.lengths, whole.lengths)


def test_lengths_of_what_is_learned_are_uniform():
    task = made("reverse-string", longest=10)
    lengths = task.sample(np.random.default_rng(0), 5000).lengths // 2
    counts = np.bincount(lengths, minlength=11)[1:]
    assert (
        (counts - 500) ** 2 / 500
    ).sum() < 33.7  # chi-square with 9 degrees of freedom, p = 0.0001


def told(rule: str, task: Any, strings: int) -> Any:
    """A rule that was shown some strings."""
    made = registries.control.get(rule)(
        task, Brief(task.inputs, task.outputs, "cross-entropy", 100, strings), 0
    )
    shown = task.sample(np.random.default_rng(2), strings)
    for index, length in enumerate(shown.lengths):
        targets = np.where(shown.asked, shown.targets, -1)
        made.learn(shown.inputs[:length, index], targets[:length, index])
    return made


def test_rules_that_never_learn():
    sort, twice = made("bucket-sort"), made("duplicate-string")
    string = np.array([4, 0, 1, 2, 3, 3, 2, 1, 0, 4] + [5] * 10)
    assert told("by-place", sort, 300).predict(string)[10:].tolist() == [
        0,
        0,
        1,
        1,
        2,
        2,
        3,
        3,
        4,
        4,
    ]
    again = told("say-again", twice, 1).predict(np.array([1, 1, 0, 2, 2, 2, 2, 2, 2]))
    assert again[3:].tolist() == [1, 1, 0, 0, 0, 0]
    stack = made("stack-manipulation")
    pop = stack.vocabulary.index("pop")
    assert told("say-again", stack, 1).predict(np.array([1, pop, 6, 6, 6]))[2:].tolist() == [
        1,
        0,
        0,
    ]


def test_the_measure_takes_every_length_alike():
    arrays = {
        "length": np.array([3, 4, 5, 6]),
        "right": np.array([1, 2, 9, 85]),
        "asked": np.array([2, 2, 10, 100]),
    }
    found = length_generalisation(Trace("length-outcomes", arrays, {"longest_shown": 4}))
    assert found == pytest.approx({"unseen-accuracy": 0.875, "seen-accuracy": 0.75, "solved": 0.0})
    arrays["right"] = np.array([1, 2, 9, 90])
    assert (
        length_generalisation(Trace("length-outcomes", arrays, {"longest_shown": 4}))["solved"] == 1
    )


class Limited:
    """Knows the parity of strings of 8 symbols at most."""

    def __init__(self, brief: Any, seed: int) -> None:
        pass

    def learn(self, inputs: Any, targets: Any) -> None:
        pass

    def predict(self, inputs: Any) -> Any:
        return (inputs == 1).cumsum() % 2 if len(inputs) <= 9 else np.zeros(len(inputs), int)


def test_a_run_is_scored_by_the_lengths_that_were_not_shown():
    assert scores(outcome("transduction-oracle")) == {
        "unseen-accuracy": 1.0,
        "seen-accuracy": 1.0,
        "solved": 1.0,
    }
    bring_all([Limited])
    found = outcome("Limited", each=40)
    assert scores(found)["seen-accuracy"] == 1
    assert scores(found)["unseen-accuracy"] == pytest.approx(0.5, abs=0.08)
    assert found.trace.arrays["length"].tolist() == [*range(1, 25)]
    assert found.trace.arrays["asked"].tolist() == [40] * 24
    assert found.trace.facts["longest_shown"] == 8


def test_all_learners_are_asked_the_same():
    first, second = (
        outcome(rule, "stack-manipulation") for rule in ("majority", "transduction-oracle")
    )
    assert np.array_equal(first.trace.arrays["asked"], second.trace.arrays["asked"])
    assert (second.trace.arrays["right"] == second.trace.arrays["asked"]).all()


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(
        UsageError,
        match="upto=40 asks about nothing longer than the 40 symbols that are shown; give",
    ):
        TransductionProtocol(upto=40).unfit(made("parity-check"))
    assert "has no of_lengths" in TransductionProtocol().unfit(
        registries.task.get("grammar/an-bn")()
    )
    record = outcome("lstm:units=4,batch=32,passes=1", sequences=10).record
    assert record.status == "failed"
    assert "nothing can be learned from 10 strings, fewer than one update" in record.reason


def test_the_study_has_them_all():
    study = find_study("chomsky-tasks")
    assert [row.task for row in study.rows] == list(FUNCTIONS)
