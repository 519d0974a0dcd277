"""What runs on a Dask worker: it takes one job, hands it to a child process, and watches that.

Compilers hold Python for minutes, in which a Dask worker would be declared dead, and a learner may
kill its process: so the work is done by a process of the engine `process`, one for each worker and
run, which stays for the next job. The Dask worker itself never imports a user's file. What goes in
and out is JSON, and the bytes of a zip file where the worker does not see the driver's folder.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from quickstudy.base.code_identity import PACKAGE, content_version
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.hardware import cache_folder, gpu_memory
from quickstudy.learners.resolved_learner import LANES
from quickstudy.runs.engines.hand_back import FoundRuns, is_shared, pack_results
from quickstudy.runs.engines.messages import (
    Begun,
    Broken,
    Bundle,
    Done,
    Lost,
    Message,
    message_line,
)
from quickstudy.runs.engines.process import ProcessEngine
from quickstudy.runs.engines.sent_files import moved, receive_files

GPU = "GPU"
"""The Dask resource of a worker that computes on a GPU; one without it stays on its processor."""
HAND_BACK_SECONDS = 30.0
"""After so long a worker without the driver's folder hands back what it has: no more is lost."""
IDLE_SECONDS = 120.0
"""How long a child process waits for the next job of its run."""
MOST_LOGS = 100
_LIBRARIES = ("numpy", "scipy", "jax", "jaxlib", "equinox", "optax", "numba", "dask", "distributed")


@functools.cache
def installed() -> dict[str, str]:
    """What must be the same on driver and worker: Python, libraries, and the code of this package
    as a hash.
    """
    found = {"python": platform.python_version().rpartition(".")[0]}
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            found[library] = "not installed"
    texts = [
        f"{path.relative_to(PACKAGE).as_posix()} {content_version(path.read_bytes())}"
        for path in sorted(PACKAGE.rglob("*.py"))
    ]
    return {**found, "quickstudy": content_version("\n".join(texts).encode())}


def differences(driver: Mapping[str, str], worker: Mapping[str, str]) -> str:
    """How the versions on a worker differ from those of the driver; empty if they do not."""
    return ", ".join(
        f"{name} {version} here and {worker.get(name, 'unknown')} there"
        for name, version in driver.items()
        if worker.get(name) != version
    )


@dataclass
class Crew:
    """What one worker keeps for the jobs of one run: a child process and what it knows of the
    results folder.
    """

    run: str
    name: str
    engine: ProcessEngine | None = None
    found: FoundRuns | None = None
    finishing: bool = False
    busy: bool = False
    idle_since: float = field(default_factory=time.monotonic)

    @property
    def log(self) -> pathlib.Path:
        """What the child process prints, on this machine."""
        name = re.sub(r"[^A-Za-z0-9.-]+", "_", self.name).strip("_")
        return cache_folder() / "logs" / f"{self.run}-{name}.log"

    def staffed(self, environment: Mapping[str, str]) -> ProcessEngine:
        """The engine with its one process."""
        if self.engine is None:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            logs = sorted(self.log.parent.glob("*.log"), key=lambda path: path.stat().st_mtime)
            for path in logs[:-MOST_LOGS]:
                path.unlink(missing_ok=True)
            self.engine = ProcessEngine(1, environment, str(self.log))
        return self.engine

    def dismiss(self, now: bool = False) -> None:
        """Let the child process go."""
        engine, self.engine = self.engine, None
        if engine is not None:
            engine.shutdown(now)
            with contextlib.suppress(OSError):
                if not self.log.stat().st_size:
                    self.log.unlink()


_crews: dict[tuple[str, str], Crew] = {}
_guard = threading.Lock()
_timer: threading.Timer | None = None


def finish_run(run: str) -> None:
    """Let calls in progress end and begin no others. Called on the worker's event loop: returns at
    once.
    """
    with _guard:
        for crew in (one for one in _crews.values() if one.run == run):
            crew.finishing = True
            if crew.engine is not None:
                crew.engine.finish()


def end_run(run: str) -> None:
    """The run is over: its child process goes. Called on the worker's event loop: returns at
    once.
    """
    with _guard:
        for place in [place for place, one in _crews.items() if one.run == run]:
            crew = _crews[place]
            if not crew.busy:  # else it notices by itself that its job is no longer wanted
                del _crews[place]
                threading.Thread(target=crew.dismiss, daemon=True).start()


def _dismiss_later() -> None:
    """Look from time to time for child processes without a driver: it may have died."""
    global _timer
    with _guard:
        if _timer is None:
            _timer = threading.Timer(IDLE_SECONDS, _dismiss_idle)
            _timer.daemon = True
            _timer.start()


