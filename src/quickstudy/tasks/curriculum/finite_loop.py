"""The loop of one task, written as all that it can be in: the same order of question, turn,
judgement and feedback as `loop.micro` and `loop.mini`, with exact chances in the place of draws and
without limits. A machine is built of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from quickstudy.tasks.curriculum.loop import PERIOD, SPACE, Question

Following = dict[tuple[tuple[str, int], Any], Fraction]
"""By ((what is seen, reward), configuration), the chance that both follow."""
WRONG = 0
"""A byte that no answer holds: in a reply, it represents every reply that is wrong already."""


class Asked(NamedTuple):
    """An instance. questions: with their chances; each is drawn by itself."""

    questions: tuple[tuple[Question, Fraction], ...]


class Place(NamedTuple):
    """Where a task is. instance: its number. question: at hand, None where the next is not drawn
    yet. rest: the rest of a question, or of feedback, after the byte shown last.
    reply: what was answered so far, or a shorter reply that will be judged alike. run: rewards in a
    row. over: the instance is; only its feedback is left.
    """

    instance: int
    question: Question | None
    rest: bytes
    reply: bytes = b""
    run: int = 0
    over: bool = False


Judge = Callable[[Question, bytes], bool]
Shorten = Callable[[Question, bytes], bytes]


@dataclass(frozen=True, eq=False)
class MicroLoop:
    """instances: with their chances. wanted: rewards in a row that solve one. by_period, judge: as
    of an `Instance`. shorten: reduces a reply to one that is judged alike for all continuations, of
    which there are few.
    """

    instances: Sequence[tuple[Asked, Fraction]]
    wanted: int
    by_period: bool
    judge: Judge
    shorten: Shorten

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Silence, and every symbol of a right answer."""
        return symbols(question for asked, _ in self.instances for question, _ in asked.questions)

    def first(self) -> Following:
        """Any instance, the first byte of any question."""
        return self._next(None, 0, 0)

    def after(self, configuration: Place, given: str) -> Following:
        """One byte on."""
        byte, place = ord(given), configuration
        if place.over or place.question is None or place.rest:
            return self._spoken(place, byte)
        judged = self.judged(place, given)
        if judged is None:
            reply = self.shorten(place.question, place.reply + bytes([byte]))
            return {((" ", 0), place._replace(reply=reply)): Fraction(1)}
        run, reward = (place.run + 1, 1) if judged else (0, -1)
        said = place.question.right if judged else place.question.wrong
        over = run >= self.wanted
        if not said:
            return self._next(None if over else place.instance, 0 if over else run, reward)
        shown = place._replace(question=None, rest=said[1:], reply=b"", run=run, over=over)
        return {((chr(said[0]), reward), shown): Fraction(1)}

    def _spoken(self, place: Place, byte: int) -> Following:
        """The environment goes on speaking: a learner that speaks at the same time is punished,
        unless only silence is left.
        """
        # Between feedback and the next question there is no turn; after the feedback of an
        # instance that is over there is a reply that is not judged.
        talked = byte != SPACE and not (place.over and not place.rest)
        reward, run = (-1, place.run if place.over else 0) if talked else (0, place.run)
        if not place.rest:
            return self._next(
                None if place.over else place.instance, 0 if place.over else run, reward
            )
        shown = place._replace(rest=place.rest[1:], run=run)
        return {((chr(place.rest[0]), reward), shown): Fraction(1)}

    def _next(self, instance: int | None, run: int, reward: int) -> Following:
        """The first byte of the next question, of the instance at hand or of a new one."""
        chances = (
            {instance: Fraction(1)}
            if instance is not None
            else dict(enumerate(one for _, one in self.instances))
        )
        found: Following = {}
        for number, chance in chances.items():
            for question, likely in self.instances[number][0].questions:
                text = question.text or b" "
                place = Place(number, question, text[1 : len(text.rstrip(b" ")) or 1], run=run)
                key = ((chr(text[0]), reward), place)
                found[key] = found.get(key, Fraction(0)) + chance * likely
        return found

    def judged(self, configuration: Place, given: str) -> bool | None:
        """Whether a reply completes an answer, and a right one; None if it does not."""
        place, byte = configuration, ord(given)
        if place.over or place.question is None or place.rest:
            return None
        done = (
            byte == PERIOD
            if self.by_period
            else len(place.reply) + 1 >= len(place.question.expected)
        )
        return self.judge(place.question, place.reply + bytes([byte])) if done else None

    def right(self, configuration: Place) -> str:
        """Silence, then the expected answer."""
        place = configuration
        if place.over or place.question is None or place.rest:
            return " "
        expected = place.question.expected
        return chr(expected[len(place.reply)] if expected.startswith(place.reply) else expected[-1])

    def name(self, configurations: Sequence[Place]) -> str:
        """Instances that are possible, as capitals, if not all are; what was shown; the answer
        after a bar; and the rewards in a row.
        """
        one, known = configurations[0], sorted({place.instance for place in configurations})
        some = "".join(map(_capital, known)) + " " if len(known) < len(self.instances) else ""
        if one.question is None:
            return (
                f"{'' if one.over else some}{'end' if one.over else 'said'}:{len(one.rest)}"
                f" {one.run}"
            )
        spoken = len(one.question.text.rstrip(b" ")) or 1
        shown = one.question.text[: spoken - len(one.rest)].decode("latin-1").replace(" ", "␣")
        return f"{some}{shown}{_reply(one)} {one.run}"


