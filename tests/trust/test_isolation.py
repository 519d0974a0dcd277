"""What a learner's file or a learner does to its process changes nothing for the others, whatever
the workers.
"""

import json
import os
import subprocess
import sys

import pytest

from quickstudy.runs.merge import read_results

NAUGHTY = """
import ctypes, os, random, sys, warnings
import numpy as np
import jax

print("hello from the file")
jax.config.update("jax_enable_x64", True)
np.random.seed(3)
random.seed(3)
np.seterr(all="raise")
warnings.simplefilter("error")
sys.path.insert(0, "/nowhere")
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "bfloat16"
os.environ["OMP_NUM_THREADS"] = "7"
os.chdir("/")


class Scribbler:
    def __init__(self, brief, seed):
        self.width = brief.outputs.width

    def learn(self, inputs, targets):
        for array in (inputs, targets):
            while array is not None:
                array.flags.writeable = True
                ctypes.memset(array.ctypes.data, 0, array.nbytes)
                array = array.base
        os.chdir("/")
        print("and from the learner")
        os.write(1, b"and past Python\\n")

    def predict(self, inputs):
        self.learn(inputs, inputs.copy())
        return np.zeros((len(inputs), self.width))
"""

WILD = """
import os, sys, time


class Wild:
    def __init__(self, brief, seed, how="good"):
        self.how, self.width = how, brief.outputs.width

    def learn(self, inputs, targets):
        if self.how == "fork-raise" and os.fork() == 0:
            raise ValueError("a child")
        if self.how == "fork-exit" and os.fork() == 0:
            sys.exit(0)
        if self.how == "fork-on" and not hasattr(self, "child"):
            self.child = os.fork()
        if self.how == "generator":
            raise GeneratorExit("I leave")
        if self.how == "interrupt":
            raise KeyboardInterrupt
        if self.how == "base":
            raise BaseException("the base of all")
        if self.how == "exit":
            sys.exit(3)
        if self.how == "name":
            open(b"no such file \\xff", "rb")
        if self.how == "chdir":
            os.chdir("/")

    def predict(self, inputs):
        if self.how == "list":
            return [0] * len(inputs)
        return __import__("numpy").zeros(len(inputs), int)
"""

REASONS = {
    "generator": "GeneratorExit: I leave (wild.py:17)",
    "interrupt": "KeyboardInterrupt (wild.py:19)",
    "base": "BaseException: the base of all (wild.py:21)",
    "exit": "SystemExit: 3 (wild.py:23)",
    "name": "no such file",
}
FINE = ("good", "chdir", "fork-raise", "fork-exit", "fork-on")


@pytest.fixture
def call(tmp_path):
    (tmp_path / "naughty.py").write_text(NAUGHTY)
    (tmp_path / "wild.py").write_text(WILD)
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(3)\n")

    def run(folder, learners, workers, *more, seeds=1):
        named = [word for learner in learners for word in ("-l", learner)]
        command = [
            sys.executable,
            "-m",
            "quickstudy",
            "run",
            "language/qa",
            *named,
            "--set",
            "sequences=12",
        ]
        command += ["-s", str(seeds), "-j", str(workers), "-o", folder, "--json", *more]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)

    return run


def ours(folder):
    """What the learners and rules of the package came to."""
    found = {}
    for record in read_results(folder).records.values():
        if ".py" not in record.labels["learner"]:
            found[record.key] = record.status, record.scores, record.trace
    return found


def test_a_naughty_learner_changes_no_other_number(call, tmp_path):
    """Runs of the package's own learners and rules beside it are those without it, with 0, 1 and 2
    workers.
    """
    esn = "esn:units=20"
    assert call("alone", [esn], 0).returncode == 0
    alone = ours(tmp_path / "alone")
    assert len(alone) > 3
    # Compiled programs are most of the time; two workers are shown with the rules alone.
    for workers, learners in ((0, [esn]), (1, [esn]), (2, [])):
        folder = tmp_path / f"with{workers}"
        done = call(folder.name, ["naughty.py:Scribbler", *learners], workers)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["folder"] == folder.name  # nothing else was printed
        found = ours(folder)
        assert len(found) == len(alone) - (not learners)
        assert found == {key: alone[key] for key in found}
        assert {record.status for record in read_results(folder).records.values()} == {"ok"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("workers", [0, 2])
def test_whatever_a_learner_does_its_run_has_a_reason_and_the_others_go_on(call, tmp_path, workers):
    learners = [f"wild.py:Wild:how={how}" for how in (*FINE, *REASONS)]
    done = call("out", learners, workers, "--no-controls")
    assert done.returncode == 1
    assert json.loads(done.stdout)["failed"] == len(REASONS)
    records = read_results(tmp_path / "out").records.values()
    found = {record.what["learner"]["parameters"]["how"]: record for record in records}
    assert {how: found[how].status for how in FINE} == dict.fromkeys(FINE, "ok")
    for how, words in REASONS.items():
        assert found[how].status == "failed"
        assert words in found[how].reason
    found["name"].reason.encode()  # can be written down anywhere
    assert (tmp_path / "out" / "report.html").exists()
    lines = sum(
        len(path.read_bytes().splitlines()) for path in (tmp_path / "out" / "runs").iterdir()
    )
    assert lines == len(learners)  # no child of a fork has written a second one


def test_a_file_that_leaves_when_imported_is_a_mistake_in_one_line(call):
    for arguments in (["leaves.py:Any"], ["majority", "--include", "leaves.py"]):
        done = call("out", arguments[:1], 0, *arguments[1:])
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.strip() == "leaves.py cannot be imported: SystemExit: 3 (leaves.py:2)"
