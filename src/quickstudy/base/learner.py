"""The learner's side of an examination. A protocol talks to a `Pupil`; a `Learner` makes one; a
`HostLearner` is the easy way to be one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.exchange import Exam, Lesson, Rehearsal, Transcript
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, space_facts, space_from_facts
from quickstudy.base.task import Life, World

F = TypeVar("F")


OUT_OF_REACH = -1e30
"""The score of a symbol that must not be answered, as one that was never seen: its probability is
0.
"""


@dataclass(frozen=True)
class Brief:
    """All that a learner knows beforehand. No task name, no test data.

    inputs, outputs: spaces. loss: `cross-entropy` (tokens), `squared` (reals) or `reward` (a world
    answers). capacity: time steps of the longest training example. budget: items (examples,
    questions or steps) that will be shown, passes included.
    """

    inputs: Space
    outputs: Space
    loss: str
    capacity: int
    budget: int

    def as_facts(self) -> dict[str, Any]:
        """In plain JSON types."""
        return {
            **vars(self),
            "inputs": space_facts(self.inputs),
            "outputs": space_facts(self.outputs),
        }

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Brief:
        """The inverse of `as_facts`."""
        spaces = {name: space_from_facts(facts[name]) for name in ("inputs", "outputs")}
        return cls(**{**facts, **spaces})


@dataclass(frozen=True)
class Pace:
    """How a learner takes its material. A protocol goes by it; nothing else about a learner is
    guessed.

    passes: how often it is shown. batch: examples per update, between which nothing changes and so
    nothing is examined; 0: an update takes the whole lesson; None: it has no batches, and may
    change with every example. by_question: only a readout is trained, and it can be shown single
    questions. peeks: it looks at the whole lesson before it learns, as some published programs do.
    """

    passes: int = 1
    batch: int | None = None
    by_question: bool = False
    peeks: bool = False

    def __post_init__(self) -> None:
        for name, value, least in (("passes", self.passes, 1), ("batch", self.batch, 0)):
            if value is not None and (
                not isinstance(value, int) or isinstance(value, bool) or value < least
            ):
                raise UsageError(
                    f"{name} of a learner must be a whole number from {least}, got {value!r}"
                )

    @property
    def stride(self) -> int:
        """Examples after which something may have changed: those of a batch, or one."""
        return self.batch or 1


def pace_of(learner: Any) -> Pace:
    """The pace of a learner: its `pace`, or its attributes with the names of the fields, as `passes
    = 3` in a class.
    """
    own = getattr(learner, "pace", None)
    if isinstance(own, Pace):
        return own
    said = {field.name: getattr(learner, field.name, None) for field in fields(Pace)}
    # A method or a property of that name is a learner's own affair.
    plain = {
        name: value for name, value in said.items() if isinstance(value, bool | int | float | str)
    }
    return Pace(**plain)  # type: ignore[arg-type]  # refused there if not whole


@dataclass(frozen=True)
class Cost:
    """What a run cost, per lane.

    examples: items shown, passes included, and steps in a world that might be learned from;
    updates: changes of the trained weights; trained_parameters (None where unknown) and
    fixed_parameters: numbers in the model; bits: description length; learn_seconds, answer_seconds:
    wall time without compilation (acting is either, by whether it might learn from it);
    compile_seconds: tracing and compiling, shared by the lanes of a call; tokens: that a language
    model has read and written; answers: that it gave with examples in its context, and how many of
    them were understood (the others count as guesses).
    """

    examples: int = 0
    updates: int = 0
    trained_parameters: int | None = 0
    fixed_parameters: int = 0
    bits: float | None = None
    learn_seconds: float = 0.0
    answer_seconds: float = 0.0
    compile_seconds: float = 0.0
    tokens: int | None = None
    answers: int | None = None
    understood: int | None = None

    def as_facts(self) -> dict[str, Any]:
        """Plain mapping, for records; without the counts of language models, where there are
        none.
        """
        counts = ("tokens", "answers", "understood")
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in counts or value is not None
        }


@dataclass(frozen=True)
class Snapshot:
    """Everything that makes a pupil what it is, as named arrays and plain facts. Saved as npz,
    never pickled.
    """

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)


class Pupil(Protocol):
    """A learner at work, in one lane or several. It offers one or more of the faces below.

    A protocol asks for the face it needs by `face(pupil, Answering)`; one that is missing is "not
    applicable", with that reason in the record.
    """

    lanes: int

    def cost(self) -> Sequence[Cost]:
        """What it has cost so far, one entry per lane. Times are filled in by the protocol."""


class Answering(Pupil, Protocol):
    """Learns from examples and answers questions.

    scale: how scores are to be read. `logits`: their softmax is a distribution over the symbols.
    `probabilities`: they are that distribution. `order`: the largest is the answer, and nothing
    else is meant. `values`: they are the real numbers asked for. For a distribution, call
    `distribution`.
    """

    @property
    def scale(self) -> str:
        """`logits`, `probabilities`, `order` or `values`."""

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """Learn from items start .. stop-1 of the lesson's order.

        Where a protocol cuts makes no difference: learn(0, b) is learn(0, a), then learn(a, b).
        """

    def answer(self, exam: Exam) -> NDArray[Any]:
        """(lane, question, width) scores for every question of the exam.

        The scores of a question depend on nothing at or after the answer's own place in its
        sequence.
        """


class Pausing(Answering, Protocol):
    """Learns as others do, and offers checkpoints on the way: for those who take long over
    a single item.
    """

    def learning(self, lesson: Lesson, start: int, stop: int) -> Iterator[int]:
        """As `learn`, when gone through to its end; on the way, every second or so, the item at
        which it stands.

        All before that item is learned. A pupil that is set back to a snapshot of such a moment,
        and goes on from that item, ends as one that was never interrupted.
        """


class Stepping(Pupil, Protocol):
    """Reads step by step, rows side by side, and answers after each. Nothing is
    learned meanwhile.

    For prefix trees, free running and control: a state can be gone on from more than once. Some
    pupils also have `unroll(state, inputs)`, many steps (lane, time, row, ...) in one call
    (`quickstudy.learners.stepping.unrolled`).
    """

    def start(self, rows: int, capacity: int) -> Any:
        """The state before anything is read. capacity: steps that may follow."""

    def step(self, state: Any, inputs: Any) -> tuple[Any, NDArray[Any]]:
        """Read one step (lane, row, ...), fields as mappings by name: the state after it, (lane,
        row, width) scores.

        The scores are those that `answer` gives to a question at this step, to the rounding of
        another program.
        """

    def rows(self, state: Any, numbers: NDArray[Any]) -> Any:
        """The rows of a state with these numbers (row,), which may repeat: rows branch, or are
        dropped.
        """


class Acting(Pupil, Protocol):
    """Acts in a world that answers, one step at a time."""

    def act(
        self,
        observation: Any,
        reward: NDArray[np.float32],
        first: NDArray[np.bool_],
        learning: bool = True,
    ) -> NDArray[Any]:
        """One action per lane, learning on the way unless `learning` is false.

        observation: with a lane axis on every array in it. reward: for the action before; that for
        an episode's last action comes with the first observation of the next. first: an episode
        begins. Where a world has several players, their axis follows the lanes'. Actions are
        arrays, or a mapping of them where `outputs` are `Fields`. A step that might be learned from
        counts as an example.
        """


class Living(Acting, Protocol):
    """Acts in a world without a detour through arrays, as fast as the world allows. One lane."""

    def live(self, world: World, steps: int, first: bool, learning: bool = True) -> Life:
        """Up to `steps` steps by `world.live`: the same steps as by `act`. first: an episode begins
        with them.
        """


class Rehearsing(Pupil, Protocol):
    """Acts in a pure world, whole episodes a call, each one compiled program; their steps count as
    examples.
    """

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play episodes start .. stop-1 and learn from them."""

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play episodes start .. stop-1 without learning."""


class Showing(Pupil, Protocol):
    """Shows its states, for the measures of what a memory holds."""

    def states(self, inputs: Any, apart: bool = False) -> Any:
        """(lane, time, example, feature) states on the way through inputs (time, example, ...), the
        same for all lanes, with all learning frozen. apart: every lane has its own, (lane, time,
        example, ...); with only one lane this is not used.
        """


class Keeping(Pupil, Protocol):
    """Can be kept and set back, which transfer and forgetting need."""

    def snapshot(self) -> Snapshot:
        """The present state of the pupil."""

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""


@runtime_checkable
class Learner(Protocol):
    """Frozen hyper-parameters of something that learns. How it takes its material is declared by
    `pace`, a `Pace`.
    """

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Pupil:
        """A fresh pupil with one lane per stream."""


class HostLearner(Protocol):
    """Anything that learns, in plain Python and NumPy. Made by `make(brief, seed)`; one lane.

    One call is one sequence, time first. Row t of `targets` is what should be answered after
    `inputs[:t+1]`; -1 (or nan, for reals) where nothing is asked, and the last row always is.
    Symbols are int32, real numbers float64. `predict` gives one row per input row: the answer
    itself, or a score for each possible answer. Row t must not depend on inputs after t.

    Optional: `act(observation, reward, first)` (numbers, arrays or mappings of them, with the
    players in front where there are several; with `learning=False` as well, when it must not
    learn), `states(inputs)`; `start(rows, capacity)`, `step(state, inputs)` and `rows(state,
    numbers)`, as in `Stepping` but without a lane axis (else `predict` is asked again after every
    step, with one more row), and with them, if it likes, `unroll(state, inputs)`, many steps (time,
    row, ...) in one call, and `same(state, other)`, whether the same comes after both;
    `predict_many (list of inputs)`, which gives a list of what `predict` gives to each, and is
    asked instead of it in exams; `learn_many(list of (inputs, targets))`, one update on a batch,
    which is called instead of `learn`; `updates`, how many updates it has made, and `remark()`, a
    line about its run that reports print; `learning(inputs, targets)`, an iterator that, gone
    through, does what `learn` does, and between two of its steps can be kept, so that a fresh host
    set back to that and given the same sequence goes on there (for a `learn` that takes minutes);
    `snapshot()`, which gives a `Snapshot` or the arrays alone by name, and `restore(snapshot)`,
    which is always given a `Snapshot`; `close()` when all is over, and the attributes `parameters`
    (how many it has: a whole number, or arrays, or a function that gives them, as that of a
    `torch.nn.Module` does), `bits` (its description length), `learns` (False for a rule whose
    answers never change, for any material: an exam is then put to it only once) and `scale`
    (how its scores are to be read: see `Answering`; else `order`, or `values` for real numbers).
    Its class may say its pace (`passes = 3`, `batch = 8`) and what it is for (`reads = (Tokens,)`,
    `gives = (Tokens,)`).
    """

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Learn from one sequence."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Answer after every row of one sequence."""


