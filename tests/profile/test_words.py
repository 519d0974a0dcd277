"""Ranks, verdicts and words of a card, worked by hand from made-up spans; the chart in letters."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from quickstudy.base.blocks import Strip, Strips
from quickstudy.pages.profile.chart import chart
from quickstudy.pages.profile.facts import family_facts, item_facts
from quickstudy.pages.profile.norms import NONE, OTHER, STORED, ItemNorms, Norms, Rank, ranked
from quickstudy.pages.profile.spans import Family, Item, Profile, Spans
from quickstudy.pages.profile.words import (
    ABOVE,
    BELOW,
    LEVEL,
    OPEN,
    against_baseline,
    cautions,
    clause,
    in_short,
)
from quickstudy.render.strips import strips_text

SUBJECT = {"task": {"id": "span/copy", "version": 1}}


def around(middle: float, width: float = 0.1, seeds: int = 6) -> list[float]:
    """Spans evenly around a middle."""
    return [middle + width * (2 * seed / (seeds - 1) - 1) for seed in range(seeds)]


def item(values: Sequence[float], name: str = "copy", why: str = "", **task: Any) -> Item:
    axis = {
        "unit": "symbols copied",
        "can": "copies {} symbols",
        "least": 0,
        "grid": (1, 2, 4, 8, 16, 32),
        **task,
    }
    spans = Spans(values, float(axis["grid"][-1]))
    return Item(
        name,
        name,
        "language",
        SimpleNamespace(**axis),
        SUBJECT,
        spans,
        why=why,
        seeds=range(len(values)),
    )


def norms(best: float = 2.0, subject: Any = SUBJECT, **learners: float) -> Norms:
    spans = {name: Spans(around(middle), 32.0) for name, middle in learners.items()}
    marks = {
        "rote": Spans([best], 32.0),
        "by-last": Spans([0.1], 32.0),
        "oracle": Spans([32.0], 32.0),
    }
    return Norms({"copy": ItemNorms(spans, marks)}, {"subjects": {"copy": subject}})


def test_only_disjoint_intervals_have_a_rank() -> None:
    assert ranked((3.0, 4.0), [(1.0, 2.0), (2.5, 3.5), (5.0, 6.0), None]) == Rank(1, 1, 4)
    # Norms are stored with four decimals: learners that are both at the end of an axis are level.
    assert ranked((256.0000001, 256.0000001), [(256.0, 256.0)]) == Rank(0, 0, 1)
    assert ranked(None, [(1.0, 2.0)]) is None


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        (around(9.0), ABOVE),
        (around(1.0), BELOW),
        (around(2.0), LEVEL),
        (around(2.5, 1.5), OPEN),
        (around(2.5, 1.5, seeds=2), OPEN),
        (around(9.0, seeds=5), ""),
        ([9.0], ""),
    ],
)
def test_a_verdict_follows_from_the_interval(values: list[float], verdict: str) -> None:
    one = item(values)
    assert against_baseline(one, norms().of(one)) == verdict


def test_words_have_units_ranks_and_baselines() -> None:
    known = norms(esn=1.0, lstm=9.0, gru=12.0, deltanet=25.0)
    copy = known.items["copy"]
    assert (
        clause(item(around(15.0)), copy)
        == "copies 15.0 symbols, more than 3 of 4 reference learners"
    )
    assert (
        clause(item(around(2.0)), copy)
        == "copies 2.0 symbols, no more than the baseline rote (2.0)"
    )
    assert (
        clause(item(around(1.0)), copy) == "copies 1.0 symbols, less than the baseline rote (2.0)"
    )
    guess = clause(item(around(0.05, 0.05)), copy)
    assert guess == "copies 0.0 symbols, as guessing does; 4 of 4 reference learners reach further"
    unclear = clause(item(around(3.5, 2.5)), copy)
    assert unclear.endswith("not distinguishable from the baseline rote (2.0) with 6 seeds")
    assert clause(item(around(15.0), taught=8), copy).endswith(", beyond its data (up to 8)")
    rote = norms(7.8, esn=1.0).items["copy"]
    text = clause(item(around(9.5, 2.4), taught=4), rote)
    assert text.endswith("not distinguishable from the baseline rote (7.8) with 6 seeds")
    assert clause(item([32.0] * 6), copy).startswith("copies 32+ symbols")
    ahead = item(around(15.0), can="predicts {} steps", lyapunov=0.0065)
    assert clause(ahead, None) == "predicts 15.0 steps (0.1 Lyapunov times)"


def test_the_summary_claims_what_intervals_bear() -> None:
    known = norms(esn=1.0, lstm=9.0, gru=12.0)
    far = Profile("mine", "as given", [Family("language", [item(around(15.0), taught=8)])])
    assert (
        in_short(far, known)
        == "mine exceeds most reference learners in copy and goes beyond its data in copy."
    )
    level = Profile("mine", "as given", [Family("language", [item(around(2.0))])])
    assert in_short(level, known) == "mine does no better than a baseline in copy."
    few = Profile("mine", "as given", [Family("language", [item(around(15.0, seeds=2))])])
    assert in_short(few, known) == "mine copies 15.0 symbols."
    assert list(cautions(few, known)) == [
        "2 seeds: use --seeds 6 or more to get statements backed by intervals."
    ]


def test_a_family_has_a_rank_and_without_an_item_no_number() -> None:
    known = norms(esn=1.0, lstm=9.0, gru=12.0)
    whole = family_facts(Family("language", [item(around(10.0))]), known)
    assert whole["rank"] == {"more_than": 2, "less_than": 1, "of": 3}
    assert whole["share"] == pytest.approx(np.log1p(10.0) / np.log(33), abs=1e-3)
    missing = Family("language", [item(around(10.0)), item((), "lookup", "failed: ValueError: no")])
    facts = family_facts(missing, known)
    assert (facts["share"], facts["interval"], facts["rank"]) == (None, None, None)
    assert facts["missing"] == [{"item": "lookup", "reason": "failed: ValueError: no"}]
    lookup = facts["items"][1]
    assert (lookup["item"], lookup["span"], lookup["interval"], lookup["rank"]) == (
        "lookup",
        None,
        None,
        None,
    )


def test_norms_of_another_version_are_not_mixed_in() -> None:
    one = item(around(10.0))
    other = norms(esn=1.0, subject={"task": {"id": "span/copy", "version": 2}})
    profile = Profile("mine", "as given", [Family("language", [one])])
    assert [
        norms(esn=1.0).state(one),
        other.state(one),
        Norms({}, {"subjects": {}}).state(one),
    ] == [
        STORED,
        OTHER,
        NONE,
    ]
    facts = item_facts(one, other)
    assert (facts["rank"], facts["baseline"], facts["norms"]) == (None, None, OTHER)
    assert chart(profile, other, "card").rows[0].ticks == []
    assert list(cautions(profile, other)) == [
        "The stored norms are of another version of copy: no reference learners are shown there."
    ]


def test_the_chart_fits_a_terminal() -> None:
    rows = [
        Strip(
            f"unit of many words {number}",
            512,
            9.2,
            (8.0, 11.0),
            False,
            group=f"group-{number // 4}",
            note="more than 11 of 24",
            short=f"item {number}",
        )
        for number in range(17)
    ]
    rows += [
        Strip("at the end", 512, 512.0, (512, 512), True, note="more than 24 of 24"),
        Strip("missing", 16, None, note="failed: ValueError: " + "no " * 40),
    ]
    lines = strips_text(Strips("chart", "", "", "mine", rows))
    assert len(lines) == 1 + len(rows)
    assert max(map(len, lines)) <= 80
    assert all("●" in line and "more than" in line for line in lines[1:-1])
    assert "9.2" in lines[1]
    assert "512+●" in lines[-2], "where there is no room after the dot, the value is before it"
    assert lines[-1].endswith("…")
    # The learner lies under the number of the axis that it has.
    exact = strips_text(
        Strips("chart", "", "", "mine", [Strip("a", 512, 64.0), Strip("b", 512, 1.0)])
    )
    assert exact[0].index("64") == exact[1].index("●")
