"""Playing an episode that was drawn: who sees what at which step, when a decision counts, what it
brings.

A game has rounds 0 .. N-1, in which the speaker talks, round N, in which the listener decides, and
with feedback one more step, in which the listener sees what the speaker saw. Messages arrive one
step late.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.spaces import Fields, Tokens
from quickstudy.base.task import Turn
from quickstudy.jax_gateway import device_kind, eqx, jax, jnp
from quickstudy.tasks.games.episodes import (
    Episode,
    Games,
    Spaces,
    draw_episode,
    draw_episodes,
    draw_games,
)
from quickstudy.tasks.games.settings import Rules, Sizes
from quickstudy.tasks.games.slots import Row
from quickstudy.tasks.games.view import Channel, as_vector
from quickstudy.tasks.worlds import episode_keys

SPEAKER, LISTENER = 0, 1
TOGETHER = {"cpu": 256}
"""Episodes that one call draws; on an accelerator 2,048."""
KEYS = (
    "stimulus",
    "communication_channel",
    "mode_id",
    "previous_game_result",
    "previous_game_reward",
)
"""What a player observes, by the names of the original."""


class Standing(NamedTuple):
    """The state of an episode. game; turn: the round, and after the last the feedback. heard:
    tokens that the listener reads now; read: those that the speaker does. result: (failure,
    success) of the last game; reward: of its decision.
    """

    game: Any
    turn: Any
    heard: Any
    read: Any
    result: Any
    reward: Any
    over: Any


def begin(sizes: Sizes) -> Standing:
    """Before the first message."""
    silence = jnp.zeros(sizes.length, jnp.int32)
    none = jnp.zeros((), jnp.int32)
    return Standing(none, none, silence, silence, jnp.zeros(2), jnp.zeros(()), jnp.zeros((), bool))


def round_of(sizes: Sizes, standing: Standing) -> Any:
    """0 .. N, and -1 at the feedback."""
    return jnp.where(standing.turn > sizes.rounds, -1, standing.turn)


def observe(
    sizes: Sizes, episode: Episode, standing: Standing
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What speaker and listener see, by the original's keys, without its batch axis of 1."""
    own, others = (
        episode.speaker[standing.game].reshape(-1),
        episode.listener[standing.game].reshape(-1),
    )
    query = standing.game >= episode.support
    common = {
        "mode_id": jnp.stack([~query, query]).astype(jnp.int32),
        "previous_game_result": standing.result,
        "previous_game_reward": standing.reward[None],
    }
    return (
        {"stimulus": own, "communication_channel": standing.read, **common},
        {
            "stimulus": jnp.where(standing.turn > sizes.rounds, own, others),
            "communication_channel": standing.heard,
            **common,
        },
    )


def proceed(
    sizes: Sizes,
    episode: Episode,
    standing: Standing,
    message: Any,
    decision: Any,
    reply: Any = None,
) -> tuple[Standing, Any, dict[str, Any]]:
    """One step: the standing after it, the reward, and what a protocol may log of the decision.

    message: (position,) tokens of the speaker; reply: those of the listener, where it may answer.
    What does not matter at this step is ignored; tokens after the first 0 are 0.
    """
    message = ended(message)
    position = jnp.arange(sizes.length)
    read = message
    if reply is not None:  # through both permutations, the other way
        token = ended(reply)[:, None]
        read = jnp.argmax(episode.renamed == token, axis=1).astype(jnp.int32)
    query = standing.game >= episode.support
    decides = (standing.turn == sizes.rounds) & ~standing.over
    right = decision == episode.correct[standing.game]
    reward = jnp.where(decides, jnp.where(right, 1.0, jnp.where(query, -2.0, 0.0)), 0.0)
    last_turn = standing.turn == sizes.turns - 1
    last_game = standing.game + 1 >= episode.count
    # With feedback an episode ends when the last feedback is seen, without it when the last
    # decision is made.
    over = standing.over | (last_game & decides)
    on = last_turn & ~last_game
    after = Standing(
        jnp.where(on, standing.game + 1, standing.game),
        jnp.where(on, 0, jnp.minimum(standing.turn + 1, sizes.turns - 1)),
        episode.renamed[position, message],
        read,
        jnp.where(
            decides, jnp.stack([~right, right]).astype(standing.result.dtype), standing.result
        ),
        jnp.where(decides, reward, standing.reward).astype(standing.reward.dtype),
        over,
    )
    info = {
        "decided": decides,
        "right": right & decides,
        "query": query,
        "foil": episode.foil[standing.game],
        "game": standing.game,
        "target": episode.target[standing.game],
        "message": message,
        "talks": standing.turn == sizes.rounds - 1,
    }
    kept = jax.tree.map(
        lambda new, old: jnp.where(standing.over, old, new).astype(old.dtype), after, standing
    )
    return kept, reward, info


def ended(message: Any) -> Any:
    """A message with nothing after its end, which is the first 0.

    >>> ended(jnp.array([2, 0, 3])).tolist()
    [2, 0, 0]
    """
    return jnp.where(jnp.cumprod(message != 0) > 0, message, 0).astype(jnp.int32)


def spoken(sizes: Sizes, episode: Episode, standing: Standing) -> Any:
    """The message of the world's own speaker at this step: its message, or, where that is too long,
    at round r what there is room for from token r on, with 0 after the last; at the decision its
    last message; nothing at the feedback.
    """
    message = episode.message[standing.game]
    first = jnp.minimum(standing.turn, sizes.rounds - 1) if sizes.in_windows else 0
    window = jax.lax.dynamic_slice(jnp.pad(message, (0, sizes.length)), (first,), (sizes.length,))
    return jnp.where(standing.turn > sizes.rounds, 0, window)


