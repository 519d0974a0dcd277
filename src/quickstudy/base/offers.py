"""What a pupil or a task may offer besides what it must, each declared once: its methods as
protocols, its facts as fields with the value that holds where nothing is said.

    if offers(pupil, Unrolling):
        state, scores = pupil.unroll(state, inputs)
    criterion = series_facts(task).criterion

A name that is not declared here is an error of the type checker, and of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, Protocol, TypeGuard, TypeVar

from numpy.typing import NDArray

F = TypeVar("F")


class Unrolling(Protocol):
    """Reads many steps in one call."""

    def unroll(self, state: Any, inputs: Any) -> tuple[Any, NDArray[Any]]:
        """(state, scores (lane, time, row, output)) after inputs (lane, time, row, ...)."""


class Comparing(Protocol):
    """Knows whether the same comes after two states."""

    def same(self, state: Any, other: Any) -> bool:
        """Whether it does."""


class Weighing(Protocol):
    """Knows the size of a state."""

    def weight(self, state: Any) -> int:
        """In bytes."""


class Fitting(Protocol):
    """Can hold a state in no more room than is needed."""

    def fitted(self, state: Any, past: int, future: int) -> Any:
        """The same state, with room for so many steps that were read and that may follow."""


class Judging(Protocol):
    """Finds the likeliest symbols, and counts the wrong ones, in its own program."""

    def judged(self, state: Any, inputs: Any, targets: Any, counts: Any) -> tuple[Any, Any, Any]:
        """(state, likeliest symbols, wrong ones)."""


class Dividing(Protocol):
    """Can go on reading with some of its lanes."""

    def of_lanes(self, numbers: Sequence[int]) -> Any:
        """These lanes alone."""


class ByStates(Protocol):
    """Has so few states that they can be told apart."""

    def fingerprint(self, state: Any) -> Any:
        """Of a state: the same where the same comes after it."""


class Reconstructing(Protocol):
    """Can say what it has read."""

    def rebuilt(self, exam: Any) -> Any:
        """(lane, question, number), or None where it never learned to."""


class Moving(Protocol):
    """Can act on plants, in one compiled program."""

    def act_on(self, warm: Any, plants: Any, advance: Any, steps: int) -> Any:
        """What is reached where its answers move something."""


class Differentiating(Protocol):
    """Can be differentiated through, as it reads its own answers."""

    def exponents(self, warm: Any, count: int, steps: int) -> tuple[Any, Any]:
        """Its largest Lyapunov exponents, and the answers."""


class Remarking(Protocol):
    """Has something to say of each lane of a run."""

    def remarks(self, lane: int) -> str:
        """A line, or nothing."""


class Performing(Protocol):
    """Plays whole episodes, whether or not it learns from any."""

    def perform(self, rehearsal: Any, start: int, stop: int) -> Any:
        """Play episodes start .. stop-1, learning nothing."""


class LivingIn(Protocol):
    """Can act in a world that is given as arrays, in one compiled program."""

    def live_in(self, world: Any, *given: Any) -> Any:
        """Up to so many steps."""


class AsArrays(Protocol):
    """A world that can be given as arrays."""

    def compiled_with(self, others: Sequence[Any]) -> Any:
        """Itself and others; None where there is no such form."""


class Watching(Protocol):
    """A rule that may look into worlds."""

    def watch(self, world: Any) -> None:
        """Called with every world before the first step in it."""


@lru_cache
def _methods(kind: Any) -> tuple[str, ...]:
    return tuple(name for name, value in vars(kind).items() if callable(value) and name[0] != "_")


def offers(owner: Any, kind: type[F]) -> TypeGuard[F]:
    """Whether an object has all methods that a protocol itself declares."""
    declaring: Any = kind  # mypy holds no type of a protocol to be hashable
    return all(callable(getattr(owner, name, None)) for name in _methods(declaring))


@dataclass(frozen=True)
class PupilFacts:
    """What a pupil may state of itself, as plain attributes.

    learns: False for a rule whose answers never change, whatever it is shown.
    by_prediction: a step is a prediction for the whole prefix, so whole sequences are cheaper.
    is_rule: it is a control, whose predictions take no time worth mentioning.
    can_hold: it can act without learning.
    reads_streams: inputs of its lessons may lie on the device.
    recorded: it has states for the inputs that `quickstudy drive` writes, and for no others.
    one_at_a_time: it steps along one sequence; going on with another one means a replay.
    """

    learns: bool = True
    by_prediction: bool = False
    is_rule: bool = False
    can_hold: bool = True
    reads_streams: bool = False
    recorded: bool = False
    one_at_a_time: bool = False


@dataclass(frozen=True)
class SeriesFacts:
    """What a task on a series may state of itself.

    criterion: loss of an answer, `squared` or `modulus`.
    running: `driven` by true inputs, or `free`, on its own answers, in the test.
    climate: steps of a long run on its own answers; 0: none.
    validates_free: the validation part has a free run too.
    taxonomy: facts by which tasks are compared.
    """

    criterion: str = "squared"
    running: str = "driven"
    climate: int = 0
    validates_free: bool = False
    taxonomy: Mapping[str, Any] = field(default_factory=dict)


def pupil_facts(pupil: Any) -> PupilFacts:
    """What a pupil states, and the usual where it states nothing."""
    return PupilFacts(**_stated(pupil, PupilFacts))


def series_facts(task: Any) -> SeriesFacts:
    """What a task states, and the usual where it states nothing."""
    return SeriesFacts(**_stated(task, SeriesFacts))


_NOTHING = object()


def _stated(owner: Any, kind: type) -> dict[str, Any]:
    found = {one.name: getattr(owner, one.name, _NOTHING) for one in fields(kind)}
    return {name: value for name, value in found.items() if value is not _NOTHING}
