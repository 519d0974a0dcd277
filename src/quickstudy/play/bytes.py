"""A curriculum, byte by byte: what is typed is sent one byte after another, and silence is sent in
between.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Cost
from quickstudy.base.seeds import Streams
from quickstudy.base.text import counted
from quickstudy.base.trace import Trace
from quickstudy.play.seat import Said, Seat, Shown
from quickstudy.protocols.curriculum import Diary, perfect_steps
from quickstudy.tasks.curriculum.recordings import Recorder
from quickstudy.tasks.curriculum.world import ByteWorld

WAYS = ("gaps", "steps", "periods")
SPACE, PERIOD, WIDTH = 32, 46, 100
SIGNS = {-1: "-", 0: ".", 1: "+"}
_SHORT = {f"micro-{name}" for name in ("1", "2", "3", "4", "5.1", "5.2", "5.3")}
"""Tasks in which silence is an answer: they leave no gap for a question."""


class BytesSeat(Seat):
    """ask: when a line is asked for: after two spaces (`gaps`), at every byte (`steps`), after
    every period. steps: at most so many bytes.
    """

    measures: ClassVar[tuple[str, ...]] = ("tasks-passed", "steps-to-pass", "levels")
    title: ClassVar[str] = "A conversation in letters"
    explained: ClassVar[str] = (
        "The environment sends one byte after another, and so do you: a line that you type is sent"
        " byte by byte, an empty one is silence. + and - are what the byte before has brought. You"
        " are not told what the task is."
    )

    def __init__(self, task: Any, streams: Streams, ask: str = "", steps: int = 1000) -> None:
        super().__init__(task, streams)
        world = task.open(streams) if hasattr(task, "open") else None
        if not isinstance(world, ByteWorld):
            raise UsageError(
                f"{task.id} is not played byte by byte; play a task of the curriculum, as"
                " curriculum/micro-5.1"
            )
        self._world = world
        first = getattr(task, "members", ("",))[0]
        self._ask, self._steps = ask or ("steps" if first in _SHORT else "periods"), steps
        if self._ask not in WAYS:
            raise UsageError(f"--ask must be one of {', '.join(WAYS)}, got {self._ask}")
        self.diary = Diary()
        self._recorder = self._world.recorder = Recorder()
        self._world.reset()
        self._queue: list[int] = []
        self._rows: list[tuple[int, int, int]] = []
        self._reward, self._before = 0, 0
        self._go_on()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The budget, and when one is asked."""
        return {"steps": self._steps, "ask": self._ask}

    @property
    def over(self) -> bool:
        """All is passed, or the bytes are spent."""
        return self.stopped or self.diary.over or self.diary.lived >= self._steps

    @property
    def scored(self) -> bool:
        """A life of one byte has a score."""
        return self.diary.lived > 0

    @property
    def progress(self) -> str:
        """Bytes and reward so far."""
        return f"{self.diary.lived} of {self._steps} bytes, reward {self.diary.reward:+d}"

    def shown(self) -> Shown:
        """The exchange since the last line, and the byte without a reply: it is shown again
        with its reply.
        """
        pending = [] if self.over else [(self._world.showing or SPACE, SPACE, self._reward)]
        return Shown(aligned([*self._rows, *pending]), "your line (empty: silence)")

    def answer(self, line: str) -> Said:
        """Send a line, then silence until the next is due."""
        text = re.sub(r"\.+", ".", line)
        if any(ord(letter) > 255 for letter in text):
            raise UsageError(
                "only characters with codes from 0 to 255 can be sent; this line is not"
            )
        self._queue, self._rows = list(text.encode("latin-1")), []
        self._step()
        self._go_on()
        return Said(aligned(self._rows) if self.over else "")

    def stop(self) -> str:
        """Silence once more, and that was all."""
        self._rows = []
        if not self.over:
            self._step()
        return super().stop() + aligned(self._rows)

    def _go_on(self) -> None:
        while not self.over and (self._queue or not self._due()):
            self._step()

    def _due(self) -> bool:
        byte = self._world.showing
        if self._ask == "gaps":
            return byte == SPACE == self._before
        return self._ask == "steps" or byte == PERIOD

    def _step(self) -> None:
        byte = self._world.showing or SPACE
        reply = self._queue.pop(0) if self._queue else SPACE
        life = self._world.live(lambda shown, reward: reply, 1)
        self.diary.add(life)
        self._rows.append((byte, reply, self._reward))
        self._reward, self._before = int(life.rewards[0]), byte

    def summary(self) -> str:
        """How many steps, instances and points."""
        over = "all passed" if self.diary.over else "stopped"
        solved = sum(success for _, _, success, _, _ in self.diary.ends)
        instances = f"instances solved: {solved} of {len(self.diary.ends)}"
        steps = counted(self.diary.lived, "step")
        return f"{over} after {steps}; {instances}; reward {self.diary.reward:+d}"

    def traces(self) -> list[Trace]:
        """The life, with every reply."""
        facts = {"passes": 1, "budget": self._steps, "tasks": list(self.task.labels)}
        return [
            self.diary.trace(
                {**facts, "oracle": list(perfect_steps(self.task, self.streams))},
                Cost(),
                replies=True,
            )
        ]

    def sessions(self) -> list[dict[str, Any]]:
        """The transcript, to be replayed: one recording for every task in turn."""
        return self._recorder.sessions(
            bytes(self.diary.replies), [end - 1 for end, *_ in self.diary.ends]
        )


def aligned(every: list[tuple[int, int, int]]) -> str:
    """Three lines, as wide as a terminal: the environment, oneself, the rewards."""
    lines = []
    for start in range(0, len(every), WIDTH):
        rows = every[start : start + WIDTH]
        shown, said = (bytes(row[place] for row in rows).decode("latin-1") for place in (0, 1))
        lines += [
            f"environment {shown}",
            f"you         {said}",
            f"reward      {''.join(SIGNS[row[2]] for row in rows)}",
        ]
    return "\n".join(lines)
