"""The game of appendix A: worked examples of its two scores, hidden words, letters, and the
command.
"""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.cli.main import app
from quickstudy.measures.wade import wade_preset
from quickstudy.play.words import HIDDEN, Game, WordsSeat

PUBLISHED = Game(**Game.conventions["published"])
WORKED = [False, True, True, False, *[True] * 10]


def score(game, right):
    return wade_preset("paper", thresholds=game.series).score(*game.curve(right))


def session(name, convention="corrected", seed=0, plain=False):
    id = f"language/{name}"
    task = configure(id, registries.task.get(id), {}, convention)
    return WordsSeat(task, Streams(seed, id, 0), Game(), plain=plain)


def said(seat):
    """The words of the present sequence, without its number."""
    return seat.shown().text.split()[1:]


def test_worked_example_of_the_paper_and_of_the_published_game():
    assert score(Game(), WORKED) == pytest.approx((0.3 / 2 + 5.2 / 5) / 5.5)
    cut = WORKED[:9]
    assert PUBLISHED.streak(cut) == PUBLISHED.series
    assert score(PUBLISHED, cut) == pytest.approx(
        (0.2 / 2 + 0.4 / 3 + 0.6 / 7 + 0.8 / 8 + 1 / 9) / 3
    )


def test_perfect_and_hopeless_players():
    assert score(Game(), [True] * 10) == pytest.approx(1.0)
    assert score(PUBLISHED, [True] * 5) == pytest.approx(1 / 3)
    assert score(Game(), [False] * 20) == 0.0
    assert score(Game(), []) == 0.0


def test_who_answers_the_truth_is_right_in_letters_and_in_words():
    for plain in (False, True):
        played = session("qa", plain=plain)
        while not played.over:
            shown = said(played)
            truth = played.truth.split()
            assert HIDDEN in shown
            assert len(shown) == len(truth)
            assert all(word in (other, HIDDEN) for word, other in zip(shown, truth, strict=True))
            assert all((len(word) == 1) != plain or word in "I?._" for word in shown)
            hidden = [
                word[1:-1] for word, other in zip(truth, shown, strict=True) if other == HIDDEN
            ]
            assert played.hidden == len(hidden)
            assert played.answer(" ".join(hidden)).good
        assert len(played.right) == 10
        assert played.traces()[0].arrays["accuracy"].tolist() == [1.0]


def test_long_sequences_are_cut_before_the_sixth():
    played = session("periodic")
    shown = said(played)
    assert shown.count(HIDDEN) == played.hidden == 5
    assert shown[-1] == HIDDEN


def test_only_all_hidden_words_together_are_right():
    played = session("copying" if "language/copying" in registries.task else "extra-copy")
    for spoiled, good in ((True, False), (False, True)):
        hidden = [word[1:-1] for word in played.truth.split() if word.startswith("[")]
        if spoiled:
            hidden[-1] = "b" if hidden[-1] == "a" else "a"
        assert played.answer(" ".join(hidden)).good is good


@pytest.mark.parametrize("line", ["", " ", "help", "?", "quit", "a b", "a b c d e f", "a b c d ?"])
@pytest.mark.parametrize(
    ("name", "hidden"), [("qa", "1 letter is hidden"), ("periodic", "5 letters are hidden")]
)
def test_what_cannot_be_an_answer_is_not_counted(name, hidden, line):
    played = session(name)
    shown = played.shown()
    with pytest.raises(UsageError, match=f"{hidden}.*not counted"):
        played.answer(line)
    assert (played.right, played.shown()) == ([], shown)


def test_letters_may_be_typed_without_spaces():
    played = session("periodic")
    assert played.answer(
        "".join(word[1:-1] for word in played.truth.split() if word.startswith("["))
    ).good


def test_a_folder_that_cannot_be_written_is_found_out_before_the_session(tmp_path):
    (tmp_path / "file").write_text("")
    told = CliRunner().invoke(
        app, ["play", "language/qa", "--out", str(tmp_path / "file" / "results")], input="a\n"
    )
    assert told.exit_code != 0
    assert "1:" not in told.stdout


@pytest.mark.parametrize("name", ["  ", "a/b"])
def test_a_name_that_is_none_is_refused(name):
    told = CliRunner().invoke(app, ["play", "language/qa", "--name", name], input="a\n")
    assert isinstance(told.exception, UsageError)


def test_letters_depend_on_the_seed_alone():
    first, again, other = (said(session("qa", seed=seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_what_cannot_be_played_is_refused():
    with pytest.raises(UsageError, match="is not played word by word"):
        WordsSeat(registries.task.get("dynamics/narma-10")(), Streams(0, "x", 0), Game())


def test_the_command_as_it_is_typed(tmp_path):
    played = session("qa", seed=3)
    lines = []
    for _ in range(4):
        lines += [word[1:-1] for word in played.truth.split() if word.startswith("[")]
        played.answer("a")
    lines[1] = "b" if lines[1] == "a" else "a"
    file = tmp_path / "session.json"
    arguments = ["play", "language/qa", "--seed", "3", "--record", str(file)]
    told = CliRunner().invoke(app, arguments, input="\n".join(lines) + "\n")
    assert told.exit_code == 0
    wanted = score(Game(), [True, False, True, True])
    assert f"stopped after 4 sequences, 3 right; WADE {wanted:.4f}" in told.stdout
    assert json.loads(file.read_text())["right"] == [True, False, True, True]
    again = CliRunner().invoke(app, ["score", "wade", str(file), "--json"])
    assert json.loads(again.stdout)["wade"] == pytest.approx(wanted)
