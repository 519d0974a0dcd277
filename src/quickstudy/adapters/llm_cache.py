"""What language models have answered, kept; and what their answers may cost, in tokens."""

from __future__ import annotations

import contextlib
import json
import math
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

from quickstudy.base.errors import Unavailable
from quickstudy.base.hardware import cache_folder

LETTERS_PER_TOKEN = 2
"""In prompts of single letters with blanks between them: most tokenizers read a blank and its
letter as one token.
"""


class Said(NamedTuple):
    """The reply of a model to a prompt. likely: logarithms of probabilities of what may come next,
    by its text; None where it gives none. text: the text of the reply. tokens: that were read and
    written, as the server counts them, else an estimate.
    """

    likely: Mapping[str, float] | None
    text: str
    tokens: int


def estimated_tokens(text: str) -> int:
    """Estimated tokens of a text, if the server does not count them."""
    return math.ceil(len(text) / LETTERS_PER_TOKEN)


class KeptAnswers:
    """Answers of one model, a line of JSON each, in the user's cache. A torn line is as if it was
    never written.

    name: of the model and where it is, as a digest: another model has another file.
    """

    def __init__(self, name: str) -> None:
        self._file = cache_folder() / "answers" / f"{name[:32]}.jsonl"
        self._lock = threading.Lock()
        self._answers: dict[str, Said] = {}
        with contextlib.suppress(OSError):
            for line in self._file.read_text(encoding="utf-8-sig", errors="replace").splitlines():
                with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
                    one = json.loads(line)
                    self._answers[one["name"]] = _read(one)

    def get(self, name: str) -> Said | None:
        """The cached answer, or None."""
        return self._answers.get(name)

    def put(self, name: str, said: Said) -> None:
        """Written at once, as one piece: several processes may write."""
        line = json.dumps({"name": name, **said._asdict()}) + "\n"
        with self._lock:
            self._answers[name] = said
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with open(self._file, "ab", buffering=0) as file:
                file.write(line.encode())


def _read(one: Mapping[str, Any]) -> Said:
    likely = one["likely"]
    shares = None if likely is None else {str(text): float(value) for text, value in likely.items()}
    return Said(shares, str(one["text"]), int(one["tokens"]))


class Budget:
    """Tokens that may be spent; 0: any number. A question is put while less than all of it is
    spent, so that the last may go beyond it; those that are under way count by what they will
    probably cost.

    So it does not matter how many are asked at once: `begin`, called in the order of the questions,
    waits where those under way might leave nothing, until it is known what they have cost.
    """

    def __init__(self, spend: int) -> None:
        self._spend = spend
        self._spent = self._reserved = self._under_way = 0
        self._dearest = 0.0
        self._change = threading.Condition()

    def begin(self, prompt: str) -> int:
        """A question may be put; gives what is reserved for it. Raises Unavailable if all is
        spent.
        """
        with self._change:
            while self._spend and self._under_way and self._spent + self._reserved >= self._spend:
                self._change.wait()
            if self._spend and self._spent >= self._spend:
                raise Unavailable(
                    f"the budget of {self._spend} tokens is spent; what was answered is kept: give"
                    " more (spend=...), and run again"
                )
            # Until something is known a letter is a token: that is too much, so that too few are
            # under way.
            expected = math.ceil(1.1 * (self._dearest or 1.0) * len(prompt))
            self._under_way += 1
            self._reserved += expected
            return expected

    def end(self, prompt: str, reserved: int, tokens: int) -> None:
        """It was answered for so many tokens, or was not, for none."""
        with self._change:
            self._under_way -= 1
            self._reserved -= reserved
            self._spent += tokens
            self._dearest = max(self._dearest, tokens / len(prompt))
            self._change.notify_all()
