"""How a plan is carried out, as one value: from Python and from the command line, passed on
unchanged.

Every option is declared once, by `option`: its default, what it means, how the command line spells
it, and the verbs that have it. The command line and the documentation of the Python functions are
made from these declarations (`quickstudy.api.options`, `quickstudy.cli.options`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from quickstudy.base.errors import UsageError

if TYPE_CHECKING:
    from quickstudy.runs.engines import EngineSpec
    from quickstudy.runs.execute import Report

ALL_VERBS = ("run", "reproduce", "profile")


def option(
    default: Any,
    help: str,
    *flags: str,
    verbs: tuple[str, ...] = ALL_VERBS,
    typed: Any = None,
    read: Callable[[Any], Any] | None = None,
) -> Any:
    """A field of an options object.

    Parameters
    ----------
    default:
        Its default; None where a verb has one of its own.
    help:
        What it means, in a sentence, for Python and for `--help`.
    flags:
        Its spelling on the command line; none for an option of Python alone.
    verbs:
        The verbs that have it.
    typed:
        Its type on the command line, where that is not the type of the field.
    read:
        Makes the field's value of what the command line gives.

    """
    facts = {"help": help, "flags": flags, "verbs": verbs, "typed": typed, "read": read}
    return dataclasses.field(default=default, metadata=facts)


@dataclass(frozen=True, kw_only=True)
class ExecuteOptions:
    """How a plan is executed. Raises UsageError for an invalid value."""

    engine: str | EngineSpec | None = option(
        None,
        "Where runs are executed: process (default), serial, or NAME://ADDRESS?parameter=value.",
        "--engine",
        typed=str | None,
    )
    workers: int | None = option(
        None,
        "Number of worker processes; 0: run in this process. Default: one per core, 3 on a GPU.",
        "--workers",
        "-j",
    )
    limit_seconds: float | None = option(
        None, "Time limit of a run in seconds; a run that takes longer fails.", "--limit"
    )
    retry_failed: bool = option(False, "Rerun the runs that failed before.", "--retry-failed")
    rerun: bool = option(
        False,
        "Rerun stored runs; the old ones are moved aside.",
        "--rerun",
        verbs=("run",),
    )
    keep_learners: bool = option(
        False, "Save every trained learner.", "--keep-learners", verbs=("run",)
    )
    keep_answers: bool = option(
        False, "Keep every answer of the last test of a run.", "--keep-answers", verbs=("run",)
    )
    measure_cost: bool = option(
        False,
        "Measure what each trained learner costs: bytes of state, multiplications for a step, peak"
        " memory. A profile always does.",
        "--measure-cost",
        verbs=("run",),
    )
    progress: bool | Report | None = option(
        None,
        "Lines on standard error (True), none (False), or a function of the events; default: lines"
        " at a terminal or in a notebook.",
    )

    def __post_init__(self) -> None:
        if self.limit_seconds is not None and not self.limit_seconds > 0:
            raise UsageError(f"the time limit must be above 0 seconds, got {self.limit_seconds}")
        if (self.workers, self.engine) != (None, None):
            self.chosen_engine  # noqa: B018, one that cannot be is reported before anything is run

    @cached_property
    def chosen_engine(self) -> EngineSpec:
        """The engine that these options name."""
        from quickstudy.runs.engines import choose_engine

        return choose_engine(self.workers, self.engine)

    def in_this_process(self) -> Self:
        """The same options with the engine that runs here: what is defined in the running script or
        notebook exists nowhere else. Raises UsageError if another machine is asked for.
        """
        if not (self.chosen_engine.here or self.chosen_engine.id == "process"):
            raise UsageError(
                f"what is defined in the running script or notebook cannot run on {self.engine};"
                " put it into a file, or leave out the engine"
            )
        return dataclasses.replace(self, engine="serial", workers=None)

    @property
    def report(self) -> Report:
        """The function to call with every event of a run."""
        from quickstudy.runs.progress import follow

        return follow(self.progress)
