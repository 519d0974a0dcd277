"""The commands as a user types them, and what is said of input that cannot be."""

from __future__ import annotations

import json

import pytest

import known_machines as known
from quickstudy.cli.main import main

EVEN = [["A", 0, "A", 0.5], ["A", 1, "B", 0.5], ["B", 1, "A", 1]]


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **files):
        for name, content in files.items():
            (tmp_path / f"{name}.json").write_text(
                content if isinstance(content, str) else json.dumps(content)
            )
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code, *capsys.readouterr()

    return call


def scored(command, content, *more, kind="machine"):
    status, out, err = command("score", kind, "file.json", "--json", *more, file=content)
    assert (status, err) == (0, "")
    return json.loads(out)


def test_a_machine_is_scored(command):
    names = ("from", "symbol", "to", "probability")
    rows = [dict(zip(names, row, strict=True)) for row in EVEN]
    for content in (
        {"transitions": rows},
        {"transitions": EVEN},
        EVEN,
        {"transitions": EVEN, "start": "B"},
    ):
        facts = scored(command, content)
        assert facts["states"] == 2
        assert facts["topological_complexity"] == 1
        assert facts["statistical_complexity"] == pytest.approx(0.918296, abs=1e-6)
        assert facts["entropy_rate"] == pytest.approx(2 / 3)
    status, out, _ = command("score", "machine", "file.json")
    assert status == 0
    assert out.startswith("2 states of 2 in file.json\ntopological complexity  1.000000 bits\n")


def test_a_machine_is_made_small_first(command):
    doubled = [[a + x, s, b + y, p / 2] for x in "12" for a, s, b, p in EVEN for y in "12"]
    facts = scored(command, {"transitions": [*doubled, ["T", 0, "A1", 1]]})
    assert (facts["states"], facts["states_given"], facts["transient"], facts["unifilar"]) == (
        2,
        5,
        ["T"],
        False,
    )
    _status, out, _ = command("score", "machine", "file.json")
    assert "made unifilar by belief states; transient and not counted: T" in out


def test_thirds_are_read_as_they_were_meant(command):
    third = 0.3333333333333333
    rows = [["A", s, "A" if s else "B", third] for s in range(3)] + [
        ["B", s, "B", "1/3"] for s in range(3)
    ]
    assert scored(command, rows)["states"] == 1
    assert scored(command, [["A", 0, "A", 0.1 + 0.2], ["A", 1, "A", 0.7]])[
        "entropy_rate"
    ] == pytest.approx(0.881291, abs=1e-6)


def test_what_goes_round_has_a_complexity(command):
    ring = [[str(place), int(place == 0), str((place + 1) % 6), 1] for place in range(6)]
    facts = scored(command, ring)
    assert facts["statistical_complexity"] == pytest.approx(2.584963, abs=1e-6)
    assert facts["entropy_rate"] == 0
    assert scored(command, [["A", 0, "B", 1], ["B", 0, "A", 1]])["states"] == 1


