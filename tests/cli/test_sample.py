"""sample, for every kind of task: from a file of a user's."""

import json

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.data.tables import read_table

FILE = '''
from dataclasses import dataclass

import numpy as np
import quickstudy as qs
from quickstudy.base.task import Turn, World


@qs.task("language/before", version=1, controls=["majority"], oracle="nobody wrote one")
@dataclass(frozen=True)
class Before:
    """Say what was read two tokens before."""

    vocabulary = tuple("abcd")

    def sample(self, rng, count):
        inputs = rng.integers(4, size=(4, count)).astype(np.int32)
        asked = np.broadcast_to(np.arange(4)[:, None] >= 2, inputs.shape)
        return qs.Examples(inputs, np.roll(inputs, 2, axis=0), asked, np.full(count, 4))


@qs.task("language/letters", version=1, controls=["majority"], oracle="nobody wrote one")
@dataclass(frozen=True)
class Letters:
    """Strings with ends."""

    vocabulary = tuple("#ab")

    def sample(self, rng, count):
        return qs.Examples.from_sequences([[0, 1, 2, 0]] * count, [[3]] * count)

    def released(self, seed, count):
        return qs.Examples.from_sequences([[0, *[1] * seed, 0]] * count, [[1]] * count)

    def text(self, tokens):
        return "".join(self.vocabulary[token] for token in tokens)


@qs.task("language/sums", version=1, controls=["majority"], oracle="nobody wrote one")
@dataclass(frozen=True)
class Sums:
    """Add two numbers."""

    inputs, outputs = qs.Reals(2), qs.Reals(1)

    def sample(self, rng, count):
        inputs = np.array([[[1 / 3, 2.0]], [[1e-9, 0.0]]]).repeat(count, axis=1)
        sums, asked = inputs.sum(axis=2, keepdims=True), np.ones((2, count), bool)
        return qs.Examples(inputs, sums, asked, np.full(count, 2))


@qs.task(
    "mine/leak",
    version=1,
    controls=["majority"],
    oracle="nobody wrote one",
    protocol="language",
)
@dataclass(frozen=True)
class Leak:
    """A sum that leaks."""

    inputs, outputs = qs.Reals(1), qs.Reals(1)

    def response(self, inputs):
        states = np.zeros(len(inputs) + 1)
        for time, value in enumerate(inputs[:, 0]):
            states[time + 1] = 0.5 * states[time] + value
        return states[1:, None]

    def drive(self, rng):
        inputs = rng.random((12, 1))
        return qs.Series(inputs, self.response(inputs), 3, 4, 0, 5, {"diverged": 0})


class Walk(World):
    def reset(self):
        self.at = 0
        return 0

    def step(self, action):
        self.at += 2 * action - 1
        return Turn(self.at % 5, self.at / 3, abs(self.at) == 2, {"at": self.at})


@qs.task(
    "mine/walk",
    version=1,
    controls=["majority"],
    oracle="nobody wrote one",
    protocol="language",
)
@dataclass(frozen=True)
class Walks:
    """Walk to the left and to the right."""

    inputs, outputs, horizon = qs.Tokens(5), qs.Tokens(2), 50

    def open(self, streams):
        return Walk()
'''


@pytest.fixture
def sample(inside, tmp_path):
    (tmp_path / "kinds.py").write_text(FILE)

    def call(*arguments):
        return inside("sample", *arguments, "--include", "kinds.py")

    return call


def objects(answer):
    assert answer.status == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def test_an_answer_that_is_not_the_next_token_stands_beside_its_input(sample):
    (row,) = objects(sample("language/before", "-n", 1, "--json"))
    assert row["asked"] == [2, 3]
    assert row["targets"] == row["inputs"][:2]
    a, b, c, d = row["inputs"]
    assert sample("language/before", "-n", 1).out == f"{a} {b} {c} -> [{a}] {d} -> [{b}]\n"


@pytest.mark.parametrize("task", ["extra-copy", "extra-machine", "qa", "adjective-qa-counting"])
def test_tasks_of_words_are_shown_in_words(sample, task):
    said = sample(f"language/{task}", "-n", 2)
    assert said.status == 0, said.err
    assert said.out.count("[") >= 2


def test_a_mixture_and_a_chain_show_the_same_answers(sample):
    for task in ("language/mixed", "continual/chained"):
        rows = objects(sample(f"{task}:members=before/letters", "-n", 12, "--json"))
        own = [row for row in rows if "#" not in row["inputs"]]
        assert 0 < len(own) < 12
        assert all(row["targets"] == row["inputs"][:2] for row in own)
        assert all(
            row["inputs"] == ["#", "a", "b"] and row["targets"] == ["#"]
            for row in rows
            if row not in own
        )


def test_real_numbers_are_shown_to_four_digits_and_given_whole(sample):
    assert sample("language/sums", "-n", 1).out == "(0.3333 2) -> [2.333] (1e-09 0) -> [1e-09]\n"
    (row,) = objects(sample("language/sums", "-n", 1, "--json"))
    assert row == {
        "inputs": [[1 / 3, 2.0], [1e-9, 0.0]],
        "asked": [0, 1],
        "targets": [[1 / 3 + 2.0], [1e-9]],
    }


def test_a_string_is_followed_by_its_judgement_in_words(sample):
    rows = sample("grammar/an-bn:setup=accept", "-n", 8, "--text").out.splitlines()
    for string, judged in (row.split() for row in rows):
        word = string.strip("#")
        half = len(word) // 2
        right = word == "a" * half + "b" * half
        assert judged == ("accepted" if right and word else "rejected")
    assert {row.split()[1] for row in rows} == {"accepted", "rejected"}


