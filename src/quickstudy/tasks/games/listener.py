"""The listener's part of meta-referential games, as a world and as sequences with questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import device_kind, jax, jnp, key_from_words
from quickstudy.tasks.games.episodes import Episode
from quickstudy.tasks.games.meta import GameSpace, MetaGame
from quickstudy.tasks.games.play import begin, observe, spoken, together
from quickstudy.tasks.games.settings import Sizes
from quickstudy.tasks.games.view import as_vector, decode


@dataclass(frozen=True)
class Named(GameSpace):
    """Games with a rule-based speaker, and the language that it speaks.

    Parameters
    ----------
    language:
        `posdis`: token i names the value of dimension i. `bosdis`: every value has its own token,
        in any order. `holistic`: every meaning has its own name. `quantised`: token i is the
        section that coordinate i lies in, as in `games/pair`.
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
            "posdis": (
                self.words >= largest,
                f"words >= most values of a dimension, got {self.words} < {largest}",
            ),
            "bosdis": (
                self.words >= self.dimensions * largest,
                (
                    f"words >= dimensions x most values, got {self.words} <"
                    f" {self.dimensions * largest}"
                ),
            ),
            "holistic": (
                self.words**self.length >= largest**self.dimensions,
                (
                    f"words^length >= most^dimensions, got {self.words**self.length} <"
                    f" {largest**self.dimensions}"
                ),
            ),
            "quantised": (True, ""),
        }
        enough, said = names[self.language]
        if not enough:
            raise ValueError(f"the vocabulary cannot name every value: needs {said}")
        if self.language != "holistic" and room < self.dimensions:
            raise ValueError(
                f"messages are too short: needs length + rounds - 1 >= dimensions, got {room} <"
                f" {self.dimensions}"
            )


