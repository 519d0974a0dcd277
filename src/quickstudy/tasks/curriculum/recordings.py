"""Recordings: replies judged one by one, and whole sessions replayed with the questions of the
recording.

A recording is one JSON object a line. For single replies: `task`, `question`, `expected`, `reply`.
For a session: `task`, `rows` (each `question`, `expected`, `feedback`, and `knowable`: the answers
can be known from here on; where it is missing, they are in tasks where they always are) and
`replies`, one character a byte, in a text or in a list of single characters. `feedback` is the text
after any answer, or an object with `right` and `wrong`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.tasks.curriculum.loop import (
    EndOfQuestions,
    Instance,
    Question,
    Stage,
    always,
    ends_right,
    micro,
    mini,
)
from quickstudy.tasks.curriculum.schedule import member_named
from quickstudy.tasks.curriculum.tables import TABLES
from quickstudy.tasks.curriculum.texts import PATIENT, judge_of


@dataclass(frozen=True)
class Judge:
    """How a task judges and limits. strict: see `Curriculum.judging`; in_steps: see
    its `limits`.
    """

    member: str
    strict: bool = True
    in_steps: bool = False

    @property
    def is_mini(self) -> bool:
        """Whether every question is an instance of its own."""
        return self.member.startswith("mini-")

    @property
    def name(self) -> str:
        """The number of the task."""
        return self.member.partition("-")[2]

    @property
    def by_period(self) -> bool:
        """Whether a reply ends at its first period, and not by its length."""
        return self.is_mini or self.name not in TABLES

    @property
    def known_at_once(self) -> bool:
        """Whether the answers can be known from the first question on."""
        return (
            not self.is_mini
            and self.name not in ("1", "2", "3", "6", "15")
            and not self.name.startswith("5.")
        )

    @property
    def judge(self) -> Callable[[Question, bytes], bool]:
        """Of a question and a whole reply."""
        return ends_right if self.is_mini else judge_of(self.name, self.strict)

    def judged(self, question: str, expected: str, reply: str) -> dict[str, Any]:
        """`finished`, `correct` and `reward` of one reply, as the world would judge it that hears
        it byte by byte: at the first period, or as soon as it has the expected length. The rest is
        not part of it.
        """
        asked, said = Question(as_bytes(question), as_bytes(expected)), as_bytes(reply)
        end = said.find(b".") + 1 if self.by_period else max(len(asked.expected), 1)
        finished = 0 < end <= len(said)
        correct = finished and self.judge(asked, said[:end])
        wrong = 0 if self.is_mini or not finished else -1
        return {"finished": finished, "correct": correct, "reward": 1 if correct else wrong}

    def replayed(self, rows: Sequence[Mapping[str, Any]], replies: str) -> dict[str, Any]:
        """`environment`, `rewards` and `judged` of a session; it ends where the rows or the replies
        do.
        """
        left, known, stage = iter(rows), dict[Question, bool](), Stage(judged=[])

        def ask() -> Question:
            row = next(left, None)
            if row is None:
                raise EndOfQuestions
            said = row["feedback"]
            texts = (said["right"], said["wrong"]) if isinstance(said, Mapping) else (said, said)
            question = Question(*map(as_bytes, (row["question"], row["expected"], *texts)))
            known[question] = bool(row.get("knowable", self.known_at_once))
            return question

        shown, rewards, judged = list[int](), list[int](), list[dict[str, Any]]()
        at_once = self.known_at_once and all(row.get("knowable", True) for row in rows)
        life = self._life(
            ask, always if at_once else lambda question, correct: known[question], stage
        )
        over = False
        for step, reply in enumerate([None, *as_bytes(replies)], -1):
            try:
                byte, reward = next(life) if reply is None else life.send(reply)
                shown.append(byte)
                rewards.append(reward)
            except EndOfQuestions:
                over = True
            for one in (stage.judged or [])[len(judged) :]:
                judged.append({"step": step, **one._asdict(), "reply": one.reply.decode("latin-1")})
            if over:
                break
        return {"environment": bytes(shown).decode("latin-1"), "rewards": rewards, "judged": judged}

    def _life(self, ask: Callable[[], Question], knows: Callable[..., bool], stage: Stage) -> Any:
        patience = 2 if not self.is_mini and self.name in PATIENT else 1
        instance = Instance(ask, self.judge, self.by_period, knows, patience)
        reward = 0
        while True:
            stage.outcomes = bytearray()
            if self.is_mini:
                end = yield from mini(instance, stage, reward)
            else:
                end = yield from micro(instance, stage, reward, self.in_steps)
            reward = end.reward


class Recorder:
    """Writes down what a world asks, to be given to it as `recorder`; `sessions` makes recordings
    of it.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[str, list[dict[str, Any]]]] = []

    def watched(self, member: str, instance: Instance) -> Instance:
        """The instance, with its questions written down as they are asked."""
        rows: list[dict[str, Any]] = []
        at_once = instance.knows is always
        self._rows.append((member, rows))

        def ask() -> Question:
            question = instance.ask()
            text, expected, right, wrong = (part.decode("latin-1") for part in question)
            feedback: Any = right if right == wrong else {"right": right, "wrong": wrong}
            rows.append(
                {"question": text, "expected": expected, "feedback": feedback, "knowable": at_once}
            )
            return question

        def knows(question: Question, correct: bool) -> bool:
            rows[-1]["knowable"] = instance.knows(question, correct)
            return bool(rows[-1]["knowable"])

        # Where limits count steps, that answers can be known at once moves them: it must be seen
        # here too.
        return dataclasses.replace(instance, ask=ask, knows=always if at_once else knows)

    def sessions(self, replies: bytes, ends: Sequence[int]) -> list[dict[str, Any]]:
        """A recording for every task in turn. ends: the replies with which instances ended, by
        number.
        """
        found: list[dict[str, Any]] = []
        starts = [0, *(end + 1 for end in ends)]
        for (member, rows), start, stop in zip(
            self._rows, starts, [*starts[1:], len(replies)], strict=False
        ):
            if not found or found[-1]["task"] != member:
                found.append({"task": member, "rows": [], "replies": ""})
            found[-1]["rows"] += rows
            found[-1]["replies"] += replies[start:stop].decode("latin-1")
        return found


