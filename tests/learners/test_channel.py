"""Pairs that learn through their channel: what they are shown while they learn is what the world
shows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Rehearsal
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import spaces_of
from quickstudy.cores.recurrent import GRU
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.acquisition_probe import acquired
from quickstudy.learners.core_with_training import Trained
from quickstudy.learners.emergent_channel import Channel
from quickstudy.tasks.games.pair import Pair
from quickstudy.tasks.games.play import LISTENER, SPEAKER

TASK = Pair(samples=1, fewest=2, most=2)
STREAMS = [Streams(3, "pair", 0)]


def begun(**settings: Any) -> tuple[Any, Rehearsal]:
    brief = Brief(*spaces_of(TASK), "reward", TASK.horizon, 320)
    pupil = Trained(GRU(units=8), Channel(**{"batch": 32, "games": 12, **settings})).begin(
        brief, STREAMS
    )
    return pupil, Rehearsal(TASK.world(), jnp.stack([stream.jax("data") for stream in STREAMS]))


def test_what_is_learned_from_is_what_is_seen() -> None:
    world = TASK.world()
    (episode, standing), seen = eqx.filter_jit(world.reset)(jax.random.key(1))
    rng, step = np.random.default_rng(0), eqx.filter_jit(world.step)
    state, games = (episode, standing), 3
    query = np.arange(games) >= int(episode.support)
    said = rng.integers(1, 7, size=(games, 3))
    heard = np.asarray(episode.renamed)[np.arange(3), said]
    tokens, nothing = jax.nn.one_hot(heard, 7), jnp.zeros((games, 3, 7))
    own, others = episode.speaker[:games], episode.listener[:games]
    wanted = {
        (0, SPEAKER): world.channel.vectors(own, nothing, query, 0, SPEAKER),
        (1, LISTENER): world.channel.vectors(others, tokens, query, 1, LISTENER),
        (2, LISTENER): world.channel.vectors(own, tokens, query, 2, LISTENER),
    }
    for time in range(3 * games):
        game, turn = divmod(time, 3)
        for role in (SPEAKER, LISTENER):
            if (turn, role) in wanted:
                shown = np.asarray(seen)[role] * world.channel.shown_to(role)
                np.testing.assert_allclose(
                    shown, wanted[turn, role][game], atol=1e-6, err_msg=f"{turn} {role}"
                )
        message = {str(place): jnp.full(2, said[game, place]) for place in range(3)}
        state, happened = step(
            jax.random.key(0), state, {"decision": jnp.zeros(2, jnp.int32), "message": message}
        )
        seen = happened.observation


def test_it_speaks_whole_messages_and_learns() -> None:
    pupil, rehearsal = begun(rate=0.01)
    before = pupil.snapshot()
    pupil.rehearse(rehearsal, 0, 64)
    cost = pupil.cost()[0]
    assert cost.updates == 2
    assert cost.examples > 64 * 3
    played = pupil.perform(rehearsal, 100, 104)
    said = np.stack(
        [np.asarray(played.actions["message"][str(place)]) for place in range(3)], axis=-1
    )
    assert said.min() >= 1
    assert said.max() <= 6
    # It says the same again at the decision and at the feedback.
    steps = np.asarray(played.done).argmax(axis=-1)[0].min() // 3 * 3
    by_game = said[0, :, :steps, SPEAKER].reshape(4, -1, 3, 3)
    assert (by_game == by_game[:, :, :1]).all()
    after = pupil.snapshot().arrays
    assert any(
        (after[name] != array).any() for name, array in before.arrays.items() if "speaker" in name
    )
    pupil.restore(before)
    assert all(
        (pupil.snapshot().arrays[name] == array).all() for name, array in before.arrays.items()
    )


def test_players_are_replaced_in_turn() -> None:
    pupil, rehearsal = begun(generation=1, foretell=1.0, rebuild=1.0)
    parts = []
    for number in range(3):
        pupil.rehearse(rehearsal, 32 * number, 32 * number + 32)
        parts.append(
            {name: array.copy() for name, array in pupil.snapshot().arrays.items() if ".mu" in name}
        )
    # After the first update the listener is a newborn, after the second the speaker: its moments
    # are 0.
    for number, born in ((0, "listener"), (1, "speaker")):
        assert all(not array.any() for name, array in parts[number].items() if born in name)
        other = "speaker" if born == "listener" else "listener"
        assert any(array.any() for name, array in parts[number].items() if other in name)
    pupil.rehearse(rehearsal, 96, 320)  # ten are planned: none is replaced after the seventh
    last = pupil.snapshot().arrays
    for player in ("speaker", "listener"):
        assert any(array.any() for name, array in last.items() if ".mu" in name and player in name)


@pytest.mark.parametrize(("compositional", "low", "high"), [(True, 0.75, 1.0), (False, 0.3, 0.68)])
def test_a_compositional_language_is_acquired_with_ease(
    compositional: bool, low: float, high: float
) -> None:
    task, count = Pair(samples=1, fewest=4, most=4, shots=4), 4
    drawn, rng = (
        task.episodes(STREAMS[0].jax("test"), 0, count, tested=True),
        np.random.default_rng(0),
    )
    names = rng.permutation(6**3)  # of a language in which every meaning has a name of its own
    episode, game = np.nonzero(np.arange(drawn.correct.shape[1]) < drawn.count[:, None])
    target = drawn.target[episode, game]
    whole = names[target @ [16, 4, 1]][:, None] // [36, 6, 1] % 6 + 1
    played = {"speaks_in": episode, "utterances": target + 1 if compositional else whole}
    (right,) = acquired(task, STREAMS, [played], count)
    assert len(right) == (drawn.count - drawn.support).sum()
    assert low < right.mean() < high


def test_it_is_for_pairs_only() -> None:
    brief = replace(Brief(*spaces_of(TASK), "reward", 10, 10), outputs=Tokens(2))
    with pytest.raises(NotApplicable, match="pairs of players"):
        Trained(GRU(units=4), Channel()).begin(brief, STREAMS)