def _dismiss_idle() -> None:
    global _timer
    with _guard:
        _timer = None
        for place, crew in list(_crews.items()):
            if not crew.busy and time.monotonic() - crew.idle_since >= IDLE_SECONDS:
                del _crews[place]
                threading.Thread(target=crew.dismiss, daemon=True).start()
        left = bool(_crews)
    if left:
        _dismiss_later()


def carry(text: str) -> str:
    """A text that several jobs need: Dask keeps it on the workers, and makes it again if lost."""
    return text


def run_job(text: str, files: str = "") -> tuple[str, bytes]:
    """Do one job on a Dask worker. Gives what happened as JSON, and results as the bytes of a zip
    file where they could not be written into the driver's folder.

    text: the job as JSON (`quickstudy.runs.engines.cluster`). files: users' files, packed.
    """
    from distributed import get_worker

    worker, job = get_worker(), json.loads(text)
    key = worker.get_current_task()

    def wanted() -> bool:
        known = worker.state.tasks.get(key)
        leaving = str(worker.status) in ("Status.closing", "Status.closed")
        return known is not None and known.state != "cancelled" and not leaving

    def tell(message: Message) -> None:
        said = {"job": job["job"], "worker": crew.name, "line": message_line(message).decode()}
        worker.log_event(job["run"], said)

    difference = differences(job["installed"], installed())
    if difference:
        return json.dumps({"refused": difference, "worker": str(worker.name)}), b""
    with _guard:
        crew = _crews.setdefault((job["run"], worker.address), Crew(job["run"], str(worker.name)))
        crew.busy = True
    os.environ.update(job["environment"])
    try:
        bundle = Bundle.from_json(job["bundle"])
        if files:
            bundle = moved(bundle, receive_files(files), content_version(files.encode()))
        on_gpu = GPU in worker.state.total_resources
        environment = gpu_memory(job["sharing"]) if on_gpu else {"JAX_PLATFORMS": "cpu"}
        shared = is_shared(job["probe"], job["secret"])
        run = functools.partial(_watched, crew, environment, tell, wanted)
        answer: dict[str, Any] = {"worker": crew.name, "log": f"{platform.node()}:{crew.log}"}
        content = b""
        if shared:
            messages = _shared(crew, job, bundle, tell, run)
        else:
            made = pathlib.Path(tempfile.mkdtemp(prefix="quickstudy-", dir=worker.local_directory))
            messages, content = _apart(crew, made, bundle, on_gpu, run)
        return json.dumps({**answer, "messages": messages}), content
    except QuickstudyError as error:
        broken = message_line(Broken(str(error), isinstance(error, UsageError))).decode()
        return json.dumps({"worker": crew.name, "messages": [broken]}), b""
    finally:
        with _guard:
            crew.busy, crew.idle_since = False, time.monotonic()
        _dismiss_later()


def _shared(crew: Crew, job: Mapping[str, Any], bundle: Bundle, tell: Any, run: Any) -> list[str]:
    """Into the driver's folder, and only what is not there yet."""
    crew.found = crew.found or FoundRuns(job["probe"])
    found = [Done(key, status) for key, status in crew.found.of(bundle.keys).items()]
    for message in found:
        tell(message)
    messages = [message_line(message).decode() for message in found]
    left = bundle.without({message.key for message in found})
    return messages + (list(run(left, False)) if left.keys else [])


def _apart(
    crew: Crew, made: pathlib.Path, bundle: Bundle, on_gpu: bool, run: Any
) -> tuple[list[str], bytes]:
    """Into a folder of this worker, call by call, for as long as it may keep results to itself."""
    messages: list[str] = []
    left, size, began = (
        replace(bundle, folder=str(made)),
        LANES[-1] if on_gpu else 1,
        time.monotonic(),
    )
    try:
        while left.keys and not crew.finishing and time.monotonic() - began < HAND_BACK_SECONDS:
            part, since = left.without(left.keys[size:]), time.monotonic()
            messages += run(part, True)
            left = left.without(part.keys)
            if time.monotonic() - since < HAND_BACK_SECONDS / 10:
                size *= 2
        return messages, pack_results(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _watched(
    crew: Crew, environment: Mapping[str, str], tell: Any, wanted: Any, bundle: Bundle, quiet: bool
) -> Iterator[str]:
    """Run a bundle in the child process. Gives what happened as lines, and tells the driver of it
    meanwhile; of results only if they are not `quiet`, since they may still be lost.
    """
    with _guard:
        engine = crew.staffed(environment)
        if crew.finishing:
            return
    engine.submit(bundle)
    ended = False
    try:
        for message in engine.results():
            if not wanted():
                return
            if isinstance(message, Begun) or (isinstance(message, Done) and not quiet):
                tell(message)
            if isinstance(message, Done | Lost | Broken):
                yield message_line(message).decode()
            if isinstance(message, Broken):
                return
        ended = True
    finally:
        if not ended:  # the next job gets a fresh process
            crew.dismiss(now=True)