def test_strings_as_the_task_writes_them(sample):
    assert sample("language/letters", "-n", 2, "--text").out == "#ab#\n#ab#\n"
    released = sample(
        "language/letters", "-n", 1, "--text", "--seed", 5, "--convention", "published"
    )
    assert released.out == "#aaaaa#\n"
    assert sample("language/qa", "-n", 1, "--text").out.split()[-1] in ("YES", "NO")
    refused = sample("language/before", "--text")
    assert (refused.status, refused.out) == (2, "")
    assert "what is asked is not the next token" in refused.err


def test_a_series_is_shown_by_parts_and_given_whole(sample):
    lines = [line.split() for line in sample("mine/leak", "-n", 6).out.splitlines()]
    assert lines[0] == ["step", "part", "inputs", "targets"]
    shown = [line[:2] for line in lines[1:]]
    assert shown == [
        *[
            ["0", "washout"],
            ["1", "washout"],
            ["..."],
            ["3", "training"],
            ["4", "training"],
            ["..."],
        ],
        *[["7", "test"], ["8", "test"], ["..."]],
    ]
    first, second = objects(sample("mine/leak", "-n", 2, "--json"))
    assert first["inputs"] != second["inputs"]
    lengths = {name: first[name] for name in ("washout", "training", "validation", "test")}
    assert lengths == {"washout": 3, "training": 4, "validation": 0, "test": 5}
    assert first["facts"] == {"diverged": 0}
    assert first["targets"][1] == 0.5 * first["targets"][0] + first["inputs"][1]
    assert lines[1][2:] == [f"{first['inputs'][0]:.4g}", "->", f"{first['targets'][0]:.4g}"]


def test_a_system_answers_to_given_inputs(sample, tmp_path):
    (tmp_path / "u.csv").write_text("u\n1\n2\n\n3\n")
    np.save(tmp_path / "wide.npy", np.ones((4, 2)))
    (row,) = objects(sample("mine/leak", "--inputs", "u.csv", "--json"))
    assert row == {"inputs": [1.0, 2.0, 3.0], "targets": [1.0, 2.5, 4.25]}
    assert sample("mine/leak", "--inputs", "u.csv", "-n", 1).out.split()[3:] == [
        "0",
        "1",
        "->",
        "1",
        "...",
    ]
    for arguments, words in (
        (
            ["language/qa", "--inputs", "u.csv"],
            "language/qa is not driven from outside: it has no response(inputs)",
        ),
        (
            ["mine/leak", "--inputs", "wide.npy"],
            "wide.npy has 2 columns, and mine/leak is driven by 1",
        ),
        (["mine/leak", "--inputs", "absent.csv"], "no file absent.csv"),
        (["mine/leak", "--text"], "mine/leak writes no strings"),
    ):
        answer = sample(*arguments)
        assert (answer.status, answer.out) == (2, "")
        assert words in answer.err


def test_a_world_is_a_transcript(sample):
    rows = objects(sample("mine/walk", "-n", 30, "--json"))
    assert [row["step"] for row in rows] == list(range(30))
    at, seen = 0, 0
    for row in rows:
        assert row["observation"] == seen
        at += 2 * row["action"] - 1
        assert (row["info"], row["reward"], row["done"]) == ({"at": at}, at / 3, abs(at) == 2)
        at, seen = (0, 0) if row["done"] else (at, at % 5)
    assert {row["action"] for row in rows} == {0, 1}
    lines = sample("mine/walk", "-n", 30).out.splitlines()
    assert lines[0].split() == ["step", "observation", "action", "reward"]
    assert [line.split()[1:3] for line in lines[1:]] == [
        [str(row["observation"]), str(row["action"])] for row in rows
    ]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1\n2\n", [[1], [2]]), ("a,b\n1,2e-3\n", [[1, 0.002]]), ("\ufeffx\n 4 \n", [[4]])],
)
def test_tables_of_numbers(tmp_path, text, numbers):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert read_table(tmp_path / "t.csv").tolist() == numbers
    np.save(tmp_path / "t.npy", np.array(numbers))
    assert read_table(tmp_path / "t.npy").tolist() == numbers


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no numbers in it"),
        (b"x\n", "has no numbers in it"),
        (b"1\nmany\n", "row 2: every cell must be a number, got many"),
        (b"1,2\n3\n", "row 2: 1 cells, but the first row has 2"),
        (b"1\ninf\n", r"row 2: every number must be finite, got inf"),
        (b"1,2,3\n1,nan,4\n", r"row 2, column 2: every cell must be a number, got nan$"),
        (b"1,2,3\n1,inf,nan\n", r"row 2, column 3: every cell must be a number, got nan$"),
        (b"1,2,3\n1,inf,4\n", r"row 2, column 2: every number must be finite, got inf$"),
        (b"\xff\xfe", "neither CSV in UTF-8 nor an NPY file"),
        (np.lib.format.MAGIC_PREFIX + b"\x01\x00", "cannot be read"),
    ],
)
def test_what_is_no_table(tmp_path, content, words):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(UsageError, match=words):
        read_table(tmp_path / "t.csv")


def test_what_is_drawn_is_found_right_and_what_is_changed_is_not(inside, tmp_path):
    drawn = inside("sample", "language/symbol-counting", "--text", "-n", 8).out
    path = tmp_path / "drawn.txt"
    path.write_text(drawn)
    found = inside("check", "language/symbol-counting", path)
    assert (found.status, found.out) == (0, "".join(f"ok    line {line}\n" for line in range(1, 9)))
    path.write_text(drawn + drawn.splitlines()[0].replace(" .", " 0 ."))
    found = inside("check", "language/symbol-counting", path)
    assert found.status == 1
    assert found.out.count("ok ") == 8
    assert "FAIL  line 9: index " in found.out
