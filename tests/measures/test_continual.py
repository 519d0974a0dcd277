from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import CONVENTIONS
from quickstudy.base.trace import Trace

IDS = (
    "average-accuracy",
    "learned-accuracy",
    "forgetting",
    "backward-transfer",
    "forward-transfer",
    "wade-within",
)

STEPS = [1, 2, 4, 5, 8, 9, 12]
ACCURACY = [
    [0.5, 0.0, 0.0],
    [0.75, 0.1, 0.0],
    [0.9, 0.3, 0.1],
    [0.9, 0.25, 0.2],
    [0.95, 0.8, 0.4],
    [0.2, 0.8, 1.0],
    [0.6, 0.7, 1.0],
]
BOUNDARY = [0, 4, 8, 12]
CONSTANTS = [0.5, 0.25, 0.5]


def stream(steps=STEPS, accuracy=ACCURACY, boundary=BOUNDARY, constants=CONSTANTS):
    arrays = {
        "step": np.array(steps),
        "accuracy": np.array(accuracy, dtype=float),
        "boundary": np.array(boundary),
    }
    return Trace("continual-curve", arrays, {"constants": list(constants)})


def scores(trace, convention="corrected"):
    found = {}
    for id in IDS:
        found |= registries.measure.get(id)(trace, convention)
    return found


def test_worked_by_hand():
    found = scores(stream())
    assert found["average-accuracy"] == pytest.approx((0.6 + 0.7 + 1.0) / 3)
    assert found["learned-accuracy"] == pytest.approx((0.9 + 0.8 + 1.0) / 3)
    # Segment 1 was best when segment 2 ended; the last segment cannot be forgotten.
    assert found["forgetting"] == pytest.approx(((0.95 - 0.6) + (0.8 - 0.7)) / 2)
    assert found["backward-transfer"] == pytest.approx(((0.6 - 0.9) + (0.7 - 0.8)) / 2)
    assert found["forward-transfer"] == pytest.approx(((0.3 - 0.25) + (0.4 - 0.5)) / 2)


def test_efficiency_within_segments_by_hand():
    found = scores(stream())
    # Segment 1: from c = 0.5 on, shares 1..50 of the way are reached at T = 2, and 51..80 at T = 4.
    assert found["wade-within-1"] == pytest.approx((12.75 / 2 + 19.65 / 4) / 50.5)
    # Segment 2: 0.8 is share 73 of the way from 0.25, reached at T = 4.
    assert found["wade-within-2"] == pytest.approx(27.01 / 4 / 50.5)
    assert found["wade-within-3"] == pytest.approx(1.0)
    each = [found[f"wade-within-{number}"] for number in (1, 2, 3)]
    assert found["wade-within"] == pytest.approx(sum(each) / 3)


def test_a_segment_that_asks_for_one_answer_only_is_left_out_of_the_mean():
    found = scores(stream(constants=[0.5, 1.0, 0.5]))
    assert np.isnan(found["wade-within-2"])
    assert found["wade-within"] == pytest.approx(
        (found["wade-within-1"] + found["wade-within-3"]) / 2
    )


def test_one_segment_has_nothing_before_or_after():
    found = scores(stream([1, 3], [[0.5], [0.75]], [0, 3], [0.5]))
    assert found["average-accuracy"] == found["learned-accuracy"] == 0.75
    assert all(
        np.isnan(found[name]) for name in ("forgetting", "backward-transfer", "forward-transfer")
    )


@pytest.mark.parametrize("id", IDS)
def test_conventions_make_no_difference(id):
    values = [dict(registries.measure.get(id)(stream(), convention)) for convention in CONVENTIONS]
    assert values[0] == values[1] == values[2]


@st.composite
def traces(draw):
    segments = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(1, 6), min_size=segments, max_size=segments))
    boundary = np.cumsum([0, *lengths])
    others = draw(st.sets(st.integers(1, int(boundary[-1]))))
    steps = sorted(others | set(boundary[1:].tolist()))
    twentieths = st.integers(0, 20).map(lambda count: count / 20)
    accuracy = draw(
        st.lists(
            st.lists(twentieths, min_size=segments, max_size=segments),
            min_size=len(steps),
            max_size=len(steps),
        )
    )
    constants = draw(
        st.lists(
            st.integers(0, 19).map(lambda count: count / 20), min_size=segments, max_size=segments
        )
    )
    return stream(steps, accuracy, boundary, constants)


@settings(max_examples=150, deadline=None)
@given(traces())
def test_laws(trace):
    found = scores(trace)
    segments = len(trace.facts["constants"])
    for id in IDS:
        low, high = registries.measure.get(id).range
        assert all(
            np.isnan(value) or low <= value <= high
            for value in registries.measure.get(id)(trace).values()
        )
    if segments > 1:
        # What is lost since a segment's own end is at most what is lost since its best time.
        assert found["forgetting"] >= -found["backward-transfer"] - 1e-12
        gained = found["backward-transfer"] * (segments - 1) / segments
        assert found["average-accuracy"] == pytest.approx(found["learned-accuracy"] + gained)


@settings(max_examples=80, deadline=None)
@given(traces())
def test_within_a_segment_it_is_the_measure_of_a_learning_curve(trace):
    found = scores(trace)
    boundary, steps = trace.arrays["boundary"], trace.arrays["step"]
    for number, (start, end) in enumerate(pairwise(boundary)):
        inside = (steps > start) & (steps <= end)
        arrays = {
            "step": steps[inside] - start,
            "accuracy": trace.arrays["accuracy"][inside, number],
        }
        facts = {"unit": "sequences", "constant": trace.facts["constants"][number]}
        alone = registries.measure.get("wade-above-chance")(Trace("learning-curve", arrays, facts))
        assert found[f"wade-within-{number + 1}"] == alone["wade-above-chance"]


@settings(max_examples=50, deadline=None)
@given(traces())
def test_who_never_changes_neither_forgets_nor_gains(trace):
    still = np.broadcast_to(trace.arrays["accuracy"][0], trace.arrays["accuracy"].shape)
    found = scores(Trace(trace.kind, {**trace.arrays, "accuracy": still}, trace.facts))
    if len(trace.facts["constants"]) > 1:
        assert found["forgetting"] == found["backward-transfer"] == 0
    assert found["average-accuracy"] == found["learned-accuracy"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"constants": [0.5]}, r"\(7, 3\) with 3 constants, got \(7, 3\) with 1"),
        ({"accuracy": [[0.5]] * 7}, r"\(7, 3\) with 3 constants, got \(7, 1\) with 3"),
        ({"boundary": [0, 3, 8, 12]}, r"a test at the end of every segment: \[3, 8, 12\]"),
        ({"boundary": [0, 4, 4, 12]}, "a test at the end of every segment"),
        ({"boundary": [0, 4, 8, 9]}, "a test at the end of every segment"),
    ],
)
def test_what_is_no_stream(changes, message):
    with pytest.raises(UsageError, match=message):
        scores(stream(**changes))


def test_a_stream_without_constants():
    with pytest.raises(UsageError, match='no fact "constants"'):
        scores(Trace("continual-curve", stream().arrays, {}))
