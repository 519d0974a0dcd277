"""Blocks: seeds of one setting that one worker runs one after the other, with what it must know to do so."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from quickstudy.base.machine import has_gpu
from quickstudy.runs.job import Setting
from quickstudy.runs.plan import EXAMINER, Cell

PIECES_PER_WORKER = 2
"""Blocks are cut to about this many per worker: one slow block at the end then keeps few others waiting."""


@dataclass(frozen=True)
class Block:
    """Repetitions of one setting and their keys, side by side. Complete in itself: any machine could run it.

    folder: where results are written, absolute. wanted: how many repetitions of the setting the plan has, in all its
    blocks and found ones included. limit_seconds: how long one call may take. room: the modules from outside this
    package that it needs; a process that has imported them runs nothing else, so that what they do to it changes no
    other number. apart: it must not run in the driver's own process.
    """

    setting: Setting
    repetitions: tuple[int, ...]
    keys: tuple[str, ...]
    folder: str
    wanted: int = 1
    includes: tuple[str, ...] = ()
    examiner: str = EXAMINER
    keep_learners: bool = False
    limit_seconds: float | None = None
    room: tuple[str, ...] = ()
    apart: bool = False
    keep_answers: bool = False

    def without(self, keys: Collection[str]) -> Block:
        """The same block, less some repetitions."""
        left = [pair for pair in zip(self.repetitions, self.keys, strict=True) if pair[1] not in keys]
        return replace(self, repetitions=tuple(pair[0] for pair in left), keys=tuple(pair[1] for pair in left))


def cut(cells: Sequence[Cell], workers: int) -> list[list[Cell]]:
    """Neighbouring cells of one setting together, long settings in several pieces, so that every worker has work.

    No number depends on the cut; time does: each piece may compile its programs again, and one of fewer repetitions
    than there are lanes takes as long as a full one.
    """
    on_gpu = has_gpu()
    settings = [list(group) for _, group in groupby(cells, key=lambda cell: id(cell.setting))]
    total = sum(cell.seconds for cell in cells)
    pieces = []
    for group in settings:
        share = sum(cell.seconds for cell in group) / total if total > 0 else len(group) / len(cells)
        most = math.ceil(len(group) / (group[0].lanes if on_gpu else 1))
        count = min(most, max(1, math.ceil(share * PIECES_PER_WORKER * workers))) if workers > 1 else 1
        bounds = [len(group) * piece // count for piece in range(count + 1)]
        pieces += [group[start:stop] for start, stop in pairwise(bounds)]
    return pieces
