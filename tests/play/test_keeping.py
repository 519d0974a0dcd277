"""Sessions as runs: in a results folder, scored, beside the machines."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from quickstudy.api.run import run
from quickstudy.base.blocks import PERSON
from quickstudy.base.errors import UsageError
from quickstudy.cli.main import app
from quickstudy.play.keeping import Invitation, Sitting
from quickstudy.play.words import Game
from quickstudy.report.build import gather
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.grouping import Selection
from quickstudy.runs.merge import read_results

RULES = {"seeds": 2, "workers": 0, "controls": False, "protocol": {"sequences": 20}}


def played(folder, lines, name="ann", **how):
    """lines: a letter each, which is given for everything that is hidden."""
    sitting = Sitting.after_all(Invitation("language/periodic", name=name, **how), folder)
    for line in lines:
        sitting.seat.answer(line * sitting.seat.hidden)
    sitting.seat.stop()
    return sitting, sitting.keep()


def right(sitting):
    return " ".join(word[1:-1] for word in sitting.seat.truth.split() if word.startswith("["))


@pytest.fixture
def folder(tmp_path):
    run(["language/periodic"], ["majority"], out=tmp_path, **RULES)
    return tmp_path


def test_a_person_stands_in_the_table_of_the_machines(folder):
    first, (record,) = played(folder, ["a", "b", "c"])
    assert record.scores["wade"]["values"]["wade"] == first.seat.game.score(first.seat.right)
    (table,) = gather([folder]).tables
    assert [(row.learner, row.role) for row in table.rows] == [
        ("person:name=ann", PERSON),
        ("majority", "control"),
    ]
    assert table.verdict.text.startswith("Only people, controls and oracles were examined")
    run(["language/periodic"], ["majority"], out=folder, **{**RULES, "protocol": {"sequences": 30}})
    tables = gather([folder]).tables
    assert [len(table.of_role(PERSON)) for table in tables] == [1, 1]
    assert len(Selection((), ("person*",)).of(read_results(folder).records.values())) == 1


def test_a_person_alone_has_a_table(tmp_path):
    played(tmp_path, ["a"], name="")
    (table,) = gather([tmp_path]).tables
    assert [(row.learner, row.role) for row in table.rows] == [(PERSON, PERSON)]


def test_nobody_meets_the_same_data_twice(folder):
    sittings = [played(folder, ["a"])[0] for _ in range(2)] + [played(folder, ["a"], name="ben")[0]]
    assert [one.repetition for one in sittings] == [0, 1, 0]
    shown = [
        Sitting(one.invitation, repetition=one.repetition).seat.shown().text for one in sittings
    ]
    assert shown[0] != shown[1]
    assert shown[0] == shown[2]  # another person, the same data as the machines of that seed


@pytest.mark.parametrize("convention", ["corrected", "published"])
def test_the_score_is_that_of_the_game_under_every_convention(tmp_path, convention):
    sitting = Sitting(Invitation("language/qa", convention), tmp_path)
    seat = sitting.seat
    seat.answer("b" if "[a]" in seat.truth else "a")
    while not seat.over:
        seat.answer(right(sitting))
    game = Game(**Game.conventions.get(convention, {}))
    assert len(seat.right) == game.series + 1
    wanted = game.score([False, *[True] * game.series])
    assert sitting.keep()[0].scores["wade"]["values"]["wade"] == pytest.approx(wanted)
    again = CliRunner().invoke(app, ["score", str(tmp_path), "--measure", "wade", "--json"])
    assert again.exit_code == 0
    (record,) = read_results(tmp_path).records.values()
    assert record.scores["wade"]["values"]["wade"] == pytest.approx(wanted)


def test_too_little_is_not_kept(tmp_path):
    sitting, records = played(tmp_path, [])
    assert records == []
    assert not sitting.seat.scored
    assert not read_results(tmp_path).records


def test_response_times_are_kept(tmp_path, monkeypatch):
    """From when a question was first shown; a refused answer and a second look do not set the clock
    back.
    """
    now = iter([10.0, 11.5, 13.0, 20.0, 20.25])
    clock = SimpleNamespace(monotonic=lambda: next(now), time=time.time)
    monkeypatch.setattr("quickstudy.play.keeping.time", clock)
    sitting = Sitting.after_all(Invitation("language/periodic"), tmp_path)
    sitting.shown()
    with pytest.raises(UsageError):
        sitting.answer("?")
    sitting.shown()
    sitting.answer("a" * sitting.seat.hidden)
    sitting.shown()
    sitting.answer("a" * sitting.seat.hidden)
    sitting.seat.stop()
    (record,) = sitting.keep()
    assert load_trace(tmp_path, record).arrays["answer_seconds"].tolist() == [3.0, 0.25]


@pytest.mark.parametrize("task", ["language/periodic", "grammar/an-bn", "curriculum/micro-1"])
def test_a_title_does_not_give_the_task_away(task):
    title = Invitation(task).seat().title
    assert title
    assert task.partition("/")[2] not in title.lower()
