"""A program that learns from sequences, line by line: what it is told, and what is said when it
misbehaves.
"""

from __future__ import annotations

import pathlib
import sys
import time

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.adapters import line_program
from quickstudy.adapters.line_program import LineProgram
from quickstudy.adapters.subprocess_learners import Lines
from quickstudy.base.errors import LearnerFault, NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.testing import check_learner

BRIEF = Brief(Tokens(4), Tokens(3), "cross-entropy", 5, 10)
REALS = Brief(Reals(2), Reals(1), "squared", 5, 10)

COUNTS = """
import sys
counts = {}
for line in sys.stdin:
    word, *rest = line.split()
    if word == "begin":
        kind, number = rest[1].split(":")
        print("ready" if kind == "symbols" else "no I answer with symbols", flush=True)
    elif word == "learn":
        half = rest.index("|")
        for symbol, target in zip(rest[:half], rest[half + 1 :]):
            if target != "-1":
                counts.setdefault(symbol, [0] * int(number))[int(target)] += 1
        print("ok", flush=True)
    else:
        print(*(n for symbol in rest for n in counts.get(symbol, [0] * int(number))), flush=True)
"""


@pytest.fixture
def program(tmp_path):
    def made(text):
        file = tmp_path / "program.py"
        file.write_text(text)
        return f"{sys.executable} {file}"

    return made


def scripted(*answers):
    """A program that says these, whatever it reads, and tells what it was told on its way out."""
    return (
        f"import sys\nfor line, said in zip(sys.stdin, {list(answers)!r}):\n    print(said,"
        " flush=True)\n"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "import sys\nwhile True: sys.stdout.write('x'); sys.stdout.flush()",
            "more than 1 seconds to reply",
        ),
        ("import time\ntime.sleep(60)", "more than 1 seconds to reply"),
        ("import os, time\nos.close(1)\ntime.sleep(60)", "closed its output when it had to reply"),
    ],
    ids=["flood", "silence", "closed"],
)
def test_the_time_for_a_reply_holds_whatever_it_does(program, text, words):
    began = time.monotonic()
    with pytest.raises(LearnerFault, match=words):
        Lines(BRIEF, 7, command=program(text), seconds=1.0)
    assert time.monotonic() - began < 20


def test_the_time_holds_for_one_that_does_not_read(program):
    reader = LineProgram(program("import time\ntime.sleep(60)").split(), 1.0, "device")
    with pytest.raises(LearnerFault, match="the device took more than 1 seconds to read"):
        reader.write(b"x" * (1 << 20))
    reader.close()


def test_a_line_without_an_end_is_not_read_for_ever(program, monkeypatch):
    monkeypatch.setattr(line_program, "LONGEST_LINE", 1 << 18)
    with pytest.raises(LearnerFault, match="bytes without the end of a line"):
        Lines(BRIEF, 7, command=program("while True: print('x' * 65536, end='')"))


def test_the_limit_ends_the_program_too(tmp_path):
    done = qs.run(
        "language/qa",
        "lines:command=sleep 3217",
        seeds=1,
        protocol={"sequences": 20},
        controls=False,
        out=tmp_path,
        workers=1,
        limit_seconds=1.0,
        progress=False,
    )
    assert "took longer than 1 s" in done.records[0].reason
    commands = [
        path.read_bytes() for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if path.exists()
    ]
    assert not [one for one in commands if b"3217" in one and b"sleep" in one]


def test_it_keeps_the_promises_of_a_learner(program):
    findings = check_learner(f"lines:command={program(COUNTS)}", sequences=60)
    assert [str(finding) for finding in findings if not finding.ok] == []


@pytest.mark.parametrize(
    ("brief", "lines"),
    [
        (BRIEF, ["begin symbols:4 symbols:3 7", "learn 0 3 | -1 2", "predict 0 3"]),
        (
            REALS,
            [
                "begin reals:2 reals:1 7",
                "learn 0.5 1.0 2.0 -3.0 | nan 0.25",
                "predict 0.5 1.0 2.0 -3.0",
            ],
        ),
        (
            Brief(Bits(1), Tokens(2), "cross-entropy", 5, 10),
            ["begin bits:1 symbols:2 7", "learn 1 0 | 0 -1", "predict 1 0"],
        ),
    ],
)
def test_what_it_is_told(program, tmp_path, brief, lines):
    told = tmp_path / "told.txt"
    said = {"begin": "ready", "learn": "ok", "predict": "1 0"}
    text = f"import sys\nfor line in sys.stdin:\n    open({str(told)!r}, 'a').write(line)\n"
    text += f"    print({said!r}[line.split()[0]], flush=True)\n"
    host = Lines(brief, 7, command=program(text))
    inputs = {
        Tokens: np.array([0, 3]),
        Reals: np.array([[0.5, 1.0], [2.0, -3.0]]),
        Bits: np.array([[1], [0]]),
    }[type(brief.inputs)]
    targets = (
        np.array([[np.nan], [0.25]])
        if brief is REALS
        else np.array([-1, 2] if brief is BRIEF else [0, -1])
    )
    host.learn(inputs, targets)
    found = host.predict(inputs)
    assert found.tolist() == ([[1.0], [0.0]] if brief is REALS else [1, 0])
    host.close()
    assert told.read_text().splitlines() == lines


@pytest.mark.parametrize(
    ("answers", "error", "words"),
    [
        (["no symbols, please"], NotApplicable, "the program refused: symbols, please"),
        (["hello"], LearnerFault, "must answer ready, or no and why not, got 'hello'"),
        (["ready", "fine"], LearnerFault, "to learn the program must answer ok, got 'fine'"),
        (
            ["ready", "ok", "1 2 3"],
            LearnerFault,
            "after 2 inputs the program must answer 2 numbers, or 3 for each, got 3",
        ),
        (["ready", "ok", "1 b"], LearnerFault, "must answer numbers"),
        (["ready", "ok"], LearnerFault, r"ended with status 0|does not read any more"),
    ],
)
def test_what_is_wrong_is_said(program, answers, error, words):
    host = None
    try:
        with pytest.raises(error, match=words):  # noqa: PT012, which of the three it is differs
            host = Lines(BRIEF, 0, command=program(scripted(*answers)), seconds=20.0)
            host.learn(np.array([0, 1]), np.array([-1, 1]))
            host.predict(np.array([0, 1]))
    finally:
        if host is not None:
            host.close()


def test_fields_are_not_for_it(program):
    with pytest.raises(NotApplicable, match="not fields"):
        Lines(
            Brief(Fields({"a": Tokens(2)}), Tokens(2), "cross-entropy", 5, 10),
            0,
            command=program(""),
        )
