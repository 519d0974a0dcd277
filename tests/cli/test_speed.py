"""Starting must stay cheap: CPU seconds over a bare interpreter, the least of several tries."""

import os
import subprocess
import sys

import pytest


def cpu_seconds(*arguments):
    tries = []
    for _ in range(5):
        with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        tries.append(usage.ru_utime + usage.ru_stime)
    return min(tries)


@pytest.fixture(scope="module")
def bare():
    return cpu_seconds("-c", "pass")


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [
        (["-c", "import quickstudy"], 0.1),
        (["-m", "quickstudy", "--help"], 0.3),
        (["-m", "quickstudy", "ls", "tasks"], 0.35),
    ],
)
def test_starting_is_cheap(bare, arguments, limit):
    assert cpu_seconds(*arguments) - bare < limit


@pytest.mark.parametrize("arguments", [["--help"], ["ls", "learners"], ["ls", "studies"]])
def test_what_lists_does_not_load_the_libraries_that_compute(arguments):
    program = (
        "import sys; from quickstudy.cli.main import app; app(args=sys.argv[1:],"
        " standalone_mode=False); assert not {'numpy', 'scipy', 'jax'} & set(sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.DEVNULL, check=True
    )
