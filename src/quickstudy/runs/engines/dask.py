"""The engine `dask`: workers of a Dask cluster, on this machine or on any number of others."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.hardware import has_gpu
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import engine
from quickstudy.runs.engines import Engine
from quickstudy.runs.engines.process import default_workers

LOOPBACK = "127.0.0.1"
STARTS = 3
"""How often a local cluster is started: a worker that is killed meanwhile ends the whole of it."""


@engine("dask", version=1)
@dataclass(frozen=True)
class Dask:
    """Workers of a Dask cluster: dask://HOST:PORT, dask://FILE.json (a scheduler file), or
    dask://local, which starts a cluster on this machine.

    Parameters
    ----------
    address:
        Of the scheduler, or `local`.
    workers:
        Their number, for `dask://local`; default: one per core, or three that share a GPU.
    wait:
        Seconds to wait for the first worker of a cluster that runs already.
    """

    address: str = parameter("local")
    workers: int | None = parameter(None, at_least=1)
    wait: float = parameter(2.0, at_least=0)
    here: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.address != "local" and self.workers is not None:
            raise UsageError(
                f"dask://{self.address} has the workers that were started for it; leave out"
                f" workers={self.workers}"
            )

    def planned_workers(self) -> int:
        """How many workers; of a cluster that runs already that is not asked, and 1."""
        return (self.workers or default_workers()) if self.address == "local" else 1

    def open(self) -> Engine:
        """The engine, connected to its scheduler."""
        from quickstudy.runs.engines.connection import connect, connection, load_distributed

        load_distributed()
        from quickstudy.runs.engines.cluster import ClusterEngine

        if self.address == "local":
            return ClusterEngine(connection(self, self._local))
        return ClusterEngine(connection(self, lambda: connect(self.address, self.wait)))

    def _local(self) -> Any:
        from quickstudy.runs.engines.connection import Connection, load_distributed
        from quickstudy.runs.engines.remote import GPU

        distributed, workers = load_distributed(), self.planned_workers()
        cluster = _started(
            lambda: distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host=LOOPBACK,
                dashboard_address=f"{LOOPBACK}:0",
                memory_limit=0,
                silence_logs=logging.CRITICAL,
                resources={GPU: 1} if has_gpu() else {},
            )
        )
        client = distributed.Client(cluster, set_as_default=False, name="quickstudy")
        notes = [f"Dask dashboard: {cluster.dashboard_link}"]
        made = Connection(client, cluster.scheduler_address, cluster, workers, notes=notes)
        made.gpu_sharing = workers if has_gpu() else 0
        return made


def _started(start: Callable[[], Any]) -> Any:
    """A local cluster. A worker that ends while it starts costs another try, not the run.

    Raises QuickstudyError where none of STARTS tries succeeds.
    """
    for number in range(1, STARTS + 1):
        try:
            return start()
        except (RuntimeError, OSError, TimeoutError) as error:
            if number == STARTS:
                cause = error.__cause__ or error
                raise QuickstudyError(
                    f"the local Dask cluster does not start ({cause}); see that there is memory"
                    " for its workers, ask for fewer by workers=N, or use --engine process"
                ) from error
