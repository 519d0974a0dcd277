"""The registries of the instrument. Each is a decorator as well: `@task("family/name", version=1,
...)`.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Measure, Score
from quickstudy.base.parameters import configure, parse_assignments
from quickstudy.base.registry import Registry, include, installed_sources, package_sources

F = TypeVar("F", bound=Callable[..., Any])
_ROOMS = (
    "tasks",
    "cores",
    "learners",
    "protocols",
    "measures",
    "figures",
    "pages",
    "studies",
    "adapters",
    "runs.engines",
)


def _sources() -> Iterator[tuple[str, pathlib.Path]]:
    for room in _ROOMS:
        yield from package_sources(f"quickstudy.{room}")
    yield from installed_sources()


task: Registry[Any] = Registry(
    "task",
    _sources,
    """A task, on a frozen dataclass of its parameters:

        @task("language/echo", version=1, controls=["majority"], oracle="echo-oracle")
        @dataclass(frozen=True)
        class Echo:
            vocabulary = ("a", "b")
            def sample(self, rng, count): ...  # -> Examples

    id: `family/name`. version: a whole number, raised whenever the task gives other data. controls:
    names of rules that never learn. oracle: the name of the best that can be done, or the reason
    why there is none. protocol: how it is examined, if not by the family's own protocol.
    """,
)

control: Registry[Any] = Registry(
    "control",
    _sources,
    """A rule that never learns, or an oracle: `@control("copy-last", version=1, role="control")` on
    a host learner made by make(task, brief, seed). It may have more:

    - `watch(world)`, called with every world before the first step in it; its `act` may then look
      inside.
    - `told(answers)`, called before each `predict` with as many rows as the inputs: row t is the
      right answer to row t-1, -1 or nan in the first. As with inputs, what is predicted for a row
      depends on nothing after it.
    - The fact `compiled=True`: made by make(task, brief), hashable by value (a frozen dataclass),
      it has `start(batch, capacity)` and `step(state, observation, *, key)` like a core, with one
      row and one key per episode, gives actions in the place of features, and runs inside the
      compiled program of a pure world.
    """,
)

core: Registry[Any] = Registry(
    "core",
    _sources,
    """A memory: `@core("ring", version=1)` on a frozen dataclass with `frozen` and
    build(inputs, rng).
    """,
)

training: Registry[Any] = Registry(
    "training",
    _sources,
    """A way of training a core: `@training("mine", version=1)` on a frozen dataclass with
    begin(core, brief, streams).
    """,
)

learner: Registry[Any] = Registry(
    "learner",
    _sources,
    """A learner that is whole by itself: `@learner("mine", version=1)` on a frozen dataclass with
    begin(brief, streams), or on a host class made by make(brief, seed) with `learn` and `predict`.
    """,
)

engine: Registry[Any] = Registry(
    "engine",
    _sources,
    """The engine that does the work: `@engine("mine", version=1)` on a frozen dataclass with
    `here`, planned_workers() and open() (`quickstudy.runs.engines` has the rules).""",
)

DECLARED: dict[str, Any] = {
    "family": "",
    "question": "",
    "headline": "",
    "second": "",
    "outcome": (),
    "columns": (),
    "exact": {},
    "usual": {},
    "once": "every example once",
    "again": "shown the same examples again",
    "replay_apart": True,
}
"""How a protocol's family is read, and the defaults for what it does not declare
(`base.legend` has the meaning of each). family: its id. exact, usual: its parameters under
`--exact` and without.
"""


class ProtocolRegistry(Registry[Any]):
    """The registry of protocols: what one leaves unsaid of `DECLARED` is as usual, so that all can
    be asked alike.
    """

    def __call__(
        self, id: str, *, version: int | None = None, **facts: Any
    ) -> Callable[[Any], Any]:
        """`@protocol("language", version=1)` on a frozen dataclass with examine(task, learner,
        streams).
        """
        register = super().__call__(id, version=version, **facts)

        def declare(target: Any) -> Any:
            for name, usual in DECLARED.items():
                said = getattr(target, name, usual)
                if not isinstance(said, _KINDS.get(type(usual), type(usual))):
                    raise UsageError(
                        f'protocol "{id}": {name} must be like {usual!r}, got {said!r}'
                    )
                setattr(target, name, said)
            target.family = target.family or id
            return register(target)

        return declare


_KINDS: dict[type, Any] = {tuple: (tuple, list), dict: Mapping}

protocol = ProtocolRegistry(
    "protocol",
    _sources,
    """A way of examining: `@protocol("language", version=1)` on a frozen dataclass with
    examine(task, learner, streams), which gives an Examination. Class attributes declare how to
    read its family: measures, headline, columns ...
    """,
)

quantity: Registry[Any] = Registry(
    "quantity",
    _sources,
    """A number that belongs to a task alone, without a learner:

        @quantity("entropy", version=1, unit="bits", equation="...")
        def entropy(task): ...  # -> one number, or several by name

    unit, equation: for readers; of several numbers, the unit may be one for each, by name.
    """,
)

figure: Registry[Any] = Registry(
    "figure",
    _sources,
    """The picture of a task, by the kind of trace that its runs left:

        @figure("learning-curve", version=1)
        def curves(task, rows): ...  # -> blocks

    task: its label. rows: Traced, in the order of the table.

    A second one, `learning-curve/read`, may show how scores are read off such a trace: it is given
    those that learn, task after task, until it makes blocks of them. A third, `learning-curve/run`,
    what is to be seen of one run alone: alone(what, trace), what: the run's identity.
    """,
)

block: Registry[Any] = Registry(
    "block",
    _sources,
    """A part of the page of a study, on a class whose stages(request) gives the runs that it needs,
    in lists that follow from one another, and whose blocks(request) makes blocks of what has been
    run:

        @block("claims", version=1)
        class Claims: ...
    """,
)


class MeasureRegistry(Registry[Measure]):
    """The registry of measures: its decorator takes a function and all that a reader must know
    about its numbers.
    """

    # Measures are functions, and nothing about them may be left unsaid.
    def __call__(  # type: ignore[override]
        self,
        id: str,
        *,
        version: int,
        alias: str = "",
        kinds: Sequence[str],
        equation: str,
        chance: str,
        scores: Sequence[Score],
    ) -> Callable[[F], F]:
        """`@measure("wade", version=1, kinds=..., scores=(Score("wade", ...),))` on a function of
        a trace, or of a trace and the convention.

        Raises UsageError for a declaration that cannot be.
        """

        def register(function: F) -> F:
            made = Measure(id, version, tuple(kinds), equation, chance, tuple(scores), function)
            object.__setattr__(made, "__module__", function.__module__)
            object.__setattr__(made, "__doc__", function.__doc__)
            object.__setattr__(made, "alias", alias)
            self.add(id, version, made)
            return function

        return register


measure = MeasureRegistry(
    "measure",
    _sources,
    """A measure, on a pure function of a trace that gives numbers by name:

        @measure(
            "half-way",
            version=1,
            kinds=("learning-curve",),
            equation="first step with half of the best accuracy",
            chance="none",
            scores=(Score("half-way", unit="sequences", better="lower", range=(0, math.inf)),),
        )
        def half_way(trace):
            return {"half-way": ...}

    A function that depends on the convention has it as second parameter: (trace, convention).
    id, version: raised whenever it gives other numbers. kinds: of traces that it can read.
    equation, chance: for readers. scores: every number that it may give, as a Score.
    """,
)

ALL: tuple[Registry[Any], ...] = (
    task,
    core,
    training,
    learner,
    control,
    measure,
    protocol,
    quantity,
    block,
    figure,
    engine,
)
"""Every registry, in the order in which a name is looked for."""


def typed_task(name: str, convention: str = "corrected") -> Any:
    """A task as a user types it, `language/qa:verbs=1`, or by its class, `mine.py:Task:verbs=1`.
    Raises UsageError for one that does not exist.
    """
    file, is_file, rest = f"{name}:".partition(".py:")
    if is_file:
        kind, _, assignments = rest.rstrip(":").partition(":")
        module = include(f"{file}.py")
        own = [
            one
            for one in vars(module).values()
            if getattr(one, "__module__", "") == module.__name__
        ]
        tasks = [one for one in own if getattr(one, "id", "") in task]
        if not kind and len(tasks) != 1:
            names = ", ".join(one.__name__ for one in tasks) or "none"
            raise UsageError(f"which task of {file}.py?; known: {names}; type {file}.py:NAME")
        found: Any = getattr(module, kind, None) if kind else tasks[0]
        if getattr(found, "id", "") not in task:
            raise UsageError(f'no task "{kind}" in {file}.py')
        return configure(found.id, found, parse_assignments(assignments), convention)
    id, _, assignments = name.partition(":")
    return configure(id, task.get(id), parse_assignments(assignments), convention)