def _capital(number: int) -> str:
    return chr(65 + number) if number < 26 else f"[{number}]"


def _reply(place: Place) -> str:
    return (
        f"|{'×' if WRONG in place.reply else place.reply.decode('latin-1')}" if place.reply else ""
    )


class MiniPlace(NamedTuple):
    """Where a mini task is. question: at hand. rest: still to be shown after the byte shown last.
    said: the end of the answer, as far as it may become right. told: None until it is
    judged; then whether it was right.
    """

    question: Question
    rest: bytes
    said: bytes = b""
    told: bool | None = None


@dataclass(frozen=True, eq=False)
class MiniLoop:
    """Questions of a mini task, each an instance of its own, with their chances."""

    questions: Sequence[tuple[Question, Fraction]]

    wanted = 1

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Silence, and every symbol of a right answer."""
        return symbols(question for question, _ in self.questions)

    def first(self) -> Following:
        """The first byte of any question."""
        return self._next(0)

    def after(self, configuration: MiniPlace, given: str) -> Following:
        """One byte on."""
        place, judged = configuration, self.judged(configuration, given)
        if judged is not None:
            said = place.rest + (place.question.right if judged else place.question.wrong) + b" "
            place = place._replace(rest=said, said=b"", told=judged)
        elif place.told is None:
            # Bytes sent while the environment speaks are dropped.
            said = place.said + (b" " if place.rest else given.encode("latin-1"))
            ends = (said[start:] for start in range(len(said) + 1))
            place = place._replace(
                said=next(end for end in ends if place.question.expected.startswith(end))
            )
        if place.rest:
            return {((chr(place.rest[0]), 0), place._replace(rest=place.rest[1:])): Fraction(1)}
        return (
            {((" ", 0), place): Fraction(1)} if place.told is None else self._next(int(place.told))
        )

    def _next(self, reward: int) -> Following:
        return {
            ((chr(question.text[0]), reward), MiniPlace(question, question.text[1:])): chance
            for question, chance in self.questions
        }

    def judged(self, configuration: MiniPlace, given: str) -> bool | None:
        """At a period, wherever it comes."""
        if configuration.told is not None or ord(given) != PERIOD:
            return None
        return (configuration.said + b".").endswith(configuration.question.expected)

    def right(self, configuration: MiniPlace) -> str:
        """Silence, then true or false."""
        place = configuration
        return (
            " "
            if place.rest or place.told is not None
            else chr(place.question.expected[len(place.said)])
        )

    def name(self, configurations: Sequence[MiniPlace]) -> str:
        """The bytes in both directions."""
        one = configurations[0]
        if one.told is not None:
            return f"{'right' if one.told else 'wrong'}:{len(one.rest)}"
        shown = one.question.text[: len(one.question.text) - len(one.rest)].decode("latin-1")
        return f"{shown[-12:]}{'|' + one.said.decode('latin-1') if one.said else ''}"


def symbols(questions: Any) -> tuple[str, ...]:
    """Silence, and the symbols of right answers, in the order of their codes."""
    return tuple(
        map(chr, sorted({SPACE, *(byte for question in questions for byte in question.expected)}))
    )
