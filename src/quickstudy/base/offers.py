"""What a pupil or a task may do besides what it must, each method declared once, in a protocol;
its facts are declared in `stated`.

    if offers(pupil, Unrolling):
        state, scores = pupil.unroll(state, inputs)

A name that is not declared here is an error of the type checker, and of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """Has a finite, small set of states that can be enumerated."""

    def fingerprint(self, state: Any) -> Any:
        """Of a state: the same where the same comes after it."""


class Reconstructing(Protocol):
    """Can say what it has read."""

    def rebuilt(self, exam: Any) -> Any:
        """(lane, question, number), or None where it never learned to."""


class Moving(Protocol):
    """Can act on plants, in one compiled program."""

    def act_on(self, warm: Any, plants: Any, advance: Any, steps: int) -> Any:
        """The goal that its answers steer towards, if they move something."""


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


class Batched(Protocol):
    """A host that learns from several sequences in one update."""

    def learn_many(self, items: Sequence[tuple[Any, Any]]) -> None:
        """One update on a batch of (inputs, targets)."""


class Predicting(Protocol):
    """A host that answers after every row of a sequence."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """One row per input row."""


class HoldingBack(Protocol):
    """A host that chooses its settings on material that it does not learn from."""

    def hold_back(self, items: Sequence[tuple[Any, Any]]) -> None:
        """(inputs, targets) of the validation part."""


class PredictingMany(Protocol):
    """A host that answers several sequences in one call."""

    def predict_many(self, sequences: Sequence[NDArray[Any]]) -> Sequence[NDArray[Any]]:
        """What `predict` gives to each."""


class HostActing(Protocol):
    """A host that acts in a world."""

    def act(self, observation: Any, reward: Any, first: bool) -> Any:
        """Its action."""


class HostStepping(Protocol):
    """A host that reads step by step, without a lane axis."""

    def start(self, rows: int, capacity: int) -> Any:
        """The state before anything is read."""

    def step(self, state: Any, inputs: Any) -> tuple[Any, NDArray[Any]]:
        """(state, answers) after one step (row, ...)."""

    def rows(self, state: Any, numbers: NDArray[Any]) -> Any:
        """The rows of a state with these numbers."""


class HostLearningSlowly(Protocol):
    """A host whose learning has pauses."""

    def learning(self, inputs: NDArray[Any], targets: NDArray[Any]) -> Iterator[None]:
        """As `learn`, when gone through to its end."""


class HostShowing(Protocol):
    """A host that shows its states."""

    def states(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """(time, feature) states on the way through inputs."""


class Snapshotting(Protocol):
    """Can be kept."""

    def snapshot(self) -> Any:
        """Its present state."""


class Restoring(Protocol):
    """Can be set back."""

    def restore(self, snapshot: Any) -> None:
        """Be as at the snapshot."""


class Told(Protocol):
    """A control that may see the right answers before a question."""

    def told(self, answers: NDArray[Any]) -> None:
        """The right answers of the sequence that is asked next, one row late."""


class Describing(Protocol):
    """Can say what it has learned."""

    def described(self) -> dict[str, Any]:
        """In plain JSON types."""


class RemarkingHost(Protocol):
    """A host with something to say of its run."""

    def remark(self) -> str:
        """A line, or nothing."""


class Closing(Protocol):
    """Has opened something."""

    def close(self) -> None:
        """Close it."""


class CountingWork(Protocol):
    """Knows what it computes."""

    def count_work(self, sequences: Sequence[NDArray[Any]]) -> Mapping[str, float]:
        """Multiplications by kind, a step."""


class Beginning(Protocol):
    """A learner that is whole by itself."""

    def begin(self, brief: Any, streams: Any) -> Any:
        """A fresh pupil."""


class HostLearning(Protocol):
    """Learns from one sequence."""

    def learn(self, inputs: Any, targets: Any) -> None:
        """Learn."""


class ByQuestion(Protocol):
    """A learner around another, which depends on what is asked."""

    def asked_for(self, asked: str) -> Any:
        """The same for what is asked."""


class Ready(Protocol):
    """A learner that has something to prepare before its runs."""

    def ready(self) -> None:
        """Prepare it, or refuse."""


class Counting(Protocol):
    """A learner that counts what it reads and writes."""

    def counting(self) -> Any:
        """The counts of a run."""


class ImportedCode(Protocol):
    """A host class whose parameters name code of others."""

    def imported_code(self, parameters: Mapping[str, Any]) -> Any:
        """What identifies that code."""


class Parted(Protocol):
    """A task with an official split into training and test."""

    def parts(self) -> Any:
        """Both."""


class OfLengths(Protocol):
    """A task on strings of given lengths."""

    def of_lengths(self, *given: Any) -> Any:
        """Such strings."""


class Signalling(Protocol):
    """A task that has a signal to look at states with."""

    def signal(self, rng: Any, shape: Any) -> Any:
        """The inputs."""


class FreeRunning(Protocol):
    """A task that can be gone on with from a learner's own answers."""

    def free_run(self, series: Any) -> Any:
        """Where it begins, and what is right; None where there is none."""


class Examining(Protocol):
    """A task that draws exams itself."""

    def exam(self, *given: Any) -> Any:
        """An exam of one lane."""


class ExaminingMany(Protocol):
    """A task that draws the exams of all lanes together."""

    def exams(self, streams: Any, episodes: int) -> Any:
        """By lane."""


class Lessons(Protocol):
    """A task that draws the lessons of all lanes together."""

    def lessons(self, streams: Any, first: int, count: int) -> Any:
        """By lane."""


class CountingSteps(Protocol):
    """A task that counts the steps of a lesson."""

    def steps(self, lesson: Any) -> int:
        """In all."""


class Payoffs(Protocol):
    """A task in which every decision has a payoff of its own."""

    def payoffs(self, *given: Any) -> Any:
        """Of all decisions."""


class HasWorld(Protocol):
    """A task with a world of pure functions."""

    def world(self, *given: Any) -> Any:
        """The world."""


class Responding(Protocol):
    """A task on a system that responds to its inputs."""

    def response(self, inputs: Any) -> Any:
        """What is right after each."""


class ListValues(Protocol):
    """A list of strings that knows the numbers that each was made by."""

    def values(self, position: int) -> Any:
        """Of the string at a position."""


@lru_cache
def _methods(kind: Any) -> tuple[str, ...]:
    return tuple(name for name, value in vars(kind).items() if callable(value) and name[0] != "_")


def offers(owner: Any, kind: type[F]) -> TypeGuard[F]:
    """Whether an object has all methods that a protocol itself declares."""
    declaring: Any = kind  # mypy holds no type of a protocol to be hashable
    return all(callable(getattr(owner, name, None)) for name in _methods(declaring))
