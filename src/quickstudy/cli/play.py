"""`quickstudy play`: be the learner oneself, in the terminal."""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import CONVENTION, INCLUDE, check_target, include_files, say

WAYS = ("gaps", "steps", "periods")
SPACE, PERIOD, WIDTH = 32, 46, 100
SIGNS = {-1: "-", 0: ".", 1: "+"}


def play(
    task: str = typer.Argument(..., help="A task, as curriculum/micro-5.1 or language/qa."),
    ask: str = typer.Option("", "--ask", help="When to ask: gaps (two spaces), steps (always), periods."),
    steps: int = typer.Option(1000, "--steps", help="At most so many bytes, or sequences."),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    record: pathlib.Path | None = typer.Option(None, "--record", help="Write the session, to be replayed or scored."),
    plain: bool = typer.Option(False, "--plain", help="Show words as they are, not as random letters."),
    convention: str = CONVENTION,
    include: list[str] = INCLUDE,
) -> None:
    """Play a task: what the environment says, what you say and what it brings stand one under another.

    A line that you type is sent byte by byte, an empty one is silence; end with Ctrl-D. With --ask gaps you are asked
    after two spaces, with steps at every byte, with periods after every period.

    A task of words is played as people did for the paper: every word is a random letter, the answers are hidden, you
    type them with spaces between, and ten right ones in a row end the game. The score is WADE.
    """
    from quickstudy.base.seeds import Streams
    from quickstudy.runs.setting import make_task
    from quickstudy.tasks.curriculum.recordings import Recorder
    from quickstudy.tasks.curriculum.world import ByteWorld

    include_files(include)
    check_target(record)
    made = make_task(task, convention)
    if hasattr(made, "sample"):
        if ask:
            raise UsageError("--ask is for tasks of the curriculum; of words, all that is hidden is asked for")
        return _guess(made, convention, steps, Streams(seed, made.id, 0), plain, record)
    world = made.open(Streams(seed, made.id, 0)) if hasattr(made, "open") else None
    if not isinstance(world, ByteWorld):
        raise UsageError(
            f"{made.id} is not played byte by byte; play a task of the curriculum, as curriculum/micro-5.1"
        )
    first = getattr(made, "members", ("",))[0]
    ask = ask or ("steps" if first in _SHORT else "periods")
    if ask not in WAYS:
        raise UsageError(f"--ask must be one of {', '.join(WAYS)}, got {ask}")
    recorder = world.recorder = Recorder()
    person = Person(ask, _typed)
    replies, ends, done, solved = bytearray(), list[int](), False, 0
    while len(replies) < steps and not done and not person.gone:
        life = world.live(person.act, 1)
        for _, told in life.events:
            ends.append(len(replies))
            solved += told["success"]
        replies += bytes(life.actions)
        done = life.done
    person.show()
    over = "all passed" if done else "stopped"
    say(f"{over} after {len(replies)} steps; instances solved: {solved} of {len(ends)}; reward {person.total:+d}")
    if record is not None:
        import json

        sessions = recorder.sessions(bytes(replies), ends)
        record.write_text("".join(json.dumps(session) + "\n" for session in sessions), encoding="utf-8")
        say(f"wrote {record}; see it again: quickstudy replay {record}")


def _guess(task: Any, convention: str, most: int, streams: Any, plain: bool, record: pathlib.Path | None) -> None:
    """A task of words: sequences with hidden answers, until a whole series is right."""
    from quickstudy.base.parameters import configure
    from quickstudy.measures.wade import wade_preset
    from quickstudy.protocols.human import Game, Session

    game = configure("game", Game, {}, convention)
    session = Session(task, game, streams, plain)
    if sys.stdin.isatty():
        letters = "" if plain else "Every word is a letter. "
        say(f"{letters}Type what stands at each _, with spaces between; {game.series} right in a row end it, or Ctrl-D")
    while not session.over and len(session.right) < most:
        say(f"{len(session.right) + 1}: {session.next()}")
        line = _typed()
        if line is None:
            break
        good = session.answer(line)
        say(f"{'right' if good else 'wrong'}: {session.truth}")
    trace = session.trace()
    steps, accuracies = (trace.arrays[name].tolist() for name in ("step", "accuracy"))
    score = wade_preset("paper", thresholds=game.series).score(steps, accuracies)
    over = f"{game.series} in a row" if session.over else "stopped"
    say(f"{over} after {len(session.right)} sequences, {sum(session.right)} right; WADE {score:.4f}")
    if record is not None:
        import json

        told = {"task": task.id, "version": task.version, "convention": convention, "root": streams.root}
        kept = {"right": session.right, "given": session.given, "step": steps, "accuracy": accuracies, "wade": score}
        record.write_text(json.dumps({**told, **trace.facts, **kept}) + "\n", encoding="utf-8")
        say(f"wrote {record}; score it again: quickstudy score wade {record} --thresholds {game.series}")


_SHORT = {f"micro-{name}" for name in ("1", "2", "3", "4", "5.1", "5.2", "5.3")}
"""Tasks in which silence is an answer: there is no gap to be asked in."""


def _typed() -> str | None:
    """The next line of a person, None at the end."""
    if sys.stdin.isatty():
        sys.stdout.write("> ")
        sys.stdout.flush()
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


class Person:
    """Asks for a line when it is time, sends it byte by byte, and shows what has happened since the last one.

    ask: one of WAYS; typed: gives a line, None when there are no more.
    """

    def __init__(self, ask: str, typed: Callable[[], str | None]) -> None:
        self._ask, self._typed = ask, typed
        self._queue: list[int] = []
        self._rows: list[tuple[int, int, int]] = []
        self._before = 0
        self.gone, self.total = False, 0

    def act(self, byte: int, reward: Any) -> int:
        """The next byte of what was typed, or silence."""
        self.total += int(reward)
        spaces = byte == SPACE == self._before
        due = {"steps": True, "periods": byte == PERIOD, "gaps": spaces}[self._ask]
        if not self._queue and due and not self.gone:
            self.show((byte, SPACE, int(reward)))
            self._rows = []
            line = self._typed()
            self.gone = line is None
            text = re.sub(r"\.+", ".", line or "")
            if any(ord(letter) > 255 for letter in text):
                say("only characters with codes from 0 to 255 can be sent; this line is not", err=True)
                text = ""
            self._queue = list(text.encode("latin-1"))
        reply = self._queue.pop(0) if self._queue else SPACE
        self._rows.append((byte, reply, int(reward)))
        self._before = byte
        return reply

    def show(self, *pending: tuple[int, int, int]) -> None:
        """Three lines: the environment, oneself, the rewards. pending: a byte that is not replied to yet; it is shown
        again with its reply.
        """
        every = [*self._rows, *pending]
        for start in range(0, len(every), WIDTH):
            rows = every[start : start + WIDTH]
            shown, said = (bytes(row[place] for row in rows).decode("latin-1") for place in (0, 1))
            say(f"environment {shown}\nyou         {said}\nreward      {''.join(SIGNS[row[2]] for row in rows)}")
