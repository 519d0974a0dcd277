"""Run what a plan still lacks: resume, extend and repeat are this one function."""

from __future__ import annotations

import math
import pathlib
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import FrameType, TracebackType
from typing import Any

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK
from quickstudy.runs.archive import forget
from quickstudy.runs.engines import Engine, choose_engine
from quickstudy.runs.engines.messages import Begun, Broken, Bundle, Done, Lost, Note, Tick
from quickstudy.runs.eta import MEASURED
from quickstudy.runs.folder import prepare_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import Damage, Reading, read_results
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import Cell, Plan, check_data, failed_record

PIECES_PER_WORKER = 2
"""Bundles are cut to about this many per worker: one slow bundle at the end then keeps few others
waiting. Of settings that were never timed any may be the slow one, and each is cut so.
"""


@dataclass(frozen=True)
class Started:
    """A run begins. cells: what is to do; found: cells that are stored already; workers: the number
    that share the work.
    """

    cells: tuple[Cell, ...]
    found: int
    workers: int


@dataclass(frozen=True)
class Stopping:
    """The user has asked to stop: calls in progress end, nothing new begins."""


@dataclass(frozen=True)
class Execution:
    """How a run went. found: cells that were stored before, by status; the rest were run now.
    damage: lines of the folder that could not be read, and were left out.
    """

    found: dict[str, int] = field(default_factory=dict)
    ok: int = 0
    failed: int = 0
    not_applicable: int = 0
    interrupted: bool = False
    seconds: float = 0.0
    damage: tuple[Damage, ...] = ()

    @property
    def exit_status(self) -> int:
        """0 fine, 1 some runs have failed, now or before, 130 interrupted with everything saved."""
        return 130 if self.interrupted else 1 if self.failed or self.found.get(FAILED) else 0

    def after(self, before: Execution) -> Execution:
        """Two runs into one folder, one after the other, as one."""
        return Execution(
            found=dict(Counter(before.found) + Counter(self.found)),
            ok=before.ok + self.ok,
            failed=before.failed + self.failed,
            not_applicable=before.not_applicable + self.not_applicable,
            interrupted=before.interrupted or self.interrupted,
            seconds=before.seconds + self.seconds,
            damage=self.damage,
        )


Event = Started | Begun | Done | Tick | Note | Stopping | Execution
Report = Callable[[Event], None]


def execute(
    plan: Plan,
    folder: str | pathlib.Path,
    options: ExecuteOptions | None = None,
    *,
    reading: Reading | None = None,
) -> Execution:
    """Run the cells that the folder does not hold, and give the counts.

    Cells that failed before rerun only with `retry_failed`, and all cells with `rerun`, which first
    moves the stored runs aside (`quickstudy.runs.archive`). The engine is opened here, and shut
    down at the end. Raises QuickstudyError if results cannot be written, UsageError if the data of
    a run that is to be made is not here or the engine cannot work.

    Parameters
    ----------
    plan:
        The cells to run.
    folder:
        The results folder.
    options:
        How; by default one process per core. `options.progress` hears every event.
    reading:
        What the folder holds, if it has just been read.

    """
    options = options or ExecuteOptions()
    report = options.report
    began, folder = time.monotonic(), pathlib.Path(folder).absolute()
    reading = reading or read_results(folder)
    statuses = {} if options.rerun else reading.statuses()
    missing = plan.missing(statuses, retry_failed=options.retry_failed)
    check_data(missing)  # before anything is written or put aside
    # Nothing to do needs no cluster.
    engine = (options.chosen_engine if missing else choose_engine(engine="serial")).open()
    prepare_folder(folder)
    if options.rerun and forget(folder, {cell.key for cell in plan.cells}):
        reading = read_results(folder)
    to_do = {cell.key: cell for cell in missing}
    found = Counter(statuses[cell.key] for cell in plan.cells if cell.key not in to_do)
    report(Started(tuple(missing), sum(found.values()), engine.workers))
    for cells in cut(missing, engine.workers, engine.on_gpu):
        engine.submit(_bundle(cells, plan, str(folder), options))
    counts: Counter[str] = Counter()
    interrupts = Interrupts(engine.finish)
    stopped_now = True
    try:
        with interrupts, Journal(folder) as journal:
            for event in _watch(engine, to_do, journal, interrupts):
                report(event)
                if isinstance(event, Done):
                    counts[event.status] += 1
        stopped_now = False
    except KeyboardInterrupt:
        if not interrupts.came:  # not ours: other code raised it
            raise
    finally:
        engine.shutdown(now=stopped_now)
    execution = Execution(
        found=dict(found),
        ok=counts[OK],
        failed=counts[FAILED],
        not_applicable=counts[NOT_APPLICABLE],
        interrupted=interrupts.came,
        seconds=time.monotonic() - began,
        damage=reading.damage,
    )
    report(execution)
    return execution


