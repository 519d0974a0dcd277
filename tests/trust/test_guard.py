"""Every stored bit is guarded, and no record or file from elsewhere takes anything else down."""

import json
import os
import pathlib
import re
import shutil
import stat
import threading
import time
import zipfile

import numpy as np
import pytest

from quickstudy.api.run import Results
from quickstudy.base.canonical import digest, guarded
from quickstudy.base.code_identity import content_version
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.learner import Cost, Snapshot
from quickstudy.base.record import Record
from quickstudy.base.registry import include
from quickstudy.base.trace import Trace
from quickstudy.cli.main import main
from quickstudy.data.tables import read_table
from quickstudy.measures.curvefile import score_file
from quickstudy.report.build import gather
from quickstudy.report.page import FORMS, write_report
from quickstudy.runs import array_files, journal, journal_lines
from quickstudy.runs.archive import pack
from quickstudy.runs.array_files import load_snapshot, load_trace
from quickstudy.runs.doctor import examine_folder, repair
from quickstudy.runs.folder import FORGOTTEN, ROOMS, prepare_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.run_one import Outcome
from quickstudy.runs.sql import query

as_html = FORMS["html"]

CHAOS = include(pathlib.Path(__file__).parents[1] / "chaos.py")
LABELS = {"task": "t", "learner": "l", "family": "f", "role": "learner"}
SCORES = {"m": {"version": 1, "values": {"m": 0.5}}}


def record(number, **parts):
    return Record({"repetition": number}, "ok", labels=LABELS, **{"scores": SCORES, **parts})


def saved(folder, number=0, size=10_000):
    trace = Trace(
        "learning-curve", {"step": np.arange(1, size + 1), "accuracy": np.linspace(0, 1, size)}
    )
    with Journal(folder) as journal:
        return journal.save(
            Outcome(record(number), trace, Snapshot({"weights": np.arange(9.0)}, {"width": 9}))
        )


def put(folder, **changes):
    """A record with its checksum right, whatever is in it."""
    facts = {**json.loads(record(7).to_line()), **changes}
    facts.pop("check")
    facts["key"] = digest(facts["what"])
    (folder / "runs").mkdir(exist_ok=True, parents=True)
    (folder / "runs" / "odd-1-0.jsonl").write_text(guarded(facts) + "\n")


@pytest.fixture(scope="module")
def chaotic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chaos") / "results"
    CHAOS.make_folder(folder, np.random.default_rng(3))
    return folder


def test_a_flipped_bit_anywhere_is_noticed_or_harmless(chaotic):
    tally = CHAOS.Tally("flips", 60, loud=False)
    CHAOS.try_flips(chaotic, range(60), tally)
    assert not tally.faults
    assert tally.tried == 60
    assert tally.counts["runs", "noticed"] > 20


def test_an_odd_record_takes_nothing_else_down(chaotic):
    tally = CHAOS.Tally("records", 5, loud=False)
    CHAOS.try_records(chaotic, range(5), tally)
    assert not tally.faults
    assert tally.tried == 5


def test_a_changed_digit_is_named_and_set_aside(tmp_path):
    saved(tmp_path)
    (path,) = (tmp_path / "runs").iterdir()
    path.write_bytes(path.read_bytes().replace(b'"m":0.5', b'"m":0.7'))
    (damage,) = read_results(tmp_path).damage
    assert "checksum" in damage.problem
    with pytest.raises(
        UsageError, match="not a results folder"
    ):  # nothing says any more that it is ours
        repair(tmp_path)
    (tmp_path / "quickstudy.json").write_text('{"format": 1}')
    assert any("checksum" in line for line in repair(tmp_path))
    assert examine_folder(tmp_path) == []


def test_lines_of_earlier_versions_are_read_as_before(tmp_path):
    facts = json.loads(record(0).to_line())
    old = {name: facts[name] for name in facts if name not in ("check", "files", "legend")}
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a-1-b.jsonl").write_text(
        json.dumps(old, sort_keys=True, separators=(",", ":")) + "\n"
    )
    reading = read_results(tmp_path)
    assert (len(reading.records), reading.damage) == (1, ())


def test_a_line_that_was_spelled_again_is_the_same_line(tmp_path):
    saved(tmp_path)
    (path,) = (tmp_path / "runs").iterdir()
    path.write_text(json.dumps(json.loads(path.read_text()), indent=None) + "\n")
    assert len(read_results(tmp_path).records) == 1