def test_a_transducer_is_scored(command):
    delay = [
        {"from": s, "input": x, "symbol": s, "to": x, "probability": 1} for s in "01" for x in "01"
    ]
    assert scored(command, [[s, x, s, x, 1] for s in "01" for x in "01"]) == scored(
        command, {"transitions": delay}
    )
    facts = scored(command, {"transitions": delay})
    assert (facts["states"], facts["statistical_complexity"], facts["channel_complexity"]) == (
        2,
        1,
        pytest.approx(1),
    )
    _status, out, _ = command("score", "machine", "file.json")
    assert "inputs: uniform, independent; at most 1.000000 bits" in out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "file.json is not JSON"),
        ({}, 'must be a JSON object with "transitions"'),
        ({"transitions": []}, 'must be a JSON object with "transitions"'),
        (
            [["A", 0, "A", 0.5], ["A", 1, "A", 0.4]],
            'the probabilities out of state "A" sum to 0.9; they must sum to 1',
        ),
        ([["A", 0, "A", 1.5]], "transition 1: probability must lie between 0 and 1, got 1.5"),
        (
            [["A", 0, "A", -0.5], ["A", 1, "A", 1]],
            "transition 1: probability must lie between 0 and 1, got -0.5",
        ),
        ([["A", 0, "A", "half"]], "or a fraction such as 1/3, got 'half'"),
        ([["A", 0, "A", None]], "must be a number between 0 and 1"),
        ([["A", 0, "A", True]], "must be a number between 0 and 1"),
        ([["A", 0, "A", float("nan")]], "must be a number between 0 and 1"),
        ([["A", 0, "A"]], "must have from, symbol, to and probability"),
        ([{"from": "A", "symbol": 0, "probability": 1}], 'transition 1: "to" is missing'),
        ([["A", 0, "C", 1]], 'transition 1: the state "C" has no transitions out of it'),
        (
            {"states": ["A"], "transitions": [["A", 0, "B", 1], ["B", 0, "A", 1]]},
            'state "B" is not among its states',
        ),
        (
            [["A", 0, "A", 1], ["B", 1, "B", 1]],
            "has 2 recurrent parts that behave differently (A; B)",
        ),
        ({"transitions": EVEN, "start": "C"}, 'the start "C" is not a state'),
        ({"transitions": EVEN, "start": {"A": 0.5}}, "the chances of the start sum to 0.5"),
        (
            [{"from": "A", "input": 0, "symbol": 0, "to": "A", "probability": 1}, ["A", 0, "A", 1]],
            'either every transition has an "input", or none',
        ),
    ],
)
def test_a_machine_that_cannot_be_is_refused(command, content, said):
    status, out, err = command("score", "machine", "file.json", file=content)
    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert len(err.splitlines()) == 1


def test_a_sequence_is_scored(command):
    outputs = known.drawn(known.even(), 10_000)
    facts = scored(command, {"outputs": outputs, "history": 4, "level": 0.001}, kind="sequence")
    assert (facts["states"], facts["history"]) == (2, 4)
    assert facts["statistical_complexity"] == pytest.approx(0.918296, abs=0.02)
    text = "".join(map(str, outputs))
    assert scored(command, {"outputs": text}, "--history", "3", kind="sequence")["history"] == 3
    status, out, _ = command("score", "sequence", "file.json")
    assert status == 0
    assert out.startswith("2 states from 9,")


@pytest.mark.parametrize("text", ["01" * 300, " ".join("01" * 300), "left\nright\n" * 300])
def test_a_text_is_a_sequence_of_characters_or_words(command, text):
    status, out, err = command("score", "sequence", "file.json", file=text)
    assert (status, err) == (0, "")
    assert out.startswith("2 states from ")


def test_a_short_sequence_is_warned_of(command):
    status, out, err = command("score", "sequence", "file.json", file="01" * 25)
    assert status == 0
    assert "few for histories of 1" in err
    assert "give 200 or more" in err
    _, out, _ = command("score", "sequence", "file.json", "--json")
    assert json.loads(out)["enough"] == 200