def _bundle(cells: Sequence[Cell], plan: Plan, folder: str, options: ExecuteOptions) -> Bundle:
    first = cells[0]
    return Bundle(
        setting=first.setting,
        repetitions=tuple(cell.repetition for cell in cells),
        keys=tuple(cell.key for cell in cells),
        folder=folder,
        wanted=first.wanted,
        includes=plan.includes if first.room else (),
        examiner=plan.examiner,
        keep_learners=options.keep_learners,
        limit_seconds=options.limit_seconds,
        room=first.room,
        apart=plan.apart(first),
        keep_answers=options.keep_answers,
        beside=tuple(cell.setting for cell in cells)
        if len({id(cell.setting) for cell in cells}) > 1
        else (),
        seconds=sum(cell.seconds for cell in cells),
        measure_cost=options.measure_cost,
    )


def _watch(
    engine: Engine, cells: dict[str, Cell], journal: Journal, interrupts: Interrupts
) -> Iterator[Begun | Done | Tick | Note | Stopping]:
    announced = False
    for message in engine.results():
        if interrupts.came and not announced:
            announced = True
            yield Stopping()
        if isinstance(message, Broken):
            raise UsageError(message.reason) if message.usage else QuickstudyError(message.reason)
        if isinstance(message, Lost):
            for key in message.keys:
                cell, seconds = cells[key], message.seconds
                journal.write(
                    failed_record(
                        cell.setting,
                        cell.repetition,
                        message.reason,
                        time.time() - seconds,
                        seconds,
                    )
                )
                yield Done(key, FAILED, message.reason, seconds)
        elif isinstance(message, Begun | Done | Tick | Note):
            yield message


def cut(cells: Sequence[Cell], workers: int, on_gpu: bool = False) -> list[list[Cell]]:
    """Cells of one setting together, on a GPU also those that may share its batch; long settings in
    several pieces, so that every worker has work.

    No number depends on the cut; time does: each piece may compile its programs again, and one of
    fewer repetitions than there are lanes takes as long as a full one.
    """
    groups: dict[str | int, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.beside if on_gpu else id(cell.setting), []).append(cell)
    total = sum(cell.seconds for cell in cells)
    pieces = []
    for group in groups.values():
        share = (
            sum(cell.seconds for cell in group) / total if total > 0 else len(group) / len(cells)
        )
        if group[0].source != MEASURED and not on_gpu:
            share = 1.0
        most = math.ceil(len(group) / (group[0].lanes if on_gpu else 1))
        count = (
            min(most, max(1, math.ceil(share * PIECES_PER_WORKER * workers))) if workers > 1 else 1
        )
        bounds = [len(group) * piece // count for piece in range(count + 1)]
        pieces += [group[start:stop] for start, stop in pairwise(bounds)]
    return pieces


class Interrupts:
    """While this context is open, the first interrupt calls `finish` and is noted; the next is a
    KeyboardInterrupt.

    Outside the main thread, where Python takes no signals, it does nothing.
    """

    def __init__(self, finish: Callable[[], None]) -> None:
        self._finish = finish
        self._before: Any = None
        self.came = False

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        self._finish()
