"""What all meta-referential games share (Denamganaï et al. 2022): parameters, what can be played,
and the world.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Fields, Reals, Space, Tokens
from quickstudy.jax_gateway import jax, jnp
from quickstudy.tasks.games.episodes import Episode
from quickstudy.tasks.games.play import GameWorld, message_space
from quickstudy.tasks.games.recordings import recorded, replayed, table_of
from quickstudy.tasks.games.settings import Rules, Sizes
from quickstudy.tasks.games.spaces import few_enough, grid
from quickstudy.tasks.games.view import view_width

COLUMNS = 16
"""Samples of a value that are drawn even where fewer are shown, so that settings share programs."""


@dataclass(frozen=True)
class GameSpace:
    """Parameters of a game and what follows from them, for any player and number of games.

    Parameters
    ----------
    shots:
        Times that every value is named at least in the support phase; 0 plays all of either pool.
    samples:
        Stimuli that represent one value (O).
    distractors:
        Further stimuli in a game (K).
    dimensions:
        Dimensions of a stimulus.
    fewest:
        Fewest values per dimension; their number is uniform up to `most`.
    most:
        Most values per dimension.
    words:
        Tokens besides the end of a message (V).
    length:
        Tokens of a message (L).
    rounds:
        Rounds of a game (N).
    repeats:
        Times that the support games are played.
    descriptive:
        The target may be missing; otherwise there must be distractors.
    feedback:
        A step after each game shows what the speaker saw.
    renaming:
        Renaming of words per episode: `none`, one `shared` by all positions of a message, or one
        per position (`positions`).
    foils:
        What replaces a missing target. `balanced`: in the query phase another query meaning, first
        those that are still to be targets, and all stimuli of a game have different meanings.
        `mixed`, as published: anything of the episode, so that a listener without the message is
        right in 70 to 85 % of query games (control `blind`), and one that remembers targets in up
        to 93 % (`novelty`).
    strict:
        The target is shown by another sample than the speaker's (published: by any, in one of O
        cases the same).
    query:
        `all` query meanings once, in random order; or `shots`, as published: enough of them for
        `shots`, or where that is impossible the whole pool in order.
    fair:
        All K + 2 decisions are equally likely; published: the target is missing with probability (K
        + 1)/(K + 2).
    observation:
        The speaker sees all stimuli (`full`), or only the target (`partial`).
    unequal:
        How different the sections of an axis may be. It defeats a language of fixed sections.
    warp:
        Axes are bent by random powers up to e to this. It defeats a language of fixed sections.
    held_out:
        Share of structures (numbers of values per dimension) that occur only in tests: round(share
        x structures) of them, the same in all runs.
    tested_most:
        The test has structures with a dimension of more than `most` values, up to this number.
    threshold:
        Odd values that make a meaning one of the query. 2 holds out pairs of values, 3 triples, 1
        (with shots=0) values.
    axes:
        `fixed`; or in every episode `shuffled`, so that token i names any coordinate; `mirrored`,
        where the values of an axis may run downwards; or `both`.
    """

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
    threshold: int = parameter(2, at_least=1, added=True)
    axes: str = parameter("fixed", choices=("fixed", "shuffled", "mirrored", "both"), added=True)

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"foils": "mixed", "strict": False, "query": "shots", "fair": False}
    }
    id: ClassVar[str]
    players: ClassVar[int] = 1
    replies: ClassVar[bool] = False
    speaks: ClassVar[str] = ""
    speaker: ClassVar[Any] = None

    def __post_init__(self) -> None:
        for holds, said in self._needs():
            if not holds:
                raise ValueError(f"cannot be played: needs {said}")

    def _needs(self) -> Iterator[tuple[bool, str]]:
        """What must hold, with its text; after a condition that fails no other is evaluated."""
        largest, named = self._largest, "most" if self.tested_most is None else "tested_most"
        yield self.fewest <= self.most, f"fewest <= most, got {self.fewest} > {self.most}"
        yield largest >= self.most, f"tested_most >= most, got {self.tested_most} < {self.most}"
        yield few_enough(largest, self.dimensions, named)
        yield (
            self.threshold >= 2 or not self.shots,
            (
                f"threshold >= 2 where shots are counted: with {self.threshold} no support stimulus"
                f" has an odd value, and {self.shots} shots of it never come; give shots=0 to play"
                " all of either pool"
            ),
        )
        yield (
            self.query == "all" or self.dimensions > self.threshold or not self.shots,
            (
                f"dimensions >= {self.threshold + 1} where shots are counted in the query phase as"
                f" well: in {self.dimensions} dimensions no query stimulus has an even value, and"
                f" {self.shots} shots of it never come"
            ),
        )
        yield (
            self.descriptive or self.distractors >= 1,
            (
                f"distractors >= 1 where the target is always there, got {self.distractors} < 1:"
                " there is one decision"
            ),
        )
        pools = [self._pool_size(self.fewest, query) for query in (False, True)]
        needed = self.distractors + 1 + self.descriptive
        yield (
            needed <= sum(pools),
            (
                f"distractors + {needed - self.distractors} <= meanings of the smallest space, got"
                f" {needed} > {sum(pools)}"
            ),
        )
        yield pools[1] >= 2, f"2 query meanings or more in the smallest space, got {pools[1]} < 2"
        if self.held_out:
            structures = len(self._all(self.most))
            count = round(self.held_out * structures)
            said = f"round({self.held_out:g} x {structures}) = {count}"
            yield (
                1 <= count < structures,
                f"1 <= round(held_out x structures) < structures, got {said}",
            )

    @property
    def settings_version(self) -> int:
        """2 where structures are held out: their number was rounded in another way before."""
        return 2 if self.held_out else 1

    @property
    def _largest(self) -> int:
        return self.most if self.tested_most is None else self.tested_most

    @property
    def sizes(self) -> Sizes:
        """What shapes depend on. Limits leave one episode in some 100,000 to be hurried."""
        scale = self.dimensions * self._largest / 15
        support = math.ceil((24 + 32 * self.shots) * scale)
        query = self._pool_size(self._largest, True)
        whole, ordered = self.query == "all", self.query == "shots"
        if not self.shots:
            each = self.samples if ordered else 1
            support, query = self._pool_size(self._largest, False) * each, query * each
        elif ordered:
            query = math.ceil((40 + 32 * self.shots) * scale)
        return Sizes(
            self.dimensions,
            self._largest,
            self.distractors,
            self.words,
            self.length,
            self.rounds,
            support,
            query,
            self.repeats,
            max(COLUMNS, self.samples),
            whole if self.shots else 2,
            ordered,
            self.descriptive,
            self.feedback,
            self.speaks,
            self.axes in ("shuffled", "both"),
            self.speaker,
        )

    def rules(self, tested: bool = False) -> Rules:
        """The traced fields, for the training episodes or for the test episodes."""
        choices = self.distractors + 2
        kept = (choices - 1) / choices if self.fair else 1 / choices
        known = self._all(self.most)
        held_out = self._held_out(known)
        structures = [one for one in known if one not in held_out]
        if tested and held_out:
            structures = [one for one in known if one in held_out]
        elif tested and self.tested_most is not None:
            structures = [one for one in self._all(self._largest) if max(one) > self.most]
        drawn = np.array(structures, np.int32)
        arrays = (
            drawn,
            self.shots,
            self.samples,
            np.float32(kept),
            self.foils == "balanced",
            self.strict and self.samples > 1,
            ("none", "shared", "positions").index(self.renaming),
            self.observation == "partial",
            np.float32(self.unequal),
            np.float32(self.warp),
            self.threshold,
            self.axes in ("mirrored", "both"),
        )
        return Rules(*map(jnp.asarray, arrays))

    def _pool_size(self, values: int, query: bool) -> int:
        """Meanings of the support, or of the query, in a space with so many values of every
        dimension.
        """
        odd = (grid(self.dimensions, values) % 2).sum(axis=1)
        return int(((odd >= self.threshold) == query).sum())

    def _all(self, most: int) -> list[tuple[int, ...]]:
        return list(itertools.product(range(self.fewest, most + 1), repeat=self.dimensions))

    def _held_out(self, structures: Sequence[tuple[int, ...]]) -> set[tuple[int, ...]]:
        """The share of them that is held out: those with the least of numbers that belong to
        structures, in any run.
        """
        if not self.held_out:
            return set()
        numbers = {
            one: int(np.random.SeedSequence(list(one)).generate_state(1)[0]) for one in structures
        }
        count = round(self.held_out * len(structures))
        return set(sorted(structures, key=lambda one: (numbers[one], one))[:count])

    @property
    def outputs(self) -> Space:
        """The decision; with two players, of each a decision and a message."""
        decision = Tokens(self.sizes.decisions)
        return (
            decision
            if self.players == 1
            else Fields({"decision": decision, "message": message_space(self.sizes)})
        )

    @property
    def label(self) -> str:
        """As it is typed: the id with all parameters that are not the usual ones."""
        given = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        unusual = ",".join(f"{name}={value}" for name, value, usual in given if value != usual)
        return f"{self.id}:{unusual}" if unusual else self.id


@dataclass(frozen=True)
class MetaGame(GameSpace):
    """Games in episodes, each of which has a space and a language of its own: a world."""

    @property
    def inputs(self) -> Space:
        """An observation as one vector: `quickstudy.tasks.games.view`."""
        return Reals(view_width(self.sizes, self.players))

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
        """Some episodes written down: task, values, renamed, games."""
        drawn = self.episodes(streams.jax("data"), 0, count)
        return [{"task": self.label, **recorded(drawn, number)} for number in range(count)]

    def tables(self, streams: Streams, count: int) -> list[list[tuple[str, ...]]]:
        """The same for people."""
        drawn = self.episodes(streams.jax("data"), 0, count)
        return [table_of(drawn, number, self.length) for number in range(count)]

    def replay(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """A recorded episode played again. Raises UsageError, with the field, for one that does not
        fit.
        """
        return {"steps": replayed(self.sizes, line, self.replies)}

    def episodes(self, key: Any, first: int, count: int, tested: bool = False) -> Episode:
        """Episodes first .. first+count-1 of a key, in NumPy: those that a `Rehearsal` with that
        key has.
        """
        drawn = self.world(tested).drawn(key[None], first + np.arange(count)[None])
        return jax.tree.map(lambda part: np.asarray(part)[0], drawn)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _world(task: MetaGame, tested: bool) -> GameWorld:
    # It is kept, so what it holds must be numbers, not what a program that is just being traced
    # knows of them.
    with jax.ensure_compile_time_eval():
        rules = task.rules(tested)
    return GameWorld(rules, task.sizes, task.players, task.replies, task.inputs, task.outputs)
