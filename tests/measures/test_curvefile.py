"""A user's curve: every form that is read, every fault that is named."""

from __future__ import annotations

import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.measures.curvefile import read_curve, score_file


def score_wade(*given, **options):
    return score_file(*given, **options).value


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return name

    return write


GOOD = [
    ("curve.json", '{"accuracy": [0.2, 0.2, 0.7]}'),
    ("curve.json", '{"accuracy": [0.2, 0.2, 0.7], "step": [1, 2, 3], "model": "mine"}'),
    ("curve.json", "[0.2, 0.2, 0.7]"),
    (
        "curve.json",
        (
            '[{"step": 1, "accuracy": 0.2}, {"step": 2, "accuracy": 0.2}, {"step": 3.0, "accuracy":'
            ' 0.7, "x": 1}]'
        ),
    ),
    ("curve.json", '[{"accuracy": 0.2}, {"accuracy": 0.2}, {"accuracy": 0.7}]'),
    ("curve.csv", "step,accuracy\n1,0.2\n2,0.2\n3,0.7\n"),
    ("curve.csv", "accuracy\n0.2\n0.2\n0.7\n\n\n"),
    ("curve.csv", 'loss, accuracy ,step\r\n"a, b",0.2,1\r\nx, 2e-1 ,2\r\n,.7,3\r\n'),
    ("curve.csv", b"\xef\xbb\xbfstep,accuracy\n1,0.2\n2,0.2\n3,0.7"),
    ("curve.csv", "step,accuracy\n1,0.2,\n2,0.2\n3,0.7"),
    ("curve.txt", " [0.2, 0.2, 0.7]"),
    ("curve", "accuracy\n0.2\n0.2\n0.7"),
]


@pytest.mark.parametrize(("name", "text"), GOOD)
def test_read(write, name, text):
    curve = read_curve(write(name, text))
    assert curve.steps.tolist() == [1, 2, 3]
    assert curve.accuracy.tolist() == [0.2, 0.2, 0.7]
    assert score_wade(name) == pytest.approx((0.1 + 0.2 + 2.5 / 3) / 5.5, rel=1e-14)


ROWS = [
    ("1.2", "accuracy must be between 0 and 1, got 1.2"),
    ("-0.1", "accuracy must be between 0 and 1, got -0.1"),
    ("1.0000000001", "accuracy must be between 0 and 1, got 1.0000000001"),
    ("nan", "accuracy must be between 0 and 1, got nan"),
    ("inf", "accuracy must be between 0 and 1, got inf"),
    ("-inf", "accuracy must be between 0 and 1, got -inf"),
    ("high", 'accuracy must be a number, got "high"'),
    ("0_1", 'accuracy must be a number, got "0_1"'),
    ("", "accuracy is missing"),
]