def as_bytes(text: str) -> bytes:
    """One byte a character."""
    return text.encode("latin-1")


def looked_through(found: Any, kind: str) -> dict[str, Any]:
    """A recording with all its fields, `task` by the name it has here. kind: `replies` or
    `session`. Raises UsageError with the field that is missing or wrong.
    """
    if not isinstance(found, Mapping):
        raise UsageError(f"a recording is an object, got {found!r}")
    if kind == "session" and isinstance(replies := found.get("replies"), list):
        for place, reply in enumerate(replies):
            if not isinstance(reply, str) or len(reply) != 1:
                raise UsageError(f"replies[{place}] must be one character, got {reply!r}")
        found = {**found, "replies": "".join(replies)}
    for name in (
        ("task", "replies") if kind == "session" else ("task", "question", "expected", "reply")
    ):
        _check_text(found, name)
    rows = found.get("rows", []) if kind == "session" else []
    if kind == "session" and (not isinstance(rows, list) or "rows" not in found):
        raise UsageError(
            "rows must be a list of objects" if "rows" in found else "the field rows is missing"
        )
    for place, row in enumerate(rows):
        try:
            _check_row(row)
        except UsageError as error:
            raise UsageError(f"rows[{place}]: {error}") from error
    return {**found, "task": member_named(found["task"])}


def _check_row(row: Any) -> None:
    if not isinstance(row, Mapping):
        raise UsageError(f"a row is an object, got {row!r}")
    for name in ("question", "expected"):
        _check_text(row, name)
    feedback: Any = row.get("feedback")
    for part in ("right", "wrong") if isinstance(feedback, Mapping) else ():
        _check_text(feedback, part)
    if not isinstance(feedback, Mapping):
        _check_text(row, "feedback")
    if not isinstance(row.get("knowable", False), bool):
        raise UsageError(f"knowable must be true or false, got {row['knowable']!r}")


def _check_text(owner: Mapping[str, Any], name: str) -> None:
    if name not in owner:
        raise UsageError(f"the field {name} is missing")
    text = owner[name]
    if not isinstance(text, str):
        raise UsageError(f"{name} must be a text, got {text!r}")
    strange = next((letter for letter in text if ord(letter) > 255), None)
    if strange is not None:
        raise UsageError(
            f"{name} has {strange!r}, which is not a byte: a character must have a code from 0 to"
            " 255"
        )
