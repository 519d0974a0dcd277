"""The adapter that makes a pupil of anything with `learn` and `predict`, in plain Python and
NumPy.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Cost, HostLearner, Pace, Snapshot, face, name_of, pace_of
from quickstudy.base.offers import (
    Batched,
    ByStates,
    Closing,
    Comparing,
    Describing,
    HoldingBack,
    HostActing,
    HostLearningSlowly,
    HostShowing,
    HostStepping,
    Judging,
    Predicting,
    PredictingMany,
    RemarkingHost,
    Restoring,
    Snapshotting,
    Told,
    Unrolling,
    Watching,
    offers,
)
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import WORDS, Tokens, check_scale, check_spaces
from quickstudy.base.stated import HostFacts, LearnerFacts, stated
from quickstudy.base.task import Life, World
from quickstudy.learners.host_values import (
    Prefixes,
    action_checker,
    answers_before,
    as_lanes,
    checked_rows,
    of_lane,
    own_copy,
    parameters_counted,
)

MANY = 256
"""Sequences that are put to `predict_many` in one call: an exam of any size then takes bounded
memory.
"""


@dataclass(frozen=True)
class Hosted:
    """A learner made of make(brief, seed). One lane. declared: the class that declares its pace and
    the spaces it supports, if `make` is not that class itself. control: it is a rule of the task's,
    and may be shown what no learner is (see `registries.control`). given: its pace, where
    parameters set it.
    """

    make: Callable[..., HostLearner]
    declared: Any = None
    control: bool = False
    given: Pace | None = None

    @property
    def pace(self) -> Pace:
        """As its parameters or its class say; once, and no batches, if they say nothing."""
        return self.given or pace_of(self.declared or self.make)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """A fresh host learner, seeded from the stream `host`.

        Raises NotApplicable for spaces that it is not for: it names others in `reads` and `gives`,
        or it asks for the number of symbols where there are none.
        """
        said = self.declared or self.make
        called = stated(said, LearnerFacts).id or getattr(said, "__name__", "the learner")
        check_spaces(called, said, brief.inputs, brief.outputs)
        if len(streams) != 1:
            raise UsageError(f"a host learner has one lane, not {len(streams)}")
        try:
            host = self.make(brief, streams[0].integer("host"))
        except AttributeError as error:
            if error.name != "size" or type(error.obj) not in WORDS:
                raise
            raise NotApplicable(
                f"{called} is for symbols: it uses `size` of its inputs or outputs, which are "
                f"{WORDS[type(error.obj)]} here"
            ) from error
        if host is None:
            raise LearnerFault(
                f"{name_of(said)} returned None; what is called with (brief, seed) must return a"
                " learner"
            )
        return HostPupil(host, brief, self.control, self.pace.batch)


class HostPupil:
    """Talks to a host learner, one sequence a call, and checks every answer.

    Every array that is handed out is a copy and the host's own: a view that is only locked can be
    unlocked, and a library that shares its memory writes through it into the data of all other
    learners. A copy costs as much as a locked view did, 0.3 microseconds.

    by_prediction: a step is a prediction for the whole prefix; who has whole sequences had better
    ask `answer`. is_rule: it is a control, whose predictions take no time worth mentioning.
    batch: examples per update, for a host with `learn_many`; 0: the whole lesson.
    """

    lanes = 1
    by_prediction = True

    def __init__(
        self, host: HostLearner, brief: Brief, control: bool = False, batch: int | None = None
    ) -> None:
        self.host, self._batch, self._facts = host, batch, stated(host, HostFacts)
        self._brief, self._control, self.is_rule = brief, control, control
        usual = "order" if isinstance(brief.outputs, Tokens) else "values"
        self._scale = check_scale(self._facts.scale or usual, brief.outputs)
        self._shown = 0
        self._fixed: tuple[Exam, NDArray[np.float64]] | None = None
        self._checked = action_checker(brief.outputs)
        self._many_checked = False
        self._told = control and offers(host, Told)
        if offers(host, HostActing):
            self.act, self.live = self._act, self._live
        if offers(host, HostShowing):
            self.states = self._states
        if offers(host, Snapshotting):
            self.snapshot = self._snapshot
        if offers(host, Restoring):
            self.restore = self._restore
        if offers(host, HostLearningSlowly):
            self.learning = self._learning
        self.recorded = bool(self._facts.recorded)
        self.one_at_a_time = bool(self._facts.one_at_a_time)
        self._held_back: Any = None
        if control and offers(host, Watching):
            self.watch = host.watch
        if (
            offers(host, Predicting) and not self._told and not self.recorded
        ):  # who steps is asked before anybody knows the answers
            own = offers(host, HostStepping)
            stepper: Any = host if own else Prefixes(self._all_predicted)
            self._stepper, self.start, self.rows, self.step = (
                stepper,
                stepper.start,
                stepper.rows,
                self._step,
            )
            self.by_prediction = not own
            # What is read at once need not be read again after every step.
            if not own or offers(host, Unrolling):
                self.unroll = self._unroll
            if own and offers(host, Comparing):
                self.same = host.same
            if own and offers(host, ByStates):
                self.fingerprint = host.fingerprint
            if own and offers(host, Judging):
                self.judged = self._judged
        self.remark = host.remark if offers(host, RemarkingHost) else lambda: ""
        if offers(host, Describing):
            self.described = host.described

    @property
    def can_hold(self) -> bool:
        """Whether `act` of the host can be called without learning."""
        try:
            known = inspect.signature(self.host.act).parameters.values()  # type: ignore[attr-defined]
        except (TypeError, ValueError):  # a compiled function does not say
            return True
        return any(one.name == "learning" or one.kind is one.VAR_KEYWORD for one in known)

    @property
    def called(self) -> str:
        """As the host is: the user does not know the adapter."""
        return name_of(self.host)

    @property
    def scale(self) -> str:
        """As declared by the host; else the largest score is the answer, or scores are values."""
        return self._scale

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """Show the items one after another, or in batches to a host with `learn_many`: an update is
        made when its batch is full, as by the built-in trainings.
        """
        face(self.host, HostLearner)
        held_back = lesson.validation
        if offers(self.host, HoldingBack) and held_back and self._held_back is not held_back:
            self._held_back, own = held_back, held_back[0]
            every = (self._item(own, index, own.asked[:, index]) for index in range(own.count))
            self.host.hold_back([item for item in every if item is not None])
        if offers(self.host, Batched):
            size = lesson.examples[0].count if self._batch == 0 else self._batch or 1
            items = self._items(lesson, start // size * size, stop // size * size)
            while some := list(itertools.islice(items, size)):
                if there := [item for item in some if item is not None]:
                    self.host.learn_many(there)
            self._shown += stop - start
            return
        for item in self._items(lesson, start, stop):
            if item is not None:
                self.host.learn(*item)
            self._shown += 1

    def _learning(self, lesson: Lesson, start: int, stop: int) -> Iterator[int]:
        for place, item in enumerate(self._items(lesson, start, stop), start):
            for _ in self.host.learning(*item) if item is not None else ():  # type: ignore[attr-defined]
                yield place
            self._shown += 1

    def answer(self, exam: Exam) -> NDArray[np.float64]:
        """Scores of every question; an answer that is a token becomes a score of 1 for that token.

        A host that never learns is asked once for the exam that comes again and again.
        """
        if self._facts.learns:
            return self._asked(exam)
        if self._fixed is None or self._fixed[0] is not exam:
            self._fixed = exam, self._asked(exam)
        return self._fixed[1].copy()

    def _asked(self, exam: Exam) -> NDArray[np.float64]:
        face(self.host, HostLearner)
        examples, positions = exam.examples[0], exam.positions[0]
        scores = np.zeros((1, len(positions), self._brief.outputs.width))
        counted = positions[exam.counted[0]]
        starts = np.flatnonzero(np.diff(counted[:, 1], prepend=-1))
        pieces = [
            slice(*bounds) for bounds in zip(starts, [*starts[1:], len(counted)], strict=True)
        ]
        read = [
            examples.inputs[: counted[piece, 0][-1] + 1, counted[piece.start, 1]]
            for piece in pieces
        ]
        predicted = self._predicted_at(read, [counted[piece, 0] for piece in pieces])
        for piece, inputs in zip(pieces, read, strict=True):
            if self._told:
                answers = examples.targets[: len(inputs), counted[piece.start, 1]]
                self.host.told(own_copy(answers_before(answers)))  # type: ignore[attr-defined]
            scores[0, piece] = next(predicted)
        return scores

    def _predicted_at(
        self, read: Sequence[NDArray[Any]], places: Sequence[NDArray[np.int64]]
    ) -> Iterator[NDArray[np.float64]]:
        """The predictions at some positions of each of some sequences, computed on demand."""
        return (rows[at] for rows, at in zip(self._all_predicted(read), places, strict=True))

    def _all_predicted(self, read: Sequence[NDArray[Any]]) -> Iterator[NDArray[np.float64]]:
        return (
            self._many_predicted(read)
            if offers(self.host, PredictingMany)
            else map(self._predicted, read)
        )

    def _many_predicted(self, read: Sequence[NDArray[Any]]) -> Iterator[NDArray[np.float64]]:
        """The predictions for each of some sequences, in one batch. The first and the last of the
        first exam are also asked alone: other sequences of the batch must not change its answers.
        """
        for start in range(0, len(read), MANY):
            some = read[start : start + MANY]
            given = list(self.host.predict_many([own_copy(inputs) for inputs in some]))  # type: ignore[attr-defined]
            if len(given) != len(some):
                raise LearnerFault(
                    f"predict_many must give one answer per sequence: {len(some)}, got {len(given)}"
                )
            rows = [self._rows(one, len(inputs)) for one, inputs in zip(given, some, strict=True)]
            if not self._many_checked:
                self._many_checked = True
                for place in {0, len(some) - 1}:
                    alone = self._predicted(some[place])
                    # Programs for other shapes round differently; sums of thousands of float32 to
                    # about 1e-5.
                    if not np.allclose(
                        rows[place],
                        alone,
                        rtol=1e-3,
                        atol=1e-4 * max(1.0, float(np.abs(alone).max())),
                    ):
                        raise LearnerFault(
                            "predict_many gives other answers to a sequence than predict to it"
                            " alone"
                        )
            yield from rows

    def cost(self) -> list[Cost]:
        """Items shown, steps acted while it might learn; parameters and bits if the host
        declares them.
        """
        trained, fixed = parameters_counted(self.host)
        if trained is None and (self._control or not self._facts.learns):
            trained = 0  # a rule has none
        updates = self._facts.updates
        made = updates if isinstance(updates, int) else self._shown
        return [Cost(self._shown, made, trained, fixed, bits=self._facts.bits)]

    def close(self) -> None:
        """Let the host close what it has opened."""
        if offers(self.host, Closing):
            self.host.close()

    def _items(self, lesson: Lesson, start: int, stop: int) -> Iterator[tuple[Any, Any] | None]:
        """What the host is shown for each item: inputs and targets; nothing, where nothing is
        asked.
        """
        examples = lesson.examples[0]
        if lesson.item == "example":
            for index in lesson.order[0, start:stop]:
                yield self._item(examples, int(index), examples.asked[:, index])
        else:
            positions = Exam(lesson.examples).positions[0]
            for time, index in positions[lesson.order[0, start:stop]]:
                yield self._item(examples, int(index), np.arange(examples.steps) == time)

    def _item(
        self, examples: Examples, index: int, asked: NDArray[np.bool_]
    ) -> tuple[Any, Any] | None:
        if not asked.any():
            return None
        length = int(np.flatnonzero(asked)[-1]) + 1
        targets = examples.targets[:length, index]
        nothing = -1 if np.issubdtype(targets.dtype, np.integer) else np.nan
        mask = asked[:length].reshape(-1, *[1] * (targets.ndim - 1))
        return own_copy(examples.inputs[:length, index]), own_copy(np.where(mask, targets, nothing))

    def _rows(self, predicted: Any, length: int) -> NDArray[np.float64]:
        return checked_rows(predicted, length, self._brief.outputs, self._scale)

    def _predicted(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        return self._rows(self.host.predict(own_copy(inputs)), len(inputs))

    def _act(
        self,
        observation: Any,
        reward: NDArray[np.float32],
        first: NDArray[np.bool_],
        learning: bool = True,
    ) -> Any:
        gained = float(reward[0]) if reward.ndim == 1 else reward[0]
        action = self._host_act(learning)(of_lane(observation, 0), gained, bool(first[0]))
        self._shown += learning
        return as_lanes([self._checked(action, gained)])

    def _live(self, world: World, steps: int, first: bool, learning: bool = True) -> Life:
        # With a host that echoes, in a world that only compares, one core: 0.3 million steps/s by
        # `act`, through arrays of one lane; here 1.4 million where the world has no loop of its
        # own, 4.1 million where it has one.
        act, checked = self._host_act(learning), self._checked
        tokens = (
            self._brief.outputs.size
            if isinstance(self._brief.outputs, Tokens) and world.players == 1
            else 0
        )

        def plain(observation: Any, reward: Any) -> Any:
            nonlocal first
            action = act(observation, reward, first)
            first = False
            if (
                action.__class__ is int and 0 <= action < tokens
            ):  # a tenth of a microsecond less than to ask
                return action
            return checked(action, reward)

        life = world.live(plain, steps)
        self._shown += learning * len(life.actions)
        return life

    def _host_act(self, learning: bool) -> Callable[..., Any]:
        act: Callable[..., Any] = self.host.act  # type: ignore[attr-defined]
        # A host that cannot hold still need not know the word.
        return act if learning else partial(act, learning=False)

    def _states(self, inputs: NDArray[Any]) -> NDArray[Any]:
        columns = [self.host.states(inputs[:, index].copy()) for index in range(inputs.shape[1])]  # type: ignore[attr-defined]
        return np.stack([np.asarray(column) for column in columns], axis=1)[None]

    def _step(self, state: Any, inputs: Any) -> tuple[Any, NDArray[np.float64]]:
        state, answers = self._stepper.step(state, own_copy(of_lane(inputs, 0)))
        return state, self._rows(answers, len(answers))[None]

    def _unroll(self, state: Any, inputs: Any) -> tuple[Any, NDArray[np.float64]]:
        if self.by_prediction:
            if isinstance(inputs, Mapping):
                raise NotApplicable(
                    "a host learner that has no step of its own reads arrays, not fields"
                )
            state, answers = self._stepper.unroll(state, own_copy(inputs[0]))
            return state, answers[None]
        state, answers = self._stepper.unroll(state, own_copy(of_lane(inputs, 0)))
        return state, np.stack([self._rows(some, len(some)) for some in answers])[None]

    def _judged(self, state: Any, *given: NDArray[Any]) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        state, said, wrong = self.host.judged(state, *given)  # type: ignore[attr-defined]
        return state, said[None], wrong[None]

    def _snapshot(self) -> Snapshot:
        kept = self.host.snapshot()  # type: ignore[attr-defined]
        if isinstance(kept, Mapping):
            kept = Snapshot(kept)
        if not isinstance(kept, Snapshot):
            raise LearnerFault(
                f"snapshot must give a Snapshot, or a mapping of arrays, got {type(kept).__name__}"
            )
        lanes = {str(name): np.asarray(array)[None] for name, array in kept.arrays.items()}
        objects = [name for name, array in lanes.items() if array.dtype.hasobject]
        if objects:
            raise LearnerFault(
                f"snapshot must give arrays of numbers or text, {objects[0]!r} is none"
            )
        return Snapshot(lanes, {**kept.facts, "shown": self._shown})

    def _restore(self, snapshot: Snapshot) -> None:
        self._shown = int(snapshot.facts["shown"])
        lane = {name: array[0] for name, array in snapshot.arrays.items()}
        self.host.restore(Snapshot(lane, snapshot.facts))  # type: ignore[attr-defined]