@pytest.mark.parametrize(("value", "message"), ROWS)
def test_refused_accuracy_in_csv(write, value, message):
    refuse(
        write("curve.csv", f"step,accuracy\n1,0.2\n2,0.3\n3,{value}\n4,0.5\n"),
        f"curve.csv, row 3: {message}",
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1.2", "accuracy must be between 0 and 1, got 1.2"),
        ("NaN", "accuracy must be between 0 and 1, got nan"),
        ("Infinity", "accuracy must be between 0 and 1, got inf"),
        ("1" + "0" * 400, "accuracy must be between 0 and 1, got inf"),
        ('"0.5"', 'accuracy must be a number, got "0.5"'),
        ("null", "accuracy must be a number, got null"),
        ("true", "accuracy must be a number, got true"),
        ("[0.5]", "accuracy must be a number, got [0.5]"),
    ],
)
def test_refused_accuracy_in_json(write, value, message):
    refuse(write("curve.json", f"[0.2, {value}]"), f"curve.json, row 2: {message}")
    refuse(write("curve.json", f'{{"accuracy": [0.2, {value}]}}'), f"curve.json, row 2: {message}")
    refuse(
        write("curve.json", f'[{{"accuracy": 0.2}}, {{"accuracy": {value}}}]'),
        f"curve.json, row 2: {message}",
    )


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((1, 3, 3), "row 3: step must be above the one before (3), got 3"),
        ((1, 3, 2), "row 3: step must be above the one before (3), got 2"),
        ((-1, 3, 4), "row 1: step must be a whole number, 0 or more, got -1"),
        ((1, 1.5, 4), "row 2: step must be a whole number, 0 or more, got 1.5"),
        ((1, "nan", 4), "row 2: step must be a whole number, 0 or more, got nan"),
        ((1, 2, "inf"), "row 3: step must be a whole number, 0 or more, got inf"),
        ((1, "two", 4), 'row 2: step must be a number, got "two"'),
        ((1, "", 4), "row 2: step is missing"),
    ],
)
def test_refused_steps(write, steps, message):
    refuse(
        write("curve.csv", "step,accuracy\n" + "".join(f"{step},0.5\n" for step in steps)),
        f"curve.csv, {message}",
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "curve.json",
            '{"step": [1]}',
            'curve.json has no "accuracy"; expected {"accuracy": [...]',
        ),
        ("curve.json", '{"accuracy": 0.5}', 'curve.json: "accuracy" must be a list, got 0.5'),
        (
            "curve.json",
            '{"accuracy": [0.5], "step": 1}',
            'curve.json: "step" must be a list, got 1',
        ),
        (
            "curve.json",
            '{"accuracy": [0.5], "step": null}',
            'curve.json: "step" must be a list, got null',
        ),
        (
            "curve.json",
            '{"accuracy": [0.5, 0.6], "step": [1]}',
            "curve.json: step and accuracy must be equally long, got 1 and 2 entries",
        ),
        (
            "curve.json",
            '{"accuracy": []}',
            "curve.json has no evaluations; a curve needs at least one",
        ),
        ("curve.json", "[]", "curve.json has no evaluations"),
        ("curve.json", "0.5", "curve.json holds 0.5; expected"),
        ("curve.json", "[0.5,", "curve.json is not JSON: "),
        ("curve.json", "accuracy\n0.5", "curve.json is not JSON: "),
        ("curve.json", "[" * 100_000, "curve.json is not JSON: "),
        (
            "curve.json",
            '[{"accuracy": 0.5}, 0.6]',
            'curve.json, row 2: "accuracy" is missing, got 0.6',
        ),
        (
            "curve.json",
            '[{"step": 1, "accuracy": 0.5}, {"accuracy": 0.6}]',
            'curve.json, row 2: "step" is missing',
        ),
        (
            "curve.json",
            '[{"step": 1}]',
            'curve.json, row 1: "accuracy" is missing, got {"step": 1}',
        ),
        (
            "curve.csv",
            "step,loss\n1,0.5\n",
            "curve.csv has no column accuracy; the first line must name it once, got step, loss",
        ),
        ("curve.csv", "0.5\n0.6\n", "curve.csv has no column accuracy"),
        ("curve.csv", "accuracy,accuracy\n0.5,0.6\n", "curve.csv has several columns accuracy"),
        ("curve.csv", "step,accuracy\n", "curve.csv has no evaluations"),
        ("curve.csv", "step,accuracy\n1,0.5\n2\n", "curve.csv, row 2: accuracy is missing"),
        ("curve.csv", "accuracy\n0.5\n\n0.6\n", "curve.csv, row 2: accuracy is missing"),
        (
            "curve.csv",
            "accuracy\n0,5\n",
            "curve.csv, row 1: 2 cells, but the first line names 1 columns",
        ),
        ("curve.csv", "accuracy\n" + "9" * 200_000, "curve.csv is not CSV: "),
        ("curve.csv", "", "curve.csv is empty"),
        ("curve.csv", " \n\n", "curve.csv is empty"),
        ("curve.png", b"\x89PNG\r\n\x1a\n", "curve.png is not a text file"),
    ],
)
def test_refused_files(write, name, text, message):
    refuse(write(name, text), message)


def test_missing_file_and_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refuse("nowhere.csv", "no file nowhere.csv")
    (tmp_path / "folder.csv").mkdir()
    refuse("folder.csv", "folder.csv cannot be read: Is a directory")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_forbidden_file(write):
    name = write("curve.csv", "accuracy\n0.5\n")
    os.chmod(name, 0)
    refuse(name, "curve.csv cannot be read: Permission denied")


