"""The first draws of every version of every task, bit for bit. A change here needs a new version of the task."""

from __future__ import annotations

import json
import pathlib

import pytest

from quickstudy.base.registry import Registry, package_sources
from quickstudy.base.seeds import Streams

FILES = sorted(pathlib.Path(__file__).parent.joinpath("golden").glob("*.json"))
CASES = [(file, case) for file in FILES for case in json.loads(file.read_text())["cases"]]


def test_all_tasks_of_ours_have_golden_draws():
    ours = Registry("task", lambda: package_sources("quickstudy.tasks"))  # not what another test has registered
    names = {f"{entry.id.replace('/', '-')}-v{entry.version}.json" for entry in ours.entries()}
    wanted = {name for name in names if name.startswith(("language-", "continual-", "grammar-"))}
    assert len(wanted) == 55
    assert wanted <= {file.name for file in FILES}


@pytest.mark.parametrize(("file", "case"), CASES, ids=[f"{file.stem}-{case['convention']}" for file, case in CASES])
def test_draws_are_what_they_were(make_task, file, case):
    golden = json.loads(file.read_text())
    task = make_task(f"{golden['task']}@{golden['version']}", case["convention"])
    assert list(task.vocabulary) == case.get("vocabulary", golden["vocabulary"])
    streams = Streams(case["root"], golden["task"], case["repetition"])
    examples = task.sample(streams.numpy("data"), len(case["sequences"]))
    written = answered if "asked" in case["sequences"][0] else sequence
    assert [written(examples, index) for index in range(examples.count)] == case["sequences"]


def sequence(examples, index):
    """Of a task whose answers are the next tokens."""
    return dict(zip(("tokens", "supervised"), examples.sequence(index), strict=True))


def answered(examples, index):
    """Of any other."""
    one = examples.take([index])
    asked = one.asked[:, 0]
    inputs, targets = one.inputs[:, 0].tolist(), one.targets[asked, 0].tolist()
    return {"inputs": inputs, "asked": asked.nonzero()[0].tolist(), "targets": targets}
