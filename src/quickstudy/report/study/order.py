"""An order for a study: what is to be run, where its results are, and which kind of page is made of them."""

from __future__ import annotations

import importlib
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, cast

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.study import Study
from quickstudy.report.study.page import Page
from quickstudy.runs.job import Setting

KINDS = ("atlas", "audit", "curves", "grid", "illustration", "streams", "table")


@dataclass(frozen=True)
class Order:
    """A study as the user wants it. seeds: repetitions of every setting. controls: also the rules that never learn."""

    study: Study
    folder: pathlib.Path
    convention: str
    seeds: int
    root: int = 0
    protocol: Mapping[str, Any] = field(default_factory=dict)
    controls: bool = False


class Stage(NamedTuple):
    """Runs that can be done side by side: each setting with repetitions 0 .. seeds-1."""

    settings: Sequence[Setting]
    seeds: int


class Kind(Protocol):
    """A module of this package."""

    def stages(self, order: Order) -> Iterator[Stage]:
        """The runs, in one list or in several that follow from one another."""

    def page(self, order: Order) -> Page:
        """What the folder holds of the study."""


def kind_of(study: Study) -> Kind:
    """The module that serves a study. Raises UsageError for a kind that does not exist."""
    if study.kind not in KINDS:
        raise UsageError(f'{study.id}: no kind of study "{study.kind}"; {nearest(study.kind, KINDS)}')
    return cast(Kind, importlib.import_module(f"quickstudy.report.study.{study.kind}"))
