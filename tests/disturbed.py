"""Runs that are disturbed, and learners that disturb: a part of `make chaos`.

`signals`: a terminal hangs up, somebody presses Ctrl-C once or often, a pipe is closed, a machine
sleeps. `doctors`: a folder is repaired all the time while a run starts in it. `together`: two or
three runs in one folder, with everything that reads it beside. `full`: the disk takes no more than
so many bytes of a file. `wild`: learners that die, fork, hang, and do to their process what they
like. It has held if every run that is read is, to the bit, what it is undisturbed, if the same
command in the end makes all of them, and if nobody has seen a traceback.
"""

import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

from kills import LEARNER, bits, command
from tally import Tally, chosen, generator

from quickstudy.base.errors import QuickstudyError
from quickstudy.runs.doctor import repair

LONGEST_SECONDS = 600
SIGNALS = {
    "INT": [signal.SIGINT],
    "INT twice": [signal.SIGINT] * 2,
    "INT 8 times": [signal.SIGINT] * 8,
    "TERM": [signal.SIGTERM],
    "HUP": [signal.SIGHUP],
    "QUIT": [signal.SIGQUIT],
    "STOP, CONT": [signal.SIGSTOP, signal.SIGCONT],
    "closed pipe": [],
    "INT to all": [signal.SIGINT],
}
WILD = """
import ctypes, gc, os, random, signal, sys, threading, time, warnings
import numpy as np


def fork():
    if os.fork() == 0:
        raise ValueError("a child")


def thread():
    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()


def deep(n=0):
    return deep(n + 1) + 1


def child():
    if os.fork() == 0:
        time.sleep(3)
        os._exit(0)


def full():
    return np.zeros((10**7, 10**7))


def noise():
    np.random.seed(1), random.seed(1), np.seterr(all="raise"), warnings.simplefilter("error")


def words():
    print("x" * 100_000), sys.stderr.write("y" * 1_000), os.write(1, b"z" * 1_000)


DEEDS = {
    "good": lambda: None,
    "die": lambda: os._exit(7),
    "kill": lambda: os.kill(os.getpid(), 9),
    "fork": fork,
    "segfault": lambda: ctypes.string_at(0),
    "abort": os.abort,
    "hang": lambda: time.sleep(1000),
    "thread": thread,
    "exit": lambda: sys.exit(3),
    "deep": deep,
    "full": full,
    "noise": noise,
    "words": words,
    "child": child,
    "chdir": lambda: os.chdir("/"),
    "limit": lambda: sys.setrecursionlimit(60),
    "collect": gc.disable,
    "alarm": lambda: signal.alarm(1),
    "mask": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    "silence": lambda: setattr(sys, "stdout", None),
    "closed": lambda: os.closerange(3, 200),
    "unknown": lambda: open(b"no such file \\xff", "rb"),
    "environment": lambda: os.environ.clear(),
}


class Wild:
    def __init__(self, brief, seed, how="good"):
        self.deed = DEEDS[how]

    def learn(self, inputs, targets):
        self.deed()

    def predict(self, inputs):
        return np.zeros(len(inputs), int)
"""
DEEDS = (
    "die",
    "kill",
    "fork",
    "segfault",
    "abort",
    "hang",
    "thread",
    "exit",
    "deep",
    "full",
    "noise",
    "words",
    "child",
    "chdir",
    "limit",
    "collect",
    "alarm",
    "mask",
    "silence",
    "closed",
    "unknown",
    "environment",
)
FATAL = {"die", "kill", "segfault", "abort", "alarm", "closed"}
"""What ends a process, and with no workers the command itself."""


class Place:
    """A folder to work in, and what the runs are that nobody disturbs."""

    def __init__(self, made):
        self.folder = pathlib.Path(made)
        (self.folder / "counted.py").write_text(LEARNER)
        (self.folder / "wild.py").write_text(WILD)
        began = time.monotonic()
        self.call(self.words("whole"), check=True)
        self.whole, self.seconds = bits(self.folder / "whole")[0], time.monotonic() - began

    def words(self, name):
        """The command that makes all runs in a folder of that name."""
        return command(name, seeds=3)

    def call(self, words, **more):
        """A command, to its end."""
        return subprocess.run(
            words,
            cwd=self.folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST_SECONDS,
            **more,
        )

    def faults(self, name, said):
        """What did not hold in a folder, in which the same command now makes the rest. said: on
        standard error.
        """
        found, damage = bits(self.folder / name)
        wrong = [f"{key[:8]} is other" for key in found if found[key] != self.whole.get(key)]
        faults = damage + wrong + ([f"a traceback: {said[-400:]}"] if "Traceback" in said else [])
        last = self.call(self.words(name))
        if last.returncode or bits(self.folder / name) != (self.whole, []):
            faults.append(f"not the same in the end: {last.returncode} {last.stderr[-200:]}")
        return faults


