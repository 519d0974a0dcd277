"""The look-up memory against a plain loop over the past, written from its description."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.recall import Recall
from quickstudy.runs.job import Setting, examine

SIZE, ORDER, LAGS, MOST, SLOW, FAST = 3, 4, 2, 5, 0.9, 0.5


def looked_up(past: list[int]) -> NDArray[np.float64]:
    """The features after reading `past`."""
    now, parts = len(past) - 1, []
    for length in range(1, ORDER + 1):
        last = past[len(past) - length :] if length <= len(past) else None
        places = [s for s in range(length - 1, now) if last is not None and past[s - length + 1 : s + 1] == last]
        follower, count = np.zeros(SIZE), np.zeros(MOST)
        if places:
            follower[past[places[-1] + 1]] = 1
        count[min(len(places), MOST - 1)] = 1
        parts += [follower, count]
    parts.append(np.bincount(past, minlength=SIZE) / 4)
    for lag in range(LAGS):
        symbol, company = np.zeros(SIZE), np.zeros(2 * SIZE)
        if lag <= now:
            symbol[past[now - lag]] = 1
            before = [s for s in range(now - lag) if past[s] == past[now - lag]]
            if before:
                for part, decay in enumerate((SLOW, FAST)):
                    for s in range(before[-1] + 1):
                        company[part * SIZE + past[s]] += decay ** (before[-1] - s)
        parts += [symbol, company]
    return np.concatenate(parts)


def test_features_are_those_of_the_plain_loop() -> None:
    core = Recall(order=ORDER, lags=LAGS, most=MOST, slow=SLOW, fast=FAST).build(Tokens(SIZE), np.random.default_rng(0))
    tokens = np.random.default_rng(1).integers(SIZE, size=(17, 6))
    features = np.asarray(core.unroll(core.start(6, 17), tokens)[1])
    assert features.shape == (17, 6, core.width)
    for column in range(6):
        for time in range(17):
            expected = looked_up(tokens[: time + 1, column].tolist())
            assert np.allclose(features[time, column], expected, atol=1e-5), (time, column)


def test_it_reads_symbols_only() -> None:
    with pytest.raises(UsageError, match="symbols only"):
        Recall().build(Reals(2), np.random.default_rng(0))


def test_it_answers_questions_that_no_shortcut_answers() -> None:
    (outcome,) = examine(Setting("language/qa", "recall", protocol={"sequences": 400}), [0])
    assert outcome.record.reason == ""
    assert outcome.record.scores["accuracy"]["values"]["final-accuracy"] > 0.95
