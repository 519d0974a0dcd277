"""The environment: tasks one after another, one byte in, one byte and a reward out, as fast as
plain Python allows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from quickstudy.base.errors import LearnerFault
from quickstudy.base.learner import Snapshot
from quickstudy.base.seeds import Streams
from quickstudy.base.task import Life, Turn, World
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.loop import SPACE, Instance, Stage, micro, mini
from quickstudy.tasks.curriculum.mini import MINI
from quickstudy.tasks.curriculum.schedule import Scheduler
from quickstudy.tasks.curriculum.tables import TABLES, Ground
from quickstudy.tasks.curriculum.texts import MICRO
from quickstudy.tasks.curriculum.words import Words, word_list

GROUPS = (range(97, 123), range(65, 91), range(48, 58), tuple(b'!"#,-:;?_&/'))
"""Symbols that change places with each other where symbols are renamed; space and period stay what
they are.
"""


@dataclasses.dataclass(frozen=True)
class Member:
    """A task of a curriculum. name: by which its random stream is known; draw: makes an instance;
    needed: successes in a row that pass it; mini: its instances are of one question.
    """

    name: str
    draw: Callable[[Ground], Instance]
    needed: int
    mini: bool = False

    @classmethod
    def named(cls, name: str, successes: int, mini_successes: int) -> Member:
        """One of the published tasks, such as `micro-5.1`."""
        kind, _, number = name.partition("-")
        if kind == "mini":
            return cls(name, MINI[number], mini_successes, mini=True)
        return cls(name, MICRO[number], successes)


class ByteWorld(World):
    """Instances of tasks, until the scheduler has no more. Samples depend only on the streams and
    on the number of the instance within its task, so a task shows the same alone, in a chain and
    after others.

    names: of the random streams of its tasks. stage: what is going on, for those who may look.
    recorder: a `Recorder`, if all is to be written down. Every end of an instance is an event: task
    and instance (their numbers), success, passed (the task, by now), and outcomes (one byte for
    every question that was judged).
    """

    def __init__(
        self,
        members: Sequence[Member],
        streams: Streams,
        kind: str = "consecutive",
        dependencies: Sequence[tuple[int, int]] = (),
        strict: bool = True,
        balanced: bool = True,
        in_steps: bool = False,
        renamed: bool = False,
        dialect: str = "",
    ) -> None:
        self.members, self.stage = list(members), Stage()
        self.recorder: Any = None
        words = word_list(dialect) if any(_reads(one) for one in members) else Words()
        self._options: dict[str, Any] = {"words": words, "strict": strict, "balanced": balanced}
        self._in_steps, self._kind = in_steps, kind
        self.names = stream_names(members, streams)
        self._draws = partial(Draws, f"{_name(streams)}/scheduler")
        self._make = partial(
            Scheduler, kind, [one.needed for one in members], self._draws, dependencies
        )
        self._counts = [0] * len(self.members)
        self._told: list[dict[str, Any]] = []
        self._byte: int | None = None
        self._reward = 0
        self._since = bytearray()
        shown = renaming_of(Draws(f"{_name(streams)}/symbols")) if renamed else bytes(range(256))
        self._shown, self._meant = shown, bytes(shown.index(byte) for byte in range(256))
        self._renamed = renamed

    @property
    def by_tables(self) -> bool:
        """Whether a compiled program can follow it as far as its tasks are table-driven; see
        `compiled_lives`.
        """
        return (
            self._byte is None
            and self._kind == "consecutive"
            and not self._in_steps
            and self.recorder is None
        )

    def compiled_with(self, others: Sequence[World]) -> Any:
        """Itself and others for `Lifetime`, as arrays for a compiled program; None where there is
        no such form.
        """
        from quickstudy.tasks.curriculum.compiled_rollouts import TableLives

        return TableLives.of([self, *others])

    @property
    def showing(self) -> int | None:
        """The byte that is shown; None where nothing has begun, or all is over."""
        return None if self._byte is None else self._shown[self._byte]

    @property
    def renaming(self) -> tuple[bytes, bytes]:
        """Of all 256 bytes, what is shown for each, and what is meant by each."""
        return self._shown, self._meant

    def standing(self) -> tuple[int, int]:
        """The number of the task at hand, and of the instance within it; of the next ones where all
        is over.
        """
        if self._byte is None:
            return 0, self._counts[0]
        return self.place, self._counts[self.place] - 1

    @property
    def place(self) -> int:
        """The number of the task at hand."""
        return self.scheduler.place

    def shown_as(self, byte: int) -> int:
        """What a byte is called where symbols are renamed; itself elsewhere."""
        return self._shown[byte]

    def reset(self) -> int:
        """The curriculum from its beginning, with fresh instances; the first byte."""
        self.scheduler = self._make()
        return self._go_on(0)

    def _go_on(self, reward: int) -> int:
        self._life = self._through(reward)
        self._byte, self._reward = next(self._life)
        return self._shown[self._byte]

    def step(self, action: Any) -> Turn:
        """One reply."""
        reply = self._meant[_checked(action)]
        self._since.append(reply)
        try:
            self._byte, self._reward = self._life.send(reply)
        except StopIteration as end:
            self._byte, self._reward = None, end.value
        byte = SPACE if self._byte is None else self._byte
        return Turn(
            self._shown[byte],
            self._reward,
            self._byte is None,
            self._told.pop() if self._told else {},
        )

    def live(self, act: Callable[[Any, Any], Any], steps: int) -> Life:
        """Reply after reply, without a `Turn` for each."""
        if self._renamed:
            inner, shown, meant = act, self._shown, self._meant

            def act(byte: int, reward: int) -> int:
                return meant[_checked(inner(shown[byte], reward))]

        bytes_shown, replies, rewards = bytearray(), bytearray(), list[int]()
        events: list[tuple[int, Mapping[str, Any]]] = []
        if steps < 1:
            return Life(bytes_shown, replies, rewards, events, False)
        reward = self._reward
        if self._byte is None:
            self.reset()
        byte, told, begun = self._byte or 0, self._told, 0
        see, say, gain, send = bytes_shown.append, replies.append, rewards.append, self._life.send
        done = False
        try:
            for _ in repeat(None, steps):
                see(byte)
                reply = act(byte, reward)
                say(reply)
                byte, reward = send(reply)
                gain(reward)
                if told:
                    begun = len(replies)
                    events.append((begun - 1, told.pop()))
        except StopIteration as end:
            done, reward = True, end.value
            gain(reward)
            events.append((len(replies) - 1, told.pop()))
        except (ValueError, TypeError) as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # it comes from elsewhere
            raise _no_byte(reply) from error
        self._byte, self._reward = None if done else byte, reward
        self._since = (bytearray() if begun else self._since) + replies[begun:]
        if self._renamed:
            bytes_shown, replies = (
                bytes_shown.translate(self._shown),
                replies.translate(self._shown),
            )
        return Life(bytes_shown, replies, rewards, events, done)

    def _through(self, reward: int) -> Generator[tuple[int, int], int, int]:
        """All instances, one after another; gives the last reward."""
        while True:
            begun = self.scheduler.state(), list(self._counts), reward
            if (place := self.scheduler.next()) is None:
                return reward
            self._begun, self._since = begun, bytearray()
            member, self.stage.outcomes = self.members[place], bytearray()
            ground = Ground(self.names[place], self._counts[place], **self._options)
            instance = member.draw(ground)
            self._counts[place] += 1
            if self.recorder is not None:
                instance = self.recorder.watched(member.name, instance)
            if member.mini:
                end = yield from mini(instance, self.stage, reward)
            else:
                end = yield from micro(instance, self.stage, reward, self._in_steps)
            reward = end.reward
            self.scheduler.told(end.success)
            passed = self.scheduler.solved[place] >= member.needed
            told = {
                "task": place,
                "instance": ground.number,
                "success": end.success,
                "passed": passed,
            }
            self._told.append({**told, "outcomes": bytes(self.stage.outcomes)})

    def snapshot(self) -> Snapshot:
        """Where the instance at hand began, and every reply since."""
        scheduler, counts, reward = self._begun
        facts = {"scheduler": scheduler, "counts": counts, "reward": reward}
        return Snapshot({"replies": np.frombuffer(bytes(self._since), np.uint8)}, facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Begin that instance again, and reply as then."""
        facts = snapshot.facts
        self.scheduler = self._make()
        self.scheduler.set_back(facts["scheduler"], self._draws)
        self._counts, self._told[:] = list(facts["counts"]), []
        self._go_on(int(facts["reward"]))
        for reply in bytes(snapshot.arrays["replies"]):
            self.step(self._shown[reply])
        self._told.clear()


