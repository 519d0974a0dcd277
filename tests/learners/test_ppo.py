"""Learning from reward in whole episodes: on a world whose optimum is known, and by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Rehearsal
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.base.task import Turn
from quickstudy.cores.recurrent import GRU
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.core_with_training import Trained
from quickstudy.learners.episodes import Lived
from quickstudy.learners.ppo import PPO, Settings, _advantages
from quickstudy.testing import check_learner
from quickstudy.testing.small_tasks import PureLevers

BRIEF = Brief(Reals(4), Tokens(3), "reward", 4, 100_000)


class Remember(eqx.Module):
    """Shows one of three signs, then nothing for two steps, then asks for it. Reward 1 for the
    sign: optimum 1, and 1/3 for whoever has no memory. What is done before the question brings
    nothing.
    """

    horizon: int = eqx.field(static=True, default=4)
    inputs: Any = eqx.field(static=True, default=BRIEF.inputs)
    outputs: Any = eqx.field(static=True, default=BRIEF.outputs)

    def reset(self, key: Any) -> Any:
        sign = jax.random.randint(key, (), 0, 3)
        return (sign, jnp.zeros((), jnp.int32)), jnp.append(jax.nn.one_hot(sign, 3), 0.0)

    def step(self, key: Any, state: Any, action: Any) -> Any:
        sign, time = state
        asked = time == 3
        right = asked & (action == sign)
        seen = jnp.array([0.0, 0.0, 0.0, 1.0]) * (time == 2)
        return (sign, time + 1), Turn(
            seen, right.astype(jnp.float32), asked, {"right": right, "asked": asked}
        )


def score(pupil: Any, rehearsal: Any) -> Any:
    info = pupil.perform(rehearsal, 10_000, 10_256).info
    return (
        np.asarray(info["right"]).sum(axis=(1, 2)) / np.asarray(info["asked"]).sum(axis=(1, 2))
    ).tolist()


def begun(lanes: int, **settings: Any) -> tuple[Any, Rehearsal]:
    streams = [Streams(7, "remember", lane) for lane in range(lanes)]
    training = PPO(**{"batch": 64, "parts": 1, "epochs": 2, "rate": 0.01, **settings})
    keys = jnp.stack([stream.jax("data") for stream in streams])
    return training.begin(GRU(units=12), BRIEF, streams), Rehearsal(Remember(), keys)


@pytest.mark.parametrize("discount", [0.0, 0.9])
def test_reaches_the_optimum_of_a_world_that_needs_memory(discount: float) -> None:
    pupil, rehearsal = begun(1, discount=discount)
    assert score(pupil, rehearsal)[0] < 0.6
    pupil.rehearse(rehearsal, 0, 64 * 60)
    assert score(pupil, rehearsal)[0] > 0.97
    cost = pupil.cost()[0]
    assert (cost.examples, cost.updates) == (4 * 64 * 60, 120)


def test_lanes_and_snapshots_and_pieces() -> None:
    pupil, rehearsal = begun(2)
    pupil.rehearse(rehearsal, 0, 128)
    kept = pupil.snapshot()
    first = pupil.rehearse(rehearsal, 128, 256)
    other, _ = begun(2)
    other.restore(kept)
    again = other.rehearse(rehearsal, 128, 256)
    for one, two in zip(jax.tree.leaves(first), jax.tree.leaves(again), strict=True):
        np.testing.assert_array_equal(one, two)
    for name, array in pupil.snapshot().arrays.items():
        np.testing.assert_array_equal(array, other.snapshot().arrays[name])
    assert pupil.lanes == 2
    assert len(score(pupil, rehearsal)) == 2


def test_a_short_batch_is_played_and_not_learned_from() -> None:
    pupil, rehearsal = begun(1)
    before = pupil.snapshot().arrays
    pupil.rehearse(rehearsal, 0, 63)
    after = pupil.snapshot().arrays
    assert pupil.cost()[0].updates == 0
    assert pupil.cost()[0].examples == 63 * 4
    assert all((before[name] == after[name]).all() for name in before if name != "steps")


def test_advantages_by_hand() -> None:
    # Two episodes, the second over after two of three steps.
    expected = jnp.array([[1.0, 2.0], [0.5, 1.0], [2.0, 9.0]])
    rewards = jnp.array([[0.0, 1.0], [1.0, 3.0], [4.0, 7.0]])
    mask = jnp.array([[1, 1], [1, 1], [1, 0]], bool)
    lived = Lived(None, None, None, expected, rewards, None, None)
    settings = Settings(*map(jnp.float32, (0.1, 1, 0, 0.5, 0.5, 0.2, 0)))
    last = 4 - 2.0
    middle = 1 + 0.5 * 2 - 0.5 + 0.25 * last
    first = 0 + 0.5 * 0.5 - 1 + 0.25 * middle
    short = 3 - 1.0
    wanted = [[first, 1 + 0.5 * 1 - 2 + 0.25 * short], [middle, short], [last, 0.0]]
    np.testing.assert_allclose(_advantages(lived, mask, settings), wanted, rtol=1e-6)


def test_keeps_the_promises_of_who_rehearses() -> None:
    findings = check_learner("gru+ppo:units=6,batch=8,parts=1", PureLevers())
    assert [str(finding) for finding in findings if not finding.ok] == []


def test_is_not_for_right_answers() -> None:
    with pytest.raises(NotApplicable, match="not from right answers"):
        Trained(GRU(units=4), PPO()).begin(
            replace(BRIEF, loss="cross-entropy"), [Streams(0, "", 0)]
        )


def test_a_batch_that_cannot_be_parted() -> None:
    with pytest.raises(ValueError, match="multiple of parts"):
        PPO(batch=10, parts=4)
