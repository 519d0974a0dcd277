"""Stored traces scored again: what is added, what gives way, what is said, and that nothing is
lost.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Measure, Score
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.cli.main import main
from quickstudy.runs import scoring
from quickstudy.runs.doctor import examine_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.run_one import Outcome
from quickstudy.runs.run_spec import Setting
from quickstudy.runs.scoring import compare_scores, score_again
from quickstudy.runs.sql import query


def best(trace, convention):
    return {"best": float(trace.arrays["accuracy"].max())}


@pytest.fixture
def announce():
    """Registers measures for one test."""
    known, mine = registries.measure, []

    def add(id="best", function=best, version=1, kinds=("learning-curve",)):
        scores = (Score(id, unit="share", better="higher", range=(0.0, 1.0)),)
        made = Measure(id, version, tuple(kinds), "max", "0", scores, function)
        object.__setattr__(made, "__module__", function.__module__)
        known.add(id, version, made)
        mine.append((id, version))

    yield add
    for entry in set(mine):
        del known._entries[entry]


@pytest.fixture
def folder(lab, tmp_path):
    lab.run(
        tmp_path / "out", ["good", "raise", "absent"], 2, tasks=["specimen/a", "specimen/large"]
    )
    return tmp_path / "out"


def scores(folder, name):
    found = {
        key: part
        for key, record in read_results(folder).records.items()
        for part in [record.scores.get(name)]
    }
    return {key: part for key, part in found.items() if part}


def test_scores_are_compared_with_their_traces(folder, announce, inside_command):
    announce()
    score_again(folder, ["best"])
    whole = compare_scores(folder)
    assert (whole.equal, whole.differences) == (len(scores(folder, "best")), ())
    assert inside_command("doctor", folder, "--scores") == 0
    records = read_results(folder).records
    key, record = next((key, one) for key, one in records.items() if "best" in one.scores)
    forged = {**record.scores["best"], "values": {"best": 0.99}, "scored": 2e9}
    with Journal(folder) as journal:
        journal.write(replace(record, scores={**record.scores, "best": forged}))
    assert examine_folder(folder) == []
    (line,) = compare_scores(folder).differences
    assert line.startswith(f"{key[:12]}: best is 0.99 in the record, ")
    assert inside_command("doctor", folder, "--scores") == 1
    announce(version=2)  # its numbers are not those of version 1
    assert compare_scores(folder).differences == ()
    assert compare_scores(folder).skipped == whole.equal + whole.skipped


@pytest.fixture
def inside_command():
    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code

    return call


def test_a_new_measure_reads_what_is_stored_and_changes_nothing_else(lab, folder, announce):
    before = lab.numbers(folder)
    journals = {path: path.read_bytes() for path in (folder / "runs").iterdir()}
    announce()
    done = score_again(folder, ["best"])
    assert (done.runs, done.scored, done.measures) == (6, 6, {"best": {"version": 1, "runs": 6}})
    assert done.lines() == ["6 of 6 runs scored again: best v1 (6)"]
    assert done.exit_status == 0
    assert all(path.read_bytes() == content for path, content in journals.items())
    assert len(os.listdir(folder / "runs")) == len(journals) + 1
    for key, (status, reason, numbers, arrays) in lab.numbers(folder).items():
        old = before[key]
        assert (status, reason, arrays) == (old[0], old[1], old[3])
        assert {id: part for id, part in numbers.items() if id != "best"} == old[2]
        if arrays:
            curve = np.frombuffer(arrays["accuracy"][1])
            assert numbers["best"]["values"] == {"best": curve.max()}
    assert score_again(folder, ["best"]).lines() == [
        "0 of 6 runs scored again, nothing was missing"
    ]


def test_how_the_new_scores_are_read_is_written_down_and_merged(folder, announce):
    announce()
    announce("worst", lambda trace, convention: {"worst": 0.0})
    score_again(folder, ["best"])
    score_again(folder, ["worst"])
    finished = [record for record in read_results(folder).records.values() if record.status == "ok"]
    assert all(set(record.legend["scores"]) == {"best", "worst"} for record in finished)
    assert finished[0].legend["scores"]["best"]["best"]["better"] == "higher"
    read = query(
        folder,
        "SELECT DISTINCT name, unit, better FROM scores WHERE measure <> 'mean' ORDER BY ALL",
    ).rows
    assert read == [("best", "share", "higher"), ("worst", "share", "higher")]


def test_an_older_version_gives_way_and_a_later_one_stays(folder, announce):
    announce(version=1)
    score_again(folder, ["best"])
    announce(function=lambda trace, convention: {"best": 2.0}, version=2)
    assert score_again(folder, ["best"]).scored == 6
    assert {
        (part["version"], part["values"]["best"]) for part in scores(folder, "best").values()
    } == {(2, 2.0)}
    assert score_again(folder, ["best@1"]).scored == 0
    assert {part["version"] for part in scores(folder, "best").values()} == {2}


def test_other_code_of_a_users_measure_is_another_measure(folder, announce, monkeypatch):
    announce()
    score_again(folder, ["best"])
    monkeypatch.setattr(scoring, "code_of", lambda function: {"code": "changed"})
    announce(function=lambda trace, convention: {"best": 3.0})
    assert score_again(folder, ["best"]).scored == 6
    assert {part["values"]["best"] for part in scores(folder, "best").values()} == {3.0}
    assert score_again(folder, ["best"]).scored == 0


def test_without_names_every_measure_that_fits_is_applied(folder, announce, monkeypatch):
    monkeypatch.setattr(registries.measure, "names", lambda: ["best", "other", "nothing"])
    announce()
    announce("other", kinds=("transcript",))
    announce("nothing", lambda trace, convention: {})
    done = score_again(folder)
    assert set(done.measures) == {"best"}
    assert done.left_out == ()
    assert "nothing" not in next(iter(read_results(folder).records.values())).scores


def test_what_was_named_and_fits_nothing_is_said(folder, announce):
    announce("other", kinds=("transcript",))
    done = score_again(folder, ["other"])
    assert done.lines()[1:] == ["left out: other: reads transcript; the runs have learning-curve"]
    assert done.exit_status == 0
    with pytest.raises(UsageError, match='no measure "bset"'):
        score_again(folder, ["bset"])


def test_a_dry_run_writes_nothing(folder, announce):
    announce()
    before = sorted(os.listdir(folder / "runs"))
    assert score_again(folder, ["best"], dry_run=True).scored == 6
    assert sorted(os.listdir(folder / "runs")) == before
    assert not scores(folder, "best")


def test_only_the_runs_that_are_named(folder, announce):
    announce()
    key = next(key for key, record in read_results(folder).records.items() if record.status == "ok")
    assert score_again(folder, "best", keys={key}).runs == 1
    assert set(scores(folder, "best")) == {key}


def test_a_trace_that_cannot_be_read_and_a_measure_that_raises_stop_nobody(folder, announce):
    damaged = sorted((folder / "traces").glob("*.npz"))[0]
    damaged.write_bytes(b"not an archive")
    announce()
    announce("picky", lambda trace, convention: {"picky": 1 / (len(trace.arrays["step"]) - 30)})
    announce("odd", lambda trace, convention: {"odd": object()})
    done = score_again(folder, ["best", "picky"])
    assert {id: found["runs"] for id, found in done.measures.items()} == {"best": 5, "picky": 2}
    reasons = [str(one) for one in done.left_out]
    assert sum("ZeroDivisionError" in reason and ": picky: " in reason for reason in reasons) == 3
    assert sum(f"cannot read {damaged}" in reason for reason in reasons) == 1
    assert done.exit_status == 1
    assert "the scores cannot be written down" in score_again(folder, ["odd"]).left_out[0].reason


def test_killed_in_the_middle_the_same_command_goes_on(folder, announce):
    seen = []

    def weary(trace, convention):
        seen.append(trace)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return best(trace, convention)

    announce(function=weary)
    with pytest.raises(KeyboardInterrupt):
        score_again(folder, ["best"])
    assert len(scores(folder, "best")) == 3
    assert score_again(folder, ["best"]).scored == 3
    assert len(scores(folder, "best")) == 6


def rescored(version, scored, value, started=1.0, id="m"):
    part = {"version": version, "values": {id: value}} | ({"scored": scored} if scored else {})
    return Record({"repetition": 0}, "ok", where={"started": started}, scores={id: part})


LINES = [
    rescored(1, 0, 0.1),
    rescored(1, 5.0, 0.2),
    rescored(2, 3.0, 0.3),
    rescored(2, 4.0, 0.4),
    rescored(1, 9.0, 0.7, id="n"),
]


@given(st.permutations(range(5)))
def test_scores_merge_to_the_same_whatever_the_order_of_files(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("merge")
    (folder / "runs").mkdir()
    for place, number in enumerate(order):
        (folder / "runs" / f"{place}.jsonl").write_text(LINES[number].to_line() + "\n")
    (record,) = read_results(folder).records.values()
    assert {id: part["values"][id] for id, part in record.scores.items()} == {"m": 0.4, "n": 0.7}


def test_scores_of_another_execution_are_not_mixed_in(tmp_path):
    """The later one is shown, with the scores of its own trace alone."""
    with Journal(tmp_path) as journal:
        journal.write(rescored(9, 9.0, 0.9, started=1.0))
        journal.write(rescored(1, 0, 0.5, started=2.0))
        journal.write(rescored(1, 0, 0.6, started=2.0, id="n"))
    (record,) = read_results(tmp_path).records.values()
    assert {id: part["values"][id] for id, part in record.scores.items()} == {"m": 0.5, "n": 0.6}


def test_a_run_without_a_trace_is_said(tmp_path, announce):
    announce()
    with Journal(tmp_path) as journal:
        journal.write(Record({"n": 0}, "ok"))
        trace = Trace("learning-curve", {"accuracy": np.array([0.5])})
        journal.save(Outcome(Record({"n": 1, "convention": "corrected"}, "ok"), trace))
    done = score_again(tmp_path, ["best"])
    assert done.scored == 1
    assert [one.reason for one in done.left_out] == ["it has no trace"]


@pytest.mark.parametrize("root", [2**63, -(2**63) - 1, 10**30])
def test_a_root_seed_has_64_bits(root):
    with pytest.raises(
        UsageError, match=f"the root seed must be a whole number of 64 bits, got {root}"
    ):
        Setting("language/qa", "majority", root=root)
    assert Setting("language/qa", "majority", root=2**63 - 1).root == 2**63 - 1
