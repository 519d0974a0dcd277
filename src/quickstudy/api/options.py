"""All options of run, reproduce and profile, as one value for Python and the command line.

A function takes `RunOptions`, or single options by name, or both (`run(tasks, learners, options,
seeds=20)`); from then on the same object is passed on. An option is declared here, or in
`quickstudy.runs.options` if the execution needs it, and nowhere else: the keywords of the Python
functions, their documentation, and the options of the command line are made from the declarations.
"""

from __future__ import annotations

import dataclasses
import inspect
import pathlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import check_convention, parse_assignments
from quickstudy.runs.options import ExecuteOptions, option

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_SEEDS = 6
MOST_SEEDS = 1_000_000
"""More repetitions are a typing mistake: their plan alone would fill the memory."""


def _parsed(texts: Sequence[str]) -> dict[str, str]:
    return parse_assignments(",".join(texts))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, kw_only=True)
class RunOptions(ExecuteOptions):
    """What to run, and how. Raises UsageError for an invalid value."""

    seeds: int | None = option(
        None,
        "Number of repetitions; default: 6, in profile as many as the budget has.",
        "--seeds",
        "-s",
    )
    out: str | pathlib.Path | None = option(
        None,
        "Results folder; stored runs are not repeated. Default: results, results/STUDY (or that of"
        " the study whose runs it shares), results/profile-BUDGET.",
        "--out",
        "-o",
        typed=pathlib.Path | None,
    )
    convention: str | None = option(
        None,
        "corrected, published (as the published numbers were made) or written (as in the paper);"
        " default: corrected, in reproduce the study's own.",
        "--convention",
        verbs=("run", "reproduce"),
    )
    root: int = option(0, "Root seed of all random streams.", "--root")
    protocol: Mapping[str, Any] = field(
        default_factory=dict,
        metadata={
            "help": "Parameters of the protocol that differ from the convention's: sequences=600,"
            " or those of one family: language.sequences=600.",
            "flags": ("--set",),
            "verbs": ("run", "reproduce"),
            "typed": list[str],
            "read": _parsed,
        },
    )
    controls: bool | None = option(
        None,
        "Also run each task's controls and oracle; default: in run yes, in reproduce no.",
        "--controls/--no-controls",
        verbs=("run", "reproduce"),
    )
    control_seeds: int | None = option(
        None,
        "Repetitions of controls and oracle; default: as many as of the learners.",
        "--control-seeds",
        verbs=("run",),
    )
    measures: str | Sequence[str] = option(
        (),
        "Also apply this measure to the traces; needs no new run.",
        "--measure",
        verbs=("run",),
        typed=list[str],
        read=tuple,
    )
    only: str | Sequence[str] = option(
        (),
        "Only these rows or columns of the study: patterns of tasks, labels or models.",
        "--only",
        verbs=("reproduce",),
        typed=list[str],
        read=tuple,
    )
    exact: bool = option(
        False,
        "Test as often as the publication did; a few times slower.",
        "--exact",
        verbs=("reproduce",),
    )
    trust: bool = option(
        False,
        "Allow a study that runs code, starts programs, opens connections or reads files.",
        "--trust",
        verbs=("reproduce",),
    )
    budget: str = option(
        "quick",
        "The battery: quick, standard, full or, for language models, context.",
        verbs=("profile",),
    )
    tuned: bool = option(
        False,
        "Choose settings first, on tasks and seeds that are not reported.",
        "--tuned",
        verbs=("profile",),
    )
    families: str | Sequence[str] = option(
        (),
        "Only these families: language,grammar.",
        "--families",
        verbs=("profile",),
        typed=str,
        read=_names,
    )
    command: str = option("", "The command that makes the same page again, for the page.")

    def __post_init__(self) -> None:
        super().__post_init__()
        for number in (self.seeds, self.control_seeds):
            if number is not None:
                check_seeds(number)
        if self.convention is not None:
            check_convention(self.convention)
        if not isinstance(self.protocol, Mapping):
            raise UsageError(
                f'protocol must be a mapping, {{"sequences": 600}}, got {self.protocol!r}'
            )
        for name in ("measures", "only", "families"):
            if isinstance(value := getattr(self, name), str):
                object.__setattr__(self, name, (value,))


def check_seeds(seeds: Any) -> None:
    """Raise UsageError unless it is a number of repetitions that can be run."""
    if not isinstance(seeds, int) or isinstance(seeds, bool):
        raise UsageError(f"seeds must be a whole number, the number of repetitions, got {seeds!r}")
    if seeds < 1:
        raise UsageError(f"seeds must be at least 1, got {seeds}")
    if seeds > MOST_SEEDS:
        raise UsageError(
            f"seeds must be at most {MOST_SEEDS:,}, got {seeds:,}; run them in several parts by"
            " --root"
        )


def options_of(verb: str) -> dict[str, dataclasses.Field[Any]]:
    """The options that a verb has, by name: what is run before how it is run."""
    how = {one.name for one in dataclasses.fields(ExecuteOptions)}
    found = [one for one in dataclasses.fields(RunOptions) if verb in one.metadata["verbs"]]
    return {one.name: one for one in sorted(found, key=lambda one: one.name in how)}


def gather_options(verb: str, options: RunOptions | None, named: Mapping[str, Any]) -> RunOptions:
    """The options of a call. Raises UsageError for one that the verb does not have."""
    known = options_of(verb)
    for name in named:
        if name not in known:
            raise UsageError(f'{verb} has no option "{name}"; {nearest(name, known)}')
    return dataclasses.replace(options or RunOptions(), **named)


def takes_options(verb: str) -> Callable[[F], F]:
    """Give a function that ends with `options, **named` the signature and the documentation of all
    options of its verb, as editors and `help` show them.
    """

    def document(function: F) -> F:
        known = options_of(verb)
        before = inspect.signature(function)
        own = [one for one in before.parameters.values() if one.kind is not one.VAR_KEYWORD]
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=one.default if one.default is not dataclasses.MISSING else {},
                annotation=one.type,
            )
            for name, one in known.items()
        ]
        function.__signature__ = before.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        lines = [f"{name}:\n    {one.metadata['help']}" for name, one in known.items()]
        text = inspect.cleandoc(function.__doc__ or "")
        function.__doc__ = (
            f"{text}\noptions:\n    All of the following in one object.\n" + "\n".join(lines)
        )
        return function

    return document
