"""The check of baselines: it finds a shortcut that is there, and the sheets have the measured
spans.
"""

from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.examples import Examples
from quickstudy.base.registries import typed_task
from quickstudy.base.seeds import Streams
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.span import span_scores
from quickstudy.protocols.span import SpanProtocol
from quickstudy.tasks.span.item import RULES, SymbolItem
from quickstudy.testing import check
from quickstudy.testing.span_rules import NEAR, find_span_rules, rule_spans

STORED = pathlib.Path(__file__).resolve().parents[2] / "published" / "anchors" / "results.jsonl"
ANCHORS = {one["item"]: one for one in map(json.loads, STORED.read_text("utf-8").splitlines())}


@dataclass(frozen=True)
class Leaky(SymbolItem):
    """Whether a string of n letters is even, which its length gives away."""

    id = "test/leaky"
    controls = RULES
    protocol = "span"
    oracle = "span-oracle"
    vocabulary = ("a", "b", "=", "even", "odd")
    longest: int = 8

    def chance(self, size):
        return 1 / 2

    def made(self, rng, sizes):
        return Examples.from_pairs(
            ([*rng.integers(2, size=size), 2], [3 + size % 2]) for size in sizes
        )

    def solve(self, tokens):
        return 3 + (len(tokens) - 1) % 2 if tokens[-1] == 2 else -1


@dataclass(frozen=True)
class Marked(Leaky):
    """The same.

    Marks: by-length 8 and by-length-parity 8.0, by-bag 3.9 and others.
    """


@dataclass(frozen=True)
class Wrong(Leaky):
    """The same, with a number that is too small.

    Marks: by-length 8.0, by-length-parity 4.
    """


def _open(task):
    return {one.rule for one in find_span_rules(task, seeds=2) if one.open(task)}


def test_a_shortcut_is_found_unless_the_sheet_marks_it():
    assert {"by-length", "by-length-parity"} <= _open(Leaky())
    assert Marked.marks() == {"by-length": 8, "by-length-parity": 8, "by-bag": 3.9}
    assert not _open(Marked()) & {"by-length", "by-length-parity"}


def test_a_mark_must_have_the_measured_span():
    assert "by-length-parity" in _open(Wrong())
    assert "by-length" not in _open(Wrong())


def test_the_command_names_the_open_rule(monkeypatch):
    monkeypatch.setattr(check.registries, "typed_task", lambda name, convention: Leaky())
    (finding,), rules = check.check_shortcuts("test/leaky")
    assert not finding.ok
    assert "by-length has a span of 8.00" in finding.detail
    assert {one.rule for one in rules} == set(RULES)
    assert next(one for one in rules if one.rule == "by-length").line == "8.00"


@pytest.mark.parametrize("rule", ["rote", "by-bag", "among-shown"])
def test_spans_are_those_of_the_protocol(rule):
    """Of tables exactly; of guesses within their noise, since the rule has another seed there."""
    task, streams = typed_task("span/lookup:longest=6"), Streams(0, "span/lookup", 0)
    learner = choose_learner(rule, "corrected", task).make(task)
    trace = SpanProtocol().examine(task, learner, [streams]).traces[0]
    found = rule_spans(task, [rule], streams)[rule]
    assert found == pytest.approx(
        span_scores(trace)["span"], abs=0.3 if rule == "among-shown" else 1e-9
    )


def test_items_of_series_and_of_worlds_are_checked_through_their_protocols():
    found = rule_spans(
        typed_task("span/delay:training=200,test=100"), ["last-input"], Streams(0, "span/delay", 0)
    )
    assert found["last-input"] < 0.2
    task = typed_task("span/mapping:block=60,rounds=2")
    found = rule_spans(task, ["random-action", "best-single-action"], Streams(0, "span/mapping", 0))
    assert found["random-action"] < found["best-single-action"] < 2


def test_every_item_has_anchors_of_its_present_version(anchors):
    assert set(ANCHORS) == set(anchors.items())
    for name, own in ANCHORS.items():
        assert own["subject"] == anchors.subject_of(typed_task(name)), name
        assert own["seeds"] == 200


@pytest.mark.parametrize("name", sorted(ANCHORS))
def test_the_sheet_marks_every_baseline_that_goes_far(name):
    """From 200 seeds: above the second difficulty only with a mark, and marks are what was
    measured.
    """
    task, own = typed_task(name), ANCHORS[name]
    marks = task.marks()
    far = {rule for rule, value in own["controls"].items() if value >= task.grid[1]}
    assert far <= set(marks)
    for rule, value in marks.items():
        excess = np.log1p(own["controls"][rule]) - np.log1p(value)
        assert excess < NEAR, (rule, value)
        # One sheet stands for all groups: larger ones have less.
        assert excess > -NEAR or registries.task.get("span/track") is type(task), (rule, value)


@pytest.mark.parametrize("name", sorted(ANCHORS))
def test_anchors_are_in_order(name):
    task, own = typed_task(name), ANCHORS[name]
    assert task.least <= own["chance"] < own["oracle"] == task.grid[-1]
    assert own["best_control"]["span"] < own["oracle"]
    assert own["untrained"]["span"] < own["oracle"] / 2
