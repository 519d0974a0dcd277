"""The listener's seat in a referential game: a speaker names a stimulus, and the person decides
which of several is meant.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import CONTROL, POINTS, Axis, Mark, Panel, Plot, Plotted
from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.base.text import counted
from quickstudy.base.trace import Trace
from quickstudy.play.seat import Said, Seat, Shown
from quickstudy.tasks.games.view import decode

NONE = "none"
_TOKENS = string.ascii_uppercase + string.ascii_lowercase
_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Heard:
    """One game as its listener meets it. messages: (round, token); stimuli: (place, dimension).
    seen: what the speaker saw, None where it is never shown. correct: the place that is meant, or
    the number after all positions.
    """

    episode: int
    game: int
    query: bool
    foil: int
    messages: NDArray[np.int64]
    stimuli: NDArray[np.float64]
    seen: NDArray[np.float64] | None
    correct: int

    @property
    def said(self) -> str:
        """The messages in letters, a point for the end of one."""
        words = [
            [_TOKENS[token - 1] if token else "." for token in message]
            for message in self.messages.tolist()
        ]
        return "  ".join(" ".join(word) for word in words)


def games_of(task: Any, streams: Streams, episodes: int) -> Iterator[Heard]:
    """The games of the first test episodes of a task with `seat = "listener"`, as every learner of
    these streams meets them.
    """
    if task.sizes.words > len(_TOKENS):
        raise UsageError(
            f"{task.id} has {task.sizes.words} words, and there are {len(_TOKENS)} letters; give"
            " fewer"
        )
    sizes = task.sizes
    examples, known = task.exam(streams, episodes)
    inputs, targets = np.asarray(examples.inputs), np.asarray(examples.targets)
    views = sizes.rounds + sizes.feedback
    for episode, game, query, foil in zip(
        *(known[name] for name in ("episode", "game", "query", "foil")), strict=True
    ):
        own = decode(sizes, inputs[game * views : (game + 1) * views, episode])
        stimuli = own.stimuli_of(sizes)
        yield Heard(
            int(episode),
            int(game),
            bool(query),
            int(foil),
            own.tokens(sizes)[: sizes.rounds],
            stimuli[sizes.rounds - 1],
            stimuli[-1, 0] if sizes.feedback else None,
            int(targets[game * views + sizes.rounds - 1, episode]),
        )


def numbers(stimulus: NDArray[np.float64]) -> str:
    """A stimulus, number by number."""
    return " ".join(f"{value:+.2f}" for value in stimulus.tolist())


def bars(stimulus: NDArray[np.float64]) -> str:
    """A stimulus as a row of bars, from -1 to 1, for a terminal.

    >>> bars(np.array([-1.0, 0.0, 0.99]))
    '▁▅█'
    """
    levels = np.clip((np.asarray(stimulus) + 1) * len(_BARS) / 2, 0, len(_BARS) - 1)
    return "".join(_BARS[int(level)] for level in levels)


def stimuli_plot(game: Heard, words: Sequence[str], after: bool = False) -> Plot:
    """What the listener sees, a line for every dimension. words: of each stimulus. after: what the
    speaker saw too.
    """
    dimensions = range(game.stimuli.shape[1])
    series = [
        Plotted(
            label,
            Mark(number=place),
            row.tolist(),
            [float(-one) for one in dimensions],
            kind=POINTS,
        )
        for place, (label, row) in enumerate(zip(words, game.stimuli, strict=True))
    ]
    if after and game.seen is not None:
        heights = [float(-one) for one in dimensions]
        series.append(
            Plotted("what the speaker saw", Mark(CONTROL), game.seen.tolist(), heights, kind=POINTS)
        )
    seen = "; ".join(
        f"{label}: {numbers(row)}" for label, row in zip(words, game.stimuli, strict=True)
    )
    ticks = [(float(-one), str(one + 1)) for one in dimensions]
    reach = (-len(dimensions) + 0.5, 0.5)
    return Plot(
        "",
        "What the listener sees: one number for every dimension.",
        f"Stimuli: {seen}.",
        Axis("number", range=(-1.0, 1.0)),
        Axis("dimension", range=reach, ticks=ticks),
        [Panel(series)],
        direct=False,
    )


class ListenerSeat(Seat):
    """episodes: how many are played, of those that machines are tested on."""

    measures: ClassVar[tuple[str, ...]] = ("zero-shot-accuracy", "learning-in-games")
    title: ClassVar[str] = "Which is meant?"
    explained: ClassVar[str] = (
        "A speaker names what it sees; you see one thing or several, and say which of them is"
        " meant, or none. Things that mean the same need not look quite the same. First, in the"
        " support, you learn the words; then come new combinations of what you have learned. With"
        " every episode words and things are new."
    )

    def __init__(self, task: Any, streams: Streams, episodes: int = 1) -> None:
        super().__init__(task, streams)
        self._games = list(games_of(task, streams, episodes))
        self._episodes = episodes
        self._decided: list[int] = []

    @property
    def parameters(self) -> Mapping[str, Any]:
        """How many episodes."""
        return {"episodes": self._episodes}

    @property
    def over(self) -> bool:
        """All games are played."""
        return self.stopped or len(self._decided) == len(self._games)

    @property
    def scored(self) -> bool:
        """Scores are of the query phase: one decision in it has some."""
        return any(game.query for game in self._games[: len(self._decided)])

    @property
    def progress(self) -> str:
        """Games and right decisions so far."""
        return f"{len(self._decided)} of {len(self._games)} games, {sum(self._right)} right"

    @property
    def _right(self) -> list[bool]:
        return [
            decision == game.correct
            for decision, game in zip(self._decided, self._games, strict=False)
        ]

    @property
    def _last(self) -> int:
        """The decision that none is meant."""
        return int(self.task.sizes.decisions) - 1

    def shown(self) -> Shown:
        """The present game."""
        game = self._games[len(self._decided)]
        place = [len(self._games[: len(self._decided)]) + 1, len(self._games)]
        phase = "query: new combinations" if game.query else "support"
        of = f", episode {game.episode + 1} of {self._episodes}" if self._episodes > 1 else ""
        lines = [f"game {place[0]} of {place[1]}{of} ({phase})", f"speaker's message  {game.said}"]
        words = [f"stimulus {number}" for number in range(1, len(game.stimuli) + 1)]
        lines += [
            f"{label}        {bars(row)}  {numbers(row)}"
            for label, row in zip(words, game.stimuli, strict=True)
        ]
        choices = [(str(number), label) for number, label in enumerate(words, 1)]
        typed = ", ".join(word for word, _ in choices)
        asked = f"which is meant? ({typed} or {NONE})"
        return Shown(
            "\n".join(lines), asked, [*choices, (NONE, "none of them")], [stimuli_plot(game, words)]
        )

    def answer(self, line: str) -> Said:
        """One decision."""
        given, most = line.strip().lower(), self._last
        if given != NONE and not (given.isdecimal() and 1 <= int(given) <= most):
            raise UsageError(
                f'"{line.strip()}" is not a decision; type a number from 1 to {most}, or {NONE}'
            )
        decision = most if given == NONE else int(given) - 1
        game = self._games[len(self._decided)]
        self._decided.append(decision)
        good = decision == game.correct
        meant = (
            "none of them was meant"
            if game.correct == most
            else f"stimulus {game.correct + 1} was meant"
        )
        seen = (
            ""
            if game.seen is None
            else f"{game.said} named {bars(game.seen)} {numbers(game.seen)}; "
        )
        return Said(f"{'right' if good else 'wrong'}: {seen}{meant}", good)

    def summary(self) -> str:
        """Right decisions by phase."""
        right = np.array(self._right, bool)
        query = np.array([game.query for game in self._games[: len(right)]], bool)
        parts = [
            f"{name} {right[own].sum()} of {own.sum()}"
            for name, own in (("support", ~query), ("query", query))
        ]
        over = "all played" if len(right) == len(self._games) else "stopped"
        return f"{over} after {counted(len(right), 'game')}; right: {', '.join(parts)}"

    def traces(self) -> list[Trace]:
        """Every decision, as of a test; nothing was learned before."""
        games, right = self._games[: len(self._decided)], np.array(self._right, bool)
        arrays = {
            "right": right,
            "episode": np.array([game.episode for game in games], np.int64),
            "game": np.array([game.game for game in games], np.int64),
            "query": np.array([game.query for game in games], bool),
            "foil": np.array([game.foil for game in games], np.int64),
            "decision": np.array(self._decided, np.int64),
        }
        query = arrays["query"]
        counts = {"correct": np.array([(right & query).sum()]), "asked": np.array([query.sum()])}
        facts = {
            "passes": 1,
            "decisions": self._last + 1,
            "episodes": 0,
            "test_episodes": self._episodes,
        }
        return [Trace("games", {"observations": np.zeros(1), **counts, **arrays}, facts)]
