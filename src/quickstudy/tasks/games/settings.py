"""What a setting of the games is to a compiled program: what its shapes depend on, and what it is
merely given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from quickstudy.jax_gateway import eqx


@dataclass(frozen=True)
class Sizes:
    """What the shapes of a compiled program depend on; the parameters of the same names are in
    `MetaGame`.

    support, query: the most games of either phase. repeats: times that the support games are
    played. columns: stimuli that are drawn for a value, at least as many as there are samples.
    whole: pools that are played as a whole, 0, 1 (of the query) or 2; ordered: in the order of
    their numbers. language: of the speaker that is part of the world. shuffled: the axes of stimuli
    are in another order in every episode. speaker: of a user's language, see `SpokenListener`.
    """

    dimensions: int
    most: int
    distractors: int
    words: int
    length: int
    rounds: int
    support: int
    query: int
    repeats: int
    columns: int
    whole: int
    ordered: bool
    descriptive: bool
    feedback: bool
    language: str
    shuffled: bool = False
    speaker: Any = None

    @property
    def seen(self) -> int:
        """Numbers of all stimuli of a game."""
        return (self.distractors + 1) * self.dimensions

    @property
    def heard(self) -> int:
        """Zeros and ones of a message, every token one-hot."""
        return self.length * (self.words + 1)

    @property
    def in_windows(self) -> bool:
        """Whether the world's own speaker needs several rounds for a message; whole names are never
        too long.
        """
        return self.length < self.dimensions and self.language != "holistic"

    @property
    def games(self) -> int:
        """The most games of an episode."""
        return self.support * self.repeats + self.query

    @property
    def decisions(self) -> int:
        """One for each stimulus, and perhaps one for none of them."""
        return self.distractors + 1 + self.descriptive

    @property
    def turns(self) -> int:
        """Steps of a game."""
        return self.rounds + 1 + self.feedback

    @property
    def horizon(self) -> int:
        """The most steps of an episode: with feedback, it is over when the last feedback is
        seen.
        """
        return self.turns * self.games - self.feedback


class Rules(eqx.Module):
    """What changes no shape, as arrays: settings that differ in these alone share compiled
    programs.

    structures: (structure, dimension) numbers of values that may be drawn. shots, samples: S and O.
    kept: the probability that the target is among the stimuli of a descriptive game. balanced:
    foils of query games come from the query pool, and all stimuli of a game mean something else.
    strict: a kept target is shown by another sample than the speaker's. renaming: 0 none, 1 one for
    all positions, 2 one for each. partial: the speaker sees the target only. unequal, warp,
    mirrored: see `draw_stimuli`. threshold: odd values that put a meaning into the query pool.
    """

    structures: Any
    shots: Any
    samples: Any
    kept: Any
    balanced: Any
    strict: Any
    renaming: Any
    partial: Any
    unequal: Any
    warp: Any
    threshold: Any
    mirrored: Any
