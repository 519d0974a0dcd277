"""Facts that a component may state as plain attributes, each declared once with its usual value.

    if stated(training, TrainingFacts).reads_codes:
        ...

A name that is not declared here is an error of the type checker, and of the program; asked by
`getattr` with a text, it would be a silent "no".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, cast

F = TypeVar("F")
NONE: Mapping[str, Any] = MappingProxyType({})
UNSTATED: Any = object()
"""Where None is a value, what is not stated."""


class PupilFacts:
    """Of a pupil.

    learns: False for a rule whose answers never change, whatever it is shown.
    by_prediction: a step is a prediction for the whole prefix, so whole sequences are cheaper.
    is_rule: it is a control, whose predictions take no time worth mentioning.
    can_hold: it can act without learning.
    reads_streams: inputs of its lessons may lie on the device.
    host: the host learner that it talks to.
    recorded: it has states for the inputs that `quickstudy drive` writes, and for no others.
    one_at_a_time: it steps along one sequence; going on with another one means a replay.
    """

    learns: bool = True
    by_prediction: bool = False
    is_rule: bool = False
    can_hold: bool = True
    reads_streams: bool = False
    host: Any = None
    recorded: bool = False
    one_at_a_time: bool = False


class HostFacts:
    """Of a host learner; see `HostLearner`.

    scale: how its scores are read; None: the usual for its answers.
    updates: how many it has made; None: one for each item.
    parameters: their number, or arrays, or a function that gives them.
    recorded, one_at_a_time: as of a pupil.
    """

    learns: bool = True
    scale: str | None = None
    updates: int | None = None
    parameters: Any = None
    bits: float | None = None
    recorded: bool = False
    one_at_a_time: bool = False


class LearnerFacts:
    """Of a learner that is whole by itself, or of a control.

    compiled: it is a JAX program. programs: how many it compiles. most_lanes: batched seeds that
    it runs at most; None: no limit of its own. role: `control` or `oracle`. control: it has no
    parameters to search. usual: parameters by what is asked. core: the specification of its core.
    reaches: of its parameters, what a name with them does outside this package. within: the
    identity of the learner that it wraps.
    """

    id: str = ""
    compiled: bool = False
    programs: int = 0
    most_lanes: int | None = None
    role: str = ""
    control: bool = False
    usual: Any = NONE
    core: Any = None
    reaches: Callable[[Mapping[str, Any]], str] | None = None
    within: Mapping[str, Any] | None = None


class TrainingFacts:
    """Of a way of training.

    usual_for: when it is the usual way. usual_on: of a task and a convention, further usual
    parameters. by_question: on a reservoir it may learn question by question. peek: it looks at
    the whole lesson first. losses: those of a brief that it learns by. most_lanes: as of a
    learner. traced: parameters that do not make another program. reads_codes: it learns from the
    codes that a coded core gives.
    """

    usual_for: Sequence[Any] = ()
    usual_on: Callable[[Any, str], Mapping[str, Any]] = lambda task, convention: NONE
    by_question: bool = True
    peek: bool = False
    losses: Sequence[str] = ("cross-entropy", "squared", "reward")
    most_lanes: int | None = None
    traced: Sequence[str] = ()
    reads_codes: bool = False


class CoreFacts:
    """Of the specification of a core; see `CoreSpec`.

    training: its own way of training, for any question, or by what is asked. frozen: None where
    it does not state it, which is refused. coded: its features are codes. reader: who gives
    numbers for codes; None: there is none. precision: of its numbers. searched, varied: what a
    search for different memories resamples. heads: of attention. state_noise, input_noise: that is
    added.
    """

    training: str | Mapping[str, str] = NONE
    frozen: bool | None = None
    coded: bool = False
    reader: str | None = None
    precision: str = "float32"
    searched: Mapping[str, Any] = NONE
    varied: Mapping[str, Any] = NONE
    heads: int = 1
    state_noise: float = 0.0
    input_noise: float = 0.0


class TaskFacts:
    """Of a task.

    controls, oracle: ids of the rules that it is compared with. segments: parts of a stream. kind:
    the scheduler of a curriculum. labels: names of a curriculum's tasks. lyapunov: exponent of
    what is predicted. package_defaults: parameters of the released package. facts, taxonomy: for
    traces. criterion: loss of an answer, `squared` or `modulus`. running: `driven` by true inputs,
    or `free`, on its own answers, in the test. climate: steps of a long run on its own answers, 0
    for none. validates_free: the validation part has a free run too. tolerance: by which a number
    is right, which may be None. forecast: steps ahead. levels: values that an answer can have.
    taps: of a linear control. exact: what is right, from what is read. asked: at `every` step, or
    the `last`. sizes: of a game. replies: its players answer each other. vocabulary: its words.
    written: by a user. reaches: as of a learner.
    """

    controls: Sequence[str] = ()
    oracle: str | None = None
    segments: Sequence[Any] = ()
    kind: str = "consecutive"
    labels: Sequence[str] | None = None
    lyapunov: float | None = None
    package_defaults: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] = NONE
    taxonomy: Mapping[str, Any] = NONE
    criterion: str = "squared"
    running: str = "driven"
    climate: int = 0
    validates_free: bool = False
    tolerance: Any = UNSTATED
    forecast: Any = None
    levels: Any = None
    taps: int = 10
    exact: Callable[..., Any] | None = None
    asked: str = "every"
    sizes: Any = None
    replies: bool = False
    vocabulary: Any = None
    written: bool = False
    reaches: Callable[[Mapping[str, Any]], str] | None = None


class GrammarFacts:
    """Of a grammar. finite: it has finitely many strings."""

    finite: bool = False


class RunFacts:
    """Of a free run. moving: how answers move what is controlled; None: they are read."""

    moving: Any = None


class WorldFacts:
    """Of a world. stage: what is going on in it, for rules that may look."""

    stage: Any = None


class _View:
    """What an owner states, each fact asked for when it is read: some are computed."""

    def __init__(self, owner: Any, kind: type) -> None:
        self._owner, self._kind = owner, kind

    def __getattr__(self, name: str) -> Any:
        if name not in vars(self._kind):
            raise AttributeError(f"{self._kind.__name__} declares no {name}")
        return getattr(self._owner, name, vars(self._kind)[name])


def stated(owner: Any, kind: type[F]) -> F:
    """What an owner states of what this class declares, and the usual where it states nothing."""
    return cast(F, _View(owner, kind))
