"""How many questions the runs of a plan would put to language models, before any is put."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.seeds import Streams
from quickstudy.base.text import counted
from quickstudy.runs.plan import Cell
from quickstudy.runs.run_spec import Setting


@dataclass(frozen=True)
class Asked:
    """Questions and tokens, by estimate, of all runs together. runs: how many of them were counted.
    prompt: the first one that is sent. money: the price of the tokens of learners that have one.
    """

    runs: int = 0
    questions: int = 0
    tokens: int = 0
    prompt: str = ""
    money: float = 0.0

    def __str__(self) -> str:
        """How much that is, in a line."""
        return (
            f"{counted(self.questions, 'question')} to language models and about {self.tokens:,}"
            f" tokens at most{self._price}, in {counted(self.runs, 'run')}; answers that are kept"
            " are not asked again"
        )

    @property
    def _price(self) -> str:
        return f" (price {self.money:.2f})" if self.money else ""


def asked_of(cells: Iterable[Cell]) -> Asked:
    """What the runs of these cells would ask: the protocol is gone through once for each setting,
    with a learner that only counts, and multiplied by its repetitions. Answers that are kept are
    not asked again: these are the most.
    """
    settings: dict[int, tuple[Setting, list[int]]] = {}
    for cell in cells:
        if cell.role == "learner" and not cell.unfit:
            settings.setdefault(id(cell.setting), (cell.setting, []))[1].append(cell.repetition)
    runs, questions, tokens, prompt, money = 0, 0, 0, "", 0.0
    for setting, repetitions in settings.values():
        counter = _counted(setting, repetitions[0])
        if counter is not None:
            runs += len(repetitions)
            questions += counter.requests * len(repetitions)
            tokens += counter.tokens * len(repetitions)
            money += _price(setting) * counter.tokens * len(repetitions) / 1e6
            prompt = prompt or counter.first
    return Asked(runs, questions, tokens, prompt, money)


def _price(setting: Setting) -> float:
    """Of a million tokens; 0 where none was given."""
    parts = setting.resolve()
    return float(getattr(parts.learner.make(parts.task), "price", 0.0))


def _counted(setting: Setting, repetition: int) -> Any:
    """A counter that has gone through the examination; None for learners that are not language
    models, or that cannot be counted this way.
    """
    parts = setting.resolve()
    if not getattr(parts.learner, "counting", False):
        return None
    counter: Any = parts.learner.make(parts.task).counting()  # type: ignore[attr-defined]
    try:
        parts.protocol.examine(
            parts.task, counter, [Streams(setting.root, parts.task.id, repetition)]
        )
    except QuickstudyError:  # the run will say why
        return None
    return counter