@pytest.mark.parametrize("room", ["traces", "learners"])
def test_every_part_of_a_file_is_guarded(tmp_path, room):
    one = saved(tmp_path)
    path = tmp_path / room / f"{one.key}.npz"
    whole = path.read_bytes()
    load = load_trace if room == "traces" else load_snapshot
    for bit in np.random.default_rng(6).integers(8 * len(whole), size=150).tolist():
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        with pytest.raises(QuickstudyError, match="cannot read"):
            load(tmp_path, one)
    assert [damage.file for damage in examine_folder(tmp_path)] == [f"{room}/{one.key}.npz"]
    repair(tmp_path)
    assert len(read_results(tmp_path).records) == (0 if room == "traces" else 1)


def test_files_without_a_checksum_never_give_less_than_they_hold(tmp_path):
    """As earlier versions have left them."""
    path, content = (
        tmp_path / "x.npz",
        {"a": np.arange(20), "b": np.zeros((0, 3)), "c": np.array(["x", "yz"])},
    )
    with open(path, "wb") as file:
        array_files.write_arrays(file, content)
    whole, wanted, told = path.read_bytes(), array_files.checksum(content), 0
    for bit in range(0, 8 * len(whole), 11):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert array_files.checksum(array_files.read_arrays(path)) == wanted, bit
        except QuickstudyError:
            told += 1
    assert told > len(whole) / 3


def test_a_file_that_a_record_names_never_changes(tmp_path):
    first = saved(tmp_path)
    second = saved(tmp_path, size=9_000)
    assert first.trace["file"] != second.trace["file"]
    assert len(load_trace(tmp_path, first).arrays["step"]) == 10_000
    assert len(load_trace(tmp_path, second).arrays["step"]) == 9_000
    assert examine_folder(tmp_path) == []


def test_what_a_later_version_has_added_is_left_alone(tmp_path):
    put(tmp_path, future={"x": 1}, cost={**Cost().as_facts(), "joules": 7.0})
    (one,) = read_results(tmp_path).records.values()
    assert one.cost["joules"] == 7.0
    put(
        tmp_path,
        cost={"joules": 7.0},
        trace={"kind": "x", "facts": {}, "arrays": {"a": [1]}, "types": {}},
    )
    (one,) = read_results(tmp_path).records.values()
    assert load_trace(tmp_path, one).arrays["a"].tolist() == [1]


NESTED = json.loads("[" * 100 + "]" * 100)


@pytest.mark.parametrize(
    "changes",
    [
        {"what": {"repetition": NESTED}},
        {"what": {"x": NESTED}},
        {"what": {"repetition": 10**400}},
        {"what": {"protocol": {"parameters": None}}},
        {"what": {"learner": {"parameters": []}}},
        {"what": {"task": "t"}},
        {"where": {"lanes": "many"}},
        {"cost": {"examples": [1]}},
        {"scores": {"m": 3}},
        {"labels": {"task": 3}},
        {"reason": []},
        {"trace": {"kind": "x", "facts": {"passes": "often"}, "arrays": {}}},
        {"trace": {"kind": "x", "facts": {}, "file": "../../etc/passwd"}},
        {"trace": {"kind": "x", "facts": {}, "file": "/dev/zero"}},
        {"saved": "traces/../../x.npz"},
        {"legend": {"scores": {"m": {"m": {"better": "sideways"}}}}},
        {"legend": {"headline": ["m"]}},
    ],
)
def test_a_record_of_the_wrong_kind_is_left_out_and_said(tmp_path, changes):
    saved(tmp_path)
    put(tmp_path, **changes)
    reading = read_results(tmp_path)
    assert (len(reading.records), len(reading.damage)) == (1, 1)
    assert as_html(gather([tmp_path]))
    assert query(tmp_path, "SELECT count(*) FROM runs").rows == [(1,)]
    assert any("odd-1-0" in line for line in repair(tmp_path))


PARTS = {
    "task": {"id": "t", "version": 1, "parameters": {}},
    "learner": {"id": "l", "version": 1, "parameters": {"passes": 1}},
    "protocol": {"id": "language", "version": 1, "parameters": {"sequences": 3}},
    "convention": "corrected",
    "root": 0,
}


