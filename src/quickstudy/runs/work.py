"""One block's work, in whichever process it is done: run, write down, tell."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from quickstudy.base.guests import guest
from quickstudy.base.origin import described, whole_traceback
from quickstudy.runs.blocks import Block
from quickstudy.runs.journal import Journal
from quickstudy.runs.messages import Begun, Done, Message
from quickstudy.runs.plan import failed_record


class TooLong(BaseException):
    """A call has passed its limit. Not an Exception, so that no learner's own handler swallows it."""


class Fault(NamedTuple):
    """Why there is no outcome, and all that Python said of it; both empty where there is one."""

    reason: str
    traceback: str = ""


_NONE = Fault("")


def work(
    block: Block,
    journal: Journal,
    stopping: Callable[[], bool],
    around: Callable[[float | None], AbstractContextManager[Any]] = nullcontext,
) -> Iterator[Message]:
    """Run a block's repetitions and write each one down when its call ends, giving messages on the way.

    stopping: asked before every call; True ends the block there. around: makes, from the limit, a context for each
    wait for an outcome; it may raise TooLong. What goes wrong in a call makes its repetitions failed; the next call
    goes on. Only the journal's own errors come out of here, and an interrupt that the user has sent.
    """
    module, _, function = block.examiner.partition(":")
    examine = getattr(importlib.import_module(module), function)
    with guest():
        lanes = block.setting.resolve().learner.lanes(block.wanted)
    outcomes: Iterator[Any] | None = None
    done = 0
    while done < len(block.keys) and not stopping():
        if outcomes is None:
            left = block.repetitions[done:]
            outcomes = iter(
                examine(block.setting, left, block.keep_learners, block.wanted, journal, block.keep_answers)
            )
        yield Begun(block.keys[done : done + lanes])
        first, fault = done, _NONE
        while done < min(first + lanes, len(block.keys)):
            repetition, key = block.repetitions[done], block.keys[done]
            began, clock = time.time(), time.monotonic()
            if not fault.reason:
                outcome, fault = _next_outcome(outcomes, key, around, block.limit_seconds, stopping)
            if fault.reason:
                seconds = time.monotonic() - clock
                record = failed_record(block.setting, repetition, fault.reason, began, seconds, fault.traceback)
                journal.write(record)
            else:
                record = journal.save(outcome)
                # Fewer, where the device had too little memory: then the next call begins that much sooner.
                lanes = min(lanes, record.where["lanes"])
            done += 1
            yield Done(key, record.status, _short(record.reason), time.monotonic() - clock)
        if fault.reason:  # an iterator that has raised gives nothing more: the next call begins a new one
            outcomes = None


def _next_outcome(
    outcomes: Iterator[Any],
    key: str,
    around: Callable[[float | None], AbstractContextManager[Any]],
    limit: float | None,
    stopping: Callable[[], bool],
) -> tuple[Any, Fault]:
    try:
        with guest(), around(limit):
            outcome = next(outcomes)
    except StopIteration:
        return None, Fault("the examination ended before this repetition")
    except TooLong:
        return None, Fault(too_long(limit))
    except BaseException as error:  # a measure at fault, or a learner that wants to leave, or to interrupt us
        if isinstance(error, KeyboardInterrupt) and stopping():
            raise
        return None, Fault(described(error), whole_traceback(error))
    if outcome.record.key != key:
        reason = "another run was examined than was planned; do all workers have the same version of the code?"
        return None, Fault(reason)
    return outcome, _NONE


def too_long(limit: float | None) -> str:
    """Why a repetition was stopped."""
    return f"took longer than {limit or 0:g} s"


def _short(reason: str) -> str:
    return reason.strip().partition("\n")[0][:300]
