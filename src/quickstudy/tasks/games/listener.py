"""Meta-referential games (Denamganaï et al. 2022): the listener beside a speaker by rule, and both players."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import task
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Fields, Reals, Space, Tokens
from quickstudy.gateway import device_kind, jax, jnp, key_from_words
from quickstudy.tasks.games.episodes import Episode, Rules, Sizes, draw_episode
from quickstudy.tasks.games.play import GameWorld, as_vector, begin, message_space, observe, spoken, view_width
from quickstudy.tasks.games.recordings import recorded, replayed, table_of
from quickstudy.tasks.games.spaces import grid
from quickstudy.tasks.worlds import episode_keys

COLUMNS = 16
"""Samples of a value that are drawn even where fewer are shown, so that settings share programs."""
TOGETHER = {"cpu": 256}
"""Episodes that one call draws; on an accelerator 2,048."""


@dataclass(frozen=True)
class MetaGame:
    """What both tasks share; their docstrings have the parameters."""

    shots: int = parameter(1, at_least=0, at_most=16)
    samples: int = parameter(1, at_least=1, at_most=256)
    distractors: int = parameter(0, at_least=0, at_most=16)
    dimensions: int = parameter(3, at_least=2, at_most=6)
    fewest: int = parameter(2, at_least=2)
    most: int = parameter(5, at_least=2, at_most=20)
    words: int = parameter(6, at_least=1)
    length: int = parameter(3, at_least=1)
    rounds: int = parameter(1, at_least=1)
    repeats: int = parameter(1, at_least=1, at_most=8)
    descriptive: bool = True
    feedback: bool = True
    renaming: str = parameter("shared", choices=("none", "shared", "positions"))
    foils: str = parameter("balanced", choices=("balanced", "mixed"))
    strict: bool = True
    query: str = parameter("all", choices=("all", "shots"))
    fair: bool = True
    observation: str = parameter("full", choices=("full", "partial"))
    unequal: float = parameter(0.0, at_least=0, at_most=0.9)
    warp: float = parameter(0.0, at_least=0, at_most=2)
    held_out: float = parameter(0.0, at_least=0, at_most=0.9)
    tested_most: int | None = parameter(None, at_least=2, at_most=20)

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"foils": "mixed", "strict": False, "query": "shots", "fair": False}
    }
    players: ClassVar[int] = 1
    replies: ClassVar[bool] = False
    speaks: ClassVar[str] = ""

    def __post_init__(self) -> None:
        largest, smallest = self._largest, self.fewest
        pools = [_pool_size((smallest,) * self.dimensions, query) for query in (False, True)]
        needed = self.distractors + 1 + self.descriptive
        held_out = sum(self._is_held_out(one) for one in self._all(self.most)) if self.held_out else 1
        for holds, said in (
            (self.fewest <= self.most, f"fewest <= most, got {self.fewest} > {self.most}"),
            (largest >= self.most, f"tested_most >= most, got {self.tested_most} < {self.most}"),
            (
                self.query == "all" or self.dimensions >= 3 or not self.shots,
                f"dimensions >= 3 where shots are counted in the query phase as well: in {self.dimensions} dimensions "
                f"no query stimulus has an even value, and {self.shots} shots of it never come",
            ),
            (
                needed <= sum(pools) and pools[1] >= 2,
                f"distractors + {needed - self.distractors} <= {sum(pools)}, the meanings of the smallest space, with "
                f"2 of them for the query, got {needed} and {pools[1]}",
            ),
            (
                0 < held_out < len(self._all(self.most)) or not self.held_out,
                f"some structures held out and some left, got {held_out} of {len(self._all(self.most))}",
            ),
        ):
            if not holds:
                raise ValueError(f"cannot be played: needs {said}")

    @property
    def _largest(self) -> int:
        return max(self.most, self.tested_most or 0) if self.tested_most is None else self.tested_most

    @property
    def sizes(self) -> Sizes:
        """What shapes depend on. Limits leave one episode in some 100,000 to be hurried."""
        scale = self.dimensions * self._largest / 15
        support = math.ceil((24 + 32 * self.shots) * scale)
        query = _pool_size((self._largest,) * self.dimensions, True)
        whole, ordered = self.query == "all", self.query == "shots"
        if not self.shots:
            each = self.samples if ordered else 1
            support, query = _pool_size((self._largest,) * self.dimensions, False) * each, query * each
        elif ordered:
            query = math.ceil((40 + 32 * self.shots) * scale)
        return Sizes(
            self.dimensions, self._largest, self.distractors, self.words, self.length, self.rounds, support, query,
            self.repeats, max(COLUMNS, self.samples), whole if self.shots else 2, ordered, self.descriptive,
            self.feedback, self.speaks,
        )  # fmt: skip

    def rules(self, tested: bool = False) -> Rules:
        """What is traced, of the episodes that are learned from or of those that are tested on."""
        choices = self.distractors + 2
        kept = (choices - 1) / choices if self.fair else 1 / choices
        known = self._all(self.most)
        structures = [one for one in known if not self._is_held_out(one)]
        if tested and self.held_out:
            structures = [one for one in known if self._is_held_out(one)]
        elif tested and self.tested_most is not None:
            structures = [one for one in self._all(self._largest) if max(one) > self.most]
        drawn = np.array(structures, np.int32)
        arrays = (
            drawn, self.shots, self.samples, np.float32(kept), self.foils == "balanced",
            self.strict and self.samples > 1, ("none", "shared", "positions").index(self.renaming),
            self.observation == "partial", np.float32(self.unequal), np.float32(self.warp), 2,
        )  # fmt: skip
        return Rules(*map(jnp.asarray, arrays))

    def _all(self, most: int) -> list[tuple[int, ...]]:
        return list(itertools.product(range(self.fewest, most + 1), repeat=self.dimensions))

    def _is_held_out(self, structure: tuple[int, ...]) -> bool:
        """By a number that belongs to the structure, the same in all runs."""
        word = np.random.SeedSequence(list(structure)).generate_state(1)[0]
        return bool(word / 2**32 < self.held_out)

    @property
    def inputs(self) -> Space:
        """An observation as one vector: `quickstudy.tasks.games.play.as_vector`."""
        return Reals(view_width(self.sizes, self.players))

    @property
    def outputs(self) -> Space:
        """The decision; with two players, of each a decision and a message."""
        decision = Tokens(self.sizes.decisions)
        return decision if self.players == 1 else Fields({"decision": decision, "message": message_space(self.sizes)})

    @property
    def horizon(self) -> int:
        """Steps of the longest episode."""
        return self.sizes.horizon

    def world(self, tested: bool = False) -> GameWorld:
        """The pure world of episodes to learn from, or of those that are tested on."""
        return _world(self, tested)

    def reset(self, key: Any) -> tuple[Any, Any]:
        """A fresh episode."""
        return self.world().reset(key)

    def step(self, key: Any, state: Any, action: Any) -> tuple[Any, Any]:
        """One step."""
        return self.world().step(key, state, action)

    def recordings(self, streams: Streams, count: int) -> list[dict[str, Any]]:
        """Some episodes written down: values, renamed, games."""
        drawn = self.episodes(streams.jax("data"), 0, count)
        return [recorded(drawn, number) for number in range(count)]

    def tables(self, streams: Streams, count: int) -> list[list[tuple[str, ...]]]:
        """The same for people."""
        drawn = self.episodes(streams.jax("data"), 0, count)
        return [table_of(drawn, number, self.length) for number in range(count)]

    def replay(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """A recorded episode played again. Raises UsageError, with the field, for one that does not fit."""
        return {"steps": replayed(self.sizes, line)}

    @classmethod
    def fitting(cls, line: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that a recording without a task must have been made with."""
        found: dict[str, Any] = {}
        values, renamed, games = (line.get(name) for name in ("values", "renamed", "games"))
        if isinstance(values, list) and values:
            found["dimensions"] = len(values)
            if isinstance(games, list) and games and isinstance(games[0], Mapping):
                stimuli = np.size(np.asarray(games[0].get("listener", ()), dtype=object))
                found["distractors"] = max(stimuli // len(values) - 1, 0)
        if isinstance(renamed, list) and renamed:
            found["words"] = len(renamed[0] if isinstance(renamed[0], list) else renamed) - 1
        return found

    def episodes(self, key: Any, first: int, count: int, tested: bool = False) -> Episode:
        """Episodes first .. first+count-1 of a key, in NumPy: those that a `Rehearsal` with that key has."""
        world, rows = self.world(tested), []
        for start in range(first, first + count, together()):
            numbers = start + np.arange(together())
            rows.append(jax.tree.map(np.asarray, _drawn(world.sizes, world.rules, key, numbers)))
        return jax.tree.map(lambda *parts: np.concatenate(parts)[:count], *rows)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _world(task: MetaGame, tested: bool) -> GameWorld:
    return GameWorld(task.rules(tested), task.sizes, task.players, task.replies, task.inputs, task.outputs)


def together() -> int:
    """Episodes that one call draws."""
    return TOGETHER.get(device_kind(), 2048)


def _pool_size(structure: tuple[int, ...], query: bool) -> int:
    """Meanings of a space that are of the support, or of the query."""
    odd = (grid(len(structure), max(structure)) % 2).sum(axis=1)
    there = (grid(len(structure), max(structure)) < np.array(structure)).all(axis=1)
    return int((there & ((odd >= 2) == query)).sum())


@task(
    "games/listener",
    version=1,
    controls=["uniform-decision", "blind", "always-none", "binning"],
    oracle="nearest-neighbour",
)
@dataclass(frozen=True)
class Listener(MetaGame):
    """Meta-referential game, the listener's part: understand a language from a few names, then names of new things.

    An episode has a fresh space of meanings and a fresh renaming of the words. In each game a speaker by rule sees a
    target and names it; the listener sees stimuli and must say which of them is meant, or none; then it sees what the
    speaker saw. In the support phase every value of every dimension is named at least `shots` times; in the query phase
    targets are new combinations of the same values (at least two odd ones, counted from 0).

    Sees: one vector a step: its stimuli, the message one-hot, support or query, result and reward of the last game, the
    round. Answers: at the last round of every game, the place of the target, or the number behind all places. Scored:
    decisions of the query phase. Chance: 1/(distractors + 2). Ceiling: about 1, by the oracle. Reward: 1; for a wrong
    decision 0 in the support phase and -2 in the query phase.

    As a sequence with questions (`sample`), a game is its rounds 1 .. N and the feedback: round 0 shows nothing that
    the next does not, and of results nothing is shown, since there are no decisions to come out well or badly.

    shots: times that a value is named at least; 0: all of either pool is played. repeats: times that the support games
    are played. samples: stimuli that stand for one value (O). distractors: further stimuli of
    a game (K). dimensions; fewest, most: values of a dimension, uniform between them. words: tokens besides the end of
    a message (V). length: tokens of a message (L). rounds: N. descriptive: the target may be missing. feedback: the
    step that shows what the speaker saw. renaming: of words, `none`, one `shared` by all positions of a message, or one
    for each of the `positions`. language: `posdis`, token i names the value of dimension i; `bosdis`, every value has a
    token of its own and order says nothing; `holistic`, every meaning has a name of its own; `quantised`, token i says
    where coordinate i lies, see `games/pair`. observation: the speaker sees all stimuli, or with `partial` the target.

    foils: `balanced`: what is shown in the place of the target has, in the query phase, a query meaning, and all
    stimuli of a game mean different things; `mixed`, as published: anything picked in the episode, so that a listener
    that hears nothing is right in 70 to 85 % of query games. strict: a target that is shown is shown by another sample
    than the speaker's (published: by any, the same in one of O). query: `all` query meanings once, in random order, or
    as published enough of them for `shots`, or where that cannot be the whole pool in order. fair: all K + 2 decisions
    are equally likely; published: the target is missing with probability (K+1)/(K+2).

    unequal: how different the sections of an axis may be. warp: axes are bent by random powers up to e to this. Both
    defeat a language of fixed sections. held_out: share of structures (values by dimension) that are only tested on.
    tested_most: the test has structures with a dimension of more than `most` values, up to so many.

    Source: Denamganaï, Missaoui and Walker 2022. Departures: where the original raises, stimuli are topped up from the
    pool; decisions without feedback are booked in their own phase; a phase is at most about three times as long as
    usual, which the original reaches in one episode of 100,000.
    """

    language: str = parameter("posdis", choices=("posdis", "bosdis", "holistic", "quantised"))

    @property
    def speaks(self) -> str:  # type: ignore[override]
        """The language of the world's own speaker."""
        return self.language

    def __post_init__(self) -> None:
        super().__post_init__()
        largest, room = self._largest, self.length + self.rounds - 1
        names = {
            "posdis": (self.words >= largest, f"words >= most values of a dimension, got {self.words} < {largest}"),
            "bosdis": (
                self.words >= self.dimensions * largest,
                f"words >= dimensions x most values, got {self.words} < {self.dimensions * largest}",
            ),
            "holistic": (
                self.words**self.length >= largest**self.dimensions,
                f"words^length >= most^dimensions, got {self.words**self.length} < {largest**self.dimensions}",
            ),
            "quantised": (True, ""),
        }
        enough, said = names[self.language]
        if not enough:
            raise ValueError(f"the vocabulary cannot name every value: needs {said}")
        if self.language != "holistic" and room < self.dimensions:
            raise ValueError(
                f"messages are too short: needs length + rounds - 1 >= dimensions, got {room} < {self.dimensions}"
            )

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """Whole episodes as sequences."""
        return self.examples(key_from_words(rng.integers(2**32, size=2, dtype=np.uint64)), 0, count)

    def lesson(self, streams: Streams, first: int, count: int) -> Examples:
        """Episodes to learn from, by their numbers."""
        return self.lessons([streams], first, count)[0]

    def lessons(self, streams: Sequence[Streams], first: int, count: int) -> list[Examples]:
        """Episodes to learn from, of several lanes; inputs stay on the device, where they were drawn."""
        keys = jnp.stack([stream.jax("data") for stream in streams])
        return [examples for examples, _ in self._sequences(keys, first, count, False)]

    def exam(self, streams: Streams, count: int) -> tuple[Examples, dict[str, Any]]:
        """Episodes to be tested on, and what is known of every question: episode, game, query, foil."""
        return self.exams([streams], count)[0]

    def exams(self, streams: Sequence[Streams], count: int) -> list[tuple[Examples, dict[str, Any]]]:
        """The same of several lanes."""
        keys, found = jnp.stack([stream.jax("test") for stream in streams]), []
        for examples, (support, foil) in self._sequences(keys, 0, count, True):
            games = examples.lengths // (self.rounds + self.feedback)
            episode, game = np.nonzero(np.arange(foil.shape[1]) < games[:, None])
            known = {"episode": episode, "game": game, "query": game >= support[episode]}
            found.append((_compact(examples), {**known, "foil": foil[episode, game]}))
        return found

    def payoffs(self, examples: Examples) -> Examples:
        """The same, with what every decision would bring in the place of the right one: (time, example, decision)."""
        sizes = self.sizes
        place = (sizes.distractors + 1) * sizes.dimensions + sizes.length * (sizes.words + 1) + 1
        query = np.asarray(examples.inputs[..., place])[..., None] > 0
        right = np.arange(sizes.decisions) == np.asarray(examples.targets)[..., None]
        brought = np.where(right, 1.0, np.where(query, -2.0, 0.0)).astype(np.float32)
        return replace(examples, targets=brought)

    def steps(self, examples: Examples) -> int:
        """Steps that the episodes take in the world."""
        games = examples.lengths // (self.rounds + self.feedback)
        return int((self.sizes.turns * games - self.feedback).sum())

    def examples(self, key: Any, first: int, count: int, tested: bool = False) -> Examples:
        """The episodes of `episodes`, as sequences."""
        return _compact(self._sequences(key[None], first, count, tested)[0][0])

    def _sequences(self, keys: Any, first: int, count: int, tested: bool) -> list[tuple[Examples, tuple[Any, Any]]]:
        """By key: episodes as sequences, all as long as any can be, with inputs on the device; of every episode its
        support games, and of its games where the foil comes from.
        """
        world, parts = self.world(tested), []
        views = world.sizes.rounds + world.sizes.feedback
        for start in range(first, first + count, together()):
            numbers = start + np.arange(together())
            parts.append(_sequences(world.sizes, world.rules, keys, numbers))
        if device_kind() == "cpu":  # there, these are views
            parts = [tuple(map(np.asarray, part)) for part in parts]
        found = []
        for lane in range(len(keys)):
            own = [[part[field][lane] for part in parts] for field in range(5)]
            inputs = own[0][0] if len(parts) == 1 else _joined(own[0])
            targets, lengths, support, foil = (
                np.concatenate([np.asarray(part) for part in own[field]], axis=axis)[
                    (slice(None),) * axis + (slice(count),)
                ]
                for field, axis in ((1, 1), (2, 0), (3, 0), (4, 0))
            )
            times = np.arange(len(inputs))[:, None]
            asked = (times % views == world.sizes.rounds - 1) & (times < lengths)
            examples = Examples(inputs[:, :count], targets, asked, lengths.astype(np.int64))
            found.append((examples, (support, foil)))
        return found


@task("games/pair", version=1, controls=["uniform-pair"], oracle="quantising-pair")
@dataclass(frozen=True)
class Pair(MetaGame):
    """Meta-referential game, both parts: agree on a language within the episode, and name new things in it.

    As `games/listener`, but the speaker is a player too: it sees its stimuli and, as its message, what it said last (or
    with `queries` what the listener has said). Both act at every step by a decision and a message; the speaker's
    message and, at the last round, the listener's decision count. Both are given the same reward. Roles are part of
    what a player sees.

    Scored: decisions of the query phase. Chance: 1/(distractors + 2). Ceiling: 1. The oracle, `quantising-pair`, is a
    rule that uses no symbols of the space at all: it sends coordinates in as many equal sections as there are words,
    and learns the renaming from feedback. It comes to 96 to 99 %, although the renaming was meant to rule it out;
    `unequal`, `warp`, `renaming=positions` and large spaces do.

    queries: the listener's messages reach the speaker. Other parameters, source and departures: `games/listener`.
    """

    samples: int = parameter(4, at_least=1, at_most=256)
    queries: bool = False

    players: ClassVar[int] = 2
    asks: ClassVar[str] = "episodes"
    speaks: ClassVar[str] = "posdis"

    @property
    def replies(self) -> bool:  # type: ignore[override]
        """Whether the speaker reads what the listener says."""
        return self.queries


@partial(jax.jit, static_argnums=0)
def _drawn(sizes: Sizes, rules: Rules, key: Any, numbers: Any) -> Episode:
    return jax.vmap(lambda number: draw_episode(sizes, rules, episode_keys(key, number)[0]))(numbers)


def _joined(parts: Sequence[Any]) -> Any:
    return (np if isinstance(parts[0], np.ndarray) else jnp).concatenate(parts, axis=1)


def _compact(examples: Examples) -> Examples:
    """In NumPy, with no more padding than is needed."""
    return replace(examples, inputs=np.asarray(examples.inputs)).take(np.arange(examples.count))


@partial(jax.jit, static_argnums=0)
def _sequences(sizes: Sizes, rules: Rules, keys: Any, numbers: Any) -> tuple[Any, ...]:
    """Of episodes of these numbers, by key: inputs (lane, time, example, width), targets (lane, time, example), lengths
    and support games (lane, example), foils (lane, example, game).
    """
    views = sizes.rounds + sizes.feedback

    def single(key: Any, number: Any) -> tuple[Any, ...]:
        episode = draw_episode(sizes, rules, episode_keys(key, number)[0])
        start = begin(sizes)

        def view(game: Any, turn: Any) -> Any:
            before = spoken(sizes, episode, start._replace(game=game, turn=turn - 1))
            heard = episode.renamed[jnp.arange(sizes.length), before]
            standing = start._replace(game=game, turn=turn, heard=heard)
            return as_vector(sizes, observe(sizes, episode, standing)[1], turn)

        games, turns = jnp.arange(sizes.games), jnp.arange(1, views + 1)
        inputs = jax.vmap(lambda game: jax.vmap(lambda turn: view(game, turn))(turns))(games)
        inputs = inputs.reshape(sizes.games * views, -1)
        there = jnp.arange(len(inputs)) < episode.count * views
        targets = jnp.repeat(episode.correct, views)
        return jnp.where(there[:, None], inputs, 0.0), targets, episode.count * views, episode.support, episode.foil

    inputs, targets, *rest = jax.vmap(lambda key: jax.vmap(lambda number: single(key, number))(numbers))(keys)
    return jnp.swapaxes(inputs, 1, 2), jnp.swapaxes(targets, 1, 2), *rest
