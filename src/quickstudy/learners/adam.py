"""Backpropagation through time with Adam: core and head trained together, on whole examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import OUT_OF_REACH, Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import jax
from quickstudy.learners.auxiliary_losses import AuxiliaryLosses
from quickstudy.learners.batching import check_leak, packed_lesson, padded_lesson, whole_lesson
from quickstudy.learners.chunked_features import streamed
from quickstudy.learners.core_with_training import Usual
from quickstudy.learners.evaluation_batches import GroupedExam, exam_for, is_large
from quickstudy.learners.features import all_states
from quickstudy.learners.lanes import Frame, stack_lanes
from quickstudy.learners.online_batches import Batches, answering_streams, first_answers, streaming
from quickstudy.learners.optimiser import FALLS_AFTER, OptimiserConfig
from quickstudy.learners.pupil import CompiledPupil
from quickstudy.learners.stepping import Model, SomeLanes, SteppingPupil
from quickstudy.learners.updates import answering, begun, of_tokens, of_values, updating


@training("adam", version=2)
@dataclass(frozen=True)
class Adam:
    """Backpropagation through time with Adam: one update per batch of examples.

    The head starts uniform in +-1/sqrt(features), unless the core sets it. A core with noise
    (dropout) has it during training, never in a test. Where real numbers are asked for, the usual
    parameters are batch 8, rate 0.005 and 200 passes; for whole strings batch 8 and 100 passes, and
    answers are among all symbols.

    Source: Kingma and Ba 2015; Cisneros et al. 2022, who have one sequence per update in the text
        and add the gradients of 8 in the programs.

    Parameters
    ----------
    rate:
        Step size.
    batch:
        Examples per update; 0 takes the whole lesson, once per pass.
    passes:
        Times that the material is shown, in a new order each time. More than 1 is replay, and the
        report names it.
    total:
        Loss of a batch: `mean` or `sum` of its examples' losses, each the mean over its questions;
        or `questions`, the mean over all questions of the whole lesson.
    among:
        `seen`: a symbol that was never an answer is never given as one, as by the readouts; or
        `all`.
    l1:
        Weight of the sum of absolute values of all trained numbers in the loss.
    l2:
        Weight of the sum of their squares.
    schedule:
        `constant`; `cosine`: the rate rises over the first 3 % of all updates and falls to 0 by the
        last; `late`: it falls over the last quarter only.
    clip:
        Largest norm of a gradient; 0 for no limit.
    rebuild:
        Weight of an auxiliary loss: reconstruct the input of the query step. For examples that
        follow each other without end.
    foretell:
        Weight of an auxiliary loss: predict the input of the next step.
    numbers:
        Leading numbers of the input that both losses use; 0 for all.
    bits:
        Binary inputs after these that are reconstructed too, by cross-entropy.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(1, at_least=0)
    passes: int = parameter(10, at_least=1)
    total: str = parameter("mean", choices=("mean", "sum", "questions"))
    among: str = parameter("seen", choices=("seen", "all"))
    l1: float = parameter(0.0, at_least=0)
    l2: float = parameter(0.0, at_least=0)
    schedule: str = parameter("constant", choices=("constant", "cosine", "late"), added=True)
    clip: float = parameter(0.0, at_least=0, added=True)
    rebuild: float = parameter(0.0, at_least=0, added=True)
    foretell: float = parameter(0.0, at_least=0, added=True)
    numbers: int = parameter(0, at_least=0, added=True)
    bits: int = parameter(0, at_least=0, added=True)

    programs: ClassVar[int] = 2
    usual_for: ClassVar[tuple[Usual, ...]] = tuple(
        Usual(asked, frozen=False) for asked in ("symbols", "spans", "reals", "strings")
    )
    by_question: ClassVar[bool] = False
    # Measured on NARMA-10 in windows of 20 steps, NRMSE: lstm 0.30, gru 0.37, rnn 0.22, transformer
    # 0.55; with rate 0.01 and 100 passes 0.53, 0.49, 0.83, 0.46. On 100 strings of a^n b^n an lstm
    # is right up to n = 12; after 10 passes for no n.
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "spans": {"batch": 8, "rate": 0.003},
        "reals": {"batch": 8, "rate": 0.005, "passes": 200},
        "strings": {"batch": 8, "passes": 100, "among": "all"},
    }
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"batch": 8, "total": "sum", "among": "all"},
        "written": {"among": "all"},
    }

    traced: ClassVar[tuple[str, ...]] = ("rate", "l1", "l2")

    def __post_init__(self) -> None:
        if self.total == "questions" and self.batch:
            raise ValueError("total=questions is of the whole lesson: give batch=0")

    def check_core(self, core: CoreSpec) -> None:
        """Any core: for a reservoir, only the head is trained."""

    def begin(
        self, core: CoreSpec, brief: Brief, streams: Sequence[Streams], beside: Sequence[Adam] = ()
    ) -> AdamPupil:
        """A fresh pupil. beside: the training of each lane, where they differ in what is traced."""
        return AdamPupil(self, core, brief, streams, beside or [self] * len(streams))


