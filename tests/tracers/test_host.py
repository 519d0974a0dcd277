"""A learner in plain NumPy, and the same one behind the pipes of another process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.host import Hosted


class Trigram:
    """Counts what followed the last two tokens."""

    def __init__(self, brief: Brief, seed: int) -> None:
        self.counts = np.zeros([brief.outputs.width] * 3, dtype=np.int64)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        asked = targets >= 0
        np.add.at(self.counts, (np.append(0, inputs[:-1])[asked], inputs[asked], targets[asked]), 1)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.counts[np.append(0, inputs[:-1]), inputs])


class Elsewhere:
    """Any host learner of this file, run by another interpreter: one line of JSON there, one line
    back.
    """

    def __init__(self, brief: Brief, seed: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(brief.outputs.width)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _ask(self, call: str, *arguments: NDArray[Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(
            json.dumps([call, *(argument.tolist() for argument in arguments)]) + "\n"
        )
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        self._ask("learn", inputs, targets)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return np.array(self._ask("predict", inputs))

    def close(self) -> int:
        self.process.communicate()
        return self.process.returncode


def serve(learner: Any) -> None:
    for line in sys.stdin:
        call, *arguments = json.loads(line)
        answer = getattr(learner, call)(*(np.array(argument) for argument in arguments))
        sys.stdout.write(json.dumps(answer if answer is None else answer.tolist()) + "\n")
        sys.stdout.flush()


@pytest.fixture
def pupils(counting: Any, streams: Streams, taught: Any) -> Iterator[list[Any]]:
    examples = counting.sample(streams.numpy("data"), 100)
    pupils = [taught(Hosted(make), counting, examples, streams) for make in (Trigram, Elsewhere)]
    yield pupils
    assert pupils[1].host.close() == 0


def test_a_process_gives_the_answers_of_the_object(
    pupils: list[Any], counting: Any, streams: Streams
) -> None:
    exam = Exam([counting.sample(streams.numpy("test"), 40)])
    here, there = (pupil.answer(exam) for pupil in pupils)
    assert np.array_equal(here, there)
    assert pupils[0].cost() == pupils[1].cost()
    assert (here.argmax(axis=-1) == exam.targets).mean() > 0.6


def test_counts_are_what_was_shown(pupils: list[Any], counting: Any, streams: Streams) -> None:
    strings = counting.sample(streams.numpy("data"), 100)
    counts = pupils[0].host.counts
    assert counts.sum() == strings.questions
    assert counts[0, 0, 1] == 100
    # Two b in a row come before every b but the first, and before every `#` of a string longer than
    # ab.
    assert counts[2, 2].sum() == ((strings.lengths - 1) // 2 - 1).sum()


if __name__ == "__main__":
    tokens = Tokens(int(sys.argv[1]))
    serve(Trigram(Brief(tokens, tokens, "cross-entropy", 1, 1), 0))
