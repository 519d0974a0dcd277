"""The protocol and the measures: worked examples, and whole runs of learners of which the outcome
is known.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quickstudy as qs
from drawer import Drawer
from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.base.study import find_study
from quickstudy.base.trace import Trace
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.grammar import b_index, cross_entropy, reach, string_accuracy
from quickstudy.protocols.grammar import GrammarProtocol
from quickstudy.report.build import gather
from quickstudy.report.page import FORMS
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting, make_task


class Bounded:
    """Counts as far as it has been shown, or as far as it is told; then says b."""

    def __init__(self, brief: Any, seed: int, most: int = 0) -> None:
        self.most, self.longest = most, 0

    def learn(self, inputs: Any, targets: Any) -> None:
        self.longest = max(self.longest, int((inputs == 1).sum()))

    def predict(self, inputs: Any) -> Any:
        read = np.cumsum(inputs == 1)
        known = read <= (self.most or self.longest)
        return np.where(known & (np.cumsum(inputs == 2) == read) & (read > 0), 0, 2)


def outcome(
    learner: str, task: str = "grammar/an-bn", convention: str = "corrected", **protocol: Any
) -> Any:
    given = {"order": 2, "factors": (4.0, 2.0, 1.0), **protocol}
    (found,) = examine(Setting(task, learner, convention, 0, given), [0])
    return found


def scores(found: Any) -> dict[str, float]:
    assert found.record.status == "ok", found.record.reason
    return {
        name: value
        for entry in found.record.scores.values()
        for name, value in entry["values"].items()
    }


def traced(right: dict[float, list[int]], metric: str = "det", **facts: Any) -> Trace:
    """A trace in which the n-th string of a factor's test has n steps and so many wrong."""
    sizes = np.concatenate([np.arange(1, len(wrong) + 1) for wrong in right.values()])
    arrays = {
        "factor": np.repeat(list(right), [len(wrong) for wrong in right.values()]).astype(float),
        "tested": np.ones(len(sizes), bool),
        "size": sizes,
        "steps": sizes,
        "wrong": np.concatenate([np.array(wrong) for wrong in right.values()]),
    }
    usual = {"metric": metric, "margins": [0.0, 0.005], "order": 1, "upto": "whole"}
    return Trace("string-outcomes", arrays, {**usual, **facts})


def test_a_rule_that_always_says_b_hides_in_the_margin():
    """The example of section 3.5: one error a string. On n = 21 .. 10,020 that is 0.02 % of the
    steps, and 1/21 of the first string.
    """
    n = np.arange(21, 10021)
    trace = Trace(
        "string-outcomes",
        {
            "factor": np.full(10000, 10.0),
            "tested": np.ones(10000, bool),
            "size": n,
            "steps": n,
            "wrong": np.ones(10000, int),
        },
        {"metric": "det", "margins": [0.0, 0.005], "order": 3, "upto": "whole"},
    )
    assert b_index(trace) == {
        "b-index": 0.0,
        "b-index-0.005": 10.0,
        "b-index-0.005-each": 0.0,
        "b-continuous": 0.0,
    }
    assert string_accuracy(trace)["accuracy"] == pytest.approx(
        1 - 1000 / 520_500
    )  # n = 21 .. 1,020


def test_a_margin_that_is_met_exactly_forgives():
    # In doubles 0.29 * 100 is a little less than 29.
    wrong = [0] * 99 + [29]
    for more, passed in ((0, 2.0), (1, 0.0)):
        trace = traced({2.0: [*wrong[:-1], 29 + more]}, margins=[0.29])
        assert b_index(trace)["b-index-0.29-each"] == passed


def test_the_index_is_the_largest_factor_that_is_passed_whatever_the_smaller_ones_do():
    trace = traced({4.0: [0] * 35 + [1] * 5, 2.0: [0] * 20, 1.0: [1] + [0] * 9})
    assert b_index(trace)["b-index"] == 2.0
    assert b_index(trace)["b-continuous"] == 3.5
    assert reach(trace) == {"log-reach": math.log10(36), "largest-right": 35.0}
    nothing = traced({4.0: [1] * 40})
    assert b_index(nothing)["b-index"] == 0
    assert reach(nothing)["log-reach"] == 0


