"""The input, the valid next symbols and the scored steps, step by step through a string; and
the predictions of a learner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quickstudy.base.blocks import Block, Cell, Made, Name, Table, Text, table
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief, Stepping, distribution, face
from quickstudy.base.registries import block
from quickstudy.base.seeds import Streams
from quickstudy.base.study import StudyRow
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.pages.published_table import Beside
from quickstudy.pages.study_request import Request
from quickstudy.runs.run_spec import make_task
from quickstudy.tasks.grammar.derivation import wrapped


@block("steps", version=1)
class Steps(Beside):
    """One table a row: a string of its language, symbol by symbol.

    The study's settings have `strings`: by label of a row, the string without `#`. Learners that
    never learn (given networks) are asked what they hold for likely.
    """

    def blocks(self, request: Request) -> Made:
        """A table for every row that has a string."""
        strings = request.study.settings.get("strings", {})
        made: list[Block] = []
        for number, row in enumerate(request.rows, 1):
            if row.label in strings:
                made.append(
                    self._table(request, row, str(strings[row.label]), f"{request.name}-{number}")
                )
        return Made(made or [Text("The study names no strings.", "note")])

    def _table(self, request: Request, row: StudyRow, word: str, name: str) -> Table:
        task: Any = make_task(row.task, request.convention)
        string = self._string(task, word)
        may = task.grammar.conditionals(string[:-1]) > 0
        certain = task.grammar.likely(string) == 1
        certain[:1] = False
        counted = certain if certain.any() else np.ones(len(certain), bool)
        heading = ["read", "may come next", "comes next", "counts"]
        cells: list[list[Cell]] = [
            [
                Name(task.vocabulary[string[time]]),
                " ".join(task.vocabulary[one] for one in np.flatnonzero(may[time])),
                task.vocabulary[string[time + 1]],
                "yes" if counted[time] else "",
            ]
            for time in range(len(string) - 1)
        ]
        for column in request.columns:
            learner = row.learner(column, request.convention)
            if learner is None:
                continue
            heading.append(f"{column} says")
            for line, chances in zip(
                cells, self._said(request, task, learner, string), strict=True
            ):
                said = [
                    f"{task.vocabulary[one]} {chances[one]:.2g}"
                    for one in np.argsort(-chances)
                    if chances[one] > 0
                ]
                line.append(", ".join(said[:3]))
        what = (
            "Steps count where the next symbol is certain."
            if certain.any()
            else "Every step counts."
        )
        return table(name, f"{row.label}: {task.text(string.tolist())}. {what}", heading, cells)

    @staticmethod
    def _string(task: Any, word: str) -> Any:
        known = {symbol: number for number, symbol in enumerate(task.vocabulary)}
        if not set(word) <= set(known) - {"#"}:
            raise UsageError(
                f'"{word}" is not a word of {task.id}; its letters: {" ".join(task.vocabulary[1:])}'
            )
        string = wrapped([known[letter] for letter in word])
        if not task.grammar.contains(string):
            raise UsageError(f'"{word}" is not a word of {task.id}')
        return string

    @staticmethod
    def _said(request: Request, task: Any, learner: str, string: Any) -> Any:
        """(time, symbol) probabilities."""
        made = choose_learner(learner, request.convention, task, "strings").make(task)
        brief = Brief(task.inputs, task.outputs, "cross-entropy", len(string), 1)
        pupil: Any = face(made.begin(brief, [Streams(request.root, task.id, 0)]), Stepping)
        state, rows = pupil.start(1, len(string)), []
        for symbol in string[:-1]:
            state, scores = pupil.step(state, np.full((1, 1), symbol, np.int32))
            rows.append(distribution(scores, pupil.scale)[0, 0])
        return np.array(rows)
