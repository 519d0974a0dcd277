"""When to speak. An agent finds out from rewards how a conversation is cut: where feedback ends,
and where a question.

Assumptions: speaking out of turn is punished at once, and silence is not; an
answer brings a reward that is not zero when it is complete, or the other side speaks up and the
reward comes before its next question.
"""

from __future__ import annotations

from collections import deque
from itertools import product
from typing import NamedTuple

SPACE = 32
NOTHING, BYTE = -1, -2
"""In the place of a mark: there is no feedback; it, or a question, is one byte."""
WINDOW, DECAY = 72, 0.93
LUCKLESS = 25
"""Punishments in a row after which an agent looks whether it speaks at the wrong time."""
GAP = 8
"""Spaces in a row after which the other side has nothing more to say."""
PROBE = 7
"""Steps of silence by which it looks."""


def _is_mark(byte: int) -> bool:
    return byte != SPACE and not chr(byte).isalnum() and byte < 128


class Format(NamedTuple):
    """How a conversation is cut: feedback up to its mark, then a question up to its mark."""

    feedback: int = NOTHING
    question: int = BYTE

    def cut(self, heard: bytes | bytearray, answered: bool) -> int | None:
        """Where the question begins in all that was heard since the last answer, if that question
        is complete.

        answered: something was answered before, so that feedback comes first.
        """
        start = 0
        if answered and self.feedback == BYTE:
            start = 1
        elif answered and self.feedback != NOTHING:
            start = heard.find(self.feedback) + 1
            if not start:
                return None
        if len(heard) <= start:
            return None
        if self.question == BYTE:
            return len(heard) - 1
        return start if heard[-1] == self.question else None


class Step(NamedTuple):
    """A byte, the reply to it, what that brought, and the byte after it."""

    byte: int
    reply: int
    reward: int
    following: int


def contradictions(format: Format, steps: list[Step], answered: bool) -> float:
    """How badly a format explains some steps, the last ones counting most."""
    heard, turn, waiting, total, spaces, age = bytearray(), False, False, 0.0, 0, len(steps)
    for byte, reply, reward, following in steps:
        age -= 1
        spaces = spaces + 1 if byte == SPACE else 0
        if not turn:
            heard.append(byte)
            turn = format.cut(heard, answered) is not None
            wrong = False
            if not turn:
                # Silence costs nothing and speaking always does; no side is silent for ever.
                wrong = (reward != 0) == (reply == SPACE) or reward > 0 or spaces > GAP
                if waiting and reward >= 0 and spaces <= GAP:
                    wrong = False
                if wrong and reward != 0:
                    heard, answered = bytearray(), True
        if turn:
            # A side that speaks after an answer without a reward has received it, and keeps the
            # reward for later.
            late = reward == 0 and following != SPACE and reply != SPACE
            wrong = reward == 0 and following != SPACE and not late
            if wrong or reward != 0 or late:
                turn, waiting = False, late
            if reward != 0 or late:
                heard, answered = bytearray(), True
        if wrong:
            total += DECAY**age
    return total


class Turns:
    """Listens, and reports when a question is complete.

    format: what it takes for granted at present. question, feedback: those heard last, once it is
    one's turn. Call `hear` with every byte and the reward for the last reply, and `said` with the
    reply.
    """

    def __init__(self) -> None:
        self.format = Format()
        self.used: dict[Format, int] = {}
        self._steps: deque[Step] = deque(maxlen=WINDOW)
        self._before: tuple[int, int] | None = None
        self._heard, self._answered = bytearray(), False
        self.turn = self.judged = self.right = self.began = self._waiting = False
        self.luckless = self.quiet = self._spaces = 0

    def hear(self, byte: int, reward: int) -> None:
        """A byte, with the reward for the last reply. Then: turn: it is one's turn; began: since
        just now; judged: by now it is known whether the last answer was right.
        """
        self.judged = self.began = False
        contradicted = late = False
        self.luckless = 0 if reward > 0 else self.luckless - reward
        self._spaces = self._spaces + 1 if byte == SPACE else 0
        if self._before is not None:
            self._steps.append(Step(*self._before, reward, byte))
            silent = self._before[1] == SPACE
            if self.turn:
                self.judged = reward != 0
                late = not self.judged and byte != SPACE and not silent
                contradicted = not self.judged and byte != SPACE and silent
                self.turn = not (self.judged or contradicted or late)
                self.right, self._waiting = reward > 0, late
            elif self._waiting and reward >= 0:
                self.right = self.right or reward > 0
            else:
                contradicted = (reward != 0) == silent or reward > 0
            if self.judged or late or (contradicted and reward != 0):
                self._heard, self._answered = bytearray(), True
        if self.judged and reward > 0:
            self.used[self.format] = self.used.get(self.format, 0) + 1
        if not self.turn:
            self._heard.append(byte)
            if contradicted or self._spaces == GAP + 1:
                self._think_again()
            self._listen()
        elif self.quiet and self._spaces > GAP:
            self.quiet = 0

    def _listen(self) -> None:
        start = self.format.cut(self._heard, self._answered)
        if start is None and self._spaces <= 2 * GAP:
            return
        if (
            start is None
        ):  # both sides are silent: then it is the agent's turn, even against the format
            del self._heard[-self._spaces :]
            start = 0
        self.feedback, self.question = bytes(self._heard[:start]), bytes(self._heard[start:])
        self.turn = self.began = True
        self.judged, self._waiting = self.judged or self._waiting, False

    def _think_again(self) -> None:
        """Take the format that explains best what has happened of late; among equals one that was
        of use before.
        """
        steps = list(self._steps)
        marks = {step.byte for step in steps if _is_mark(step.byte)} | {
            one for form in self.used for one in form
        }
        marks -= {NOTHING, BYTE}
        # Begin where an answer was judged, if there is such a place early on.
        starts = [place for place, step in enumerate(steps[: len(steps) // 2], 1) if step.reward]
        steps = steps[starts[0] :] if starts else steps
        best, least = self.format, None
        for feedback, question in product((NOTHING, BYTE, *sorted(marks)), (BYTE, *sorted(marks))):
            form = Format(feedback, question)
            found = min(contradictions(form, steps, answered) for answered in (True, False))
            # Single symbols are taken to come alone; what comes before a longer question, as
            # feedback with a mark.
            odd = (feedback == NOTHING) != (question == BYTE)
            rank = round(found, 3), -self.used.get(form, 0), odd, question, -feedback
            if least is None or rank < least:
                best, least = form, rank
        if best != self.format:
            self.format, self.luckless = best, 0
            self.quiet = 0
        elif least is not None and least[0] > 1:
            self.quiet = PROBE  # nothing fits: listen for a while

    def wants_silence(self) -> bool:
        """Whether this reply had better be silence, to find out more; asked once a step."""
        if self.luckless >= LUCKLESS and not self.quiet:
            self.luckless, self.quiet = 0, PROBE
        if not self.quiet:
            return False
        self.quiet -= 1
        return True

    def said(self, byte: int, reply: int) -> None:
        """The reply to a byte."""
        self._before = byte, reply
