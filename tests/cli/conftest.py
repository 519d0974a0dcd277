"""The command as a user types it: a process of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from quickstudy.base import registries, registry
from quickstudy.cli.main import main

TASK = '''
from dataclasses import dataclass

import quickstudy as qs


@qs.task(
    "mine/reverse",
    version=1,
    controls=["majority", "copy-last"],
    oracle="not written",
    protocol="language",
)
@dataclass(frozen=True)
class Reverse:
    """Repeat a string backwards."""

    symbols: int = 4
    longest: int = 6

    @property
    def vocabulary(self):
        return [*"abcdefgh"[: self.symbols], "|"]

    def sample(self, rng, count):
        lengths = (rng.integers(1, self.longest + 1) for _ in range(count))
        words = [rng.integers(self.symbols, size=length) for length in lengths]
        return qs.Examples.from_pairs(([*word, self.symbols], word[::-1]) for word in words)
'''


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str


@pytest.fixture
def quickstudy(tmp_path):
    def call(*arguments, timeout=240, **environment):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "quickstudy", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def inside(tmp_path, monkeypatch, capsys):
    """The command in this process, which is quicker; what it includes, and asks of libraries, is
    forgotten again.
    """
    monkeypatch.chdir(tmp_path)
    environment = dict(os.environ)
    monkeypatch.setattr(registry, "_included", [])

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Answer(left.value.code, out, err)

    yield call
    os.environ.clear()
    os.environ.update(environment)
    for known in (registries.task, registries.measure):
        for name in [
            name for name, entry in known._entries.items() if str(tmp_path) in entry.origin
        ]:
            del known._entries[name]


@pytest.fixture
def task_file():
    """A task of a user's, as text."""
    return TASK