def test_bits_drive_an_index_too():
    trace = traced({2.0: [0] * 4, 1.0: [0] * 4})
    bits = np.array([10.0] * 4 + [5.1] * 4)
    full = Trace(
        trace.kind, {**trace.arrays, "bits": bits, "optimum": np.full(8, 5.0)}, trace.facts
    )
    assert cross_entropy(full) == {
        "entropy-ratio": 0.5,
        "excess-bits": 5.0,
        "b-index-entropy": 1.0,
    }
    assert cross_entropy(trace) == {}


@pytest.fixture(scope="module", autouse=True)
def brought() -> None:
    from quickstudy.learners.learner_spec import bring_all

    bring_all([Bounded])


def test_who_counts_as_far_as_it_was_shown_is_right_so_far():
    found = outcome("Bounded")
    shown = found.trace.facts["largest_shown"]["4"]
    assert scores(found)["largest-right"] == shown
    assert scores(found)["b-index"] == 0
    assert scores(found)["log-beyond"] == 0
    assert found.trace.facts["shown"] == {"4": 25, "2": 50, "1": 100}
    assert found.record.cost["examples"] == 175
    assert scores(found)["accuracy"] > 0.98


def test_the_first_factor_that_is_passed_is_the_last():
    found = outcome("true-grammar")
    assert scores(found)["b-index"] == 4
    assert set(found.trace.facts["shown"]) == {"4"}
    assert scores(found)["strings-right"] == 1
    assert scores(found)["largest-right"] == found.trace.facts["largest_shown"]["4"] + 400


def test_who_counts_to_150_passes_one_factor_of_three():
    """4: 25 strings shown, 400 asked; 2: 200 asked; 1: 100 asked, n up to about 115."""
    found = outcome("Bounded:most=150")
    assert scores(found)["b-index"] == 1
    assert scores(found)["largest-right"] == 150
    shown = found.trace.facts["largest_shown"]["4"]
    assert scores(found)["log-beyond"] == pytest.approx(math.log10(151 / (1 + shown)))
    assert scores(outcome("Bounded:most=150", upto="whole")) == scores(found)
    assert scores(outcome("Bounded:most=150", upto="first-wrong")) == {
        name: value
        for name, value in scores(found).items()
        if name in ("b-index", "b-continuous", "log-beyond", "log-reach", "largest-right")
    }


