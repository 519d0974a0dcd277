"""`run` looks at what a task draws before anybody learns from it."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.errors import UsageError
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.runs.merge import read_results
from quickstudy.tasks.sampling import check_drawn

FILE = """
    import numpy as np
    import quickstudy as qs
    from dataclasses import dataclass

    @qs.task("language/odd", version=1, controls=["majority"], oracle=None)
    @dataclass(frozen=True)
    class Odd:
        \"\"\"Sequences of a few kinds.\"\"\"

        kinds: int = 4
        size: int = 2
        vocabulary = ("a", "b")

        def sample(self, rng, count):
            starts = rng.integers(self.kinds, size=count)
            rows = [[(start >> bit) % self.size for bit in range(5)] + [1, 0] for start in starts]
            return qs.Examples.from_sequences(rows, [[5, 6]] * count)
"""


@pytest.fixture
def call(tmp_path):
    (tmp_path / "odd.py").write_text(textwrap.dedent(FILE))
    command = [
        sys.executable,
        "-m",
        "quickstudy",
        "run",
        "-l",
        "uniform",
        "--include",
        "odd.py",
        "--seeds",
        "1",
    ]

    def run(task):
        done = subprocess.run(
            [*command, "-o", "out", "-j", "1", task], cwd=tmp_path, capture_output=True, text=True
        )
        return done.returncode, list(read_results(tmp_path / "out").records.values()), done.stdout

    return run


def test_tokens_outside_the_vocabulary_fail_for_everybody_with_the_reason(call):
    status, records, _ = call("language/odd:size=9,kinds=64")
    assert status == 1
    assert {record.status for record in records} == {"failed"}
    assert {record.reason for record in records} == {"inputs must be tokens 0..1, got 0..8"}


def test_too_few_different_sequences_are_told_and_one_is_refused(call):
    status, _, text = call("language/odd")
    assert status == 0
    words = (
        "language/odd corrected: only 4 different sequences can be drawn, 1200 were asked for; 3 to"
        " learn from, 1 to"
    )
    assert words in " ".join(text.split())
    status, records, _ = call("language/odd:kinds=1")
    assert status == 1
    reasons = {record.reason for record in records if record.status == "failed"}
    assert len(reasons) == 1
    assert (
        "language/odd: only 1 different sequence can be drawn, 1200 were asked for" in reasons.pop()
    )


def examples(inputs, targets):
    inputs, targets = np.asarray(inputs), np.asarray(targets)
    return qs.Examples(
        inputs, targets, np.ones(inputs.shape[:2], dtype=bool), np.array([len(inputs)])
    )


@pytest.mark.parametrize(
    ("inputs", "targets", "spaces", "message"),
    [
        ([[[0.0]], [[np.nan]]], [[0], [1]], (Reals(1), Tokens(2)), "inputs must be finite"),
        (
            [[[0.0, 1.0]]],
            [[0]],
            (Reals(1), Tokens(2)),
            r"inputs must have the shape \(1, 1\), got \(1, 2\)",
        ),
        ([[0]], [[2]], (Tokens(2), Tokens(2)), r"targets must be tokens 0\.\.1, got 2\.\.2"),
        (
            [[0]],
            [[0.5]],
            (Tokens(2), Reals(1)),
            r"targets must have the shape \(1, 1\), got \(1,\)",
        ),
    ],
)
def test_what_does_not_fit_the_spaces(inputs, targets, spaces, message):
    with pytest.raises(UsageError, match=message):
        check_drawn(examples(inputs, targets), *spaces)
