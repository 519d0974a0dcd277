"""The span of a person: known players have known spans, refused answers count nothing, rounds are
runs.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import quickstudy as qs
from quickstudy.base.blocks import PERSON
from quickstudy.base.errors import UsageError
from quickstudy.cli import play as terminal
from quickstudy.cli.main import app
from quickstudy.measures.span import psychometric, span, span_scores
from quickstudy.play.keeping import Invitation, Sitting
from quickstudy.report.build import gather
from quickstudy.runs.merge import read_results

ITEMS = (
    "copy",
    "select",
    "periodic",
    "hold",
    "lookup",
    "recombine",
    "values",
    "parity",
    "nest",
    "count",
    "abc",
)


def right(seat):
    trial = seat._trial
    return [trial.words[at] for at in trial.hidden]


def wrong(seat):
    return [next(one for one in seat._answers if one != symbol) for symbol in right(seat)]


def play(seat, able):
    """Answer rightly wherever able(seat), else wrongly in all places."""
    while not seat.over:
        seat.answer(" ".join(right(seat) if able(seat) else wrong(seat)))
    return seat


def spans(seat):
    return [span_scores(trace)["span"] for trace in seat.traces()]


@pytest.mark.parametrize("item", ITEMS)
def test_who_is_always_right_gets_to_the_end_of_what_is_shown(item):
    seat = play(Invitation(f"span/{item}", amount=2).seat(), lambda seat: True)
    end = seat.parameters["longest"]
    assert spans(seat) == pytest.approx([end, end])
    assert "2 of 2 rounds" in seat.summary()
    assert ("at least" in seat.summary()) == (end < seat.task.grid[-1])


def test_who_keeps_six_letters_has_a_span_of_six_less_what_was_worse_than_chance():
    """Levels 1, 2, 3, 4, 6 are right, 8 and 12 wrong in all places, the rest is not asked: at
    chance.
    """
    seat = play(Invitation("span/copy").seat(), lambda seat: len(right(seat)) <= 6)
    p = [1, 1, 1, 1, 1, -1 / 7, -1 / 7, 0, 0, 0]
    assert spans(seat) == pytest.approx([float(span(p, seat.task.grid))] * 4)
    (first, *_) = seat.traces()
    assert first.arrays["asked"].tolist() == [1, 2, 3, 4, 6, 8, 12, 0, 0, 0]
    assert first.arrays["whole"].tolist() == [[1, 1, 1, 1, 1, 0, 0, 0, 0, 0]]
    assert span_scores(first)["whole-span"] == pytest.approx(6.0)


def test_one_mistake_does_not_end_a_round_and_two_in_a_row_do():
    seat = Invitation("span/copy", amount=1).seat()
    for good in (True, False, True, True, False):
        assert not seat.over
        seat.answer(" ".join(right(seat) if good else wrong(seat)))
    assert not seat.over
    seat.answer(" ".join(wrong(seat)))
    assert seat.over


@pytest.mark.parametrize("item", ["parity", "count", "abc"])
def test_guesses_are_at_chance_on_average_though_a_round_ends_by_its_mistakes(item):
    rng, areas = np.random.default_rng(0), []
    for _ in range(5):
        seat = Invitation(f"span/{item}", amount=80).seat()
        while not seat.over:
            seat.answer(str(rng.choice(seat._answers)))
        widths = np.diff(np.log1p([seat.task.least, *seat.task.grid]))
        areas += [float(psychometric(trace)[-1] @ widths) for trace in seat.traces()]
    assert abs(np.mean(areas)) < 4 * np.std(areas) / np.sqrt(len(areas))


@pytest.mark.parametrize(
    ("item", "line", "told"),
    [
        ("copy", "a b", "you typed 2 symbols, and 1 are asked for; type 1 of a b c"),
        ("copy", "ab", "you typed 2 symbols"),
        ("copy", "", "you typed 0 symbols"),
        ("copy", "x", '"x" cannot be an answer; type 1 of a b c'),
        ("lookup", "k3", '"k3" cannot be an answer'),
        ("parity", "2", '"2" cannot be an answer'),
    ],
)
def test_what_cannot_be_an_answer_is_refused_with_a_hint_and_not_counted(item, line, told):
    seat = Invitation(f"span/{item}").seat()
    shown = seat.shown()
    with pytest.raises(UsageError, match=f"{told}.*not counted"):
        seat.answer(line)
    assert seat.shown() == shown
    assert (seat._right, seat.progress) == ([[]], "round 1 of 4, difficulty 1")


def test_what_is_to_be_kept_in_mind_is_not_in_the_question():
    seat = Invitation("span/lookup").seat()
    while len(seat._trial.hidden) < 2:
        seat.answer(" ".join(right(seat)))
    shown, trial = seat.shown(), seat._trial
    assert len(shown.paced) == 8  # four pairs
    assert shown.text.split()[1:] == ["|", trial.words[9], "_", trial.words[11], "_"]
    assert not set(right(seat)) & set(shown.text.split())


def test_rounds_are_runs_and_no_data_come_twice(tmp_path):
    for _ in range(2):
        sitting = Sitting.after_all(Invitation("span/copy", name="ann"), tmp_path)
        play(sitting.seat, lambda seat: len(right(seat)) <= 4)
        sitting.keep()
    records = read_results(tmp_path).records.values()
    assert sorted(record.what["repetition"] for record in records) == list(range(8))
    assert len({str(sitting.seat._rounds[number]) for number in range(4)}) == 4
    again = Sitting.after_all(Invitation("span/copy", name="ann"), None, range(4)).seat
    assert again._rounds == sitting.seat._rounds
    (table,) = gather([tmp_path]).tables
    (row,) = table.rows
    assert (row.learner, row.role, len(row.runs)) == ("person:name=ann", PERSON, 8)


def test_each_round_has_its_own_response_times():
    sitting = Sitting(Invitation("span/copy", amount=2))
    count = 0
    while not sitting.seat.over:
        sitting.shown()
        sitting.answer(" ".join(right(sitting.seat) if count < 3 else wrong(sitting.seat)))
        count += 1
    first, second = sitting.traces()
    assert len(first.arrays["answer_seconds"]) == first.facts["answers"] == 5
    assert len(second.arrays["answer_seconds"]) == second.facts["answers"] == 2
    assert sum(map(len, (first.arrays["answer_seconds"], second.arrays["answer_seconds"]))) == count


def test_a_round_that_is_not_over_has_no_span(tmp_path):
    sitting = Sitting.after_all(Invitation("span/copy"), tmp_path)
    sitting.seat.answer(" ".join(right(sitting.seat)))
    sitting.seat.stop()
    assert (sitting.keep(), sitting.seat.summary()) == (
        [],
        "stopped before the first round was over: no span",
    )


class Zero:
    """Answers 0."""

    def __init__(self, brief, seed):
        pass

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return np.zeros(len(inputs), int)


def test_a_person_is_on_the_card_of_a_learner(tmp_path):
    sitting = Sitting.after_all(Invitation("span/copy", name="ann"), tmp_path)
    play(sitting.seat, lambda seat: len(right(seat)) <= 4)
    sitting.keep()
    card = qs.profile(Zero, seeds=2, out=tmp_path, families="language", progress=False)
    copy, lookup = card.facts["families"][0]["items"]
    logs = np.log1p(spans(sitting.seat))
    assert copy["people"]["ann"]["span"] == pytest.approx(np.expm1(logs.mean()))
    assert copy["people"]["ann"]["rounds"] == 4
    assert lookup["people"] == {}
    assert "person ann" in card.path.read_text()
    assert any("The person ann copies 3." in sentence for sentence in card.facts["words"])


@pytest.mark.parametrize("item", ["track", "delay", "mapping", "listener"])
def test_what_people_cannot_play_is_refused_with_what_they_can(item):
    with pytest.raises(
        UsageError, match="no form for people; play an item of letters or words, as span/copy"
    ):
        Invitation(f"span/{item}").seat()


def test_the_command_without_a_terminal(tmp_path):
    told = CliRunner().invoke(
        app, ["play", "span/copy", "--steps", "1", "--out", str(tmp_path)], input="z\na b\n" * 3
    )
    assert told.exit_code == 0
    assert told.stdout.count("1: | _") == 7  # the one letter that is asked for was never typed
    assert told.stderr.count("this was not counted") == 6
    assert "too little was answered to be scored: not kept" in told.stdout


def test_in_a_terminal_symbols_come_one_by_one(monkeypatch, capsys):
    pauses, lines = [], iter(["", None])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(terminal, "_typed", lambda: next(lines))
    monkeypatch.setattr(terminal.time, "sleep", pauses.append)
    seat = Invitation("span/hold").seat()
    shown = seat.shown()
    assert terminal._present(shown)
    written = capsys.readouterr().out
    assert [part.strip() for part in written.split("\r")[1:] if part.strip()] == list(shown.paced)
    assert sum(pauses) == pytest.approx(shown.seconds * len(shown.paced))
    assert not terminal._present(shown)  # the end of the input
