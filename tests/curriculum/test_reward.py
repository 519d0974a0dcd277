"""The training by reward: it learns, is kept, and sees as far back as it says."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.learner_spec import choose_learner

BRIEF = Brief(Tokens(4), Tokens(4), "reward", 100, 1000)


def begun(name="gru:units=16,rate=0.02", seed=0):
    return (
        choose_learner(name, "corrected", asked="reward")
        .make(None)
        .begin(BRIEF, [Streams(seed, "x", 0)])
    )


def echoed(pupil, steps, seed=1):
    """The share of steps at which it repeats a symbol, for which it is rewarded."""
    rng, reward, right = np.random.default_rng(seed), 0.0, []
    for step in range(steps):
        seen = int(rng.integers(4))
        done = int(
            pupil.act(np.array([seen]), np.array([reward], np.float32), np.array([step == 0]))[0]
        )
        reward = 1.0 if done == seen else -1.0
        right.append(done == seen)
    return np.mean(right[-200:])


@pytest.mark.parametrize("name", ["rnn:units=16,rate=0.01", "esn:units=40,rate=0.02"])
def test_a_core_learns_to_repeat_what_it_sees(name):
    assert echoed(begun(name), 1500) > 0.6


def test_it_goes_on_from_a_snapshot():
    pupil = begun()
    echoed(pupil, 70)
    kept = pupil.snapshot()
    one = echoed(pupil, 200)
    other = begun(seed=5)
    other.restore(kept)
    other._words = pupil._words
    assert echoed(other, 200) == one
    assert pupil.cost()[0].updates > 0


def test_updates_follow_every_few_steps():
    pupil = begun("gru:units=8,history=16,every=8")
    echoed(pupil, 8 * 3 + 1)
    assert pupil.cost()[0].updates == 3
    assert pupil.cost()[0].examples == 25