def test_a_channel_is_scored_from_its_data(command):
    inputs = [int(one) for one in known.drawn(known.coin(known.HALF), 5000)]
    content = {"inputs": inputs, "outputs": [0, *inputs[:-1]]}
    facts = scored(command, content, kind="sequence")
    assert (facts["states"], facts["entropy_rate"]) == (2, 0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1, ", "is not JSON"),
        ({"inputs": [1]}, 'must be a text of symbols, or a JSON object with "outputs"'),
        ("", 'must be a text of symbols, or a JSON object with "outputs"'),
        ({"outputs": [0, 1] * 99, "history": "long"}, "history must be a whole number, got 'long'"),
        ({"outputs": [0, 1] * 99, "level": "low"}, "level must be a number, got 'low'"),
        ({"outputs": [0, 1] * 99, "inputs": [0]}, "an input for every output, got 1 and 198"),
        ({"outputs": {"a": 1}}, "outputs must be a list of symbols, or a text, got dict"),
        ({"outputs": [0, 1, 0]}, "3 symbols are too few"),
    ],
)
def test_a_sequence_that_cannot_be_is_refused(command, content, said):
    status, out, err = command("score", "sequence", "file.json", file=content)
    assert (status, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_the_machine_of_a_task_is_shown(command, tmp_path):
    status, out, _ = command(
        "show", "curriculum/reduced-1:instances=2,wanted=5", "--machine", "--json"
    )
    facts = json.loads(out)
    assert (status, facts["states"]) == (0, 11)
    assert facts["topological_complexity"] == pytest.approx(3.459432, abs=1e-6)
    assert facts["complexity_uniform"] == pytest.approx(2.8803, abs=5e-5)
    assert facts["complexity_right"] == pytest.approx(3.1219, abs=5e-5)
    status, out, _ = command("show", "curriculum/reduced-1", "--machine", "--svg", "one.svg")
    assert status == 0
    assert "ab,+|a → A1; ab,−|a → B0" in out
    drawn = (tmp_path / "one.svg").read_text()
    assert all(f">{state}<" in drawn for state in ("AB0", "A4", "B0"))
    status, out, _ = command("show", "curriculum/micro-2", "--machine")
    assert "Cut down to curriculum/reduced:of=micro-2" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("language/qa", "--machine"), "language/qa has no finite machine"),
        (
            ("curriculum/round1", "--machine"),
            "a machine is of one task, and this curriculum has 46",
        ),
        (("curriculum/reduced-3", "--machine"), "did you mean"),
        (
            ("curriculum/reduced-1:wanted=0", "--machine"),
            "wanted must be at least 1 and at most 1000, got 0",
        ),
        (("curriculum/reduced-1", "--svg", "x.svg"), "--svg draws a machine: give --machine too"),
        (
            ("curriculum/reduced:of=micro-10", "--machine", "--svg", "x.svg"),
            "583 states are too many to draw",
        ),
        (
            ("curriculum/reduced-1", "--machine", "--svg", "no/x.svg"),
            "no folder no to write x.svg into",
        ),
    ],
)
def test_a_machine_that_cannot_be_shown(command, arguments, said):
    status, _, err = command("show", *arguments)
    assert status == 2
    assert said in err


def test_the_order_of_a_curriculum_is_scored(command):
    tasks = ["curriculum/reduced-2", "curriculum/reduced-1", "curriculum/reduced-1:wanted=2"]
    status, out, _ = command("score", "curriculum", "file.json", "--json", file={"tasks": tasks})
    facts = json.loads(out)
    assert status == 0
    assert facts["orders"]["complexity"] == tasks[::-1]
    assert (facts["ordered"], facts["tau"]) == (False, -1)
    status, out, _ = command("score", "curriculum", "file.json", "--by", "right")
    assert "complexity falls on the way; Kendall's tau with the position -1.000" in out
    for content, said in (
        ({"tasks": []}, '"tasks"'),
        ({"tasks": ["language/qa"]}, "no finite machine"),
        ("x", "not JSON"),
    ):
        status, _, err = command("score", "curriculum", "file.json", file=content)
        assert status == 2
        assert said in err
    assert command("score", "curriculum", "file.json", "--by", "size")[0] == 2


def test_figures_are_made_of_machines(command):
    status, out, _ = command("reproduce", "gradual-figures", "--json")
    facts = json.loads(out)
    assert status == 0
    assert facts["machines"]["figure 3a"]["states"] == 11
    assert facts["machines"]["figures 3b and 5"]["states_as_drawn"] == 20


def test_a_study_orders_tasks(command, tmp_path):
    study = """
version = 1
title = "Three"
source = "ours"
kind = "quantities + complexity-order"
convention = "corrected"
[quantities]
"C_0" = "complexity.topological"
channel = "channel-complexity"
[[rows]]
task = "curriculum/reduced-1"
label = "one"
[[rows]]
task = "curriculum/reduced-2"
label = "two"
[[rows]]
task = "curriculum/reduced:of=micro-7.1"
label = "say"
"""
    (tmp_path / "three.toml").write_text(study)
    status, out, _ = command("reproduce", "three.toml", "--json")
    facts = json.loads(out)
    assert status == 0
    assert facts["order"]["ordered"] is True
    status, out, _ = command("reproduce", "three.toml")
    assert "C_0 never falls: Definition 1 holds" in out
    assert "say, channel: the search over inputs is for machines of up to 60 states" in out
