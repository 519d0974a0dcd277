import errno
import json
import os
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.learner import Cost, Snapshot
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.runs import folder as folder_module
from quickstudy.runs.array_files import inline_trace, load_snapshot, load_trace
from quickstudy.runs.folder import prepare_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.journal_lines import read_lines
from quickstudy.runs.merge import read_results
from quickstudy.runs.run_one import Outcome

LABELS = {"task": "t", "learner": "l", "family": "f", "role": "learner"}


def record(number, status="ok", started=0.0, reason=""):
    return Record({"repetition": number}, status, reason, where={"started": started}, labels=LABELS)


def write(folder, *records):
    with Journal(folder) as journal:
        for each in records:
            journal.write(each)
    return journal.path


def test_a_journal_has_its_own_file_and_leaves_none_unused(tmp_path):
    first, second = write(tmp_path, record(0)), write(tmp_path, record(1))
    write(tmp_path)
    assert first != second
    assert sorted(os.listdir(tmp_path / "runs")) == sorted([first.name, second.name])
    assert str(os.getpid()) in first.name
    assert len(read_results(tmp_path).records) == 2


def test_ok_comes_before_not_applicable_before_failed_then_the_latest(tmp_path):
    write(
        tmp_path,
        record(0, "ok", 1.0, "first"),
        record(0, "failed", 9.0),
        record(0, "ok", 5.0, "second"),
    )
    write(tmp_path, record(0, "not-applicable", 10.0), record(0, "ok", 3.0, "third"))
    write(tmp_path, record(1, "failed", 1.0, "a"), record(1, "not-applicable", 0.0, "b"))
    reading = read_results(tmp_path)
    assert [each.reason for each in reading.records.values()] == ["second", "b"]
    assert reading.lines == 7


@given(st.permutations(range(5)))
def test_merging_does_not_depend_on_file_order(tmp_path_factory, order):
    folder = tmp_path_factory.mktemp("merge")
    (folder / "runs").mkdir()
    lines = [
        record(0, "ok", 4.0, "late"),
        record(0, "ok", 2.0),
        record(0, "failed"),
        record(1, "failed"),
        record(2),
    ]
    for place, number in enumerate(order):
        (folder / "runs" / f"host-{place}-x.jsonl").write_text(lines[number].to_line() + "\n")
    found = read_results(folder).records.values()
    assert [(each.what["repetition"], each.status, each.reason) for each in found] == [
        (0, "ok", "late"),
        (1, "failed", ""),
        (2, "ok", ""),
    ]


def test_a_last_line_torn_at_any_byte_is_tolerated(tmp_path):
    path = write(tmp_path, record(0), record(1), record(2))
    content = path.read_bytes()
    start = content.rindex(b"\n", 0, -1) + 1
    for stop in range(start, len(content)):
        path.write_bytes(content[:stop])
        reading = read_results(tmp_path)
        assert not reading.damage
        whole = stop == len(content) - 1  # only the newline is missing: nothing is lost
        assert len(reading.records) == (3 if whole else 2)
        assert reading.torn == (0 if whole or stop == start else 1)


def test_damage_elsewhere_is_named_and_the_rest_is_read(tmp_path):
    path = write(tmp_path, record(0), record(1), record(2))
    lines = path.read_text().splitlines()
    strange = json.loads(lines[1])
    strange["what"] = {"repetition": 7}
    late = {**json.loads(lines[1]), "colour": "green"}
    content = [
        lines[0],
        "{half",
        "",
        json.dumps(strange),
        json.dumps(late),
        "[1]",
        "\x00\xff",
        lines[2],
    ]
    path.write_text("\n".join(content) + "\n", encoding="latin-1")
    reading = read_results(tmp_path)
    assert [each.what["repetition"] for each in reading.records.values()] == [0, 2]
    assert [each.line for each in reading.damage] == [2, 3, 4, 5, 6, 7]
    assert "does not belong" in reading.damage[2].problem
    assert str(reading.damage[0]).startswith(f"runs/{path.name}, line 2: not a line of JSON")


