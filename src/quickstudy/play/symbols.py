"""Predict the next symbol: strings of a language are shown, then longer ones symbol by symbol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.base.text import counted
from quickstudy.base.trace import Trace
from quickstudy.play.seat import Said, Seat, Shown, renamed
from quickstudy.protocols.marking import Marking, Row
from quickstudy.protocols.strings import seen_strings, usual_metric
from quickstudy.tasks.grammar.lists import TestList
from quickstudy.tasks.grammar.strings import StringTask

END = "#"
NEXT, MAY = "which letter comes next?", "which letters may come next?"


class SymbolsSeat(Seat):
    """shown: strings that are read first, the first of those that machines are shown. strings: how
    many are asked about: those that a machine would be asked, up to the longest shown, then the
    shortest that are longer.

    Where the language has places at which the next symbol is certain, these are asked, and several
    letters may be typed at once; where it has none, every place is, and all letters that may follow
    are typed together.
    """

    measures: ClassVar[tuple[str, ...]] = ("reach", "string-accuracy")
    title: ClassVar[str] = "What comes next?"

    def __init__(
        self, task: Any, streams: Streams, strings: int = 20, shown: int = 12, plain: bool = False
    ) -> None:
        super().__init__(task, streams)
        if not isinstance(task, StringTask) or task.setup != "next":
            raise UsageError(
                f"{task.id} is not played symbol by symbol; play a language whose next symbol is"
                " asked for"
            )
        self._most, self._count, self.plain = strings, shown, plain
        self.metric = usual_metric(task)
        self._marking = Marking(self.metric)
        names = renamed(task.vocabulary[1:], streams, plain)
        self._names = [END, *names]
        # Words stand between spaces, letters need none.
        self._between = " " if any(len(name) > 1 for name in names) else ""
        self._read = task.grammar.draws(streams.numpy("data"), shown)
        tests = TestList.behind(task, "exhaustive", self._read, strings)
        before = list(seen_strings(task, self._read, tests, strings // 2))[: strings // 2]
        self._strings = [*((one, False) for one in before), *((one, True) for one in tests)][
            :strings
        ]
        self._wrong: list[int] = []
        self._counted: list[int] = []
        self._begin()

    @property
    def explained(self) -> str:  # type: ignore[override]
        """By what is asked."""
        what = (
            "Then longer ones come letter by letter: say what comes next wherever that is certain."
            if self.metric == "det"
            else (
                "Then longer ones come letter by letter: say which letters may come next, all of"
                " them together."
            )
        )
        return (
            f"You see strings of a language without explanation; {END} is the end of a"
            f" string. {what}"
        )

    @property
    def reference(self) -> str:
        """The strings that are read first."""
        return "\n".join(["strings of the language:", *map(self._text, self._read)])

    def _begin(self) -> None:
        self._place, self._mistakes, self._steps = 0, 0, 0
        string = self._string
        self._row = Row.of(
            string, self.task.grammar.likely(string) == 1, self.task.grammar, self._marking
        )
        self._reveal()

    @property
    def _string(self) -> Any:
        return self._strings[len(self._wrong)][0]

    def _reveal(self) -> None:
        """Go on to the next place that is asked; a string that has none any more is done."""
        while not self._row.counts[self._place]:
            self._place += 1
            if self._place == len(self._row.counts):
                return self._end()

    def _end(self) -> None:
        self._wrong.append(self._mistakes)
        self._counted.append(self._steps)
        if not self.over:
            self._begin()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """How many strings, and whether in letters."""
        return {"strings": self._most, "shown": self._count, "plain": self.plain}

    @property
    def over(self) -> bool:
        """All strings are asked about."""
        return self.stopped or len(self._wrong) == len(self._strings)

    @property
    def scored(self) -> bool:
        """A whole string of the test has a score."""
        return any(tested for _, tested in self._strings[: len(self._wrong)])

    @property
    def progress(self) -> str:
        """Strings, and those without a mistake."""
        done = len(self._wrong)
        return (
            f"{done} of {len(self._strings)} strings, {sum(not wrong for wrong in self._wrong)}"
            " without a mistake"
        )

    def _text(self, string: Any) -> str:
        return self._between.join(self._names[symbol] for symbol in string)

    def shown(self) -> Shown:
        """The known part of the present string."""
        ask = f"{NEXT if self.metric == 'det' else MAY} ({' '.join(self._names)})"
        choices = [(name, name) for name in self._names] if self.metric == "det" else ()
        read = self._text(self._string[: self._place + 1]) + self._between
        return Shown(f"{len(self._wrong) + 1}: {read}_", ask, choices)

    def answer(self, line: str) -> Said:
        """One letter or several, while they are right."""
        given = line.split() if self._between else list(line.replace(" ", ""))
        if not given or not set(given) <= set(self._names):
            raise UsageError(
                f'"{line.strip()}" is not an answer; the letters are {" ".join(self._names)}'
            )
        number = len(self._wrong)
        string = self._string
        for part in [given] if self.metric == "cat" else [[one] for one in given]:
            good, truth = self._judge(part)
            if not good or len(self._wrong) > number:
                break
        right = f"{'right' if good else 'wrong'}: {truth}"
        whole = f"; the whole string: {self._text(string)}" if len(self._wrong) > number else ""
        return Said(right + whole, good)

    def _judge(self, given: list[str]) -> tuple[bool, str]:
        if self._row.valid is None:
            truth = self._names[self._row.targets[self._place]]
            good, said = given == [truth], f"{truth} comes next"
        else:
            may = {self._names[symbol] for symbol in np.flatnonzero(self._row.valid[self._place])}
            good, said = set(given) == may, f"{' '.join(sorted(may))} may come next"
        self._steps += 1
        self._mistakes += not good
        self._place += 1
        if self._place == len(self._row.counts):
            self._end()
        else:
            self._reveal()
        return good, said

    def summary(self) -> str:
        """Strings without a mistake."""
        over = "all asked" if len(self._wrong) == len(self._strings) else "stopped"
        return (
            f"{over} after {counted(len(self._wrong), 'string')},"
            f" {sum(not wrong for wrong in self._wrong)} without a mistake"
        )

    def traces(self) -> list[Trace]:
        """Every string that was gone through to its end."""
        done = self._strings[: len(self._wrong)]
        sizes = [self.task.grammar.size(string) for string, _ in done]
        arrays = {
            "size": np.array(sizes, np.int64),
            "steps": np.array(self._counted, np.int64),
            **{name: np.array(self._wrong, np.int64) for name in self._marking.columns()},
            "factor": np.ones(len(done)),
            "tested": np.array([tested for _, tested in done], bool),
        }
        largest = max(map(self.task.grammar.size, self._read))
        facts = {
            "metric": self.metric,
            "margins": list(self._marking.margins),
            "order": 3,
            "passes": 1,
            "test": "exhaustive",
            "upto": "whole",
            "left_out": [],
            "learned": {},
            "shown": {"1": len(self._read)},
            "largest_shown": {"1": largest},
        }
        return [Trace("string-outcomes", arrays, facts)]
