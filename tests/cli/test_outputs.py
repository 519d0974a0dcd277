"""What a command writes where the user has said: whole or not at all, and nowhere else."""

import errno
import os

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.runs.folder import prepare_folder

MEMORY = "dynamics/memory:training=300,test=100,washout=50"
QA = "language/qa"
COMMANDS = {
    "drive": ("drive", MEMORY, "-o", "file", "--seed", 1),
    "questions": ("drive", QA, "--questions", "--set", "sequences=5", "-o", "file"),
    "svg": ("show", "curriculum/micro-1", "--machine", "--svg", "file"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_full_disk_the_old_file_stays(inside, tmp_path, monkeypatch, command):
    (tmp_path / "file").write_text("old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = inside(*COMMANDS[command])
    assert (done.status, "No space left" in done.err) == (1, True), done
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"
    monkeypatch.undo()


@pytest.mark.parametrize("option", [("--out", ""), ("-o", ""), ("--out=",)])
def test_an_empty_name_is_refused(inside, tmp_path, option):
    done = inside("run", QA, "-l", "majority", *option)
    assert (done.status, "must name a file or a folder" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_the_root_of_the_disk_is_refused(tmp_path):
    (tmp_path / "root").symlink_to("/")
    for place in ("/", tmp_path / "root"):
        with pytest.raises(UsageError, match="is the root of the disk"):
            prepare_folder(type(tmp_path)(place))


def test_a_link_to_nothing_is_not_written_through(inside, tmp_path):
    options = ("--set", "sequences=20", "-s", 1, "-j", 0, "-q", "--no-controls")
    inside("run", QA, "-l", "majority", "--out", "results", *options)
    (tmp_path / "results" / "report.html").unlink()
    (tmp_path / "results" / "report.html").symlink_to(tmp_path / "elsewhere")
    done = inside("report", "results")
    assert (done.status, "is a link to nothing" in done.err) == (2, True), done
    assert not (tmp_path / "elsewhere").exists()


def test_a_study_that_runs_nothing_makes_no_folders_for_runs(inside, tmp_path):
    done = inside("reproduce", "rc-table9", "--only", "NARMA-10", "--out", "made")
    assert done.status == 0, done
    assert "Showing 1 of " in done.out
    assert "no runs in this folder" not in done.out
    assert {path.suffix for path in (tmp_path / "made").iterdir()} == {".html", ".csv"}


STUDY = """
version = 2
title = "Rules"
source = "none"
kind = "table"
score = "wade"
seeds = 3
protocol = { sequences = 20 }

[learners]
majority = "majority"
copy-last = "copy-last"

[[rows]]
task = "language/periodic"
label = "periodic"
"""


def test_a_dry_run_takes_over_nothing_and_counts_what_would_be(inside, tmp_path):
    (tmp_path / "rules.toml").write_text(STUDY)
    one = ("reproduce", "rules.toml", "--seeds", "2", "--only", "majority", "-j", "0", "--quiet")
    assert inside(*one, "--out", "stored").status == 0
    before = sorted(path.name for path in tmp_path.iterdir())
    done = inside("reproduce", "rules.toml", "--seeds", "3", "--stored", "stored", "--dry-run")
    assert done.status == 0, done
    assert "6 runs: 2 found, 4 to do" in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == before