def finite(whose: str, values: NDArray[Any], when: str = "") -> NDArray[Any]:
    """The values, none of which may be infinite or not a number. Raises LearnerFault."""
    if not np.isfinite(values).all():
        raise LearnerFault(f"{whose} are not finite{when}: it has diverged")
    return values


def distribution(scores: NDArray[Any], scale: str) -> NDArray[np.float64]:
    """(..., symbol) probabilities of scores. Raises NotApplicable where the scale gives none.

    >>> distribution(np.array([0.0, np.log(3.0)]), "logits").round(6).tolist()
    [0.25, 0.75]
    """
    rows = np.asarray(scores, dtype=np.float64)
    if scale == "probabilities":
        return rows
    if scale != "logits":
        raise NotApplicable(
            f"the learner gives no distribution: its scores are of the scale {scale}"
        )
    weights = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


_CANNOT: dict[Any, str] = {
    **dict.fromkeys((Answering, HostLearner), "does not answer"),
    **dict.fromkeys((Acting, Living), "does not act"),
    Pausing: "learns without a pause",
    Stepping: "does not read step by step",
    Rehearsing: "does not play whole episodes",
    Showing: "does not show its states",
    Keeping: "cannot be kept",
}


def name_of(pupil: Any) -> str:
    """Its name for people: its class, or, where it wraps another learner, its own text
    by `called`.
    """
    called = getattr(pupil, "called", None)
    return called if isinstance(called, str) else type(pupil).__name__


def face(pupil: Any, kind: type[F]) -> F:
    """The pupil, seen as one that offers a face. Raises NotApplicable, with what is missing, if it
    does not.
    """
    wanted = [
        name for name, value in vars(kind).items() if callable(value) and not name.startswith("_")
    ]
    missing = [name for name in wanted if not callable(getattr(pupil, name, None))]
    if missing:
        cannot = _CANNOT.get(kind, "cannot do what is asked")
        raise NotApplicable(f"{name_of(pupil)} {cannot}: it has no {' and no '.join(missing)}")
    return pupil  # type: ignore[no-any-return]
