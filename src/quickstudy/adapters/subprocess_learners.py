"""Learners that are other programs: over the ZeroMQ protocol of the original environment, or line
by line.

    quickstudy run curriculum/round1 --learner zeromq:port=5556 --seeds 1
    quickstudy run curriculum/round1 --learner "lines:command=./agent"
    quickstudy run language/qa --learner "lines:command=./model"

ZeroMQ: the environment binds a PAIR socket, the learner connects and sends `hello`. At every step
two messages go out, the reward (`-1`, `0`, `1`) and the byte, as UTF-8 text; one comes back, the
reply, as UTF-8 text of one character. When all is over the socket is closed; a learner that asked
for it by `hello goodbye` is sent `goodbye` before, in the place of a reward. Bytes from 128 on take
two on the wire. A lock step costs what two messages there and one back cost: 7,000 to 10,000 steps
a second on one machine.

Lines: to every line that the program reads it writes one. In a world of bytes it reads `REWARD
BYTE` in decimal at every step, and writes its reply in decimal. To learn from sequences it reads,
numbers between spaces,

- `begin INPUTS OUTPUTS SEED`, spaces as `symbols:4`, `bits:3` or `reals:1`; it writes `ready`, or
  `no` and why not.
- `learn X ... | Y ...`, the inputs and what should be answered after each, -1 or nan where nothing
  is asked; it writes `ok`.
- `predict X ...`; it writes an answer after each, or a score for each possible answer after each.

Values of several numbers are written one after the other. When all is over its input is closed.

A program is not part of the identity of a run: raise `edition` when you change it. A program that
hangs, dies or replies with anything else makes its run fail; other runs go on.
"""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.line_program import LineProgram, ended, started
from quickstudy.base.errors import LearnerFault, MissingExtra, NotApplicable, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.registries import learner
from quickstudy.base.spaces import Bits, Reals, Space, Tokens

SYMBOLS = [chr(code).encode() for code in range(256)]
"""Bytes as they go over the wire."""
LONGEST_MESSAGE = 1 << 16
"""Bytes of a message that is taken: a reply is one character. ZeroMQ drops who sends more."""
CHECK = 200
"""Milliseconds between two checks that a silent program is still alive."""


def _check_bytes(brief: Brief) -> None:
    if not brief.inputs == brief.outputs == Tokens(256):
        raise NotApplicable("it talks in bytes: it reads 256 symbols, and gives 256")


@learner("zeromq", version=1)
class ZeroMQ:
    """A program that speaks the original ZeroMQ protocol. port, address: where it connects to;
    command: starts it, with the port as last argument; seconds: time limit of a reply; connect: to
    connect.
    """

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"opens port {given.get('port', 5556)}" + (
            f", starts {given['command']}" if given.get("command") else ""
        )

    def __init__(
        self,
        brief: Brief,
        seed: int,
        port: int = 5556,
        address: str = "127.0.0.1",
        command: str = "",
        seconds: float = 60.0,
        connect: float = 600.0,
        edition: int = 1,
    ) -> None:
        _check_bytes(brief)
        try:
            import zmq
        except ModuleNotFoundError as error:
            raise MissingExtra("zmq", "rl") from error
        self._seconds, self._again, self._at_once = seconds, zmq.Again, zmq.NOBLOCK
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.PAIR)
        self._socket.setsockopt(zmq.LINGER, 500)
        self._socket.setsockopt(zmq.MAXMSGSIZE, LONGEST_MESSAGE)
        self._socket.setsockopt(
            zmq.SNDTIMEO, int(1000 * seconds)
        )  # without a receiver a message would wait for ever
        self._socket.setsockopt(zmq.RCVTIMEO, CHECK)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._socket.bind(f"tcp://{address}:{port}")
        except zmq.ZMQError as error:
            self.close()
            raise UsageError(f"zeromq: cannot listen at {address}:{port}: {error}") from error
        try:
            if command:
                self._process = started([*shlex.split(command), str(port)])
            said = self._received("to say hello", connect)
            if said not in ("hello", "hello goodbye"):
                raise LearnerFault(f"the learner must begin with hello, got {said[:40]!r}")
        except BaseException:
            self.close()
            raise
        self._farewell = said == "hello goodbye"

    def act(self, observation: int, reward: float, first: bool) -> int:
        """Two messages out, one back."""
        try:
            self._socket.send(b"%d" % int(reward))
            self._socket.send(SYMBOLS[observation])
        except self._again as error:
            raise LearnerFault(
                "the learner is gone: no process receives what is sent to it"
            ) from error
        reply = self._received("to reply", self._seconds)
        if len(reply) != 1 or ord(reply) > 255:
            raise LearnerFault(
                f"a reply is one character with a code from 0 to 255, got {reply[:40]!r}"
            )
        return ord(reply)

    def _received(self, what: str, seconds: float) -> str:
        until = 0.0
        while True:
            try:
                return str(
                    self._socket.recv().decode("utf-8")
                )  # gives up after CHECK; to ask first takes as long again
            except self._again:
                now = time.monotonic()
                until = until or now + seconds - CHECK / 1000
                if self._process is not None and self._process.poll() is not None:
                    status = self._process.returncode
                    raise LearnerFault(
                        f"the learner ended with status {status} when it had {what}"
                    ) from None
                if now > until:
                    raise LearnerFault(
                        f"the learner took more than {seconds:g} seconds {what}"
                    ) from None
            except UnicodeDecodeError as error:
                raise LearnerFault(f"what the learner sent {what} is not UTF-8 text") from error

    def close(self) -> None:
        """Say goodbye, if that was asked for, and close the socket."""
        if getattr(self, "_farewell", False):
            with contextlib.suppress(Exception):
                self._socket.send_string("goodbye", self._at_once)
        self._socket.close()
        self._context.term()
        ended(self._process)