class _Lesson(NamedTuple):
    """A lesson as it is learned: the program and its material, (lane,) examples per update, the
    optimiser's configuration, and (lane, symbol) the item with which each symbol is first an
    answer.
    """

    material: Any
    train: Callable[..., Any]
    batches: NDArray[np.int64]
    config: OptimiserConfig
    first: NDArray[np.int64]


class AdamPupil(CompiledPupil, SteppingPupil):
    """A model in training. An update is made when its batch is full, so what is shown between two
    changes nothing. further: outputs of the head besides those that are asked for.
    """

    parts: ClassVar[Mapping[str, str]] = {"": "_learned", "shown": "shown", "known": "_known"}
    # The two programs that answer differ in the last bits: a restored learner must use the same.
    facts: ClassVar[Mapping[str, str]] = {"by_stream": "_by_stream"}

    def __init__(
        self,
        training: Adam,
        core: CoreSpec,
        brief: Brief,
        streams: Sequence[Streams],
        by_lane: Sequence[Adam],
        further: int = 0,
    ) -> None:
        super().__init__(len(streams))
        self._training, self._by_lane = training, by_lane
        self._tokens = isinstance(brief.outputs, Tokens)
        self._auxiliary = AuxiliaryLosses.of(
            training.rebuild, training.foretell, training.numbers, training.bits, brief
        )
        further += self._auxiliary.width if self._auxiliary else 0
        models = [
            Model.drawn(core, brief.inputs, brief.outputs.width + further, stream)
            for stream in streams
        ]
        self._arrays, self._frame, self._sizes = begun(models)
        self._widths = models[0].core.width, brief.outputs.width + further
        # A core without noise gets no key: its program is the same as if there were none.
        noisy = models[0].core.capabilities.noisy
        self._keys = (
            stack_lanes([jax.random.key_data(stream.jax("noise")) for stream in streams])
            if noisy
            else None
        )
        # Without penalties the program is the one without them; all penalties share another, in
        # which one of 0 adds exactly nothing, and so do all schedules.
        self._planned = (
            brief.budget // (training.batch or 1) if training.schedule in FALLS_AFTER else 0
        )
        self._scheduled = bool(self._planned or training.clip)
        self._penalised = self._scheduled or any(lane.l1 or lane.l2 for lane in by_lane)
        self._core, self._can = models[0].core, models[0].core.capabilities
        # Side by side with others a sequence waits for the longest of all lanes, and nothing is
        # saved by packing.
        self._packs = self.lanes == 1 and self._can.packs and self._auxiliary is None
        if self._can.leaks:
            check_leak(brief)
        # Packed lessons stay packed; a leak needs its answers written in.
        self.reads_streams = bool(training.batch) and not self._packs and not self._can.leaks
        self._losses: Callable[..., Any] = of_tokens if self._tokens else of_values
        self._streamed: tuple[Lesson, Batches] | None = None
        self._by_stream = False  # answers come from the program that fits how it has learned
        self._tested: tuple[Exam, Batches] | None = None
        self._lesson: tuple[Lesson, _Lesson] | None = None
        self._exam: tuple[Exam, tuple[GroupedExam, tuple[int, ...] | None] | None] | None = None
        # (lane, symbol): what may be answered.
        self._known = np.full(
            (self.lanes, brief.outputs.width), not self._tokens or training.among == "all"
        )

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """All updates whose batch fills up between start and stop, in one call."""
        if lesson.item != "example":
            raise UsageError("adam learns from whole examples, not from single questions")
        if lesson.stream and self.reads_streams:
            return self._learn_stream(lesson, start, stop)
        if self._auxiliary:
            raise NotApplicable(
                "rebuild and foretell are for examples that follow one another without end, in"
                " batches"
            )
        if self._lesson is None or self._lesson[0] is not lesson:
            self._lesson = lesson, self._prepared(lesson)
        prepared = self._lesson[1]
        bounds = (lesson.within(start, stop) // prepared.batches[:, None]).astype(np.int32)
        self._arrays = prepared.train(
            self._arrays, prepared.material, bounds, prepared.config, self._keys
        )
        self.shown += np.diff(lesson.within(start, stop))[:, 0]
        self._known |= prepared.first < (bounds[:, 1] * prepared.batches)[:, None]
        jax.block_until_ready(self._arrays)

    def _learn_stream(self, lesson: Lesson, start: int, stop: int) -> None:
        """The same for a lesson that is one of many: an update is a call."""
        if self._streamed is None or self._streamed[0] is not lesson:
            self._streamed = (
                lesson,
                Batches.of_lesson(lesson, self._training.batch, self._can.stops),
            )
            self._by_stream = True
            known = self._known.all()
            self._new = (
                np.zeros_like(self._known, np.int64)
                if known
                else first_answers(lesson, self._known.shape[1])
            )
        bounds = np.array([start, stop]) // self._training.batch
        config = self._config(np.full(self.lanes, self._training.batch))
        update = streaming(self._frame, self._losses, self.lanes)
        for cut in self._streamed[1].cuts(*bounds):
            self._arrays = update(self._arrays, cut, config, self._keys)
        self.shown += stop - start
        self._known |= self._new < bounds[1] * self._training.batch
        jax.block_until_ready(self._arrays)

    def _prepared(self, lesson: Lesson) -> _Lesson:
        batch, whole = self._training.batch, self._training.batch == 0
        first = (
            first_answers(lesson, self._known.shape[1])
            if self._tokens
            else np.zeros((self.lanes, 1), np.int64)
        )
        batches = (
            np.array([lane.count for lane in lesson.examples])
            if whole
            else np.full(self.lanes, batch)
        )
        weights = None
        if whole:
            lesson, weights = whole_lesson(lesson, self._training.total == "questions")
            batch = lesson.items
        material, allowed = (
            (packed_lesson(lesson, batch, weights), None)
            if self._packs
            else padded_lesson(lesson, batch, self._core, weights)
        )
        train = updating(self._frame, allowed, batch, whole, self._losses, self.lanes)
        return _Lesson(material, train, batches, self._config(batches), first)

    def _config(self, batches: NDArray[Any]) -> OptimiserConfig:
        """With arrays (lane,). batches: examples per update of every lane."""
        training = self._training
        scales = batches if training.total == "sum" else np.ones(self.lanes)
        schedule: dict[str, Any] = {"falls_after": None}
        if self._scheduled:
            falls_after = FALLS_AFTER.get(training.schedule, 0.0)
            schedule = {"planned": self._planned, "clip": training.clip, "falls_after": falls_after}
        lanes = [
            OptimiserConfig(
                own.rate,
                scale,
                l1=own.l1 if self._penalised else None,
                l2=own.l2 if self._penalised else None,
                **schedule,
                auxiliary=self._auxiliary,
            )
            for own, scale in zip(self._by_lane, scales, strict=True)
        ]
        return OptimiserConfig.of_lanes(lanes)

    def answer(self, exam: Exam) -> NDArray[np.float32]:
        """(lane, question, output) logits or values."""
        return self._among_known(self._answered(exam)[..., : self._known.shape[1]])

    def rebuilt(self, exam: Exam) -> NDArray[np.float32] | None:
        """(lane, question, number): its reconstruction of the input there; None without that
        auxiliary loss.
        """
        if self._auxiliary is None or not self._auxiliary.rebuild:
            return None
        return np.asarray(
            self._auxiliary.rebuilt(self._answered(exam)[..., -self._auxiliary.width :])
        )

    def _among_known(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Scores (lane, ..., output) with those of symbols that may not be answered put out of
        reach.
        """
        if self._known.all():
            return scores
        known = self._known.reshape(self.lanes, *[1] * (scores.ndim - 2), -1)
        return np.where(known, scores, scores.dtype.type(OUT_OF_REACH))

    def _read(self, state: Any, inputs: Any, program: Any, axis: int) -> tuple[Any, NDArray[Any]]:
        state, scores = super()._read(state, inputs, program, axis)
        return state, self._among_known(scores[..., : self._known.shape[1]])

    def _answered(self, exam: Exam) -> NDArray[np.float32]:
        if self._by_stream:
            return self._answered_stream(exam)
        if self._exam is None or self._exam[0] is not exam:
            large = not self._can.leaks and is_large(exam, *self._widths)
            self._exam = exam, None if large else exam_for(self._core, exam)
        if self._exam[1] is None:
            return streamed(self._frame.filled(self._arrays)[0], exam)
        grouped, allowed = self._exam[1]
        answered = answering(self._frame, allowed, self.lanes)
        scores = np.asarray(answered(self._arrays, grouped.inputs, grouped.asked, grouped.steps))
        return np.take_along_axis(
            scores.reshape(self.lanes, -1, scores.shape[-1]), grouped.found[:, :, None], axis=1
        )

    def _answered_stream(self, exam: Exam) -> NDArray[np.float32]:
        """In the lengths in which it has learned."""
        if self._tested is None or self._tested[0] is not exam:
            self._tested = exam, Batches.of_exam(exam, self._can.stops)
        batches, program = self._tested[1], answering_streams(self._frame, self.lanes)
        scores = [
            program(self._arrays, cut.inputs, cut.places)
            for cut in batches.cuts(0, batches.order.shape[1])
        ]
        return batches.by_question([*map(np.asarray, scores)], exam.counted.shape[1])

    def _speaker(self) -> Model:
        if self._can.leaks:
            raise NotApplicable(
                "a core that is shown whole sequences, their answers included, cannot go step by"
                " step"
            )
        return self._frame.filled(self._arrays)[0]  # type: ignore[no-any-return]

    def of_lanes(self, numbers: Sequence[int]) -> SomeLanes:
        """These lanes alone."""
        return SomeLanes(self._speaker(), self.scale, numbers)

    def states(self, inputs: Any, apart: bool = False) -> Any:
        """(lane, time, example, feature) features of the cores with their present weights."""
        return all_states(self._frame.filled(self._arrays)[0].core, inputs, self.lanes, apart)

    @property
    def _learned(self) -> tuple[Any, Any, Any]:
        """Model, moments and keys."""
        return (*self._frame.filled(self._arrays), self._keys)

    @_learned.setter
    def _learned(self, learned: tuple[Any, Any, Any]) -> None:
        self._arrays, self._frame = Frame.of(learned[:2])
        self._keys = learned[2]

    @property
    def scale(self) -> str:
        """Logits of symbols, or real values."""
        return "logits" if self._tokens else "values"

    def updates(self) -> NDArray[np.integer[Any]]:
        """Full batches."""
        if self._training.batch:
            return self.shown // self._training.batch
        # Lessons may be of different sizes, and the moments have counted.
        return np.asarray(self._frame.filled(self._arrays)[1].count)

    def sizes(self) -> tuple[int, int]:
        """Of a model."""
        return self._sizes