def try_signals(place, numbers, tally):
    """A signal at a random moment, to the driver or to all."""
    for number in numbers:
        name, rng = list(SIGNALS)[number % len(SIGNALS)], generator("signals", number)
        folder = f"signal-{number}"
        options = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "start_new_session": True,
        }
        words = [word for word in place.words(folder) if word != "--quiet"]
        with subprocess.Popen(words, cwd=place.folder, **options) as process:
            if name == "closed pipe":
                process.stdout.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(float(rng.uniform(0.05, place.seconds)))
            for one in SIGNALS[name]:
                with contextlib.suppress(ProcessLookupError):
                    (os.killpg if name == "INT to all" else os.kill)(process.pid, one)
                time.sleep(0.05)
            said = process.stderr.read()
            process.wait(LONGEST_SECONDS)
        tally.add(name, *_verdict(place.faults(folder, said)))


def try_doctors(place, numbers, tally):
    """A folder is repaired without a pause while a run starts and ends in it."""
    for number in numbers:
        folder, done, repairs = f"doctor-{number}", threading.Event(), []
        thread = threading.Thread(
            target=_repair_always, args=(place.folder / folder, done, repairs)
        )
        thread.start()
        made = place.call(place.words(folder))
        done.set()
        thread.join()
        faults = place.faults(folder, made.stderr)
        faults += (
            [made.stderr]
            if made.returncode
            else []
            if len(repairs) > 3
            else ["nothing was repaired meanwhile"]
        )
        tally.add("doctors", *_verdict(faults))


def _repair_always(folder, done, repairs):
    while not done.is_set():
        with contextlib.suppress(QuickstudyError):  # there is nothing yet that is ours
            repair(folder)
            repairs.append(time.monotonic())
        time.sleep(0.002)


def try_together(place, numbers, tally):
    """Two or three runs at once in one folder, and everything that reads it beside them."""
    for number in numbers:
        folder = f"together-{number}"
        words = [place.words(folder)] * (2 + number % 2)
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        processes = [subprocess.Popen(one, cwd=place.folder, **options) for one in words]
        start, said = [sys.executable, "-m", "quickstudy"], []
        beside = [
            ["report", folder, "-o", "page.html"],
            ["query", folder, "select count(*) from runs"],
            ["doctor", folder],
            ["compare", "counted.py:Counted", "majority", folder],
            ["pack", folder, "-o", f"{folder}.zip"],
        ]
        while any(process.poll() is None for process in processes):
            for verb in beside:
                said.append(place.call([*start, *verb]).stderr)
        said += [process.communicate()[1] for process in processes]
        faults = place.faults(folder, "".join(said))
        faults += [f"status {process.returncode}" for process in processes if process.returncode]
        tally.add(f"{len(words)} runs", *_verdict(faults))


def try_full(place, numbers, tally):
    """No file may grow beyond so many bytes; then it may."""
    for number in numbers:
        folder, most = f"full-{number}", 500 * 2**number

        def shrink(most=most):
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        made = place.call(place.words(folder), preexec_fn=shrink)
        faults = [] if made.returncode in (0, 1, 2) else [f"status {made.returncode}"]
        tally.add("full", *_verdict(faults + place.faults(folder, made.stderr)))


def try_wild(place, numbers, tally):
    """Learners of whom anything may be expected, beside others, with two workers and with none."""
    for number in numbers:
        how, workers = DEEDS[number % len(DEEDS)], (2, 0)[number // len(DEEDS) % 2]
        folder = f"wild-{number}"
        words = place.words(folder)
        words[words.index("-l") : words.index("-l")] = ["-l", f"wild.py:Wild:how={how}"]
        made = place.call([*words, "--limit", "20", "-j", str(workers)])
        faults = (
            []
            if made.returncode in (0, 1) or (not workers and how in FATAL)
            else [f"status {made.returncode}"]
        )
        found, damage = bits(place.folder / folder)
        others = {key for key in place.whole if key in found}
        faults += damage + [
            f"{key[:8]} is other" for key in others if found[key] != place.whole[key]
        ]
        if not (how in FATAL and not workers) and others != place.whole.keys():
            faults.append(f"{len(place.whole) - len(others)} of the others are missing")
        if "Traceback" in made.stderr:
            faults.append(made.stderr[-400:])
        tally.add(f"{workers} workers", *_verdict([f"{how}: {one}" for one in faults]))


def _verdict(faults):
    return ("other", str(faults)) if faults else ("whole",)


TRIALS = {
    "signals": (try_signals, 90),
    "doctors": (try_doctors, 30),
    "together": (try_together, 9),
    "full": (try_full, 14),
    "wild": (try_wild, 2 * len(DEEDS)),
}
"""By name, what is done, and how often."""


def main(words):
    whole = True
    for name, numbers in chosen(
        words, {name: count for name, (_, count) in TRIALS.items()}
    ).items():
        with tempfile.TemporaryDirectory() as made:
            place, tally = Place(made), Tally(name, len(numbers))
            TRIALS[name][0](place, numbers, tally)
            whole &= tally.end()
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
