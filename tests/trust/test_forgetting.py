"""Old versions and slips of the finger can be put aside, and runs made again; nothing is
deleted.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.cli.main import main
from quickstudy.runs.archive import forget
from quickstudy.runs.doctor import examine_folder
from quickstudy.runs.grouping import Selection
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.run_one import Outcome

FEW = {"sequences": 20}
FILE = """
import numpy as np


class Constant:
    def __init__(self, brief, seed):
        self.outputs = brief.outputs.size

    def learn(self, inputs, targets): ...

    def predict(self, inputs):
        return np.eye(self.outputs)[np.full(len(inputs), {answer})]
"""


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main(list(arguments))
        out, err = capsys.readouterr()
        return left.value.code or 0, out, err

    return call


def run(folder, learners="majority", task="language/qa", **more):
    return qs.run(
        task, learners, seeds=2, out=folder, protocol=FEW, workers=0, controls=False, **more
    )


def lines(folder):
    return sorted(
        line for path in (folder / "runs").glob("*.jsonl") for line in path.read_text().splitlines()
    )


def test_what_is_forgotten_is_a_folder_of_its_own_and_the_rest_is_untouched(tmp_path):
    run(tmp_path, ["majority", "copy-last"])
    before = lines(tmp_path)
    records = list(read_results(tmp_path).records.values())
    meant = {one.key for one in Selection(learners=["maj*"]).of(records)}
    assert len(meant) == 2
    aside = forget(tmp_path, meant)
    assert set(read_results(aside).records) == meant
    assert {one.labels["learner"] for one in read_results(tmp_path).records.values()} == {
        "copy-last"
    }
    assert sorted(lines(tmp_path) + lines(aside)) == before
    assert examine_folder(tmp_path) == []
    assert forget(tmp_path, meant) is None
    assert (
        run(tmp_path, ["majority", "copy-last"]).execution.ok == 2
    )  # as if they had never been run


def test_traces_and_learners_go_with_their_runs(tmp_path):
    run(tmp_path, "esn:units=20", keep_learners=True)
    (key, _) = list(read_results(tmp_path).records)
    aside = forget(tmp_path, {key})
    assert [path.stem for path in (aside / "learners").iterdir()] == [key]
    assert examine_folder(aside) == examine_folder(tmp_path) == []


def test_two_traces_of_one_run_go_both(tmp_path):
    """As two machines may have left them: the second is called after what is in it."""
    for size in (9_000, 8_000):
        trace = Trace(
            "learning-curve", {"step": np.arange(size), "accuracy": np.linspace(0, 1, size)}
        )
        labels = {"task": "t", "learner": "l", "family": "f", "role": "learner"}
        with Journal(tmp_path) as journal:
            record = journal.save(Outcome(Record({"repetition": 0}, "ok", labels=labels), trace))
    assert len(list((tmp_path / "traces").iterdir())) == 2
    aside = forget(tmp_path, {record.key})
    assert len(list((aside / "traces").iterdir())) == 2
    assert len(read_results(aside).records) == 1
    assert examine_folder(aside) == list((tmp_path / "traces").iterdir()) == []


def test_a_journal_that_is_being_written_is_left_alone(tmp_path):
    run(tmp_path)
    record = next(iter(read_results(tmp_path).records.values()))
    with Journal(tmp_path) as journal:
        journal.write(record)
        with pytest.raises(QuickstudyError, match="is being written by a running process"):
            forget(tmp_path, {record.key})
    assert len(lines(tmp_path)) == 3
    assert not (tmp_path / "forgotten").exists()


def test_rerun_makes_runs_again_and_the_new_ones_count(tmp_path):
    first = run(tmp_path).records
    assert run(tmp_path).execution.ok == 0
    again = run(tmp_path, rerun=True)
    assert (again.execution.ok, again.execution.found) == (2, {})
    now = again.records
    assert [one.key for one in now] == [one.key for one in first]
    assert all(
        new.where["started"] > old.where["started"] for new, old in zip(now, first, strict=True)
    )
    assert set(read_results(tmp_path / "forgotten" / "1").records) == {one.key for one in first}


def test_the_verb(typed, tmp_path):
    run(tmp_path / "r", ["majority", "copy-last"])
    status, out, _ = typed("forget", "r", "--learner", "copy-last", "--dry-run")
    assert (status, "2 runs would be put aside" in out) == (0, True)
    assert len(lines(tmp_path / "r")) == 4
    status, out, _ = typed("forget", "r", "--learner", "copy-last", "--task", "language/*")
    assert "language/qa (protocol sequences 20) (corrected)  copy-last" in out
    assert len(lines(tmp_path / "r")) == 2
    assert typed("forget", "r", "--status", "failed")[1] == "none fits\n"
    for wrong in ([], ["--status", "fine"]):
        assert typed("forget", "r", *wrong)[0] == 2


def test_a_report_on_some_of_it_and_on_the_latest(typed, tmp_path):
    for answer in (0, 1):
        (tmp_path / "mine.py").write_text(FILE.format(answer=answer))
        run(tmp_path / "r", [str(tmp_path / "mine.py") + ":Constant", "majority"])
    run(tmp_path / "r", task="language/periodic")

    def rows(*options):
        status, out, _ = typed("report", "r", "--json", *options)
        assert status == 0
        return [
            (one["task"].split()[0], row["learner"])
            for one in json.loads(out)["tasks"]
            for row in one["learners"]
        ]

    everything = rows()
    assert len(everything) == 4
    latest = rows("--latest")
    assert ("language/qa", "mine.py:Constant") in latest
    assert len(latest) == 3
    assert {task for task, _ in rows("--task", "language/q*")} == {"language/qa"}
    old = next(name for _, name in everything if "version" in name)
    assert [name for task, name in rows("--learner", old) if task == "language/qa"] == [
        "mine.py:Constant",
        "majority",
    ]
    assert typed("report", "r", "--task", "nothing")[0] == 2
    assert typed("forget", "r", "--old")[1].endswith("2 runs put aside into r/forgotten/1\n")
    assert len(rows()) == 3


def test_a_status_that_does_not_exist():
    with pytest.raises(UsageError, match='no status "fine"; known: ok, failed, not-applicable'):
        Selection(statuses=["fine"])
