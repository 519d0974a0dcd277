"""The command as a user types it: a process of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest


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