@pytest.mark.parametrize("missing", [*PARTS, "repetition"])
@pytest.mark.parametrize("labels", [LABELS, {}])
def test_a_record_without_a_part_of_its_identity_goes_through_every_verb(
    tmp_path, capsys, missing, labels
):
    for number in (0, 1):
        what = {
            name: part for name, part in {**PARTS, "repetition": number}.items() if name != missing
        }
        trace = {
            "kind": "learning-curve",
            "facts": {},
            "arrays": {"step": [1, 2], "accuracy": [0.0, 1.0]},
        }
        with Journal(tmp_path) as journal:
            journal.write(Record(what, "ok", labels=labels, scores=SCORES, trace=trace))
    runs = 1 if missing == "repetition" else 2
    folder = str(tmp_path)
    for arguments in (
        *(["report", folder, "--format", form] for form in ("html", "text", "csv", "latex")),
        ["report", folder, "--json", "--latest", "--task", "*"],
        ["doctor", folder, "--no-repair"],
        ["query", folder, "SELECT * FROM runs"],
        ["forget", folder, "--status", "ok", "--old", "--dry-run"],
        ["score", folder, "--measure", "accuracy", "--dry-run"],
        ["pack", folder, "--out", str(tmp_path / "all.zip")],
    ):
        with pytest.raises(SystemExit, match="0"):
            main(arguments)
    assert query(tmp_path, "SELECT count(*) FROM runs").rows == [(runs,)]
    assert len(Results(tmp_path).records) == runs
    assert "odd" not in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):  # nobody else is there to compare with
        main(["compare", "l", "m", folder])


@pytest.mark.parametrize("id", [[], {"a": 1}, True, 3, 0.5])
def test_a_task_of_any_name_takes_no_page_down(tmp_path, id):
    with Journal(tmp_path) as journal:
        journal.write(
            Record(
                {**PARTS, "task": {"id": id, "version": 1}, "repetition": 0},
                "ok",
                labels=LABELS,
                scores=SCORES,
            )
        )
    assert as_html(gather([tmp_path]))


def test_a_page_draws_nothing_with_the_parameters_of_a_record(tmp_path):
    """Whoever sends a folder does not decide how much memory its report takes."""
    huge = {"id": "language/symbol-counting", "version": 3, "parameters": {"symbols": 10**12}}
    with Journal(tmp_path) as journal:
        journal.write(
            Record({**PARTS, "task": huge, "repetition": 0}, "ok", labels=LABELS, scores=SCORES)
        )
    assert as_html(gather([tmp_path]))


def test_records_keep_their_own_legends(tmp_path):
    """One that is equal and not the same, as True is to 1, changes no other."""
    legends = [
        {"headline": "m", "scores": {"m": {"m": {"least": least}}}} for least in (1, True, 1.0)
    ]
    for number, legend in enumerate(legends):
        with Journal(tmp_path) as journal:
            journal.write(
                Record(
                    {**PARTS, "repetition": number},
                    "ok",
                    labels=LABELS,
                    scores=SCORES,
                    legend=legend,
                )
            )
    found = [record.legend for record in read_results(tmp_path).records.values()]
    assert repr(found) == repr([legends[0], legends[2]])


def test_what_is_left_out_is_said_by_all(tmp_path, capsys):
    trace = tmp_path / saved(tmp_path).trace["file"]
    assert query(tmp_path, "SELECT count(*) FROM traces").left_out == 0
    trace.write_bytes(trace.read_bytes()[:-100])
    put(tmp_path, reason=[])
    assert query(tmp_path, "SELECT count(*) FROM runs").left_out == 1
    for _ in range(2):  # made now, and sealed before
        assert query(tmp_path, "SELECT count(*) FROM traces") == (["count_star()"], [(0,)], 2)
    assert [damage.file for damage in Results(tmp_path).damage] == ["runs/odd-1-0.jsonl"]
    Results(tmp_path).show()
    assert capsys.readouterr().err.count("1 damaged lines of") == 1
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "a", "b", str(tmp_path)])
    assert capsys.readouterr().err.startswith("1 damaged lines of")
    with pytest.raises(SystemExit, match="0"):
        main(["query", str(tmp_path), "SELECT key FROM traces"])
    assert capsys.readouterr().err.startswith("2 damaged lines or traces of")


