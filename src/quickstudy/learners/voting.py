"""A vote of many simple experts, each right or wrong as a whole: what one question teaches, it
teaches about all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.base.stated import CoreFacts, stated
from quickstudy.cores.core import CoreSpec
from quickstudy.cores.recall import Codebook
from quickstudy.jax_gateway import jnp
from quickstudy.learners.expert_mixture import Shared, VotingRule, VotingState
from quickstudy.learners.lanes import rounded
from quickstudy.learners.readout import ReadoutPupil

MOST_CELLS = 30_000_000
"""Cells of a table by code, level and answer that are still allowed: three such tables are 360
MB.
"""
SHARED_PART = 0.5
"""The most different symbols, as a part of the questions, for which what symbols say is found
before the questions are answered: it is held for all of them at once.
"""


@training("voting", version=1)
@dataclass(frozen=True)
class Voting:
    """Naive Bayes votes of experts that each look at one code, with a learned correction; for cores
    with codes.

    Cost per question and memory do not grow.

    Source: ours.

    Parameters
    ----------
    doubt:
        Pseudo-count: questions that an expert's table needs to be half certain.
    nearness:
        Factor of an expert's prior for every step that its symbols are further back.
    plain:
        The same for an expert that looks nothing up.
    copying:
        Prior odds that the answer is copied.
    step:
        Step size of the correction.
    passes:
        Times that the material is shown; more than 1 is replay.
    peek:
        Know the possible answers and the frequencies of codes of the whole training set beforehand,
        as the published programs do for their readouts.
    """

    doubt: float = parameter(0.3, above=0)
    nearness: float = parameter(0.5, above=0, at_most=1)
    plain: float = parameter(0.3, above=0, at_most=1)
    copying: float = parameter(1.5, above=0)
    step: float = parameter(0.02, at_least=0)
    passes: int = parameter(1, at_least=1)
    peek: bool = False

    reads_codes: ClassVar[bool] = True
    batch: ClassVar[int] = 1
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    programs: ClassVar[int] = 4
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"peek": True}}

    def check_core(self, core: CoreSpec) -> None:
        """Cores that give codes only."""
        if not stated(core, CoreFacts).coded:
            raise UsageError(
                f"voting needs codes, and {core.id} gives numbers; use recall, or another training"
            )

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ReadoutPupil:
        """A fresh pupil."""
        book = core.build(brief.inputs, streams[0].numpy("core")).codebook  # type: ignore[attr-defined]
        cells = len(book.depth) * book.levels * brief.outputs.width
        if cells > MOST_CELLS:
            raise NotApplicable(
                f"voting keeps tables by code, level and answer, here {cells} cells, more than"
                f" {MOST_CELLS}; use another learner for so many symbols"
            )
        rule = VotingRule(book.symbols, book.context, self.peek)
        return VotingPupil(
            core, rule, lambda _: self._start(book, brief.outputs.width), brief, streams
        )

    def _start(self, book: Codebook, size: int) -> VotingState:
        features, gates = len(book.depth), book.context + 1
        prior = np.log(self.nearness) * book.depth + np.where(book.plain, np.log(self.plain), 0.0)
        prior = np.concatenate([prior, prior[: book.symbols] + np.log(self.copying)])
        table, keyed = (
            jnp.zeros((features, book.levels, size)),
            jnp.zeros((gates, book.levels, book.symbols)),
        )
        return VotingState(
            tables=table,
            levels=jnp.zeros((features, book.levels)),
            claimed=jnp.zeros((features, size)),
            free=jnp.zeros(features),
            answers=jnp.zeros(size),
            known=jnp.zeros(size, bool),
            hits=keyed,
            tries=keyed,
            prior=jnp.asarray(prior, jnp.float32),
            evidence=jnp.zeros((gates, book.levels, features + book.symbols)),
            gates=jnp.zeros(gates),
            direct=table,
            direct_squares=table,
            copied=keyed,
            copied_squares=keyed,
            scale=jnp.float32(1.0),
            record=jnp.zeros(2),
            doubt=jnp.float32(self.doubt),
            step=jnp.float32(self.step),
        )


class VotingPupil(ReadoutPupil):
    """Finds out once which questions of an exam have their symbols in common."""

    def _arranged(self, rows: Any) -> Any:
        return with_shared_symbols(rows, self._rule.symbols)  # type: ignore[attr-defined]


def with_shared_symbols(rows: Any, symbols: int) -> Any:
    """Rows (lane, row, code), of whose codes so many, the first ones, are symbols: as Shared, with
    a lane axis. Rows that share too little are unchanged.
    """
    lanes = np.asarray(rows)
    parts = np.ascontiguousarray(lanes[:, :, :symbols])
    # Whole numbers in one format are equal where their bytes are, and bytes are sorted quickly.
    keys = parts.view(f"V{symbols * parts.itemsize}")[:, :, 0]
    found = [np.unique(lane, return_index=True, return_inverse=True)[1:] for lane in keys]
    count = rounded(max(len(firsts) for firsts, _ in found), 1)
    if count > SHARED_PART * lanes.shape[1]:
        return rows
    # Padded with a repetition of the first.
    numbers = np.stack([np.pad(firsts, (0, count - len(firsts))) for firsts, _ in found])
    which = np.stack([places for _, places in found]).astype(np.int32)
    distinct = np.take_along_axis(parts, numbers[:, :, None], axis=1)
    return Shared(*map(jnp.asarray, (distinct, which, lanes[:, :, symbols:])))
