"""The driver's side of a Dask cluster: bundles go out as jobs, messages and results come back.

A job is a text of JSON: the bundle, the name of the run, the versions that the worker must have,
and where the driver's folder is. The worker runs it by `quickstudy.runs.engines.remote`. The driver
learns through an event topic of the scheduler at once what has begun and what is done; the answer
of a job repeats it all, so that a lost event loses nothing. Jobs whose Dask worker dies are given
to another one by the scheduler, and those that were not finished for any other reason by us.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.text import described
from quickstudy.runs.engines import remote
from quickstudy.runs.engines.connection import Connection, within
from quickstudy.runs.engines.hand_back import Probe, write_results
from quickstudy.runs.engines.messages import (
    RELAYED,
    Begun,
    Broken,
    Bundle,
    Done,
    Lost,
    Message,
    Note,
    Tick,
    read_message,
)
from quickstudy.runs.engines.sent_files import files_of, pack_files
from quickstudy.runs.journal import Journal

POLL_SECONDS = 0.2
LOOK_SECONDS = 3.0
"""Between two looks at which workers there are."""
SILENCE_SECONDS = 8.0
"""A scheduler that has not been there for so long is given up."""
PATIENCE_SECONDS = 3.0
PATIENT_SECONDS = 30.0
"""Without any worker, after which that is reported."""
GATHER_SECONDS = 20.0
MOST_ROUNDS = 5
"""How often a job is given out again that comes back with nothing done."""
_SENT = ("QUICKSTUDY_DATA",)
"""Variables of the driver's environment that workers need."""


@dataclass
class _Job:
    """A bundle that was given out. call: what has begun of it; settled: what is done or lost."""

    bundle: Bundle
    rounds: int = 0
    future: Any = None
    call: tuple[str, ...] = ()
    worker: str = ""
    began: float = field(default_factory=time.monotonic)


