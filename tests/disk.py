"""What a disk may hold after a power cut, from what a command was seen to do to a folder.

`strace` writes down every change that a command and its workers make, and every sync. What was
synced is there after a cut; of what was not, any of it may be missing, cut short, or zeros in its
place, and of the names in a folder the last ones, folder by folder.
"""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np

STRACE = shutil.which("strace")
CALLS = (
    "openat,write,fsync,fdatasync,rename,unlink,mkdir,rmdir,ftruncate,pwrite64,writev,link,symlink"
)
MOST_STATES = 16
"""Of one moment. Where more are possible, all lost, all there, and others at random."""
_CALL = re.compile(
    r"(?P<at>[\d.]+) (?P<name>\w+)\((?P<given>.*)\) += (?P<answer>-?\d+)(?P<opened>.*)"
    r" <(?P<took>[\d.]+)>"
)
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_OPEN = re.compile(r"<((?:\\x[0-9a-f]{2})+)>")


@dataclass(frozen=True)
class Event:
    """Something that was done: at (seconds) by a thread, to a path, with bytes or another path."""

    at: float
    thread: str
    name: str
    path: str
    more: bytes = b""


def traced(words, place):
    """Run a command of quickstudy's and give what it has done to `place`, in its order. A line to
    another process, by which a worker tells that a run has ended, is an event too.
    """
    with tempfile.TemporaryDirectory() as logs:
        options = [
            "-ff",
            "-y",
            "-xx",
            "-s",
            "99999999",
            "-T",
            "--absolute-timestamps=format:unix,precision:ns",
        ]
        command = [STRACE, "--seccomp-bpf", *options, "-e", f"trace={CALLS}", "-o", f"{logs}/log"]
        subprocess.run(
            [*command, sys.executable, "-m", "quickstudy", *words],
            cwd=place,
            check=True,
            capture_output=True,
        )
        events = []
        for log in pathlib.Path(logs).iterdir():
            for line in log.read_text().splitlines():
                if (call := _CALL.match(line)) and int(call["answer"]) >= 0:
                    events += _events(call, log.suffix, str(place))
    return sorted(events, key=lambda event: event.at)


def _events(call, thread, place):
    name, texts = call["name"], [_bytes(text) for text in _TEXT.findall(call["given"])]
    held = [_bytes(text).decode() for text in _OPEN.findall(call["given"])]
    at, ended = float(call["at"]), float(call["at"]) + float(call["took"])
    if name in ("write", "fsync", "fdatasync", "ftruncate", "pwrite64", "writev"):
        path = held[0] if held else ""
        if path.startswith("pipe:") and name == "write":
            yield Event(at, thread, "tell", "")
    elif name == "openat":
        path = (
            _bytes(_OPEN.findall(call["opened"])[0]).decode() if "O_CREAT" in call["given"] else ""
        )
    else:
        path = os.path.join(place, texts[0].decode())
    if not (path + "/").startswith(place + "/"):
        return
    if name in ("fsync", "fdatasync"):
        yield Event(ended, thread, "sync", path)
    elif name == "openat":
        yield Event(at, thread, "create", path)
    elif name == "write":
        yield Event(at, thread, "write", path, texts[0])
    elif name in ("rename", "link"):
        yield Event(at, thread, name, path, os.path.join(place, texts[1].decode()).encode())
    elif name in ("unlink", "mkdir", "rmdir"):
        yield Event(at, thread, name, path)
    else:
        raise NotImplementedError(f"{name} of {path}")


def _bytes(text):
    return bytes.fromhex(text.replace("\\x", ""))


FOLDER = None
"""What stands for a folder among the contents of a state."""


class Disk:
    """What is in a folder, what of it is on the disk for certain, and what may be.

    names: the file (a number) or FOLDER at every path; sure: the same, as synced; waiting: changes
    of names that are not synced, each with its folder; contents: of every file, all of it and as
    synced.
    """

    def __init__(self, place):
        self.place, self.names, self.waiting, self.contents = pathlib.Path(place), {}, [], []
        for path in sorted(self.place.rglob("*")):
            self.names[str(path)] = FOLDER if path.is_dir() else self._new(path.read_bytes())
        self.sure = dict(self.names)

    def do(self, event):
        """An event happens."""
        path = event.path
        if event.name == "create" and path in self.names:
            self.contents[self.names[path]][0] = b""
        elif event.name == "create":
            self._rename({path: self._new()})
        elif event.name == "write":
            self.contents[self.names[path]][0] += event.more
        elif event.name == "mkdir":
            self._rename({path: FOLDER})
        elif event.name in ("unlink", "rmdir"):
            self._rename({path: "gone"})
        elif event.name == "rename":
            self._rename({path: "gone", event.more.decode(): self.names[path]})
        elif event.name == "link":
            self._rename({event.more.decode(): self.names[path]})
        elif event.name == "sync" and path in self.names and self.names[path] is not FOLDER:
            self.contents[self.names[path]][1] = self.contents[self.names[path]][0]
        elif event.name == "sync":
            for changes in [one for one in self.waiting if path in _folders(one)]:
                _apply(self.sure, changes)
                self.waiting.remove(changes)

    def now(self):
        """Path and content of everything, as long as the power is there."""
        return {
            path: one if one is FOLDER else self.contents[one][0]
            for path, one in self.names.items()
        }

    def states(self, rng):
        """What may be left by a cut now: path and content of everything, several times."""
        folders = sorted({min(_folders(changes)) for changes in self.waiting})
        by_folder = [
            [one for one in self.waiting if min(_folders(one)) == folder] for folder in folders
        ]
        open_files = [
            number for number, (whole, synced) in enumerate(self.contents) if whole != synced
        ]
        choices = [range(len(some) + 1) for some in by_folder] + [range(4) for _ in open_files]
        count = int(np.prod([len(one) for one in choices], dtype=float)) if choices else 1
        if count <= MOST_STATES:
            chosen = itertools.product(*choices)
        else:
            some = (
                [int(rng.integers(len(one))) for one in choices] for _ in range(MOST_STATES - 2)
            )
            chosen = [[0] * len(choices), [len(one) - 1 for one in choices], *some]
        for choice in chosen:
            kept = [
                one
                for some, number in zip(by_folder, choice, strict=False)
                for one in some[:number]
            ]
            names = dict(self.sure)
            for changes in self.waiting:
                if changes in kept:
                    _apply(names, changes)
            forms = dict(zip(open_files, choice[len(folders) :], strict=True))
            state = {}
            for path, one in sorted(names.items()):
                if (above := path.rpartition("/")[0]) == str(self.place) or above in state:
                    state[path] = one if one is FOLDER else self._left(one, forms.get(one, 3))
            yield state

    def _left(self, number, form):
        """Of a file that was not synced: as it was before, half of what was added, zeros in its
        place, all.
        """
        whole, synced = self.contents[number]
        if form == 3 or not whole.startswith(synced):
            return whole if form else synced
        added = len(whole) - len(synced)
        return synced + (b"", whole[len(synced) :][: added // 2], bytes(added))[form]

    def _new(self, content=b""):
        self.contents.append([content, content])
        return len(self.contents) - 1

    def _rename(self, changes):
        _apply(self.names, changes)
        self.waiting.append(changes)


def _apply(names, changes):
    for path, one in changes.items():
        if one == "gone":
            names.pop(path, None)
        else:
            names[path] = one


def _folders(changes):
    return {path.rpartition("/")[0] for path in changes}
