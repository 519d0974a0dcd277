import builtins
import math
import zipfile

import numpy as np
import pytest

from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.runs import sql as sql_module
from quickstudy.runs.archive import pack
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.run_one import Outcome
from quickstudy.runs.sql import query, seal


@pytest.fixture
def folder(lab, tmp_path):
    folder = tmp_path / "it's [a] *folder?"
    lab.run(folder, ["good", "raise", "absent"], 2, tasks=["specimen/a", "specimen/large"])
    return folder


def test_sql_gives_what_the_records_hold(folder):
    records = read_results(folder).records
    columns, rows, left_out = query(
        folder, "SELECT key, task, learner, status, repetition, examples, learn_seconds FROM runs"
    )
    assert columns[:2] == ["key", "task"]
    assert left_out == 0
    assert {row[0]: row[1:5] for row in rows} == {
        key: (
            record.labels["task"],
            record.labels["learner"],
            record.status,
            record.what["repetition"],
        )
        for key, record in records.items()
    }
    assert {row[5:] for row in rows} == {(10, 0.25), (None, None)}
    _, scores, _ = query(
        folder, "SELECT key, value FROM scores WHERE measure = 'mean' AND name = 'mean'"
    )
    assert dict(scores) == {
        key: record.scores["mean"]["values"]["mean"]
        for key, record in records.items()
        if record.scores
    }
    _, never, _ = query(folder, "SELECT DISTINCT value FROM scores WHERE name = 'never'")
    assert never == [(math.inf,)]
    _, points, _ = query(
        folder, "SELECT task, learner, count(*), max(step) FROM curves GROUP BY ALL ORDER BY ALL"
    )
    assert points == [
        ("specimen/a", "good", 60, 30.0),
        ("specimen/a", "raise", 30, 30.0),
        ("specimen/large", "good", 10_000, 5000.0),
        ("specimen/large", "raise", 5000, 5000.0),
    ]


def test_sealing_again_only_when_the_journals_have_changed(lab, folder, monkeypatch):
    sealed, make = [], sql_module._make
    monkeypatch.setattr(sql_module, "_make", lambda *places: sealed.append(make(*places)))
    count = "SELECT count(*) FROM runs"
    assert query(folder, count)[1] == query(folder, count)[1] == [(12,)]
    assert len(sealed) == 1
    lab.run(folder, ["good"], 3)
    assert query(folder, count)[1] == [(13,)]
    (folder / "sealed" / "runs.parquet").unlink()
    assert query(folder, count)[1] == [(13,)]
    assert len(sealed) == 3


def test_values_that_are_not_finite_keep_their_meaning(tmp_path):
    trace = Trace(
        "learning-curve", {"step": np.arange(3), "accuracy": np.array([np.nan, 1.0, -np.inf])}
    )
    with Journal(tmp_path) as journal:
        journal.save(Outcome(Record({"n": 1}, "ok"), trace))
    _, rows, _ = query(tmp_path, "SELECT accuracy FROM curves ORDER BY step")
    np.testing.assert_array_equal([row[0] for row in rows], trace.arrays["accuracy"])


def test_a_folder_that_cannot_be_written_is_answered_all_the_same(folder):
    (folder / "sealed").write_text("in the way")
    assert query(folder, "SELECT count(*) FROM runs").rows == [(12,)]
    assert (folder / "sealed").read_text() == "in the way"


def test_lines_that_were_left_out_are_counted(folder):
    journal = sorted((folder / "runs").glob("*.jsonl"))[0]
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"not a line\n" + b"".join(lines[1:]))
    for _ in range(2):  # made now, and as it was kept
        answer = query(folder, "SELECT count(*) FROM runs")
        assert (answer.rows, answer.left_out) == ([(11,)], 1)


@pytest.mark.parametrize("nothing", ["", "  ", ";"])
def test_a_query_that_asks_nothing(folder, nothing):
    with pytest.raises(UsageError, match="the query asks nothing"):
        query(folder, nothing)


def test_what_cannot_be_answered_is_a_usage_error(folder, tmp_path):
    with pytest.raises(UsageError, match="cannot be answered"):
        query(folder, "SELECT colour FROM runs")
    with pytest.raises(UsageError, match="no results in"):
        query(tmp_path / "nowhere", "SELECT 1")


def test_without_duckdb_the_extra_is_named(folder, monkeypatch):
    ordinary = builtins.__import__

    def without(name, *arguments, **options):
        if name == "duckdb":
            raise ModuleNotFoundError(name)
        return ordinary(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"\[report\]"):
        seal(folder)


