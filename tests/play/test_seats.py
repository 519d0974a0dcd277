"""Seats of every kind: who knows the answers is right, and people are judged by what machines are
judged by.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from quickstudy.base.blocks import PERSON, Mark, Traced
from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.cli.main import app
from quickstudy.figures.curriculum_life import transcript
from quickstudy.figures.games_run import episode
from quickstudy.figures.string_outcomes import string_outcomes
from quickstudy.measures.grammar import reach, string_accuracy
from quickstudy.play.keeping import Invitation, Sitting
from quickstudy.protocols.curriculum import Diary


@pytest.fixture(scope="module")
def listener():
    return Invitation("games/listener", root=4).seat()


def test_a_life_by_hand_is_the_life_of_a_learner_with_the_same_replies():
    seat = Invitation("curriculum/micro-5.5", amount=120).seat()
    lines = ["2.", "", "7.", "silence", "3.3."] * 30
    for line in lines:
        if seat.over:
            break
        seat.answer(line)
    assert seat.over
    replies = iter(bytes(seat.diary.replies))
    diary = Diary()
    diary.add(seat.task.open(seat.streams).live(lambda byte, reward: next(replies), 120))
    own, other = seat.traces()[0], diary.trace({}, None, replies=True)
    assert all(np.array_equal(own.arrays[name], other.arrays[name]) for name in other.arrays)
    assert own.facts["reward"] == other.facts["reward"] != 0


@pytest.mark.parametrize(
    "task", ["periodic", "qa", "world-qa-counting", "adjective-qa", "adjective-qa-counting"]
)
def test_every_task_of_words_has_a_seat(task):
    seat = Invitation(f"language/{task}").seat()
    assert "_" in seat.shown().text
    wrong = "b" if "[a]" in seat.truth else "a"
    assert seat.answer(wrong * seat.hidden).good is False


def test_a_life_is_shown_byte_by_byte_with_the_machine_of_its_task():
    sitting = Sitting(Invitation("curriculum/micro-1", amount=30))
    for _ in range(30):
        sitting.seat.answer("")
    (outcome,) = sitting.outcomes()
    said, machine = transcript(outcome.record.what, outcome.trace)
    assert said.summary.startswith("micro-1: 31 bytes, 0 of 30 answers right")
    (graph,) = machine.blocks
    assert "smallest transducer, 5 states" in graph.caption


def test_of_a_curriculum_all_bytes_are_shown_once_and_what_cannot_be_sent_changes_nothing():
    seat = Invitation("curriculum/micro-5.5", amount=60).seat()
    shown = seat.shown()
    with pytest.raises(UsageError, match="codes from 0 to 255"):
        seat.answer("→")
    assert seat.shown() == shown
    assert seat.diary.lived == 1  # the silence before the first period
    seat.answer("12")
    assert seat.shown().text.splitlines()[1].startswith("you         12")


def test_who_hears_what_is_meant_is_right_and_the_games_are_those_of_the_test(listener):
    _, known = listener.task.exam(Streams(4, "games/listener", 0), 1)
    for game in listener._games:
        assert game.said in listener.shown().text
        good = listener.answer("none" if game.correct == 1 else str(game.correct + 1)).good
        assert good
    assert listener.over
    trace = listener.traces()[0]
    assert all(
        np.array_equal(trace.arrays[name], known[name]) for name in ("game", "query", "foil")
    )
    assert trace.arrays["correct"] == trace.arrays["asked"] == known["query"].sum()


def test_an_episode_is_told_game_by_game_on_the_page_of_its_run(listener):
    sitting = Sitting(Invitation("games/listener", root=4))
    while not sitting.seat.scored:
        sitting.seat.answer("1")
    (outcome,) = sitting.outcomes()
    what, trace = outcome.record.what, outcome.trace
    (steps,) = episode(what, trace)
    right = trace.arrays["right"].tolist()
    assert [title.partition(": ")[2] for title, _ in steps.steps] == [
        "right" if good else "wrong" for good in right
    ]
    told = {term: said for term, said, _ in steps.steps[0][1][0].items}
    assert told["speaker's message"] == listener._games[0].said
    assert told["listener's choice"].startswith("stimulus 1: ")
    (fault,) = episode({**what, "root": 5}, trace)
    assert "cannot be resampled" in fault.text


def test_a_decision_that_is_none_changes_nothing():
    seat = Invitation("games/listener", root=4).seat()
    for line in ("", "0", "2", "nobody", "-1"):
        with pytest.raises(
            UsageError, match="is not a decision; type a number from 1 to 1, or none"
        ):
            seat.answer(line)
    assert not seat.scored
    assert seat.progress.startswith("0 of")


def truth(seat):
    """What is right to say now."""
    row, place, names = seat._row, seat._place, seat._names
    if row.valid is None:
        return names[row.targets[place]]
    return "".join(names[symbol] for symbol in np.flatnonzero(row.valid[place]))


@pytest.mark.parametrize(("task", "metric"), [("grammar/an-bn", "det"), ("grammar/dyck-1", "cat")])
def test_who_knows_the_language_reaches_the_longest_string(task, metric):
    seat = Invitation(task, amount=16).seat()
    assert seat.metric == metric
    while not seat.over:
        assert seat.answer(truth(seat)).good
    trace = seat.traces()[0]
    assert (
        reach(trace)["largest-right"]
        == trace.arrays["size"].max()
        > trace.facts["largest_shown"]["1"]
    )
    assert string_accuracy(trace) == {"accuracy": 1.0, "strings-right": 1.0}
    _, frontier = string_outcomes(task, [Traced("person", PERSON, Mark(PERSON), [trace])])
    bound, own = frontier.panels[0].series
    assert (bound.x, bound.y) == ([12], [10**6 / 12])
    assert (own.x, own.y) == ([12], [trace.arrays["tested"].sum()])


def test_words_stand_between_spaces():
    rules = "S -> the N VP [1]; N -> cat [0.7] | N of the N [0.3]; VP -> sleeps [1]"
    seat = Invitation(f'grammar/written:rules="{rules}"', amount=8, plain=True).seat()
    assert seat.shown().text == "1: # the _"
    assert seat.answer("cat").text == "right: cat comes next"
    assert seat.shown().text == "1: # the cat sleeps _"
    assert seat.answer("#").text == "right: # comes next; the whole string: # the cat sleeps #"
    assert seat.shown().text == "2: # the _"
    assert seat.answer("cat the cat").text == "right: cat comes next"
    assert not seat.answer("of").good
    with pytest.raises(
        UsageError, match='"t h e" is not an answer; the letters are # cat of sleeps'
    ):
        seat.answer("t h e")


def test_letters_are_taken_as_long_as_they_are_right():
    seat = Invitation("grammar/an-bn", amount=8, plain=True).seat()
    assert seat.shown().text == "1: #ab_"
    assert seat.answer("#").text == "right: # comes next; the whole string: #ab#"
    assert seat.shown().text == "2: #aab_"
    assert not seat.answer("b b").good  # the second stands where the string ends
    assert seat.shown().text.startswith("3: #")
    with pytest.raises(UsageError, match='"x" is not an answer; the letters are # a b'):
        seat.answer("x")
    seat.stop()
    assert seat.traces()[0].arrays["wrong"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dynamics/narma-10"], "there is no seat for that; play a task of language"),
        (
            ["games/common"],
            "games/common has no role of a listener with a given speaker; play games/listener",
        ),
        (
            ["games/pair"],
            "games/pair has no role of a listener with a given speaker; play games/listener",
        ),
        (["grammar/an-bn:setup=accept"], "is not played symbol by symbol"),
        (["language/qa", "--ask", "gaps"], "--ask is for tasks of the curriculum"),
        (
            ["curriculum/micro-1", "--ask", "never"],
            "--ask must be one of gaps, steps, periods, got never",
        ),
        (["language/qa", "--name", "<b>"], "--name must be 1 to 40 letters"),
        (["language/qa", "--browser", "--record", "x"], "--record is for the terminal"),
    ],
)
def test_what_cannot_be_played_is_said_in_a_line(arguments, said, capsys):
    from quickstudy.cli.main import main

    with pytest.raises(SystemExit) as ended:
        main(["play", *arguments])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_language_in_the_terminal(tmp_path):
    arguments = [
        "play",
        "grammar/an-bn",
        "--plain",
        "--steps",
        "4",
        "--record",
        str(tmp_path / "session.json"),
    ]
    told = CliRunner().invoke(app, arguments, input="#\nx\nb#\n")
    assert told.exit_code == 0
    assert told.stdout.startswith("strings of the language:\n#")
    assert "stopped after 2 strings, 2 without a mistake" in told.stdout
    assert json.loads((tmp_path / "session.json").read_text())["wrong"] == [0, 0]