@learner("lines", version=1)
class Lines:
    """A program that reads and writes lines. command: starts it; seconds: that it may take for a
    reply.
    """

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"starts {given.get('command') or 'a program'}"

    def __init__(
        self, brief: Brief, seed: int, command: str = "", seconds: float = 60.0, edition: int = 1
    ) -> None:
        lives = brief.loss == "reward"
        if lives:
            _check_bytes(brief)
        words = [] if lives else [_spelled(brief.inputs), _spelled(brief.outputs)]
        if not command:
            raise UsageError('lines: which program? type lines:command="./agent"')
        self._width = brief.outputs.width
        self._program = LineProgram(shlex.split(command), seconds)
        if lives:
            return
        try:
            said = self._told(f"begin {' '.join(words)} {seed}").strip()
            if said.partition(" ")[0] == "no":
                raise NotApplicable(f"the program refused: {said[3:] or 'without a reason'}")
            if said != "ready":
                raise LearnerFault(
                    f"to begin the program must answer ready, or no and why not, got {said[:40]!r}"
                )
        except BaseException:
            self.close()
            raise

    def act(self, observation: int, reward: float, first: bool) -> int:
        """A line out, a line back."""
        line = self._answered(b"%d %d\n" % (int(reward), observation))
        try:
            reply = int(line)
        except ValueError:
            reply = -1
        if not 0 <= reply <= 255:
            raise LearnerFault(f"a reply is a whole number from 0 to 255, got {line[:40]!r}")
        return reply

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """A line of inputs and targets."""
        said = self._told(f"learn {_numbers(inputs)} | {_numbers(targets)}").strip()
        if said != "ok":
            raise LearnerFault(f"to learn the program must answer ok, got {said[:40]!r}")

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """A line of inputs out; back one of answers, or of scores."""
        said = self._told(f"predict {_numbers(inputs)}").split()
        rows, width = len(inputs), self._width
        try:
            if len(said) == rows and width > 1:
                return np.array([int(word) for word in said])
            if len(said) == rows * width:
                return np.array([float(word) for word in said]).reshape(rows, width)
        except ValueError as error:
            raise LearnerFault(f"to predict the program must answer numbers: {error}") from error
        raise LearnerFault(
            f"to predict after {rows} inputs the program must answer {rows} numbers, or {width} for"
            f" each, got {len(said)}"
        )

    def _told(self, line: str) -> str:
        return self._answered(f"{line}\n".encode()).decode(errors="replace")

    def _answered(self, line: bytes) -> bytes:
        self._program.write(line)
        return self._program.answer()

    def close(self) -> None:
        """Close its input, and wait for it a moment."""
        self._program.close()


def _spelled(space: Space) -> str:
    """A space as a program reads it."""
    if isinstance(space, Tokens):
        return f"symbols:{space.size}"
    if isinstance(space, Bits | Reals):
        return f"{'bits' if isinstance(space, Bits) else 'reals'}:{space.width}"
    raise NotApplicable("it reads and writes symbols, bits and real numbers, not fields")


def _numbers(values: NDArray[Any]) -> str:
    return " ".join(map(repr, np.asarray(values).ravel().tolist()))