@pytest.mark.parametrize("task", ["grammar/dyck-2", "grammar/written", "grammar/an-bm-cnm"])
def test_the_oracle_passes_everything(task):
    found = outcome("true-grammar", task, factors=(2.0,), bits=True)
    assert scores(found)["b-index"] == 2
    assert scores(found)["entropy-ratio"] == pytest.approx(1)
    assert scores(found)["excess-bits"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("setup", ["valid", "accept"])
def test_the_other_setups(setup):
    assert (
        scores(outcome("true-grammar", f"grammar/an-bn:setup={setup}", factors=(1.0,)))["b-index"]
        == 1
    )
    assert scores(outcome("bigram", f"grammar/an-bn:setup={setup}", factors=(1.0,)))["b-index"] == 0


def test_a_factor_without_enough_strings_is_left_out_and_the_record_says_so():
    found = outcome("bigram", "grammar/dyck-2", "published", order=3, factors=(10.0, 2.0))
    assert set(found.trace.facts["shown"]) == {"10"}
    (said,) = found.trace.facts["left_out"]
    assert said.startswith("factor 2: grammar/dyck-2: the released list has 0 strings")
    alone = outcome("bigram", "grammar/dyck-2", "published", order=3, factors=(1.0,))
    assert alone.record.status == "failed"
    assert "use test=exhaustive" in alone.record.reason


def report_on(task: str, out: Any) -> str:
    given = {"order": 2, "factors": (2.0, 1.0)}
    qs.run(task, "true-grammar", seeds=1, out=out, controls=False, protocol=given, workers=0)
    return FORMS["text"](gather([out]))


def test_a_report_shows_a_b_that_was_cut_as_a_lower_bound(tmp_path):
    text = report_on("grammar/written:rules=S -> n S v [0.4] | n v [0.6]", tmp_path)
    assert "B at most 1: factor 2 was not asked (it needs strings of more than 400 symbols" in text
    assert "order=2" not in text
    assert "≥1" in text
    assert "longest string right" in text
    assert "largest n right" not in text


def test_a_report_shows_a_b_that_was_asked_as_it_is(tmp_path):
    text = report_on("grammar/an-bn", tmp_path)
    assert "≥" not in text
    assert "largest n right" in text


def test_a_report_says_when_most_steps_do_not_count(tmp_path):
    text = report_on(
        "grammar/written:rules=S -> N S V [0.4] | N V [0.6]; N -> d [0.5] | k [0.5]; V -> r [0.5] |"
        " s [0.5]",
        tmp_path,
    )
    assert "of the steps have a certain next symbol, and only they count under metric=det" in text


def test_where_no_factor_has_enough_strings_nothing_is_run():
    setting = Setting("grammar/dyck-2", "bigram", "published", 0, {"factors": (2.0, 1.0)})
    with pytest.raises(
        UsageError, match=r"the released list has 0 strings .*; use test=exhaustive"
    ):
        make_plan([setting], 1)
    assert (
        len(
            make_plan(
                [Setting("grammar/dyck-2", "bigram", "published", 0, {"factors": (4.0, 1.0)})], 1
            ).cells
        )
        == 1
    )


def test_published_data_are_the_same_for_all_repetitions():
    given = {"factors": (10.0,), "upto": "first-wrong"}
    first, second = examine(Setting("grammar/an-bn", "always-b", "published", 0, given), [0, 1])
    assert first.trace is not None
    assert second.trace is not None
    assert first.trace.facts["largest_shown"] == {"10": 20} == second.trace.facts["largest_shown"]
    assert first.trace.arrays["size"][first.trace.arrays["tested"]].tolist() == [21]


def test_without_a_distribution_brackets_do_not_apply():
    assert outcome("Bounded", "grammar/dyck-1").record.status == "not-applicable"


def test_parameters_that_cannot_be_are_refused():
    for given in ({"factors": "1/1"}, {"margins": "2"}, {"factors": "0"}):
        with pytest.raises(qs.UsageError):
            Setting("grammar/an-bn", "bigram", "corrected", 0, given).resolve()


class Kept(Bounded):
    """The same, and it can be set back."""

    def snapshot(self) -> dict[str, Any]:
        return {"longest": np.array(self.longest)}

    def restore(self, snapshot: Any) -> None:
        self.longest = int(snapshot.arrays["longest"])


def test_an_interrupted_run_goes_on_with_the_same_outcome():
    protocol = GrammarProtocol(order=1, factors=(2.0, 1.0))
    task, streams = make_task("grammar/an-bn", "corrected"), [Streams(0, "grammar/an-bn", 0)]
    drawer = Drawer()
    (whole,) = protocol.examine(task, Hosted(Kept), streams, drawer).traces
    assert {so_far.facts["factor"] for so_far in drawer.kept} == {0, 1}
    assert {"asked_seconds" in so_far.facts["now"] for so_far in drawer.kept} == {False, True}
    for so_far in drawer.kept:
        (again,) = protocol.examine(task, Hosted(Kept), streams, Drawer.with_one(so_far)).traces
        assert again.facts == whole.facts
        assert again.cost.examples == whole.cost.examples
        assert all(np.array_equal(again.arrays[name], whole.arrays[name]) for name in whole.arrays)


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_the_two_searches_of_table_2_are_two_under_every_convention(convention):
    task, row = make_task("grammar/an-bn", convention), find_study("bliss-table2").rows[0]
    found = {
        name: (
            choose_learner(row.learner(name, convention), convention, task, "strings")
            .make(task)
            .search
        )
        for name in ("MDLRNN search", "tempering")
    }
    assert found == {"MDLRNN search": "evolution", "tempering": "tempering"}
