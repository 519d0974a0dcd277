"""A connection to a Dask scheduler, and the cluster that we have started, if we have.

A connection stays open for a minute after a run, for the next run of the same command: a page of
several studies must not start a cluster for each. A fault of the scheduler is reported within ten
seconds.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import logging
import socket
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.runs.engines import remote

T = TypeVar("T")
CONNECT_SECONDS = 4.0
ASK_SECONDS = 4.0
SHORT_SECONDS = 1.0
KEPT_SECONDS = 60.0
"""How long a connection that is not used stays open."""
ALLOWED_FAILURES = 10
"""Number of workers that may be lost under one job of a cluster that we started: batch systems end
workers for their own reasons. A learner that kills its process kills only the child of a worker.
"""

_kept: dict[Hashable, Connection] = {}
_guard = threading.RLock()


def within(seconds: float, function: Callable[[], T]) -> T:
    """The result of a function, if it returns in time. Raises TimeoutError if not."""
    found: list[T] = []
    faults: list[BaseException] = []

    def call() -> None:
        try:
            found.append(function())
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(seconds)
    if faults:
        raise faults[0]
    if not found:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return found[0]


class Connection:
    """A client of a scheduler.

    address: of the scheduler, for messages. cluster: the one that we have started. planned: how
    many workers it is to have. again: starts those that are missing. where: where to look for them
    if they do not come.
    """

    def __init__(
        self,
        client: Any,
        address: str,
        cluster: Any = None,
        planned: int | None = None,
        again: Callable[[], None] | None = None,
        notes: Sequence[str] = (),
        where: str = "",
    ) -> None:
        self.client, self.address, self.cluster = client, address, cluster
        self.expected, self.gpu_sharing, self.where = planned or 1, 0, where
        self._again, self._notes, self._lent = again, list(notes), False
        self._asked_again = time.monotonic()
        self._silent_since: float | None = None
        self._timer: threading.Timer | None = None

    def notes(self) -> list[str]:
        """What the user should know, once."""
        notes, self._notes = self._notes, []
        return notes

    def workers(self) -> dict[str, dict[str, Any]]:
        """What the scheduler knows of its workers, by address."""
        # Not client.scheduler_info(): another thread overwrites it with one of fewer workers.
        info = self.client.sync(self.client.scheduler.identity, n_workers=-1)
        return dict(info["workers"])

    def names(self) -> list[str]:
        """Of the workers, as a user knows them."""
        return [str(one["name"]) for one in self.workers().values()]

    def is_there(self) -> bool:
        """Whether the scheduler answers."""
        return str(self.client.status) == "running"

    def silence(self) -> float:
        """For how many seconds the scheduler has been gone."""
        if self.is_there():
            self._silent_since = None
            return 0.0
        self._silent_since = self._silent_since or time.monotonic()
        return max(time.monotonic() - self._silent_since, 1e-9)

    def check_workers(self, wait: float) -> None:
        """Wait so long for the first worker. Raises UsageError if none comes, or if one is not like
        this process.
        """
        deadline = time.monotonic() + wait
        while not (workers := within(ASK_SECONDS, self.workers)):
            if time.monotonic() > deadline:
                raise UsageError(
                    f"the scheduler {self.address} has no workers; start some, as `dask worker"
                    f" {self.address} --nthreads 1 --nworkers 4`, or wait for them"
                    " by wait=600"
                )
            time.sleep(0.1)
        self.expected = len(workers)
        with_gpu = Counter(
            str(one["host"]) for one in workers.values() if remote.GPU in one["resources"]
        )
        self.gpu_sharing = max(with_gpu.values(), default=0)
        answers = within(ASK_SECONDS, lambda: self.client.run(remote.installed, on_error="return"))
        for address, answer in answers.items():
            name = workers.get(address, {}).get("name", address)
            if isinstance(answer, BaseException):
                raise UsageError(
                    f"worker {name} cannot run quickstudy: {_short(answer)}; install"
                    " 'quickstudy[cluster]' there, in the version that is here"
                )
            if found := remote.differences(remote.installed(), answer):
                raise UsageError(
                    f"worker {name} is not like this driver: {found}; install the same versions"
                    " there and restart the workers"
                )

    def estimate(self, seconds: Sequence[float]) -> None:
        """Give the scheduler of a cluster that we started our estimate of the length of jobs. Of
        short ones a worker gets the next before it has asked for it; of long ones it does not,
        since another worker may be free sooner.
        """
        scheduler = getattr(self.cluster, "scheduler", None)
        if scheduler is not None:
            mean = sum(seconds) / max(1, len(seconds))
            scheduler.UNKNOWN_TASK_DURATION = max(0.1, mean)
            scheduler.WORKER_SATURATION = 1.0 if mean >= SHORT_SECONDS else 2.0

    def replenish(self) -> None:
        """Start workers again that a batch system has ended."""
        if self._again is not None and time.monotonic() - self._asked_again > 20.0:
            self._asked_again = time.monotonic()
            with contextlib.suppress(Exception):
                self._again()

    def give_back(self) -> None:
        """The run is over: close it, unless another run asks for it soon."""
        with _guard:
            self._lent = False
            if not self.is_there():
                self.close()
                return
            self._timer = threading.Timer(KEPT_SECONDS, self._close_if_idle)
            self._timer.daemon = True
            self._timer.start()

    def _close_if_idle(self) -> None:
        with _guard:
            if not self._lent:
                self.close()

    def close(self) -> None:
        """Close the connection, and the cluster if it is ours."""
        with _guard:
            for key in [key for key, one in _kept.items() if one is self]:
                del _kept[key]
            if self._timer is not None:
                self._timer.cancel()
        for one in filter(None, (self.client, self.cluster)):
            with contextlib.suppress(Exception):
                one.close(timeout=5)


def connection(key: Hashable, make: Callable[[], Connection]) -> Connection:
    """The connection that was kept for such an engine, or a new one. One run has it at a time."""
    with _guard:
        kept = _kept.get(key)
        if kept is not None and not kept._lent and kept.is_there():
            if kept._timer is not None:
                kept._timer.cancel()
            kept._lent = True
            return kept
    made = make()
    made._lent = True
    with _guard:
        _kept.setdefault(key, made)
    return made


def load_distributed() -> Any:
    """The library. Raises MissingExtra where it is not installed. It stays silent: what is wrong is
    reported by us.
    """
    try:
        import dask
        import distributed
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "distributed", "cluster") from error
    for name in ["asyncio", "tornado", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "asyncio", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": ALLOWED_FAILURES,
            "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS:g}s",
        }
    )
    return distributed


def connect(address: str, wait: float) -> Connection:
    """A connection to a scheduler that runs somewhere. Raises UsageError within ten seconds if
    there is none.
    """
    distributed = load_distributed()
    address = _answering(_written(address) if address.endswith(".json") else address)

    def make() -> Any:
        # Asked first without a client: one that cannot connect reports its own end.
        asyncio.run(asyncio.wait_for(_identity(distributed, address), CONNECT_SECONDS))
        return distributed.Client(
            address, timeout=CONNECT_SECONDS, set_as_default=False, name="quickstudy"
        )

    try:
        with warnings.catch_warnings():  # of versions that differ, which check_workers reports
            warnings.simplefilter("ignore")
            client = within(CONNECT_SECONDS + 1.0, make)
    except Exception as error:
        raise UsageError(
            f"{address} does not answer as a Dask scheduler ({_short(error)}); is it one, of the"
            " same version of Dask, and with TLS if yours has?"
        ) from error
    link = str(client.dashboard_link)
    found = Connection(client, address, notes=[f"Dask dashboard: {link}"])
    try:
        found.check_workers(wait)
    except BaseException as error:
        found.close()
        if isinstance(error, TimeoutError):
            raise UsageError(
                f"the workers of {address} do not answer; look at them at {link}"
            ) from error
        raise
    return found


async def _identity(distributed: Any, address: str) -> Any:
    security = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, connection_args=security) as scheduler:
        return await scheduler.identity(n_workers=0)


def _written(file: str) -> str:
    """The address in a scheduler file."""
    try:
        with open(file, encoding="utf-8") as written:
            return str(json.load(written)["address"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{file} is not the file of a Dask scheduler ({_short(error)}); start one by `dask"
            f" scheduler --scheduler-file {file}`"
        ) from error


def _answering(address: str) -> str:
    """The address with its protocol, if something listens there."""
    protocol, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(
            f'no scheduler at "{address}"; give its host and port, dask://127.0.0.1:8786'
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no scheduler answers at {place} ({_short(error)}); start one there, as `dask"
            f" scheduler --host {host} --port {port}`, or use dask://local"
        ) from error
    return f"{protocol or 'tcp'}://{place}"


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0][:200]


@atexit.register
def _close_all() -> None:
    for one in list(_kept.values()):
        one.close()