def test_kept_code_that_was_changed_is_set_aside(tmp_path):
    saved(tmp_path)
    (tmp_path / "sources").mkdir()
    content = b"x = 1"
    kept = tmp_path / "sources" / f"{content_version(content)}.py"
    kept.write_bytes(content)
    assert examine_folder(tmp_path) == []
    kept.write_bytes(b"x = 2")
    assert [damage.file for damage in examine_folder(tmp_path)] == [f"sources/{kept.name}"]
    assert "not the one that it is named after" in repair(tmp_path)[0]
    assert examine_folder(tmp_path) == []
    assert (tmp_path / "damaged" / f"sources-{kept.name}").read_bytes() == b"x = 2"


def test_text_that_is_no_unicode_reaches_the_page(tmp_path):
    put(
        tmp_path,
        status="failed",
        reason="no file \udcff.txt",
        what={"learner": {"id": "\udcff"}, "repetition": 1},
    )
    (one,) = read_results(tmp_path).records.values()
    assert one.reason == "no file \\udcff.txt"
    assert "\\udcff.txt" in write_report(gather([tmp_path]), tmp_path / "page.html").read_text(
        encoding="utf-8"
    )
    assert query(tmp_path, "SELECT reason FROM runs").rows == [("no file \\udcff.txt",)]


def test_zeros_in_place_of_a_journal_and_a_lost_line_end_are_damage(tmp_path):
    saved(tmp_path, 0)
    (path,) = (tmp_path / "runs").iterdir()
    content = path.read_bytes()
    path.write_bytes(bytes(len(content)))
    assert len(read_results(tmp_path).damage) == 1
    path.write_bytes(content[:-1] + b"J")
    assert len(read_results(tmp_path).damage) == 1
    path.write_bytes(content[:-1])
    assert not read_results(tmp_path).damage


@pytest.mark.parametrize("kind", ["folder", "loop", "nothing", "zero"])
def test_a_journal_that_is_no_file_is_set_aside(tmp_path, kind):
    saved(tmp_path)
    odd = tmp_path / "runs" / "odd-1-0.jsonl"
    if kind == "folder":
        odd.mkdir()
    else:
        odd.symlink_to({"loop": odd, "nothing": tmp_path / "nowhere", "zero": "/dev/zero"}[kind])
    (damage,) = read_results(tmp_path).damage
    assert "cannot be read" in damage.problem
    assert len(repair(tmp_path)) == 1
    assert examine_folder(tmp_path) == []


def test_a_line_without_end_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_lines, "LONGEST_LINE", 10_000)
    saved(tmp_path)
    (path,) = (tmp_path / "runs").iterdir()
    good = path.read_bytes()
    path.write_bytes(b"[" * 35_000 + b"\n" + good)
    reading = read_results(tmp_path)
    assert (len(reading.records), [one.line for one in reading.damage]) == (1, [1])
    repair(tmp_path)
    assert path.read_bytes() == good
    (kept,) = (tmp_path / "damaged").iterdir()
    assert kept.read_bytes() == b"[" * 35_000 + b"\n" + good


def test_files_that_ask_for_more_memory_than_there_is(tmp_path):
    bomb = tmp_path / "bomb.npz"
    heading = (
        b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"
    )
    with zipfile.ZipFile(bomb, "w") as archive:
        archive.writestr("x.npy", heading.ljust(127) + b"\n" + bytes(80))
    with pytest.raises(QuickstudyError, match="as long as its shape says"):
        array_files.read_arrays(bomb)
    (tmp_path / "bomb.npy").write_bytes(heading.ljust(127) + b"\n" + bytes(80))
    with pytest.raises(UsageError, match="cannot be read"):
        read_table(tmp_path / "bomb.npy")
    with pytest.raises(UsageError, match="larger than"):
        read_table("/dev/zero")
    put(
        tmp_path,
        trace={
            "kind": "x",
            "facts": {},
            "arrays": {"a": ["x"]},
            "types": {"a": {"dtype": "<U200000000", "shape": [1]}},
        },
    )
    (one,) = read_results(tmp_path).records.values()
    with pytest.raises(QuickstudyError, match="not an array stored in a record"):
        load_trace(tmp_path, one)
    (tmp_path / "curve.json").write_text("[0.5, 0.6]")
    with pytest.raises(UsageError, match="at most 1,000,000"):
        score_file(tmp_path / "curve.json", thresholds=200_000_000)


def test_a_packed_file_is_not_larger_than_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(array_files, "MOST_BYTES", 50_000)
    path, large = tmp_path / "x.npz", {"a": np.zeros(10_000)}
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w") as member,
    ):
        np.lib.format.write_array(member, large["a"])
    with pytest.raises(QuickstudyError, match="larger than"):
        array_files.read_arrays(path)
    with open(path, "wb") as file:
        array_files.write_arrays(file, large)  # ours are then not packed, and can be read
    assert len(array_files.read_arrays(path)["a"]) == 10_000


