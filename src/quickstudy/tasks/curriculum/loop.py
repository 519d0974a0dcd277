"""One instance of a task, byte by byte: who may speak when, what is judged, when it is over.

Every instance is a generator. It gives (byte, reward), is sent the learner's reply, and so on; what
it returns is an `End`. The reward belongs to the reply before: that to the byte shown last.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

T = TypeVar("T")

SPACE, PERIOD = 32, 46
IN_A_ROW = 10
"""R*: positive rewards in a row that solve an instance."""
SUCCESS_TOLERANCE = 4
"""So many times R* more questions than R* may be asked once the answers can be known."""
MICRO_STEPS, MINI_STEPS = 10_000, 3_000
"""Bytes shown after which an instance is over."""
BUDGET, NEVER = IN_A_ROW * (1 + SUCCESS_TOLERANCE), 1 << 40


class Question(NamedTuple):
    """The question, the right answer (or one of several), and the feedback after a right and a
    wrong answer.
    """

    text: bytes
    expected: bytes
    right: bytes = b""
    wrong: bytes = b""

    @property
    def steps(self) -> int:
        """Replies of a perfect learner."""
        return len(self.text) + max(0, len(self.expected) - 1) + len(self.right)


def same(question: Question, reply: bytes) -> bool:
    """The usual judge: the expected text and no other."""
    return reply == question.expected


def always(question: Question, correct: bool) -> bool:
    """The answers can be known from the first question on."""
    return True


@dataclass(eq=False)
class Instance:
    """What a task has drawn. ask: gives the next question. judge: of a question and a reply.
    by_period: a reply ends at its first period, else where it is as long as the expected one.
    knows: from every question and whether it was answered rightly, returns whether the answers can
    be known by now. patience: F, by which the hard limit is longer than the soft one.
    """

    ask: Callable[[], Question]
    judge: Callable[[Question, bytes], bool] = same
    by_period: bool = False
    knows: Callable[[Question, bool], bool] = always
    patience: int = 1


class Judged(NamedTuple):
    """One answer, and where the instance stands after it. asked: questions so far; run: positive
    rewards since the last negative one; soft, hard: the limits, if they are set; ended: `success`,
    `failure` or None. Where limits count steps and an instance is over in the middle of an answer,
    this is one too, of a question that is not counted.
    """

    reply: bytes
    correct: bool
    asked: int
    run: int
    soft: int | None
    hard: int | None
    ended: str | None


class Stage:
    """What is going on, for those who may look.

    texts: how many were shown so far; text: the last of them; expected: the right answer to its
    question. outcomes: of the questions of the instance, a byte each. judged: where answers are
    written down, if anywhere.
    """

    def __init__(self, judged: list[Judged] | None = None) -> None:
        self.outcomes, self.judged = bytearray(), judged
        self.texts, self.text, self.expected = 0, b"", b""

    def put(self, text: bytes, expected: bytes) -> None:
        """A text begins."""
        self.texts += 1
        self.text, self.expected = text, expected


class End(NamedTuple):
    """How an instance ended. reward: comes with the next byte, the first of the next instance."""

    success: bool
    reward: int


Life = Generator[tuple[int, int], int, End]


def micro(instance: Instance, stage: Stage, reward: int, in_steps: bool = False) -> Life:
    """Questions until ten positive rewards in a row, or until a limit. in_steps: limits count
    steps, as Algorithm 1 has it, and not questions.

    While there is anything but spaces to be shown, the learner must send spaces; its turn begins
    with the reply to the last other byte. Everything it then sends is its answer, leading spaces
    included.

    After each judged question, in this order: ten in a row end the instance, as a success unless
    the soft limit has passed; once the answers can be known, the soft limit is 50 questions away;
    past that, the hard one is set; past that, it is a failure. In steps, 50 questions are as many
    steps as a perfect learner would need for 50 of the mean length so far, and the hard limit ends
    the instance wherever it stands.
    """
    ask, judge, by_period, knows = instance.ask, instance.judge, instance.by_period, instance.knows
    outcomes, known_at_once, usual = stage.outcomes, knows is always, judge is same
    question = ask()
    said, shown, run, asked, steps, latest = b"", 0, 0, 0, 0, MICRO_STEPS
    soft = hard = NEVER
    while True:
        wanted, expected, right, wrong = question
        text, length = said + wanted or b" ", len(expected)
        stage.texts += 1
        stage.text, stage.expected = text, expected
        if in_steps:
            steps += question.steps
            if known_at_once and soft == NEVER:
                soft = BUDGET * steps
            latest = min(
                MICRO_STEPS,
                1 + (min(hard, soft + 1) * (1 + instance.patience) if hard == NEVER else hard),
            )
        spoken, behind = len(text), 0
        if text[-1] == SPACE:
            spoken = len(text.rstrip(b" ")) or 1
            behind = len(text) - spoken
        if spoken > 1:
            for byte in text[: spoken - 1]:
                if (yield byte, reward) == SPACE:
                    reward = 0
                else:
                    reward, run = -1, 0
        action = yield text[spoken - 1], reward
        shown += spoken
        # Spaces that are still to be shown hold the time-out back.
        late = shown >= latest and not behind
        if length == 1 and not by_period:
            reply = bytes((action,))
        else:
            answer = bytearray((action,))
            while action != PERIOD if by_period else len(answer) < length:
                if late:
                    if in_steps and stage.judged is not None:
                        stage.judged.append(
                            Judged(
                                bytes(answer), False, asked, run, *_limits(soft, hard), "failure"
                            )
                        )
                    return End(False, 0)
                action = yield SPACE, 0
                late = shown >= latest - len(answer) and len(answer) >= behind
                answer.append(action)
            shown += len(answer) - 1
            reply = bytes(answer)
        correct = reply == expected if usual else judge(question, reply)
        left = behind - len(reply) + 1
        asked += 1
        outcomes.append(correct)
        if correct:
            run, reward, said = run + 1, 1, right
        else:
            run, reward, said = 0, -1, wrong
        if left > 0:  # the answer was faster than the spaces after the question
            said = b" " * left + said
        ended = None
        if run >= IN_A_ROW:
            ended = (shown if in_steps else asked) <= soft
        elif soft != NEVER or knows(question, correct):
            now = shown if in_steps else asked
            if soft == NEVER:
                soft = now + (BUDGET * steps // asked if in_steps else BUDGET)
            if now > soft:
                if hard == NEVER:
                    hard = now * (1 + instance.patience)
                if now > hard:
                    ended = False
        if stage.judged is not None:
            how = "success" if ended else None if ended is None and not late else "failure"
            stage.judged.append(Judged(reply, correct, asked, run, *_limits(soft, hard), how))
        if ended is None:
            try:
                question = ask()
            except EndOfQuestions:
                yield from drain(said, stage, reward)
                raise
            if not late:
                continue
            said += question.text
        return End(bool(ended), (yield from drain(said, stage, reward)))


def _limits(soft: int, hard: int) -> tuple[int | None, int | None]:
    """As they are written down: None before they are set."""
    return None if soft == NEVER else soft, None if hard == NEVER else hard


class EndOfQuestions(Exception):
    """A recording has no more questions."""


def drain(text: bytes, stage: Stage, reward: int) -> Generator[tuple[int, int], int, int]:
    """Show the rest of the text when all is over; talking is still punished. Gives the reward
    that is left.
    """
    if not text:
        return reward
    stage.put(text, b"")
    spoken = len(text.rstrip(b" "))
    for place, byte in enumerate(text, 1):
        reply = yield byte, reward
        reward = -1 if reply != SPACE and place < spoken else 0
    return reward


CONGRATULATIONS = (b"good job.", b"bravo.", b"congratulations.", b"nice work.", b"correct.")


def mini(instance: Instance, stage: Stage, reward: int) -> Life:
    """One question. Its answer is the last text before the first period; anything else that it
    sends while the environment speaks is dropped, but a period is judged at once. The feedback and
    a space come before the reward.
    """
    question = instance.ask()
    text = question.text or b" "
    stage.put(text, question.expected)
    spoken = len(text.rstrip(b" ")) or 1
    said, correct, place = bytearray(), False, 0
    while True:
        action = yield (text[place] if place < len(text) else SPACE), reward
        place, reward = place + 1, 0
        if place >= MINI_STEPS and place >= len(text):
            break
        said.append(action if place >= spoken or action == PERIOD else SPACE)
        if action == PERIOD:
            correct = instance.judge(question, bytes(said))
            break
    stage.outcomes.append(correct)
    if stage.judged is not None:
        ended = "success" if correct else "failure"
        stage.judged.append(
            Judged(bytes(said).lstrip(b" "), correct, 1, int(correct), None, None, ended)
        )
    left = text[place:] + (question.right if correct else question.wrong) + b" "
    stage.put(left, b"")
    for byte in left:
        yield byte, 0
    return End(correct, int(correct))


def ends_right(question: Question, reply: bytes) -> bool:
    """The judge of mini tasks: only the end counts."""
    return reply.endswith(question.expected)