def test_presets(write):
    name = write("curve.json", "[0.6, 0.6]")
    assert score_wade(name) == score_wade(name, "paper", 10) == pytest.approx(2.1 / 5.5, rel=1e-14)
    assert score_wade(name, thresholds=100) == pytest.approx(18.3 / 50.5, rel=1e-14)
    assert score_wade(name, "published-nets") == pytest.approx(17.7 / 49.5, rel=1e-14)
    assert score_wade(name, "published-reservoirs", tokens_per_sequence=2) == pytest.approx(
        17.7 / 49.5, rel=1e-14
    )
    assert score_wade(name, "published-imdb") == pytest.approx((10 + 9 * 45 / 49) / 275, rel=1e-14)


def test_refused_options(write):
    name = write("curve.json", "[0.6, 0.6]")
    with pytest.raises(UsageError, match="needs tokens per sequence"):
        score_wade(name, "published-reservoirs")
    with pytest.raises(UsageError, match="has its own thresholds"):
        score_wade(name, "published-nets", thresholds=10)


def test_a_published_preset_counts_evaluations(write):
    """Steps in examples would be scored far too low; a thinned curve begins at evaluation 1 and is
    scored.
    """
    examples = write("examples.csv", "step,accuracy\n8,0.6\n408,0.7\n808,0.8\n")
    for preset, options in (
        ("published-nets", {}),
        ("published-imdb", {}),
        ("published-reservoirs", {"tokens_per_sequence": 2.0}),
    ):
        with pytest.raises(UsageError, match="the first has the number 1, got 8"):
            score_wade(examples, preset, **options)
    thinned = write("thinned.csv", "step,accuracy\n0,0\n1,0.6\n4,0.6\n")
    assert score_wade(thinned, "published-nets") == pytest.approx(17.7 / 49.5, rel=1e-14)


def test_evaluations_of_a_reservoir_are_not_taken_for_tokens(write):
    """Its first evaluation is after one token, so that steps 1, 8, 16 begin as the numbers of
    evaluations do.
    """
    tokens = write("tokens.csv", "step,accuracy\n1,0.2\n8,0.2\n16,0.7\n")
    with pytest.raises(
        UsageError,
        match=r"the number of an evaluation, 1, 2, 3 \.\.\., got 1, 8, 16; leave the steps",
    ):
        score_wade(tokens, "published-reservoirs", tokens_per_sequence=1)
    every = write("every.csv", "step,accuracy\n0,0\n1,0.2\n2,0.2\n3,0.7\n")
    plain = write("plain.csv", "accuracy\n0.2\n0.2\n0.7\n")
    found = [
        score_wade(name, "published-reservoirs", tokens_per_sequence=1) for name in (every, plain)
    ]
    assert found == pytest.approx([0.0648, 0.0648], abs=5e-5)


def test_above_chance_from_a_file(write):
    """By hand: from 1/2 upwards, 0.7 confirmed at once reaches the thresholds k/100 up to 0.4 at
    step 1.
    """
    name = write("curve.json", "[0.7, 0.7]")
    assert score_wade(name, "above-chance", constant=0.5) == pytest.approx(8.2 / 50.5, rel=1e-12)


def test_step_zero_is_read_and_ignored(write):
    assert score_wade(write("curve.csv", "step,accuracy\n0,1\n1,0.6\n")) == pytest.approx(
        2.1 / 5.5, rel=1e-14
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.data())
def test_forms_agree(tmp_path_factory, accuracy, data):
    gaps = data.draw(st.lists(st.integers(1, 1000), min_size=len(accuracy), max_size=len(accuracy)))
    steps = [sum(gaps[: index + 1]) - 1 for index in range(len(gaps))]
    rows = list(zip(steps, accuracy, strict=True))
    folder = tmp_path_factory.mktemp("curves", numbered=True)
    texts = [
        json.dumps({"accuracy": accuracy, "step": steps}),
        json.dumps([{"step": step, "accuracy": value} for step, value in rows]),
        "step,accuracy\n" + "".join(f"{step},{value!r}\n" for step, value in rows),
    ]
    for text in texts:
        (folder / "curve").write_text(text)
        curve = read_curve(folder / "curve")
        assert (curve.steps.tolist(), curve.accuracy.tolist()) == (steps, accuracy)


def refuse(path, message):
    with pytest.raises(UsageError, match="^" + re.escape(message)) as caught:
        read_curve(path)
    assert len(str(caught.value).splitlines()) <= 2