@pytest.mark.parametrize("field", ["what", "where", "cost", "scores", "trace", "labels"])
def test_a_record_with_a_field_of_the_wrong_kind_is_damage(tmp_path, field):
    path = write(tmp_path, record(0))
    facts = json.loads(path.read_text())
    facts[field] = [1]
    path.write_text(json.dumps(facts) + "\n")
    reading = read_results(tmp_path)
    assert (len(reading.records), len(reading.damage)) == (0, 1)


def test_an_unknown_status_is_damage(tmp_path):
    path = write(tmp_path, record(0))
    path.write_text(path.read_text().replace('"ok"', '"splendid"'))
    assert "splendid" in read_results(tmp_path).damage[0].problem


def test_folders_that_are_none_are_usage_errors(tmp_path):
    assert not read_results(tmp_path / "nowhere").records
    with pytest.raises(UsageError, match="no results in"):
        read_results(tmp_path / "nowhere", expected=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        read_results(tmp_path / "file")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "runs").write_text("")
    for action in (read_results, prepare_folder):
        with pytest.raises(UsageError, match="is a file"):
            action(tmp_path / "odd")
    with pytest.raises(UsageError, match="Not a directory"):
        prepare_folder(tmp_path / "file" / "below")


def test_a_later_format_is_refused_and_the_marker_is_written_once(tmp_path):
    prepare_folder(tmp_path)
    marker = tmp_path / "quickstudy.json"
    assert json.loads(marker.read_text())["format"] == 1
    marker.write_text('{"format": 1, "quickstudy": "old"}')
    prepare_folder(tmp_path)
    assert "old" in marker.read_text()
    marker.write_text('{"format": 2}')
    with pytest.raises(UsageError, match="later quickstudy"):
        read_results(tmp_path)


kinds = st.sampled_from(
    ["<f8", "<f4", "<f2", "<i8", "<u8", "|b1", "<i1", "<U5", "<c16", "<M8[s]", "|S3", ">f8"]
)


@given(st.data())
def test_small_traces_come_back_exactly(tmp_path_factory, data):
    dtype = data.draw(kinds)
    shape = data.draw(arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    letters = st.text("abc0", max_size=5) if dtype == "<U5" else None
    array = data.draw(arrays_of.arrays(dtype, shape, elements=letters))
    folder = tmp_path_factory.mktemp("trace")
    trace = Trace("predictions", {"x": array, "file": array}, {"unit": "steps"}, Cost(examples=3))
    with Journal(folder) as journal:
        journal.save(Outcome(Record({"n": 1}, "ok", cost=trace.cost.as_facts()), trace))
    (saved,) = read_results(folder).records.values()
    loaded = load_trace(folder, saved)
    assert (loaded.kind, loaded.facts) == ("predictions", {"unit": "steps"})
    assert loaded.cost == trace.cost
    for name in ("x", "file"):
        assert loaded.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded.arrays[name], array, strict=True)
    assert ("file" in saved.trace) == (array.dtype.kind in "cMS")


def test_large_traces_and_learners_are_files_named_by_the_record(tmp_path):
    values = np.random.default_rng(1).random(10_000)
    snapshot = Snapshot(
        {"file": values, "w/0": np.eye(2, dtype=np.float32)}, {"width": 8, "name": "ü"}
    )
    with Journal(tmp_path) as journal:
        saved = journal.save(Outcome(record(0), Trace("predictions", {"y": values}), snapshot))
    assert saved.trace == {"kind": "predictions", "facts": {}, "file": f"traces/{saved.key}.npz"}
    (read,) = read_results(tmp_path).records.values()
    assert load_trace(tmp_path, read).arrays["y"].tobytes() == values.tobytes()
    loaded = load_snapshot(tmp_path, read)
    assert loaded.facts == snapshot.facts
    assert {name: array.tobytes() for name, array in loaded.arrays.items()} == {
        name: array.tobytes() for name, array in snapshot.arrays.items()
    }
    (tmp_path / read.trace["file"]).unlink()
    reading = read_results(tmp_path)
    assert not reading.records
    assert "missing" in reading.damage[0].problem


