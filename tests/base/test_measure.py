"""Scores as measures declare them, and the legend that a record carries."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Measure, Score, find_score
from quickstudy.base.record import OK, Record
from quickstudy.base.score_metadata import Legend, check_reading, read_legend
from quickstudy.protocols.language import LanguageProtocol


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"better": "down"}, "better must be higher or lower, got 'down'"),
        ({"range": (1, None)}, r"range must be two numbers, the lower one first, got \(1, None\)"),
        ({"range": (1, 0)}, "range must be two numbers"),
        ({"range": (-1, 1), "read": "log"}, "none below 0"),
        ({"least": -0.1}, "least must be a number, 0 or more, got -0.1"),
        ({"least": "0.1"}, "least must be a number"),
        ({"shown": "mode"}, "shown must be mean or median"),
        ({"read": "squared"}, "read must be linear or log"),
        ({"words": {"~1": "about one"}}, "words must be texts by value"),
        ({"name": "a*b"}, "`\\*` at its end only"),
    ],
)
def test_wrong_declarations_are_refused_at_once(wrong, words):
    with pytest.raises(UsageError, match=words):
        Score(**{"name": "error", "better": "lower", **wrong})


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ((Score("error"),), 'score "error" must say which is better'),
        (("error",), "scores must be Score"),
        ((), "must declare its scores, each once"),
        ((Score("e", better="lower"),) * 2, "must declare its scores, each once"),
    ],
)
def test_a_measure_declares_directions(scores, words):
    with pytest.raises(UsageError, match=words):
        Measure("m", 1, ("k",), "", "", scores, lambda trace, convention: {})


def test_words_for_values():
    score = Score(
        "b", better="higher", words={"<1": "<1", "inf": "never", ">100": "beyond the list"}
    )
    assert [score.word(value) for value in (0.5, 1.0, 100.0, 101.0, math.inf)] == [
        "<1",
        "",
        "",
        "beyond the list",
        "never",
    ]


@given(st.floats(1e-300, 1e300))
def test_reading_by_orders_of_magnitude_and_back(value):
    score = Score("error", better="lower", read="log")
    assert score.value(score.place(value)) == pytest.approx(value)
    assert score.place(10 * value) - score.place(value) == pytest.approx(1)


def test_nothing_is_below_every_order_of_magnitude():
    score = Score("error", better="lower", read="log")
    assert score.place(0.0) == -math.inf
    assert score.value(-math.inf) == 0.0
    assert (score.least, Score("share").least) == (0.01, 0.001)


def test_a_name_in_full_comes_before_one_that_stands_for_many():
    scores = (Score("wade-within-*", "WADE in segment"), Score("wade-within-all", "WADE in all"))
    assert find_score("wade-within-all", scores).title == "WADE in all"
    assert find_score("wade-within-3", scores).title == "WADE in segment 3"
    assert find_score("wade", scores) is None


def test_the_legend_survives_json_and_names_every_score():
    for id in registries.protocol.names():
        protocol = registries.protocol.get(id)
        legend = Legend.of(protocol, [registries.measure.get(name) for name in protocol.measures])
        again = Legend.from_facts(json.loads(json.dumps(legend.as_facts())))
        assert again == legend
        for name in (legend.headline, legend.second, *legend.columns):
            assert not name or legend.score(name).sign, name


def test_a_record_carries_it_in_few_letters():
    protocol = LanguageProtocol()
    legend = Legend.of(protocol, [registries.measure.get(name) for name in protocol.measures])
    assert len(json.dumps(legend.as_facts(), separators=(",", ":"))) < 1400


def record(started=0.0, protocol="nowhere", **legend):
    what = {"protocol": {"id": protocol, "version": 1, "parameters": {}}}
    return Record(what, OK, where={"started": started}, legend=legend)


def test_the_newest_legend_holds_and_the_scores_of_all():
    old = record(
        1.0,
        headline="a",
        scores={"m": {"a": {"better": "higher"}}, "n": {"b": {"better": "lower"}}},
    )
    new = record(
        2.0, headline="b", scores={"m": {"a": {"better": "lower"}}}, unheard_of="by a later version"
    )
    for records in ([old, new], [new, old]):
        legend = read_legend(records)
        assert (legend.headline, legend.score("a").better, legend.score("b").better) == (
            "b",
            "lower",
            "lower",
        )
        assert legend.order(["z", "a", "b"]) == ("b", "a", "z")


def test_without_a_legend_the_installed_protocol_is_asked_and_else_nobody():
    assert read_legend([record(protocol="continual")]).headline == "average-accuracy"
    unknown = read_legend([record()])
    assert unknown == Legend()
    assert (unknown.score("insight").better, unknown.score("forgetting").better) == (
        "unknown",
        "lower",
    )


def test_two_measures_with_one_name_are_read_each_by_its_own():
    legend = Legend(
        scores={"a": (Score("x", better="higher"),), "b": (Score("x", better="lower"),)}
    )
    assert [legend.score(name).better for name in ("a/x", "b/x")] == ["higher", "lower"]


@pytest.mark.parametrize(
    ("part", "said"),
    [("headline", "final-acuracy"), ("second", "final-acuracy"), ("columns", ("final-acuracy",))],
)
def test_a_protocol_goes_by_scores_of_its_own_measures(part, said):
    registry = registries.ProtocolRegistry("protocol", lambda: iter(()))
    usual = {"measures": ("accuracy",), "headline": "accuracy/final-accuracy", "__doc__": "Small."}
    right = registry("right", version=1)(dataclass(frozen=True)(type("Right", (), usual)))
    check_reading(right)
    wrong = registry("wrong", version=1)(
        dataclass(frozen=True)(type("Wrong", (), {**usual, part: said}))
    )
    with pytest.raises(
        UsageError, match=f'"wrong": {part} "final-acuracy" is not a score .*final-accuracy'
    ):
        check_reading(wrong)


def test_a_protocol_leaves_out_what_is_as_usual():
    registry = registries.ProtocolRegistry("protocol", lambda: iter(()))

    @registry("mini", version=1)
    @dataclass(frozen=True)
    class Mini:
        """Small."""

        measures = ("accuracy",)

    assert (Mini.family, Mini.exact, Mini.usual, Mini.replay_apart) == ("mini", {}, {}, True)
    legend = Legend.of(Mini, [registries.measure.get("accuracy")])
    assert (legend.headline, legend.columns) == (
        "final-accuracy",
        ("final-accuracy", "maximum-accuracy"),
    )
    with pytest.raises(UsageError, match="columns must be like"):
        registry("wrong", version=1)(type("Wrong", (), {"columns": "accuracy"}))