_WORDLESS = {f"micro-{name}" for name in TABLES}


def _checked(action: Any) -> int:
    try:
        return bytes((action,))[0]
    except (ValueError, TypeError) as error:
        raise _no_byte(action) from error


def _no_byte(reply: Any) -> LearnerFault:
    return LearnerFault(f"a reply is one byte, a whole number from 0 to 255, got {reply!r}")


def _reads(member: Member) -> bool:
    """Whether it is made of words."""
    return member.name not in _WORDLESS and not member.mini


def _name(streams: Streams) -> str:
    return "".join(f"{word:08x}" for word in streams.words("data"))


def stream_names(members: Sequence[Member], streams: Streams) -> list[str]:
    """The stream of each task: its own, and another from the second time on."""
    found, times = [], dict[str, int]()
    for member in members:
        times[member.name] = times.get(member.name, 0) + 1
        again = "" if times[member.name] == 1 else f"#{times[member.name]}"
        found.append(_name(dataclasses.replace(streams, task=f"curriculum/{member.name}{again}")))
    return found


def renaming_of(draws: Draws) -> bytes:
    """The byte shown for each of the 256 bytes where symbols are renamed."""
    table = list(range(256))
    for group in GROUPS:
        for symbol, other in zip(group, draws.some_of(group, len(group)), strict=True):
            table[symbol] = other
    return bytes(table)