def test_a_trace_that_a_running_process_has_just_written_is_not_missing(tmp_path, monkeypatch):
    """Between the reader's look at the traces and at the journal, a run writes a trace and its
    line.
    """
    with Journal(tmp_path) as journal:
        saved = journal.save(Outcome(record(0), Trace("x", {"a": np.zeros(10_000)})))
    trace, elsewhere = tmp_path / saved.trace["file"], tmp_path / "elsewhere"
    trace.rename(elsewhere)
    ordinary = pathlib.Path.open

    def late(path, *arguments):
        if elsewhere.exists():
            elsewhere.rename(trace)
        return ordinary(path, *arguments)

    monkeypatch.setattr(pathlib.Path, "open", late)
    reading = read_results(tmp_path)
    assert (len(reading.records), reading.damage) == (1, ())


def test_equal_traces_are_equal_files(tmp_path):
    trace = Trace("predictions", {"y": np.arange(10_000.0)})
    for name in ("a", "b"):
        with Journal(tmp_path / name) as journal:
            saved = journal.save(Outcome(record(0), trace))
    assert (tmp_path / "a" / saved.trace["file"]).read_bytes() == (
        tmp_path / "b" / saved.trace["file"]
    ).read_bytes()


def test_what_has_no_trace_or_learner_says_so(tmp_path):
    with pytest.raises(QuickstudyError, match="no trace"):
        load_trace(tmp_path, record(0, "failed"))
    with pytest.raises(QuickstudyError, match="no trained learner"):
        load_snapshot(tmp_path, record(0))


def test_inline_traces_are_small(tmp_path):
    assert inline_trace(Trace("x", {"a": np.zeros(2048)})) is not None
    assert inline_trace(Trace("x", {"a": np.zeros(2048), "b": np.zeros(1)})) is None


class FullDisk:
    """Stands in for a file on a disk that is full after some bytes."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, content):
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self.file.write(bytes(content)[: self.room])
        self.room -= taken
        return taken

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_full_disk_leaves_no_half_line(tmp_path):
    with Journal(tmp_path) as journal:
        journal.write(record(0))
        before = journal.path.read_bytes()
        whole = journal._file
        journal._file = FullDisk(whole, 20)
        with pytest.raises(QuickstudyError, match="No space left on device; solve that"):
            journal.write(record(1))
        assert journal.path.read_bytes() == before
        journal._file = whole
        journal.write(record(1))
    assert len(read_results(tmp_path).records) == 2


def test_a_disk_that_is_full_at_the_first_line_leaves_no_file(tmp_path):
    journal = Journal(tmp_path)
    journal._file = FullDisk(journal._open(), 20)
    with pytest.raises(QuickstudyError, match="No space left"):
        journal.write(record(0))
    assert os.listdir(tmp_path / "runs") == []


def test_a_trace_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folder_module.os, "fsync", full)
    with pytest.raises(QuickstudyError, match="No space left"):
        Journal(tmp_path).save(Outcome(record(0), Trace("x", {"a": np.zeros(10_000)})))
    monkeypatch.undo()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_folder_that_may_not_be_written_is_a_usage_error(tmp_path, monkeypatch, code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(folder_module.pathlib.Path, "mkdir", refuse)
    with pytest.raises(UsageError, match="choose another folder"):
        prepare_folder(tmp_path / "results")


def test_equal_parts_of_records_are_one_object_and_no_value_changes(tmp_path):
    def record(repetition, flag):
        what = {"task": {"id": "t", "parameters": {"x": flag}}, "repetition": repetition}
        return Record(what, "ok", where={"versions": {"numpy": "2"}, "started": 1.5})

    flags = [1, True, 1.0, 1]
    with Journal(tmp_path) as journal:
        for number, flag in enumerate(flags):
            journal.write(record(number, flag))
    found = [line.record for line in read_lines(tmp_path)]
    kept = [one.what["task"]["parameters"]["x"] for one in found]
    assert [(one, type(one)) for one in kept] == [(one, type(one)) for one in flags]
    assert found[0].what["task"] is found[3].what["task"]
    assert found[0].where["versions"] is found[1].where["versions"]
    assert found[0].what is not found[3].what