def message_space(sizes: Sizes) -> Fields:
    """A token for every position."""
    return Fields({str(place): Tokens(sizes.words + 1) for place in range(sizes.length)})


class GameWorld(eqx.Module):
    """Episodes as a pure world; `inputs` and `outputs` are those of the task. Rules are traced:
    worlds that differ in them alone share programs.

    players: 1, the listener with the world's own speaker, whose action is its decision; or 2,
    speaker and listener, each with a decision and a message. replies: the speaker reads what the
    listener sends, else its own last message.
    """

    rules: Rules
    sizes: Sizes = eqx.field(static=True)
    players: int = eqx.field(static=True)
    replies: bool = eqx.field(static=True)
    inputs: Any = eqx.field(static=True)
    outputs: Any = eqx.field(static=True)

    @property
    def horizon(self) -> int:
        """Steps of the longest episode."""
        return self.sizes.horizon

    @property
    def channel(self) -> Channel | None:
        """Where a speaker sends one message, and the listener then sees what it was about."""
        one_way = self.players == 2 and self.sizes.rounds == 1 and self.sizes.feedback
        return Channel(self.sizes) if one_way else None

    def reset(self, key: Any) -> tuple[Any, Any]:
        """A fresh episode."""
        return self.started(draw_episode(self.sizes, self.rules, key))

    def pack(self, keys: Any) -> tuple[Spaces, Games]:
        """The games of the episodes of these keys, one after another."""
        return draw_games(self.sizes, self.rules, keys)

    def unpack(self, block: tuple[Spaces, Games]) -> tuple[Row, Any]:
        """A world that plays them in a row: each episode would else have to be as long as the
        longest can be, and be carried from step to step.
        """
        row = Row(self, *block)
        return row, row.begun()

    def lengths(self, block: tuple[Spaces, Games]) -> Any:
        """Games of every episode."""
        return block[0].count

    def drawn(self, keys: Any, numbers: Any) -> Episode:
        """Episodes of these numbers (lane, episode), of the lanes' keys. To compile this takes
        longer than all else of a game: those who play and those who read sequences draw by one
        program, so many at a time.
        """
        count, size = numbers.shape[1], together()
        numbers = np.pad(np.asarray(numbers), ((0, 0), (0, -count % size)), mode="edge")
        parts: list[Episode] = [
            _drawn(self.sizes, self.rules, keys, numbers[:, first : first + size])
            for first in range(0, count, size)
        ]
        if numbers.shape[1] == count == size:  # it stays where it was drawn
            return parts[0]
        joined: Episode = jax.tree.map(
            lambda *part: np.concatenate(part, axis=1)[:, :count], *parts
        )
        return joined

    def standing(self) -> Standing:
        """Before the first message."""
        return begin(self.sizes)

    def started(self, episode: Episode) -> tuple[Any, Any]:
        """An episode that was drawn, from its beginning."""
        standing = self.standing()
        return (episode, standing), self.seen(episode, standing)

    def seen(self, episode: Episode, standing: Standing) -> Any:
        """The observation, with the players in front where there are two."""
        speaker, listener = observe(self.sizes, episode, standing)
        if self.players == 1:
            return as_vector(self.sizes, listener, standing.turn)
        both = [
            as_vector(self.sizes, view, standing.turn, role)
            for role, view in enumerate((speaker, listener))
        ]
        return jnp.stack(both)

    def acted(
        self, episode: Episode, standing: Standing, action: Any
    ) -> tuple[Standing, Any, dict[str, Any]]:
        """Where an action leads, the reward of every player, and what may be logged."""
        reply = None
        if self.players == 1:
            message, decision = spoken(self.sizes, episode, standing), action
        else:
            decision = action["decision"][LISTENER]
            said = jnp.stack(
                [action["message"][str(place)] for place in range(self.sizes.length)], axis=-1
            )
            message, reply = said[SPEAKER], said[LISTENER] if self.replies else None
        standing, reward, info = proceed(self.sizes, episode, standing, message, decision, reply)
        return standing, reward if self.players == 1 else jnp.stack([reward, reward]), info

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Turn]:
        """One step of the episode; nothing is drawn."""
        episode, standing = state
        standing, rewards, info = self.acted(episode, standing, action)
        return (episode, standing), Turn(self.seen(episode, standing), rewards, standing.over, info)


def together() -> int:
    """Episodes that one call draws."""
    return TOGETHER.get(device_kind(), 2048)


def in_parts(draw: Callable[[Any], Any], first: int, count: int) -> Any:
    """What numbers first .. first+count-1 give, in NumPy: drawn so many in a call, whose arrays
    have them in front.
    """
    starts = range(first, first + count, together())
    parts = [jax.tree.map(np.asarray, draw(start + np.arange(together()))) for start in starts]
    return jax.tree.map(lambda *rows: np.concatenate(rows)[:count], *parts)


@partial(jax.jit, static_argnums=0)
def _drawn(sizes: Sizes, rules: Rules, keys: Any, numbers: Any) -> Episode:
    own = jax.vmap(
        lambda key, numbers: jax.vmap(lambda number: episode_keys(key, number)[0])(numbers)
    )(keys, numbers)
    found = draw_episodes(sizes, rules, own.reshape(-1))
    return jax.tree.map(lambda part: part.reshape(*own.shape, *part.shape[1:]), found)  # type: ignore[no-any-return]
