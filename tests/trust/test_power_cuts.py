"""What has ended is there after a power cut at any moment, as far as the system itself keeps what
it was told to.
"""

import os
import pathlib

import numpy as np
import pytest

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.learner import Snapshot
from quickstudy.base.record import Record
from quickstudy.base.registry import include
from quickstudy.runs import journal_lines
from quickstudy.runs.archive import forget
from quickstudy.runs.folder import prepare_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.run_one import Outcome

CUTS = include(pathlib.Path(__file__).parents[1] / "powercuts.py")
traced = pytest.mark.skipif(CUTS.STRACE is None, reason="there is no strace here")


@traced
def test_no_cut_in_a_run_or_while_runs_are_put_aside_loses_anything():
    for trial in CUTS.try_all(["short-runs", "forgotten"]):
        assert trial.faults == []
        assert trial.tried > trial.moments > 20


@traced
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_sync_that_is_missing_would_be_found_out(kind):
    (trial,) = CUTS.try_all(["long-runs"], skipped=[kind])
    assert trial.counts["states", "lost"] > 10


def test_every_new_folder_is_named_on_the_disk(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def noting(descriptor):
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    prepare_folder(tmp_path / "new" / "results")
    assert {str(tmp_path), str(tmp_path / "new"), str(tmp_path / "new" / "results")} <= set(synced)


def test_whoever_is_stopped_while_putting_aside_has_every_run_in_one_place(tmp_path, monkeypatch):
    """After each of the files that are written, in turn: the run with its learner is here or
    there.
    """
    write, stops = journal_lines.write_aside, []
    for last in range(3):
        folder, written = tmp_path / str(last), []
        labels = {"task": "t", "learner": "l", "family": "f", "role": "learner"}
        with Journal(folder) as journal:
            outcome = Outcome(
                Record({"repetition": 0}, "ok", labels=labels),
                snapshot=Snapshot({"w": np.arange(9)}),
            )
            key = journal.save(outcome).key

        def stopping(*words, last=last, written=written):
            if len(written) == last:
                raise QuickstudyError("stopped")
            written.append(words)
            write(*words)

        monkeypatch.setattr(journal_lines, "write_aside", stopping)
        try:
            forget(folder, {key})
        except QuickstudyError:
            stops.append(last)
        places = [folder, *folder.glob("forgotten/*")]
        assert any(one.saved for place in places for one in read_results(place).records.values())
    assert stops == [0, 1]
