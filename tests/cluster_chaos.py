"""A Dask cluster of which anything is killed at any moment: a part of `make chaos`.

`deaths`: `quickstudy run` works on a scheduler and two workers on the loopback. At a random moment
one is killed: a worker, its nanny, the child process that does the work, the scheduler, or
the driver. What is dead is started again, and the same command given again until it ends. It has
held if all that is read after the kill is as one process alone has it, to the bit, if nothing that
was there is gone, if a command whose driver and scheduler live ends by itself with everything done,
if one that has lost its scheduler says so with exit status 2, and if in the end nothing is missing
and no run was lost. `local`: the same with a worker of `dask://local`.
"""

import contextlib
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from kills import LEARNER, bits, command
from tally import Tally, chosen, generator

sys.path.insert(0, str(pathlib.Path(__file__).with_name("shared")))
from clusters import start_scheduler, start_worker
from quickstudy.base.hardware import descendants

WAYS = ("worker", "nanny", "child", "driver", "worker", "scheduler")
LOCAL_WAYS = ("worker", "child", "driver")
LONGEST_SECONDS = 240
SOON_SECONDS = 40
"""In which a driver has noticed that its scheduler is gone."""
CHILD = b"quickstudy.runs.engines.worker"


class Cluster:
    """A scheduler and two workers, and the same again after any death."""

    def __init__(self, place):
        self.file = place / "scheduler.json"
        self.scheduler, self.workers = None, {}

    def complete(self):
        """Start what is missing."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            for worker in self.workers.values():  # they would wait for the old one
                _kill_all(worker)
            self.workers.clear()
            self.file.unlink(missing_ok=True)
            self.scheduler = start_scheduler(self.file)
        for name in ("w0", "w1"):
            if name not in self.workers or self.workers[name].poll() is not None:
                self.workers[name] = start_worker(self.file, name, nanny=True)

    def processes(self, way):
        """Whom a way kills: their numbers, now."""
        nannies = [worker.pid for worker in self.workers.values()]
        return {"scheduler": [self.scheduler.pid], "nanny": nannies}.get(way) or found(way, nannies)

    def close(self):
        for process in [*self.workers.values(), self.scheduler]:
            _kill_all(process)


def found(way, roots):
    """The Dask workers, or their children that do the work, below some processes."""
    below = [pid for root in roots for pid in descendants(root)]
    wanted = CHILD if way == "child" else b"spawn_main"
    return [pid for pid in below if wanted in _command_line(pid)]


def _command_line(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _kill_all(process):
    if process is not None:
        for pid in [*descendants(process.pid), process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def words(folder, engine):
    """The command on an engine."""
    *start, _, _, out, name = command(folder)
    return [*start, "--engine", engine, out, name]


def _killed(line, place, way, seconds, roots):
    """Give a command, and kill after so many seconds, as soon as there is something to kill. Gives
    the way, nothing if the command had ended before, and what did not hold.
    """
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, cwd=place, **pipes) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        while process.poll() is None:
            target = [process.pid] if way == "driver" else roots(way, process.pid)
            if target:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(target[int(seconds * 1000) % len(target)], signal.SIGKILL)
                break
            time.sleep(0.02)
        else:
            errors = process.communicate()[1]
            return "", [f"status {process.returncode}: {errors}"] if process.returncode else []
        try:
            wait = SOON_SECONDS if way == "scheduler" else LONGEST_SECONDS
            errors = process.communicate(timeout=wait)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return way, ["the command does not end"]
    wanted = {"driver": (-signal.SIGKILL,), "scheduler": (2, 0)}.get(way, (0,))
    faults = [] if process.returncode in wanted else [f"status {process.returncode}: {errors}"]
    return way, faults + (["a traceback"] if "Traceback" in errors else [])


def _try(place, numbers, tally, ways, engine, before_each, roots):
    whole_folder = place / "whole"
    subprocess.run(command(whole_folder), cwd=place, check=True, capture_output=True)
    whole = bits(whole_folder)[0]
    before_each()
    began = time.monotonic()
    subprocess.run(words(place / "first", engine), cwd=place, check=True, capture_output=True)
    length = time.monotonic() - began
    tally.add("undisturbed", "whole" if bits(place / "first") == (whole, []) else "other")
    folders = (place / f"killed-{count}" for count in itertools.count())
    folder, before = next(folders), {}
    for number in numbers:
        rng, span, way = generator("deaths", number), length, ""
        while not way:
            before_each()
            line, seconds = words(folder, engine), float(rng.uniform(1.0, max(1.5, span)))
            way, faults = _killed(line, place, ways[number % len(ways)], seconds, roots)
            if not way and faults:  # it has not begun: a busy machine answers late
                late = "not answer" in faults[0] or "no workers" in faults[0]
                tally.add("refused", "harmless" if late else "other", faults[0])
            elif not way:
                _end(folder, whole, tally)
                folder, before, span = next(folders), {}, span / 2
        now, damage = bits(folder)
        faults += damage + [f"{key[:8]} is other" for key in now if now[key] != whole.get(key)]
        faults += [f"{key[:8]} is gone" for key in before if key not in now]
        tally.add(way, "lost" if faults else "whole", f"number {number}: {faults}")
        before = now
        if len(now) == len(whole) or number == numbers[-1]:
            before_each()
            subprocess.run(words(folder, engine), cwd=place, check=True, capture_output=True)
            _end(folder, whole, tally)
            folder, before = next(folders), {}


def _end(folder, whole, tally):
    """All runs of a folder are there, and as one process has them."""
    tally.add("in the end", "whole" if bits(folder) == (whole, []) else "other", folder.name)
    shutil.rmtree(folder, ignore_errors=True)


def try_deaths(place, numbers, tally):
    """Of a cluster that runs by itself."""
    cluster = Cluster(place)
    try:
        cluster.complete()
        engine = f"dask://{cluster.file}?wait=60"
        _try(
            place,
            numbers,
            tally,
            WAYS,
            engine,
            cluster.complete,
            lambda way, driver: cluster.processes(way),
        )
    finally:
        cluster.close()


def try_local(place, numbers, tally):
    """Of a cluster that the driver has started."""
    engine = "dask://local?workers=2"
    _try(
        place,
        numbers,
        tally,
        LOCAL_WAYS,
        engine,
        lambda: None,
        lambda way, driver: found(way, [driver]),
    )


TRIALS = {"deaths": (try_deaths, 60), "local": (try_local, 20)}
"""By name, what is done, and how often."""


def main(given):
    whole = True
    for name, numbers in chosen(
        given, {name: count for name, (_, count) in TRIALS.items()}
    ).items():
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
            pathlib.Path(made, "counted.py").write_text(LEARNER)
            tally = Tally(name, len(numbers))
            TRIALS[name][0](pathlib.Path(made), numbers, tally)
            whole &= tally.end()
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