def test_a_pack_unpacks_to_the_same_results(lab, folder, tmp_path):
    seal(folder)
    (folder / "traces" / ".x.npz.host-1-y.tmp").write_bytes(b"half")
    target = pack(folder, tmp_path / "one.zip")
    assert target == tmp_path / "one.zip"
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "out")
    assert not any("sealed" in name or name.endswith(".tmp") for name in names)
    assert lab.numbers(tmp_path / "out" / folder.name) == lab.numbers(folder)
    assert pack(folder, tmp_path / "two.zip").read_bytes() == target.read_bytes()


def test_a_pack_overwrites_nothing_and_needs_results(folder, tmp_path):
    (tmp_path / "there.zip").write_text("precious")
    with pytest.raises(UsageError, match="exists"):
        pack(folder, tmp_path / "there.zip")
    assert (tmp_path / "there.zip").read_text() == "precious"
    with pytest.raises(UsageError, match="no results"):
        pack(tmp_path / "nowhere")
    assert pack(folder).name == f"{folder.name}.zip"


def test_every_kind_of_trace_stands_in_long_form(tmp_path, monkeypatch):
    monkeypatch.setattr(sql_module, "CHUNK", 4)
    arrays = {
        "states": np.arange(12.0).reshape(2, 3, 2),
        "right": np.array([True, False]),
        "words": np.array(["a", "b"]),
        "one": np.array(7),
        "none": np.zeros((0, 3)),
        "waves": np.array([1j]),
    }
    with Journal(tmp_path) as journal:
        journal.save(
            Outcome(
                Record({"n": 1}, "ok", labels={"task": "mine/t"}),
                Trace("transcript", arrays, {"x": 2}),
            )
        )
    rows = query(
        tmp_path, "SELECT name, place, part, value, text, task FROM traces ORDER BY ALL"
    ).rows
    assert [row for row in rows if row[0] == "states"] == [
        ("states", place, part, float(arrays["states"].reshape(2, 6)[place, part]), None, "mine/t")
        for place in range(2)
        for part in range(6)
    ]
    assert [row[:5] for row in rows if row[0] != "states"] == [
        ("one", 0, 0, 7.0, None),
        ("right", 0, 0, 1.0, None),
        ("right", 1, 0, 0.0, None),
        ("words", 0, 0, None, "a"),
        ("words", 1, 0, None, "b"),
    ]
    assert query(tmp_path, "SELECT kind, facts->>'$.x' FROM runs").rows == [("transcript", "2")]
    assert query(tmp_path, "SELECT * FROM curves").rows == []


def test_traces_are_sealed_when_they_are_first_asked_for(folder):
    query(folder, "SELECT count(*) FROM runs")
    small = (folder / "sealed" / "traces.parquet").stat().st_size
    assert query(folder, "SELECT count(*) FROM Traces WHERE name = 'step'").rows == [(15_090,)]
    assert (folder / "sealed" / "traces.parquet").stat().st_size > 10 * small
    assert query(folder, "SELECT count(*) FROM curves").rows == [(15_090,)]


def test_sql_tells_apart_what_was_run(folder):
    learners = query(
        folder, "SELECT DISTINCT learner, learner_version, task_version FROM scores ORDER BY ALL"
    ).rows
    assert learners == [("good", "1", "1"), ("raise", "1", "1")]
    protocol = query(
        folder, "SELECT DISTINCT protocol->>'$.id', what->>'$.task.version' FROM runs"
    ).rows
    assert protocol == [("specimen", "1")]


def test_odd_values_are_null_and_no_fault(tmp_path):
    """A root seed of more than 64 bits, a time that is no number, a score that is no number."""
    odd = {
        "odd": {"version": 1, "values": {"list": [1], "word": "high", "huge": 10**400, "fine": 0.5}}
    }
    with Journal(tmp_path) as journal:
        journal.write(Record({"root": 10**26, "n": 1}, "ok", where={"started": "noon"}, scores=odd))
        journal.write(Record({"root": 3, "n": 2}, "ok", where={"started": 5.0}))
    runs = query(tmp_path, "SELECT root, started, what->>'$.n' FROM runs ORDER BY 3").rows
    assert runs == [(None, None, "1"), (3, 5.0, "2")]
    values = dict(query(tmp_path, "SELECT name, value FROM scores").rows)
    assert values == {"list": None, "word": None, "huge": math.inf, "fine": 0.5}
