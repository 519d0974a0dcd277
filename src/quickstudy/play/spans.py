"""The span of a person: sequences that become longer until two in a row have a mistake, round after
round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.measures.span import axis_facts, psychometric, span
from quickstudy.play.seat import Said, Seat, Shown
from quickstudy.stats.intervals import student_interval
from quickstudy.tasks.span.item import SymbolItem

MARKS = frozenset("|=?")
"""Symbols at which a sequence ends that is to be kept in mind; what follows is the question."""
MOST_SHOWN = 70
"""Symbols of the longest sequence that is shown: half a minute."""
FAILURES = 2
"""Sequences in a row with a mistake that end a round."""
DRAWN = 16
"""Sequences of every level that a repetition draws one from: all sizes of a bin take turns."""
WORKED = 4
"""Worked examples, one of each of the first levels."""
HIDDEN = "_"


@dataclass(frozen=True)
class Trial:
    """One sequence in words. hidden: positions that are asked for. bar: where the question
    begins.
    """

    words: list[str]
    hidden: list[int]
    bar: int

    @classmethod
    def of(cls, examples: Examples, index: int, names: tuple[str, ...]) -> Trial:
        """One of some examples."""
        tokens, hidden = examples.sequence(index)
        words = [names[token] for token in tokens]
        bars = (place for place in range(hidden[0]) if words[place] in MARKS)
        return cls(words, sorted(hidden), next(bars, hidden[0]))

    def written(self, answers: str, start: int = 0) -> str:
        """The words from a position on. answers: how those that are asked for are written."""
        rest = range(start, len(self.words))
        shown = (
            answers.format(self.words[at]) if at in self.hidden else self.words[at] for at in rest
        )
        return " ".join(shown)


class SpanSeat(Seat):
    """A session of several rounds, each a run of its own with the data of another repetition.

    A round has one sequence at every level of the grid, from the first on, and ends after two in a
    row with a mistake. Levels that it does not reach count as chance. So its span is that of the
    machines, by the same formula, from one sequence a level, and the interval of a person is over
    rounds as that of a machine is over seeds. Levels with more than 70 symbols are not shown: who
    gets there has a lower bound.

    rounds: how many. seconds: how long each symbol is shown; 0.5, or 1 where symbols are words.
    """

    measures: ClassVar[tuple[str, ...]] = ("span",)
    title: ClassVar[str] = "Your span"

    def __init__(self, task: Any, streams: Streams, rounds: int = 4) -> None:
        super().__init__(task, streams)
        if not isinstance(task, SymbolItem) or not task.instruction:
            raise UsageError(
                f"{task.id} has no form for people; play an item of letters or words, as span/copy"
                " or span/lookup"
            )
        self._names = tuple(task.vocabulary)
        self.runs = rounds
        self.seconds = 0.5 if all(len(name) == 1 for name in self._names) else 1.0
        lesson = task.sample(streams.numpy("data"), 200)
        self._read = [Trial.of(lesson, index, self._names) for index in range(WORKED)]
        self._answers = [self._names[token] for token in np.unique(lesson.targets[lesson.asked])]
        first = np.arange(0, len(task.grid) * DRAWN, DRAWN)
        self._rounds = []
        for repetition in range(streams.repetition, streams.repetition + rounds):
            rng = Streams(streams.root, streams.task, repetition).numpy("test")
            tests = task.draw(rng, np.repeat(np.arange(len(task.grid)), DRAWN))
            own = first + repetition % DRAWN
            self._rounds.append([Trial.of(tests, index, self._names) for index in own.tolist()])
        longest = [Trial.of(tests, index, self._names).bar for index in first.tolist()]
        self._levels = sum(1 for size in longest if size <= MOST_SHOWN)
        self._right: list[list[int]] = [[]]

    @property
    def explained(self) -> str:  # type: ignore[override]
        """The instruction, and how a session goes."""
        return (
            f"{self.task.instruction} Each sequence is shown once, symbol by symbol; then you type"
            " the answer. Guess what you do not know. Sequences become longer until two in a row"
            " have a mistake; then the next round begins."
        )

    @property
    def reference(self) -> str:
        """Worked examples."""
        return "\n".join(
            [
                "examples, with the answers in brackets:",
                *(one.written("[{}]") for one in self._read),
            ]
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        """How a round is played; without their number."""
        return {"failures": FAILURES, "seconds": self.seconds, "longest": self._shown_up_to}

    @property
    def _shown_up_to(self) -> int:
        return int(self.task.grid[self._levels - 1])

    @property
    def _done(self) -> list[list[int]]:
        """The rounds that are over: right answers by level."""
        return [
            own
            for own, trials in zip(self._right, self._rounds, strict=False)
            if self._ended(own, trials)
        ]

    def _ended(self, right: list[int], trials: list[Trial]) -> bool:
        last = list(zip(right, trials, strict=False))[-FAILURES:]
        failed = len(last) == FAILURES and all(count < len(trial.hidden) for count, trial in last)
        return failed or len(right) == self._levels

    @property
    def over(self) -> bool:
        """All rounds are over."""
        return self.stopped or len(self._done) == self.runs

    @property
    def scored(self) -> bool:
        """A whole round has a score."""
        return bool(self._done)

    @property
    def progress(self) -> str:
        """The round, and the difficulty."""
        done = len(self._done)
        if self.over:
            return f"{done} of {self.runs} rounds"
        return (
            f"round {done + 1} of {self.runs}, difficulty {self.task.grid[len(self._right[done])]}"
        )

    @property
    def _trial(self) -> Trial:
        number = len(self._done)
        return self._rounds[number][len(self._right[number])]

    def shown(self) -> Shown:
        """The sequence, to be shown symbol by symbol, and the question."""
        trial = self._trial
        number = sum(map(len, self._right)) + 1
        choices = (
            [(name, name) for name in self._answers]
            if self._wanted == 1 and len(self._answers) < 10
            else ()
        )
        ask = "which symbol?" if self._wanted == 1 else f"which {self._wanted} symbols?"
        question = f"{number}: {trial.written(HIDDEN, trial.bar)}"
        return Shown(
            question,
            f"{ask} ({' '.join(self._answers)})",
            choices,
            paced=trial.words[: trial.bar],
            seconds=self.seconds,
        )

    @property
    def _wanted(self) -> int:
        return len(self._trial.hidden)

    def answer(self, line: str) -> Said:
        """Count the right symbols, and go on. Raises UsageError, and nothing counts, for what
        cannot be an answer.
        """
        trial, given = self._trial, self._given(line)
        right = sum(
            trial.words[at] == symbol for at, symbol in zip(trial.hidden, given, strict=True)
        )
        self._right[-1].append(right)
        if len(self._done) == len(self._right) < self.runs:
            self._right.append([])
        good = right == len(trial.hidden)
        return Said(f"{'right' if good else 'wrong'}: {trial.written('[{}]')}", good)

    def _given(self, line: str) -> list[str]:
        given = line.split()
        if len(given) == 1 and given[0] not in self._answers and self.seconds < 1:
            given = list(given[0])  # letters without spaces between them
        wanted = f"type {self._wanted} of {' '.join(self._answers)} (this was not counted)"
        if odd := [symbol for symbol in given if symbol not in self._answers]:
            raise UsageError(f'"{odd[0]}" cannot be an answer; {wanted}')
        if len(given) != self._wanted:
            raise UsageError(
                f"you typed {len(given)} symbols, and {self._wanted} are asked for; {wanted}"
            )
        return given

    def summary(self) -> str:
        """The span over rounds, as on a card."""
        values = [
            float(span(psychometric(one)[-1], self.task.grid, self.task.least))
            for one in self.traces()
        ]
        if not values:
            return "stopped before the first round was over: no span"
        logs = np.log1p(values)
        found = f"span {np.expm1(logs.mean()):.1f} {self.task.unit}"
        if len(values) > 1:
            low, high = np.expm1(student_interval(logs))
            found += f" [{max(0.0, low):.1f}, {min(high, self.task.grid[-1]):.1f}]"
        if all(len(right) == self._levels for right in self._done) and self._levels < len(
            self.task.grid
        ):
            found += f", at least: nothing beyond {self._shown_up_to} is shown"
        return f"{len(values)} of {self.runs} rounds: {found}"

    def traces(self) -> list[Trace]:
        """Every round that is over as a trace of kind `span`: nothing was asked in the bins that it
        did not reach.
        """
        return [self._trace(*one) for one in zip(self._done, self._rounds, strict=False)]

    def _trace(self, right: list[int], trials: list[Trial]) -> Trace:
        rest = [0] * (len(trials) - len(right))
        counts = [len(trial.hidden) for trial in trials[: len(right)]]
        whole = [int(count == asked) for count, asked in zip(right, counts, strict=True)]
        arrays = {
            "step": np.array([WORKED]),
            "correct": np.array([[*right, *rest]]),
            "whole": np.array([[*whole, *rest]]),
            "asked": np.array([*counts, *rest]),
            "tests": np.ones(len(trials), np.int64),
            "difficulty": np.array(self.task.grid),
            "chance": self.task.chances(),
        }
        return Trace(
            "span",
            arrays,
            {**axis_facts(self.task), **self.parameters, "passes": 1, "answers": len(right)},
        )