class ClusterEngine:
    """Runs bundles on the workers of a Dask cluster.

    connection: to the scheduler; closed at the end.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = connection.client
        self.workers = connection.expected
        self.on_gpu = connection.gpu_sharing > 0
        self._run = f"quickstudy-{secrets.token_hex(8)}"
        self._waiting: deque[_Job] = deque()
        self._jobs: dict[str, _Job] = {}
        self._inbox: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._settled: set[str] = set()
        self._packed: dict[tuple[str, ...], Any] = {}
        self._journal: Journal | None = None
        self._probe: Probe | None = None
        self._finishing = self._told = self._over = False
        self._watch: threading.Thread | None = None

    def submit(self, bundle: Bundle) -> None:
        """Take a bundle. Raises UsageError for one that only this machine can run."""
        try:
            bundle.as_json()
        except TypeError as error:
            raise UsageError(f"this cannot run on a cluster: {error}") from error
        self._waiting.append(_Job(bundle))

    def results(self) -> Iterator[Message]:
        """Messages of all workers, until nothing is left to do."""
        if not self._waiting:
            return
        yield from map(Note, self._connection.notes())
        self._begin()
        while self._waiting or self._jobs:
            self._tell_finishing()
            while self._waiting:
                self._give_out(self._waiting.popleft())
            try:
                kind, fact = self._inbox.get(timeout=POLL_SECONDS)
            except queue.Empty:
                if self._connection.silence() > SILENCE_SECONDS:
                    yield self._scheduler_lost()
                    return
                yield Tick()
                continue
            if kind == "event":
                yield from self._hear(fact)
            elif kind == "end":
                yield from self._end(fact)
            else:
                yield from self._count(fact)

    def finish(self) -> None:
        """Stop after the calls in progress. Only notes it: this may be called between any two
        instructions.
        """
        self._finishing = True

    def shutdown(self, now: bool = False) -> None:
        """Let the workers go. What still runs is killed, once its worker hears of it."""
        self._over = True
        client, futures = self._client, [job.future for job in self._jobs.values() if job.future]
        if self._probe is not None and self._connection.is_there():

            def end() -> None:
                client.unsubscribe_topic(self._run)
                client.cancel(futures + [one for one in self._packed.values() if one is not None])
                client.run(remote.end_run, self._run, on_error="ignore")

            with contextlib.suppress(Exception):
                within(PATIENCE_SECONDS, end)
        self._jobs.clear()
        self._packed.clear()
        if self._probe is not None:
            self._probe.remove()
        if self._journal is not None:
            self._journal.close()
        self._connection.give_back()

    def _begin(self) -> None:
        self._connection.estimate([job.bundle.seconds for job in self._waiting])
        self._journal = Journal(self._waiting[0].bundle.folder)
        self._probe = Probe(self._journal)
        self._client.subscribe_topic(self._run, lambda event: self._inbox.put(("event", event[1])))
        self._watch = threading.Thread(target=self._look_at_workers, daemon=True)
        self._watch.start()

    def _give_out(self, job: _Job) -> None:
        bundle, name = job.bundle, secrets.token_hex(8)
        probe = self._probe
        assert probe is not None
        facts = {
            "run": self._run,
            "job": name,
            "bundle": bundle.as_json(),
            "installed": remote.installed(),
            "probe": str(probe.path),
            "secret": probe.secret,
            "sharing": max(1, self._connection.gpu_sharing),
            "environment": {name: os.environ[name] for name in _SENT if name in os.environ},
        }
        compiled = self.on_gpu and bundle.setting.resolve().learner.compiled
        files = self._files(bundle)
        job.future = self._client.submit(
            remote.run_job,
            json.dumps(facts),
            *([] if files is None else [files]),
            key=f"{bundle.setting.task} {bundle.setting.learner.rpartition('/')[2]}-{name}",
            resources={remote.GPU: 1} if compiled else None,
            pure=False,
        )
        self._jobs[name] = job
        job.future.add_done_callback(lambda _: self._inbox.put(("end", name)))

    def _files(self, bundle: Bundle) -> Any:
        """Users' files, on their way to the workers that need them; None where there are none."""
        paths = files_of(bundle)
        if paths not in self._packed:
            self._packed[paths] = (
                self._client.submit(remote.carry, pack_files(paths), pure=False) if paths else None
            )
        return self._packed[paths]

    def _hear(self, event: dict[str, str]) -> Iterator[Message]:
        job = self._jobs.get(event["job"])
        if job is None:
            return
        job.worker, message = event["worker"], read_message(event["line"], RELAYED)
        if isinstance(message, Begun):
            left = tuple(key for key in message.keys if key not in self._settled)
            job.call, job.began = left, time.monotonic()
            if left:
                yield Begun(left)
        elif isinstance(message, Done):
            yield from self._settle(job, message, event["worker"])

    def _settle(self, job: _Job, message: Done | Lost, worker: str) -> Iterator[Message]:
        keys = (message.key,) if isinstance(message, Done) else message.keys
        new = tuple(key for key in keys if key not in self._settled and key in job.bundle.keys)
        self._settled.update(new)
        job.call = tuple(key for key in job.call if key not in new)
        if not new:
            return
        if isinstance(message, Lost):
            yield Lost(new, f"{message.reason}, on worker {worker}", message.seconds)
        else:
            reason = f"{message.reason} (worker {worker})" if message.reason else ""
            yield Done(message.key, message.status, reason, message.seconds)

    def _end(self, name: str) -> Iterator[Message]:
        """A job has ended, in one way or another."""
        from distributed import KilledWorker
        from distributed import TimeoutError as NotYet

        job = self._jobs.get(name)
        if job is None:
            return
        before = len(self._settled)
        try:
            text, content = job.future.result(timeout=GATHER_SECONDS)
        except NotYet:  # its worker has died since: the scheduler has the job done again
            job.future.add_done_callback(lambda _: self._inbox.put(("end", name)))
            return
        except KilledWorker:
            left = job.bundle.without(self._settled).keys
            lost = tuple(key for key in job.call if key in left) or left[:1]
            seconds = time.monotonic() - job.began
            if lost:
                yield from self._settle(
                    job, Lost(lost, "several workers died on it, the last", seconds), job.worker
                )
        except CancelledError:  # the scheduler has lost the job, or we have taken it back
            if not self._finishing and self._connection.silence():
                yield self._scheduler_lost()
                return
        except QuickstudyError:
            raise
        except Exception as error:
            yield Broken(f"a worker cannot do its work: {described(error)}", True)
            return
        else:
            yield from self._take(job, json.loads(text), content)
        del self._jobs[name]
        rest = job.bundle.without(self._settled)
        if rest.keys and not self._finishing:
            rounds = 0 if len(self._settled) > before else job.rounds + 1
            if rounds > MOST_ROUNDS:
                yield from self._settle(
                    job, Lost(rest.keys, f"came back undone {rounds} times"), job.worker
                )
            else:
                self._waiting.append(_Job(rest, rounds))

    def _take(self, job: _Job, answer: dict[str, Any], content: bytes) -> Iterator[Message]:
        worker = answer["worker"]
        if "refused" in answer:
            yield Broken(
                f"worker {worker} is not like this driver: {answer['refused']}; install the same"
                " versions there and restart the workers",
                True,
            )
            return
        if content:
            assert self._journal is not None
            write_results(content, self._journal)
        logged = False
        for line in answer["messages"]:
            message = read_message(line, RELAYED)
            if isinstance(message, Done | Lost):
                failed = isinstance(message, Lost) and not self._settled.issuperset(message.keys)
                yield from self._settle(job, message, worker)
                if failed and not logged:
                    logged = True
                    yield Note(f"what it printed on worker {worker}: {answer['log']}")
            elif isinstance(message, Broken):
                yield message

    def _count(self, names: tuple[frozenset[str], frozenset[str]]) -> Iterator[Message]:
        before, now = names
        gone = sorted(before - now)
        if gone and not self._finishing:
            left = "what it ran is given to another" if now else "waiting for workers to come"
            yield Note(f"worker {', '.join(gone)} has left; {left}")
        if not before | now:
            yield Note(
                f"no worker has come in {PATIENT_SECONDS:g} s; the run waits for them"
                f"{self._connection.where}"
            )
        if now:
            self.workers = len(now)
            yield Tick(len(now))

    def _look_at_workers(self) -> None:
        """Says which workers there are, whenever that changes. In a thread of its own."""
        before: frozenset[str] = frozenset()
        said, began = False, time.monotonic()
        while not self._over:
            with contextlib.suppress(
                Exception
            ):  # the scheduler is gone, which is noticed elsewhere
                now = frozenset(self._connection.names())
                late = not said and not now | before and time.monotonic() - began > PATIENT_SECONDS
                if now != before or late:
                    said = said or late
                    self._inbox.put(("workers", (before, now)))
                    before = now
            self._connection.replenish()
            time.sleep(LOOK_SECONDS)

    def _tell_finishing(self) -> None:
        if not self._finishing or self._told:
            return
        self._told = True
        self._waiting.clear()
        client = self._client
        unbegun = [job.future for job in self._jobs.values() if not job.worker]

        def tell() -> None:
            with contextlib.suppress(Exception):
                client.run(remote.finish_run, self._run, on_error="ignore")
                client.cancel(unbegun)

        threading.Thread(target=tell, daemon=True).start()

    def _scheduler_lost(self) -> Broken:
        return Broken(
            f"the scheduler {self._connection.address} no longer answers; start it again, and give"
            " the same command: finished runs are kept",
            True,
        )