def test_a_deleted_learner_takes_no_scores_with_it(tmp_path):
    one = saved(tmp_path)
    (tmp_path / one.saved).unlink()
    (found,) = read_results(tmp_path).records.values()
    assert (found.saved, found.scores) == (None, SCORES)
    assert examine_folder(tmp_path) == []


def test_what_has_ended_is_on_the_disk_soon(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def noting(descriptor):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            synced.append(os.fstat(descriptor).st_size)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    monkeypatch.setattr(journal, "SYNC_SECONDS", 0.3)
    with Journal(tmp_path) as one:
        for number in range(20):
            one.write(record(number))
        assert len(synced) < 15  # not one by one
        size, deadline = one.path.stat().st_size, time.monotonic() + 5
        while synced[-1] < size and time.monotonic() < deadline:
            time.sleep(0.01)
        assert synced[-1] == size  # though nothing has come after it
        one.write(record(20))
        time.sleep(0.8)
        one.write(record(21))
        assert synced[-1] == one.path.stat().st_size


def test_a_long_call_of_many_lanes_is_on_the_disk_before_what_it_handed_in_is_gone(
    tmp_path, monkeypatch
):
    synced, fsync, dropped = [], os.fsync, []

    def noting(descriptor):
        synced.append(os.fstat(descriptor).st_size)
        fsync(descriptor)

    class Call:
        def drop(self):
            dropped.append((synced[-1], one.path.stat().st_size))

    monkeypatch.setattr(os, "fsync", noting)
    with Journal(tmp_path) as one:
        for number in range(8):
            lane = record(number, where={"seconds": 60.0, "lanes": 8})
            one.save(Outcome(lane, unfinished=Call() if number == 7 else None))
        ((on_disk, written),) = dropped
        assert on_disk == written
        before = len(synced)
        one.save(Outcome(record(8, where={"seconds": 0.01, "lanes": 1}), unfinished=Call()))
        assert len(synced) == before  # a short one waits for others


def test_an_outcome_of_a_later_version_stays_where_it_is(tmp_path):
    """It is left out, and said; the doctor does not take it for damage, as it would an edited
    line.
    """
    saved(tmp_path)
    put(tmp_path, status="postponed")
    path = tmp_path / "runs" / "odd-1-0.jsonl"
    assert 'unknown status "postponed"' in str(read_results(tmp_path).damage[0])
    before = path.read_bytes()
    assert repair(tmp_path) == []
    assert path.read_bytes() == before


def test_a_changed_digit_of_the_marker_is_mended(tmp_path):
    saved(tmp_path)
    prepare_folder(tmp_path)
    marker = tmp_path / "quickstudy.json"
    marker.write_text(marker.read_text().replace('"format":1', '"format":5'))
    assert len(read_results(tmp_path).records) == 1
    assert "quickstudy.json" in repair(tmp_path)[0]
    assert repair(tmp_path) == []


def test_a_removed_folder_is_noticed(tmp_path):
    with Journal(tmp_path) as one:
        one.write(record(0))
        one.path.unlink()
        with pytest.raises(QuickstudyError, match="was removed while"):
            one.write(record(1))


def test_the_doctor_leaves_what_is_not_ours(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "train.jsonl").write_text('{"loss": 1}\n')
    (tmp_path / "runs" / ".notes.tmp").write_text("mine")
    for action in (repair, examine_folder):
        with pytest.raises(UsageError, match="not a results folder"):
            action(tmp_path)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        ".notes.tmp",
        "train.jsonl",
    ]
    saved(tmp_path)
    repair(tmp_path)
    assert (tmp_path / "runs" / ".notes.tmp").read_text() == "mine"


def test_the_doctor_does_not_disturb_a_run_that_starts(tmp_path, monkeypatch):
    """What is written aside, by a process of another machine, when the doctor comes."""
    saved(tmp_path)
    aside = tmp_path / "traces" / ".x.npz.elsewhere-1-ab.tmp"
    found = []

    def meanwhile(folder, name, content, write=journal.write_aside):
        if not found:
            aside.write_bytes(b"half")
            found.append(repair(tmp_path))
            assert aside.exists()
        return write(folder, name, content)

    monkeypatch.setattr(journal, "write_aside", meanwhile)
    saved(tmp_path, 1)
    assert "left alone" in found[0][0]
    assert any(str(aside.name) in line for line in repair(tmp_path))
    assert len(read_results(tmp_path).records) == 2


