"""The engine `slurm`: a Dask cluster whose workers are jobs of SLURM, started by dask-jobqueue.

The scheduler runs in the driver, on the login node; every job of the batch system starts workers of
one thread each, which connect to it.
"""

from __future__ import annotations

import contextlib
import getpass
import importlib
import pathlib
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.base.hardware import cache_folder
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import engine
from quickstudy.runs.engines import Engine

if TYPE_CHECKING:
    from quickstudy.runs.engines.connection import Connection

SUBMIT_SECONDS = 6.0


@engine("slurm", version=1)
@dataclass(frozen=True)
class Slurm:
    """Jobs of SLURM: slurm://PARTITION?cores=8&memory=16GB&time=02:00:00&jobs=4, from the login
    node.

    Parameters
    ----------
    address:
        The partition; default: that of the batch system.
    cores:
        Cores of a job; each is a worker.
    memory:
        Memory of a job, in all.
    time:
        Time limit of a job.
    jobs:
        Number of jobs.
    account:
        The account that is charged.
    gpus:
        GPUs of a job; the job then has one worker for each GPU instead of for each core.
    interface:
        The network of scheduler and workers, such as ib0.
    host:
        The address that the scheduler listens on.
    tls:
        Encrypt and authenticate all connections.
    setup:
        A shell command before the workers start, such as `module load python`.
    options:
        Further options of sbatch, separated by blanks.
    """

    address: str = parameter("")
    cores: int = parameter(1, at_least=1)
    memory: str = parameter("4GB")
    time: str = parameter("01:00:00")
    jobs: int = parameter(1, at_least=1)
    account: str = parameter("")
    gpus: int = parameter(0, at_least=0)
    interface: str = parameter("")
    host: str = parameter("")
    tls: bool = parameter(False)
    setup: str = parameter("")
    options: str = parameter("")
    here: ClassVar[bool] = False

    @property
    def per_job(self) -> int:
        """Workers in a job."""
        return self.gpus or self.cores

    def planned_workers(self) -> int:
        """How many workers, once all jobs have started."""
        return self.jobs * self.per_job

    def open(self) -> Engine:
        """The engine; its jobs are submitted."""
        from quickstudy.runs.engines.connection import connection, load_distributed

        load_distributed()
        try:
            import dask_jobqueue  # noqa: F401
        except ModuleNotFoundError as error:
            raise MissingExtra("dask-jobqueue", "cluster") from error
        from quickstudy.runs.engines.cluster import ClusterEngine

        return ClusterEngine(connection(self, self._submit))

    def _submit(self) -> Connection:
        from quickstudy.runs.engines.connection import Connection, load_distributed

        if shutil.which("sbatch") is None:
            raise UsageError(
                "there is no sbatch on this machine; run the command on a login node of SLURM, or"
                " use dask://local"
            )
        cluster = self._cluster()
        refusals: list[str] = cluster.job_cls.refusals
        try:
            cluster.scale(jobs=self.jobs)
            deadline = time.monotonic() + SUBMIT_SECONDS
            # Until all are submitted: closed in between, the cluster would wait for the rest. A
            # queue that is slower has not refused.
            while len(cluster.workers) < self.jobs and time.monotonic() < deadline:
                time.sleep(0.05)
            if refusals:
                raise UsageError(f"SLURM refuses the job: {refusals[0]}")
            client = load_distributed().Client(cluster, set_as_default=False, name="quickstudy")
        except BaseException:
            _close(cluster)
            raise
        notes = [
            f"{self.jobs} job{'s' if self.jobs > 1 else ''} submitted to SLURM; scheduler"
            f" {cluster.scheduler_address}, Dask dashboard: {cluster.dashboard_link}"
        ]
        if not self.tls and not cluster.scheduler_address.startswith("tcp://127."):
            notes.append(
                "anybody who reaches this port can run programs as you; set tls=true to prevent it"
            )
        made = Connection(
            client,
            cluster.scheduler_address,
            cluster,
            self.planned_workers(),
            again=lambda: cluster.scale(jobs=self.jobs),
            notes=notes,
            where=f"; look at `squeue --me`, and at the logs in {cache_folder() / 'slurm'}",
        )
        made.gpu_sharing = 1 if self.gpus else 0
        return made

    def _cluster(self) -> Any:
        slurm: Any = importlib.import_module("dask_jobqueue.slurm")
        status: Any = importlib.import_module("distributed.core").Status

        from quickstudy.runs.engines.remote import GPU

        class Job(slurm.SLURMJob):
            """Keeps the message with which the queue refuses a job: the library only logs it."""

            config_name = "slurm"
            refusals: ClassVar[list[str]] = []

            async def _submit_job(self, script_filename: str) -> Any:
                try:
                    return await super()._submit_job(script_filename)
                except Exception as error:
                    self.refusals.append(_said(str(error)))
                    self.status = status.failed  # else the cluster could not be closed
                    raise

        extra = [f"--gpus={self.gpus}"] if self.gpus else []
        scheduler: dict[str, Any] = {"dashboard_address": f"{self.host or ''}:0"}
        logs = cache_folder() / "slurm"
        shared: dict[str, Any] = {}
        if self.tls:
            shared = {"security": True, "shared_temp_directory": str(pathlib.Path.home())}
        try:
            return slurm.SLURMCluster(
                job_cls=Job,
                cores=self.per_job,
                processes=self.per_job,
                job_cpu=self.cores,
                memory=self.memory,
                walltime=self.time,
                queue=self.address or None,
                account=self.account or None,
                interface=self.interface or None,
                name=f"quickstudy-{getpass.getuser()}",
                job_name="quickstudy",
                log_directory=str(logs),
                job_script_prologue=[self.setup] if self.setup else [],
                job_extra_directives=[*extra, *self.options.split()],
                worker_extra_args=["--resources", f"{GPU}=1"] if self.gpus else [],
                scheduler_options={**scheduler, **({"host": self.host} if self.host else {})},
                silence_logs="critical",
                **shared,
            )
        except ImportError as error:
            raise UsageError(
                f"tls=true needs a library: {error}; type: pip install cryptography"
            ) from error
        except (ValueError, RuntimeError, OSError) as error:
            raise UsageError(f"slurm: {_said(str(error))}") from error


def _close(cluster: Any) -> None:
    """Close it without waiting for long: jobs that were refused cannot be closed."""
    from quickstudy.runs.engines.connection import within

    cluster.shutdown_on_close = False  # at the end of the process the library would wait for them
    with contextlib.suppress(Exception):
        within(1.0, lambda: cluster.close(timeout=1))


def _said(text: str) -> str:
    """What sbatch has printed on standard error, or else the first line."""
    _, _, printed = text.partition("stderr:\n")
    return (printed.strip() or text.strip()).partition("\n")[0][:300]
