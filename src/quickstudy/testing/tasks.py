"""What every task promises, and what those promise that draw data: examples and series."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.canonical import canonical
from quickstudy.base.examples import Series
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.base.task import ExampleTask, PureWorldTask, SeriesTask, WorldTask, spaces_of
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.runs.run_spec import controls_of
from quickstudy.tasks.sampling import check_drawn, check_within
from quickstudy.testing.check_result import (
    Broken,
    Finding,
    Promise,
    as_bytes,
    examine,
    examine_all,
    report_touched,
    under,
    undisturbed,
)
from quickstudy.testing.metadata_checks import Papers

COUNT = 40


def check_task(task: Any) -> list[Finding]:
    """One finding per promise of a task; a class is checked with its default parameters.

    A task of several kinds (one that draws examples and is a world as well) keeps the promises of
    each.
    """
    if isinstance(task, type):
        made = examine(
            "can be made with its defaults", lambda: str(configure(task.__name__, task, {}))
        )
        if not made.ok:
            return [made]
        task = configure(task.__name__, task, {})
    papers, kinds = Papers(task), list(_kinds(task))
    with (
        undisturbed() as watch
    ):  # from here on: JAX draws from NumPy's shared generator when it is imported
        declared = examine_all(papers.declared())
        if not declared[0].ok:
            return declared
        findings = examine_all(papers.sheet(), doors=0)
        if not kinds:
            findings.append(
                Finding(False, "is a task of some kind", f"it has none of {', '.join(_METHODS)}")
            )
        for kind in kinds:
            found = examine_all(kind.promises(), kind.doors)
            findings += under(kind.title, found) if len(kinds) > 1 else found
        findings += examine_all(papers.company(), doors=0)
        symbols = isinstance(task, ExampleTask) and isinstance(spaces_of(task)[1], Tokens)
        if findings[-1].ok and papers.oracle and symbols:
            findings.append(examine("its oracle is always right", lambda: _oracle_is_right(task)))
        findings.append(
            examine("touches no global randomness", lambda: report_touched(watch.touched))
        )
    return findings


class Kind(ABC):
    """The promises of one kind of task.

    title: what its findings stand under where a task is of several kinds. same, other: its words
    for them. doors: how many promises must hold before the others are worth a look; what is not
    repeatable cannot be compared. A task declares by `draws = False` that its data are fixed.
    """

    title: ClassVar[str]
    same: ClassVar[str] = "same stream, same data"
    other: ClassVar[str] = "another repetition, other data"
    doors: ClassVar[int] = 2

    def __init__(self, task: Any) -> None:
        self.task = task

    @cached_property
    def inputs(self) -> Space:
        """What a learner is shown."""
        return spaces_of(self.task)[0]

    @cached_property
    def outputs(self) -> Space:
        """What a learner gives."""
        return spaces_of(self.task)[1]

    @abstractmethod
    def shown(self, task: Any, repetition: int = 0) -> list[bytes]:
        """All that the task gives for a repetition, to the last bit."""

    def promises(self) -> list[Promise]:
        """The table; a kind adds its entry checks before and its own promises after."""
        return [
            (self.same, self._same),
            (self.other, self._other),
            ("can be sent to another process", self._pickled),
        ]

    def streams(self, repetition: int = 0) -> Streams:
        """Where everything that is drawn in a check comes from."""
        return Streams(0, getattr(self.task, "id", type(self.task).__name__), repetition)

    def hashed(self) -> None:
        """Broken unless the task is hashable, as the cache of compiled programs requires."""
        if hash(self.task) != hash(pickle.loads(pickle.dumps(self.task))):
            raise Broken("equal tasks have different hashes")

    def takes_rules(self, brief: Brief) -> str:
        """Broken unless every rule that the task names can be made for it."""
        names = [name for name in controls_of(self.task) if name in registries.control]
        for name in names:
            choose_learner(name, "corrected", self.task).make(self.task).begin(
                brief, [self.streams().for_learner()]
            )
        return ", ".join(names)

    def _same(self) -> None:
        first = self.shown(self.task)
        self.shown(self.task, 1)
        if self.shown(self.task) != first:
            raise Broken(
                "two draws from equal streams differ; a task keeps no state and draws from its"
                " stream only"
            )

    def _other(self) -> str:
        fixed = getattr(self.task, "draws", True) is False
        equal = self.shown(self.task) == self.shown(self.task, 1)
        if fixed and not equal:
            raise Broken("draws is False, but two repetitions differ")
        if equal and not fixed:
            raise Broken(
                "two repetitions give equal data; sample from the generator that is passed in, or"
                " set draws = False"
            )
        return "its data are fixed, as declared" if fixed else ""

    def _pickled(self) -> None:
        again = pickle.loads(pickle.dumps(self.task))
        if again != self.task:
            raise Broken(f"{self.task} arrives as {again}")
        if self.shown(again) != self.shown(self.task):
            raise Broken("what arrives draws other data")


class _OfExamples(Kind):
    title = "examples"

    def promises(self) -> list[Promise]:
        return [
            (
                "draws what its spaces say",
                lambda: check_drawn(self._drawn(self.task), self.inputs, self.outputs),
            ),
            *super().promises(),
            ("draws as many as are asked for", self._counts),
        ]

    def shown(self, task: Any, repetition: int = 0) -> list[bytes]:
        drawn = self._drawn(task, repetition)
        return as_bytes([drawn.inputs, drawn.targets, drawn.asked, drawn.lengths])

    def _drawn(self, task: Any, repetition: int = 0) -> Any:
        return task.sample(self.streams(repetition).numpy("data"), COUNT)

    def _counts(self) -> str:
        for count in (1, 2, 7):
            found = self.task.sample(self.streams().numpy("data"), count).count
            if found != count:
                raise Broken(f"sample(rng, {count}) gives {found}")
        drawn = self._drawn(self.task)
        alone = {
            repr(as_bytes([part.inputs, part.targets, part.asked]))
            for part in map(drawn.take, np.arange(COUNT)[:, None])
        }
        return f"{len(alone)} of {COUNT} are different" if len(alone) < COUNT else ""


class _OfSeries(Kind):
    title = "series"

    def promises(self) -> list[Promise]:
        response = [("what comes later changes no earlier answer", self._causal)]
        return [
            (
                "draws what its spaces say",
                lambda: check_drawn(self._drive(self.task), self.inputs, self.outputs),
            ),
            *super().promises(),
            ("its parts can be learned from and tested on", self._parts),
            (
                "its facts are plain JSON",
                lambda: canonical(dict(self._drive(self.task).facts)).strip("{}"),
            ),
            *(response if hasattr(self.task, "response") else []),
            ("can be hashed", self.hashed),
            ("its rules can be made for it", lambda: self.takes_rules(self._brief())),
        ]

    def shown(self, task: Any, repetition: int = 0) -> list[bytes]:
        series = self._drive(task, repetition)
        return as_bytes([series.inputs, series.targets])

    def _drive(self, task: Any, repetition: int = 0) -> Series:
        drawn = task.drive(self.streams(repetition).numpy("data"))
        if not isinstance(drawn, Series):
            raise Broken(f"drive(rng) must give a Series, got {type(drawn).__name__}")
        return drawn

    def _brief(self) -> Brief:
        series = self._drive(self.task)
        loss = "cross-entropy" if isinstance(self.outputs, Tokens) else "squared"
        return Brief(self.inputs, self.outputs, loss, len(series.inputs), 1)

    def _parts(self) -> str:
        # That they add up is what `Series` itself insists on.
        series = self._drive(self.task)
        parts = {
            name: getattr(series, name) for name in ("washout", "training", "validation", "test")
        }
        for name, steps in parts.items():
            least = 1 if name in ("training", "test") else 0
            if steps < least:
                raise Broken(f"{name} must have at least {least} steps, got {steps}")
        return ", ".join(f"{name} {steps}" for name, steps in parts.items())

    def _causal(self) -> None:
        inputs = self._drive(self.task).inputs
        steps = min(len(inputs), 400)  # some are solved step by step
        inputs = inputs[:steps]
        targets = self._response(inputs)
        for cut in (1, steps // 3, 2 * steps // 3):
            # The same inputs in another order: every system takes these values.
            changed = np.concatenate([inputs[:cut], inputs[cut:][::-1]])
            found = self._response(changed)[:cut]
            if not np.array_equal(found, targets[:cut]):
                first = np.argwhere(found != targets[:cut])[0, 0]
                raise Broken(
                    f"inputs from step {cut} on were changed, and response(inputs) is another at"
                    f" step {first}"
                )

    def _response(self, inputs: NDArray[Any]) -> NDArray[Any]:
        targets = np.asarray(self.task.response(inputs.copy()))
        check_within("response(inputs)", targets, self.outputs, (len(inputs),))
        return targets


_METHODS = (
    "sample(rng, count)",
    "drive(rng)",
    "open(streams)",
    "reset(key) and step(key, state, action)",
)


def _kinds(task: Any) -> Iterator[Kind]:
    """The kinds that a task is of. Worlds are looked at where there are any: pure ones need JAX."""
    if isinstance(task, ExampleTask):
        yield _OfExamples(task)
    if isinstance(task, SeriesTask):
        yield _OfSeries(task)
    if isinstance(task, WorldTask):
        from quickstudy.testing.worlds import OfWorlds

        yield OfWorlds(task)
    if isinstance(task, PureWorldTask):
        from quickstudy.testing.pure_worlds import OfPureWorlds

        yield OfPureWorlds(task)


def _oracle_is_right(task: Any) -> str:
    inputs, outputs = spaces_of(task)
    streams = Streams(0, getattr(task, "id", type(task).__name__), 1)
    known: dict[str, Any] = {}
    if hasattr(task, "exam"):  # of the questions in whole episodes those of the query are scored
        examples, known = task.exam(streams, COUNT)
    else:
        examples = task.sample(streams.numpy("data"), 5 * COUNT)
    exam = Exam([examples])
    asked = np.nonzero(known.get("query", np.ones(exam.targets.shape[1], bool)))[0]
    brief = Brief(inputs, outputs, "cross-entropy", exam.examples[0].steps, 0)
    oracle: Any = choose_learner(task.oracle, "corrected", task).make(task).begin(brief, [streams])
    if not hasattr(oracle, "answer"):
        return f"{task.oracle} acts, and is not asked"
    scores, targets = oracle.answer(exam)[:, asked], exam.targets[:, asked]
    wrong = np.argwhere(scores[0].argmax(axis=-1) != targets[0])
    # A task with label noise declares how high the best learner can get, and an oracle that
    # gives probabilities how often it will be right; four standard errors are allowed them.
    sure = np.full(len(asked), float(getattr(task, "ceiling", 1.0)))
    if oracle.scale == "probabilities":
        sure = scores[0].max(axis=-1)
    if len(wrong) > (1 - sure).sum() + 4 * np.sqrt((sure * (1 - sure)).sum()) + 1e-6:
        time, example = exam.positions[0, asked[wrong[0, 0]]]
        raise Broken(
            f"{task.oracle} is wrong on {len(wrong)} of {len(asked)} questions, "
            f"first after step {time} of {exam.examples[0].inputs[:, example].tolist()}"
        )
    return f"{len(asked)} questions"