WRITERS = {
    "query": lambda folder: query(folder, "SELECT * FROM runs"),
    "examine": examine_folder,
    "repair": repair,
    "run": prepare_folder,
    "score": lambda folder: saved(folder, 1),
}


@pytest.mark.parametrize("room", [*ROOMS, FORGOTTEN])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_room_that_is_a_link_is_refused_and_nothing_there_is_touched(tmp_path, room, writer):
    folder, other = tmp_path / "results", tmp_path / "elsewhere"
    saved(folder)
    if (folder / room).exists():
        shutil.move(folder / room, other)
    other.mkdir(exist_ok=True)
    for name in ("data.parquet", "mine.py", "lost.npz", "lost.jsonl", ".lost.npz.1.tmp"):
        (other / name).write_text("mine")
    (folder / room).symlink_to(other)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match="is a link"):
        WRITERS[writer](folder)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_output_goes_through_links_and_into_pipes(tmp_path):
    saved(tmp_path)
    (tmp_path / "pages").mkdir()
    target, link = tmp_path / "pages" / "page.html", tmp_path / "link.html"
    target.write_text("old")
    link.symlink_to(target)
    write_report(gather([tmp_path]), link)
    assert link.is_symlink()
    assert target.read_text().startswith("<!doctype html>")
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    listener = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    listener.start()
    write_report(gather([tmp_path]), pipe)
    listener.join()
    assert heard == [target.read_bytes()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_where_a_report_went_is_never_a_part_of_it(tmp_path, capsys):
    saved(tmp_path)
    page = tmp_path / "x"
    for target, said in (
        ("/dev/null", ("", "Report: /dev/null\n")),
        (page, (f"Report: {page}\n", "")),
    ):
        with pytest.raises(SystemExit, match="0"):
            main(["report", str(tmp_path), "--format", "csv", "-o", str(target)])
        assert tuple(capsys.readouterr()) == said
    with pytest.raises(SystemExit, match="2"):
        main(["report", str(tmp_path), "--format", "csv", "-o", "-"])
    assert "--out - names no file" in capsys.readouterr().err


def test_a_page_that_is_not_ours_is_not_replaced(tmp_path):
    saved(tmp_path)
    page = tmp_path / "report.html"
    page.write_text("<title>mine</title>")
    with pytest.raises(UsageError, match="was not written by quickstudy"):
        write_report(gather([tmp_path]), page, replaces=False)
    with pytest.raises(
        UsageError, match="was not written by quickstudy"
    ):  # a folder is named, and nothing in it
        write_report(gather([tmp_path]), tmp_path)
    assert page.read_text() == "<title>mine</title>"
    write_report(gather([tmp_path]), page)
    write_report(gather([tmp_path]), page, replaces=False)


def test_a_pack_holds_nothing_from_outside(tmp_path):
    folder = tmp_path / "results"
    saved(folder)
    (tmp_path / "secret").write_text("secret")
    for target in (tmp_path / "secret", pathlib.Path("/dev/zero")):
        link = folder / "damaged" / "x"
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(target)
        with pytest.raises(UsageError, match="not an ordinary file of the folder"):
            pack(folder)
        link.unlink()
    assert not (tmp_path / "results.zip").exists()


def test_a_later_format_is_refused_by_all(tmp_path):
    saved(tmp_path)
    query(tmp_path, "SELECT 1")
    (tmp_path / "quickstudy.json").write_text('{"format": 9}')
    for action in (read_results, pack, repair, lambda folder: query(folder, "SELECT 1 FROM runs")):
        with pytest.raises(UsageError, match="has format 9"):
            action(tmp_path)
    (tmp_path / "quickstudy.json").write_text("[" * 100_000)
    assert [re.sub(r" \(.*", "", damage.problem) for damage in examine_folder(tmp_path)] == [
        "does not say the format of the folder"
    ]


def test_times_with_a_zone_need_no_further_library(tmp_path):
    put(tmp_path, where={"started": 0.0})
    sql = "SELECT to_timestamp(started) AS at, started FROM runs"
    answer = query(tmp_path, sql)
    assert answer.columns == ["at", "started"]
    assert answer.rows[0][0].startswith("19")
    assert answer.rows[0][1] == 0.0
