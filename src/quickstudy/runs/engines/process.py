"""Worker processes on this machine: one that hangs or dies takes nothing with it but the call it
was on.

Workers are started as fresh interpreters, not through `multiprocessing`: the user's script is not
imported again in each, and thread counts are set before any library is loaded. They inherit nothing
that a user's file has done to the driver. A worker that has imported a user's file runs only what
needs that file, and is replaced before it would be given anything else: changes that the file makes
to its process, from a flag of JAX to a patched library, affect only its own learners.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, cast

from quickstudy.base.hardware import cores, descendants, gpu_memory, has_gpu, is_crowded, one_thread
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import engine
from quickstudy.base.user_code import clean_environment, clean_path
from quickstudy.runs.engines.messages import (
    LONGEST_MESSAGE,
    Begun,
    Broken,
    Bundle,
    Done,
    Finished,
    Lost,
    Message,
    Ready,
    Tick,
    read_message,
)
from quickstudy.runs.engines.worker import FINISH, QUIT, too_long

POLL_SECONDS = 0.1
PATIENCE_SECONDS = 2.0
"""Seconds that a worker may take to exit before it is killed."""

MOST_FAILED_STARTS = 3
GPU_WORKERS = 3
"""Processes that share a GPU: one computes while others sample data and compile."""


def default_workers() -> int:
    """One per core; with a GPU a few."""
    return min(GPU_WORKERS, cores()) if has_gpu() else cores()


@engine("process", version=1)
@dataclass(frozen=True)
class Processes:
    """Worker processes on this machine.

    workers: how many; default: one per core, or three that share a GPU.
    """

    workers: int | None = parameter(None, at_least=1)
    here: ClassVar[bool] = False

    def planned_workers(self) -> int:
        """How many processes work."""
        return default_workers() if self.workers is None else self.workers

    def open(self) -> ProcessEngine:
        """The engine; its processes start when there is work for them."""
        return ProcessEngine(self.planned_workers())


class ProcessEngine:
    """`workers` processes, started when there is work for them.

    environment: what they get besides that of this process; default: their share of the GPU.
    log: a file that takes what they print; default: standard error of this process.
    """

    def __init__(
        self, workers: int, environment: Mapping[str, str] | None = None, log: str | None = None
    ) -> None:
        self.workers = workers
        self.on_gpu = has_gpu()
        self._waiting: deque[Bundle] = deque()
        self._staff: list[_Worker] = []
        self._inbox: queue.SimpleQueue[tuple[_Worker, Message | None]] = queue.SimpleQueue()
        self._finishing = False
        self._failed_starts = 0
        self._tried_again: set[str] = set()
        self._environment = gpu_memory(workers) if environment is None else environment
        self._log = log

    def submit(self, bundle: Bundle) -> None:
        """Take a bundle."""
        self._waiting.append(bundle)

    def results(self) -> Iterator[Message]:
        """Messages of all workers, until nothing is left to do."""
        while True:
            self._tell_finishing()
            self._assign()
            if not any(worker.bundle for worker in self._staff):
                return
            try:
                worker, message = self._inbox.get(timeout=POLL_SECONDS)
            except queue.Empty:
                self._look_for_silent_deaths()
                yield Tick()
            else:
                if worker in self._staff:
                    yield from self._hear(worker, message)
            self._stop_overdue()

    def finish(self) -> None:
        """Stop after the calls in progress. Only notes it: this may be called between any two
        instructions.
        """
        self._finishing = True

    def shutdown(self, now: bool = False) -> None:
        """Let all workers go. Closing the pipe makes a worker exit once it has finished writing."""
        for worker in self._staff:
            if not now:
                worker.tell(QUIT)
            worker.hang_up()
        deadline = time.monotonic() + PATIENCE_SECONDS
        for worker in self._staff:
            worker.end(max(0.0, deadline - time.monotonic()))
        self._staff.clear()
        self._waiting.clear()

    def _tell_finishing(self) -> None:
        if self._finishing:
            self._waiting.clear()
            for worker in self._staff:
                if not worker.told_to_finish:
                    worker.told_to_finish = True
                    worker.tell(FINISH)

    def _assign(self) -> None:
        while self._waiting:
            worker = next((worker for worker in self._staff if worker.bundle is None), None)
            if worker is None:
                if len(self._staff) >= self.workers:
                    return
                worker = self._engage()
            bundle = self._next(worker)
            fits = worker.room in (None, bundle.room)
            if not fits or (worker.ready and is_crowded(worker.process.pid)):
                worker.tell(QUIT)
                worker.end(PATIENCE_SECONDS)
                self._staff.remove(worker)
                worker = self._engage()
            worker.give(bundle)

    def _engage(self) -> _Worker:
        worker = _Worker(self._inbox, self._environment, self._log)
        self._staff.append(worker)
        return worker

    def _next(self, worker: _Worker) -> Bundle:
        """The first bundle of the room that a worker is in and of the task whose data it holds;
        else of a task that no worker is on; else the first of its room; and only then one of
        another room.
        """
        taken = {other.task for other in self._staff}

        def detour(bundle: Bundle) -> tuple[bool, int]:
            task = bundle.setting.task
            return worker.room not in (
                None,
                bundle.room,
            ), (0 if task == worker.task else 2 if task in taken else 1)

        bundle = min(self._waiting, key=detour)
        self._waiting.remove(bundle)
        return bundle

    def _hear(self, worker: _Worker, message: Message | None) -> Iterator[Message]:
        match message:
            case None:
                yield from self._bury(worker)
                return
            case Ready():
                worker.ready, self._failed_starts = True, 0
            case Begun(keys):
                worker.begin(keys)
            case Done(key):
                worker.done.add(key)
                # The rest of its call may be a call of its own, where the device had too little
                # memory for all.
                worker.begin(tuple(other for other in worker.call if other != key))
            case Finished():
                worker.bundle = None
        yield message

    def _bury(self, worker: _Worker) -> Iterator[Message]:
        """A worker is gone: its call is lost, the rest of its bundle waits for another worker."""
        worker.end(PATIENCE_SECONDS)
        self._staff.remove(worker)
        bundle = worker.bundle
        if bundle is None:
            return
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= MOST_FAILED_STARTS:
                self._waiting.clear()
                yield Broken(
                    f"workers do not start ({worker.last_words()}); try `quickstudy doctor`"
                )
            else:
                self._waiting.appendleft(bundle)
            return
        left = bundle.without(worker.done)
        again: tuple[str, ...] = ()
        if worker.condemned:  # killed by us, perhaps just after the call had ended
            lost = tuple(key for key in worker.condemned if key in left.keys)
            reason = too_long(bundle.limit_seconds)
        # one that dies between two calls would do so again: the next repetition answers for it
        else:
            lost = worker.call or left.keys[:1]
            twice = self._tried_again.intersection(lost)
            reason = f"worker died{' twice' if twice else ''} ({worker.last_words()})"
            if worker.killed and not twice:
                again, lost = lost, ()
        if lost:
            yield Lost(lost, reason, worker.elapsed())
        if self._finishing:
            return
        # A worker may die of what earlier runs have left in it: a fresh one tries the call once
        # more.
        self._tried_again.update(again)
        rest = left.without((*lost, *again))
        retried = left.without((*lost, *rest.keys))
        self._waiting.extendleft(part for part in (rest, retried) if part.keys)

    def _stop_overdue(self) -> None:
        for worker in self._staff:
            limit = worker.bundle.limit_seconds if worker.bundle else None
            if (
                limit is not None
                and worker.call
                and worker.elapsed() > limit
                and not worker.condemned
            ):
                worker.condemned = worker.call
                worker.kill()  # its end of the line closes, and it is buried like any other

    def _look_for_silent_deaths(self) -> None:
        # A process that a learner has started may hold a dead worker's line open.
        for worker in self._staff:
            if worker.process.poll() is not None:
                worker.listener.join(PATIENCE_SECONDS / 4)
                self._inbox.put((worker, None))


class _Worker:
    """One worker process, as the driver sees it."""

    def __init__(
        self,
        inbox: queue.SimpleQueue[tuple[_Worker, Message | None]],
        environment: Mapping[str, str],
        log: str | None,
    ) -> None:
        start = (
            f"import sys; sys.path[:] = {clean_path()!r}; from quickstudy.runs.engines.worker"
            " import main; main()"
        )
        with _interrupts_held(), open(log, "ab") if log else contextlib.nullcontext() as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**clean_environment(), **one_thread(), **environment},
            )
        self.bundle: Bundle | None = None
        self.task: str | None = None
        self.room: tuple[str, ...] | None = None
        self.call: tuple[str, ...] = ()
        self.done: set[str] = set()
        self.ready = self.told_to_finish = self.garbled = False
        self.condemned: tuple[str, ...] = ()
        self._began = time.monotonic()
        self.listener = threading.Thread(target=self._listen, args=(inbox,), daemon=True)
        self.listener.start()

    def give(self, bundle: Bundle) -> None:
        self.bundle, self.task, self.room, self.call, self.done = (
            bundle,
            bundle.setting.task,
            bundle.room,
            (),
            set(),
        )
        self._began = time.monotonic()
        self.tell((bundle.includes, pickle.dumps(bundle)))

    def begin(self, keys: tuple[str, ...]) -> None:
        self.call, self._began = keys, time.monotonic()

    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def tell(self, command: Any) -> None:
        line = cast(BinaryIO, self.process.stdin)
        with contextlib.suppress(
            OSError, ValueError
        ):  # it has died or was hung up on; the listener will notice
            line.write(pickle.dumps(command))
            line.flush()

    def hang_up(self) -> None:
        with contextlib.suppress(OSError):
            cast(BinaryIO, self.process.stdin).close()

    def kill(self) -> None:
        """Kill the process, and what a learner has started in it."""
        programs = descendants(self.process.pid)
        self.process.kill()
        for program in programs:
            with contextlib.suppress(OSError):
                os.kill(program, signal.SIGKILL)

    def end(self, patience: float) -> None:
        """Wait for the process to end, kill it if it does not, and close its line."""
        self.hang_up()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
        self.listener.join(PATIENCE_SECONDS)
        if not self.listener.is_alive():
            cast(BinaryIO, self.process.stdout).close()

    @property
    def killed(self) -> bool:
        """Whether it was ended by a signal, and not because of what it has written."""
        return (self.process.returncode or 0) < 0 and not self.garbled

    def last_words(self) -> str:
        if self.garbled:
            return "the learner wrote into the pipe between worker and driver"
        code = self.process.returncode or 0
        if (
            code == -signal.SIGKILL
        ):  # not by quickstudy: the kernel ends a process this way that takes too much memory
            return "signal 9; out of memory?"
        return f"signal {-code}" if code < 0 else f"exit status {code}"

    def _listen(self, inbox: queue.SimpleQueue[tuple[_Worker, Message | None]]) -> None:
        line = cast(BinaryIO, self.process.stdout)
        try:
            # A line that is cut off is the end of a worker that was killed while it wrote.
            while (text := line.readline(LONGEST_MESSAGE)).endswith(b"\n") or len(
                text
            ) == LONGEST_MESSAGE:
                inbox.put((self, read_message(text)))
        except OSError:
            pass
        except ValueError:
            self.garbled = not line.closed
            self.kill()
        inbox.put((self, None))


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """A worker starts with interrupts held back, until it ignores them: Ctrl-C goes to the whole
    process group.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