@dataclass(frozen=True)
class ListenerGame(MetaGame):
    """The listener's part with any speaker by rule, as a world and as sequences with questions."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """Whole episodes as sequences."""
        return self.examples(key_from_words(rng.integers(2**32, size=2, dtype=np.uint64)), 0, count)

    def lesson(self, streams: Streams, first: int, count: int) -> Examples:
        """Episodes to learn from, by their numbers."""
        return self.lessons([streams], first, count)[0]

    def lessons(self, streams: Sequence[Streams], first: int, count: int) -> list[Examples]:
        """Episodes to learn from, of several lanes; inputs stay on the device, where they were
        drawn.
        """
        keys = jnp.stack([stream.jax("data") for stream in streams])
        return [examples for examples, _ in self._sequences(keys, first, count, False)]

    def exam(self, streams: Streams, count: int) -> tuple[Examples, dict[str, Any]]:
        """Episodes to be tested on, and what is known of every question: episode, game, query,
        foil.
        """
        return self.exams([streams], count)[0]

    def exams(
        self, streams: Sequence[Streams], count: int
    ) -> list[tuple[Examples, dict[str, Any]]]:
        """The same of several lanes."""
        keys, found = jnp.stack([stream.jax("test") for stream in streams]), []
        for examples, (support, foil) in self._sequences(keys, 0, count, True):
            games = examples.lengths // (self.rounds + self.feedback)
            episode, game = np.nonzero(np.arange(foil.shape[1]) < games[:, None])
            known = {"episode": episode, "game": game, "query": game >= support[episode]}
            found.append((_compact(examples), {**known, "foil": foil[episode, game]}))
        return found

    def payoffs(self, examples: Examples) -> Examples:
        """The same, with what every decision would bring in the place of the right one: (time,
        example, decision).
        """
        sizes = self.sizes
        query = np.asarray(decode(sizes, examples.inputs).query)[..., None]
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

    def _sequences(
        self, keys: Any, first: int, count: int, tested: bool
    ) -> list[tuple[Examples, tuple[Any, Any]]]:
        """By key: episodes as sequences, all as long as any can be, with inputs on the device; of
        every episode its support games, and of its games where the foil comes from.
        """
        world, parts = self.world(tested), []
        views = world.sizes.rounds + world.sizes.feedback
        for start in range(first, first + count, together()):
            numbers = np.tile(start + np.arange(together()), (len(keys), 1))
            parts.append(_sequences(world.sizes, world.drawn(keys, numbers)))
        if device_kind() == "cpu":  # there, these are views
            parts = [tuple(map(np.asarray, part)) for part in parts]
        found = []
        for lane in range(len(keys)):
            own = [[part[field][lane] for part in parts] for field in range(5)]
            inputs = own[0][0] if len(parts) == 1 else _joined(own[0])
            targets = np.concatenate([np.asarray(part) for part in own[1]], axis=1)[:, :count]
            lengths, support, foil = (
                np.concatenate([*map(np.asarray, part)])[:count] for part in own[2:]
            )
            times = np.arange(len(inputs))[:, None]
            asked = (times % views == world.sizes.rounds - 1) & (times < lengths)
            examples = Examples(inputs[:, :count], targets, asked, lengths.astype(np.int64))
            found.append((examples, (support, foil)))
        return found


@task(
    "games/listener",
    version=1,
    controls=["uniform-decision", "always-none", "blind", "novelty"],
    oracle="nearest-neighbour",
)
@dataclass(frozen=True)
class Listener(Named, ListenerGame):
    """Meta-referential game, the listener's part: understand a language from a few names, then
    names of new things.

    An episode has a new space of meanings and a new renaming of the words. In each game a
    rule-based speaker sees a target and names it; the listener sees stimuli and must decide which
    of them is meant, or none; then it sees what the speaker saw. In the support phase every value
    of every dimension is named at least `shots` times; in the query phase targets are new
    combinations of the same values (at least `threshold` odd ones, counted from 0). As a sequence
    with questions (`sample`), a game is its rounds 1 .. N and the feedback.

    Sees: one vector per step: its stimuli, the message one-hot, support or query, result and reward
        of the last game, the round.
    Answers: at the last round of every game, the position of the target, or the number after all
        positions for none.
    Scored: decisions of the query phase. The reward is 1; for a wrong decision 0 in the support
        phase and -2 in the query phase.
    Chance: 1/(distractors + 2); if not `descriptive`, 1/(distractors + 1).
    Ceiling: about 1, by the oracle.
    Source: Denamganaï, Missaoui and Walker 2022.
    Departures: where the original raises an error, stimuli are taken from the pool; as many words
        as values are enough, as in the paper (its program requires one more; no number depends on
        it); decisions without feedback count in their own phase; a phase is at most about three
        times as long as usual, where in the original it can be longer, rarely.
    """

    seat: ClassVar[str] = "listener"  # a person may sit there, see `quickstudy.play.listener`

    @property
    def settings_version(self) -> int:
        """2 where windows of messages go beyond the last token, or names have fewer tokens than
        dimensions.
        """
        beyond = self.language == "holistic" or self.length + self.rounds - 1 > self.dimensions
        return 2 if self.length < self.dimensions and beyond else super().settings_version


def _joined(parts: Sequence[Any]) -> Any:
    return (np if isinstance(parts[0], np.ndarray) else jnp).concatenate(parts, axis=1)


def _compact(examples: Examples) -> Examples:
    """In NumPy, with no more padding than is needed."""
    return replace(examples, inputs=np.asarray(examples.inputs)).take(np.arange(examples.count))


@partial(jax.jit, static_argnums=0)
def _sequences(sizes: Sizes, episodes: Episode) -> tuple[Any, ...]:
    """Of episodes (lane, example): inputs (lane, time, example, width), targets (lane, time,
    example), lengths and support games (lane, example), foils (lane, example, game).
    """
    views = sizes.rounds + sizes.feedback

    def single(episode: Episode) -> tuple[Any, ...]:
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
        return (
            jnp.where(there[:, None], inputs, 0.0),
            targets,
            episode.count * views,
            episode.support,
            episode.foil,
        )

    inputs, targets, *rest = jax.vmap(jax.vmap(single))(episodes)
    return jnp.swapaxes(inputs, 1, 2), jnp.swapaxes(targets, 1, 2), *rest
