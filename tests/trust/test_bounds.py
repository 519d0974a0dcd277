"""Small files that ask for much memory or time, pipes where a file should be, and odd contents:
one line and status 2, never a traceback.
"""

import json
import os
import zipfile

import pytest

from quickstudy.api.study import take_over
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.record import Record
from quickstudy.cli.main import main
from quickstudy.data import tables
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.recorded import read_recording
from quickstudy.measures.compositionality import language_scores
from quickstudy.report.build import gather
from quickstudy.runs.archive import pack
from quickstudy.runs.doctor import examine_folder, repair
from quickstudy.runs.folder import prepare_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.tasks.curriculum.courses import FromFile
from quickstudy.tasks.grammar.languages import Written

DEEP = "[" * 100_000
HUGE = str(10**400)


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr().err
    assert (left.value.code, "Traceback" in said) == (2, False), said
    return said


@pytest.mark.parametrize(
    "read",
    [
        Network.read,
        read_recording,
        lambda path: FromFile(path=path),
        lambda path: Written(rules=path),
        tables.read_json,
    ],
    ids=["network", "recorded", "curriculum", "grammar", "json"],
)
def test_an_endless_file_is_refused(read, monkeypatch):
    monkeypatch.setattr(tables, "MOST_BYTES", 1 << 16)
    with pytest.raises((UsageError, ValueError), match="larger than 65,536 bytes"):
        read("/dev/zero")


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("machine", '[["A", "0", "A", "1e-1000000000"]]'),
        ("machine", f'[["A", "0", "A", {HUGE}]]'),
        ("machine", DEEP),
        ("sequence", json.dumps({"outputs": "0101" * 50, "history": 10**400})),
        ("sequence", json.dumps({"outputs": "0101" * 50, "level": 10**400})),
        ("language", DEEP),
    ],
)
def test_a_small_file_takes_no_time_and_gives_one_line(tmp_path, capsys, kind, content):
    (tmp_path / "odd.json").write_text(content)
    refused(capsys, "score", kind, tmp_path / "odd.json")


def test_a_language_of_long_utterances_is_refused_before_memory_is_taken():
    said = [list(range(1 + 3000 * row, 3001 + 3000 * row)) for row in range(30)]
    with pytest.raises(UsageError, match="30 utterances of up to 3,000 positions with 90,000"):
        language_scores([[row] for row in range(30)], said)


@pytest.mark.parametrize(
    "content",
    [
        DEEP,
        (
            '{"worlds": {}, "tasks": {}, "scheduler": {"type": "a.RandomTaskScheduler", "args":'
            ' {"tasks": [[1]]}}}'
        ),
    ],
)
def test_an_odd_curriculum_is_refused(tmp_path, content):
    (tmp_path / "odd.json").write_text(content)
    with pytest.raises(UsageError):
        FromFile(path=str(tmp_path / "odd.json"))


def test_a_recording_with_odd_parts_is_refused(tmp_path):
    for pace in ({"by_question": []}, {"passes": [1]}, DEEP):
        run = {"task": "t", "version": 1, "root": 0, "repetition": 0, "protocol": "", "pace": pace}
        (tmp_path / "a.jsonl").write_text(json.dumps({"run": run, "seed": 0}))
        with pytest.raises(ValueError, match="line 1: a run must be as"):
            read_recording(str(tmp_path / "a.jsonl"))


def test_a_drive_with_another_start_or_rate_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    task = "dynamics/memory:training=300,test=100,washout=50"
    with pytest.raises(SystemExit) as left:
        main(["drive", task, "-o", "drive.csv"])
    assert left.value.code == 0
    heading, *rows = (tmp_path / "drive.csv").read_text().splitlines()
    mark, _, header = heading.partition("{")
    facts = json.loads("{" + header)
    states = ["a,b", *(f"{row % 7},{row * row % 11}" for row in range(facts["samples"]))]
    (tmp_path / "states.csv").write_text("\n".join(states))
    first, *others = facts["segments"]
    changes = ({"segments": [{**first, "start": 7}, *others]}, {"rate": "fast"}, {"rate": 10**400})
    for change in changes:
        lines = [mark + json.dumps({**facts, **change}), *rows]
        (tmp_path / "drive.csv").write_text("\n".join(lines))
        refused(capsys, "score", "dynamics", "states.csv", "--drive", "drive.csv")
    del facts["rate"]
    (tmp_path / "drive.csv").write_text("\n".join([mark + json.dumps(facts), *rows]))
    refused(capsys, "score", "dynamics", "states.csv", "--drive", "drive.csv")


def test_a_link_to_itself_is_not_packed(tmp_path):
    prepare_folder(tmp_path / "results")
    loop = tmp_path / "results" / "runs" / "loop.jsonl"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match=r"loop.jsonl is not an ordinary file"):
        pack(tmp_path / "results")


def archive(path, write):
    path.mkdir()
    with zipfile.ZipFile(path / "runs.zip", "w", zipfile.ZIP_DEFLATED) as made:
        write(made)
    return path


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path):
    def write(made):
        with made.open("results/runs/a.jsonl", "w") as member:
            for _ in range(300):
                member.write(bytes(1 << 20))

    stored = archive(tmp_path / "stored", write)
    with pytest.raises(UsageError, match="unpacks to 314,572,800 bytes"):
        take_over(stored, tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_an_encrypted_archive_is_refused(tmp_path):
    stored = archive(tmp_path / "stored", lambda made: made.writestr("results/runs/a.jsonl", "x"))
    content = bytearray((stored / "runs.zip").read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    (stored / "runs.zip").write_bytes(content)
    with pytest.raises(UsageError, match="cannot be unpacked"):
        take_over(stored, tmp_path / "results")


@pytest.mark.parametrize("name", ["", "a*b"])
def test_a_score_that_nobody_can_name_costs_its_own_run_only(tmp_path, name):
    labels = {"task": "t", "learner": "l", "family": "f", "role": "learner"}
    with Journal(tmp_path) as journal:
        for number, score in enumerate(("sound", name)):
            scores = {"m": {"version": 1, "values": {score: 0.5}}}
            journal.write(Record({"repetition": number}, "ok", labels=labels, scores=scores))
    assert len(read_results(tmp_path).records) == 1
    assert gather([tmp_path])
    assert "name is empty or has *" in str(examine_folder(tmp_path)[0])
    repair(tmp_path)
    assert examine_folder(tmp_path) == []


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)], ids=["pipe", "endless"]
)
@pytest.mark.parametrize(
    "name", ["quickstudy.json", "traces/lost.npz", "sealed/sealed.json", "unfinished/a.npz"]
)
def test_a_pipe_or_a_device_in_a_folder_is_read_around(tmp_path, make, name):
    prepare_folder(tmp_path)
    with Journal(tmp_path) as journal:
        labels = {"task": "t", "learner": "l", "family": "f", "role": "learner"}
        journal.write(Record({"repetition": 0}, "ok", labels=labels))
    path = tmp_path / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    make(path)
    assert len(read_results(tmp_path).records) == 1
    repair(tmp_path)
    assert examine_folder(tmp_path) == []


def test_a_trace_that_is_a_pipe_cannot_be_read(tmp_path):
    from quickstudy.runs.array_files import read_arrays

    os.mkfifo(tmp_path / "a.npz")
    with pytest.raises(QuickstudyError, match="not an ordinary file"):
        read_arrays(tmp_path / "a.npz", "0" * 64)
