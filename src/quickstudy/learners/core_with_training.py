"""A core with a way of training it: the learner of every core's name, and the usual training of
each core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Protocol

from quickstudy.base import registries
from quickstudy.base.code_identity import is_ours
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief, Cost, Pace, Pupil
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import check_spaces
from quickstudy.base.stated import CoreFacts, TrainingFacts, stated
from quickstudy.cores.core import CoreSpec

SHOWN = ("cross-entropy", "squared")
"""Losses of learners that are shown right answers."""


class Training(Protocol):
    """Frozen parameters of a way of training.

    programs: programs compiled for one task. passes: how often the material is shown. batch:
    examples per update. A training that learns from whole examples only, even if it trains only a
    readout, sets `by_question = False`; one that looks at the whole lesson before it learns
    (transductive) sets `peek`, and one that wants few lanes on an accelerator sets `most_lanes`.
    One whose `traced` parameters change no program names them: settings that differ in nothing else
    run side by side there, and it gets the training of each lane (`beside`). `reads` and `gives`
    name the spaces it is for, where they are not all (`check_spaces`), and `losses` the losses,
    where they are more than those of right answers; one that can read codes sets `reads_codes`.
    `usual_for`, a tuple of `Usual`, declares where it is the usual training; `usual` has parameters
    by what is asked (`quickstudy.base.parameters`).
    """

    programs: int
    passes: int
    batch: int

    def check_core(self, core: CoreSpec) -> None:
        """Raise UsageError if this way of training makes no sense for the core."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> Pupil:
        """A fresh pupil."""


@dataclass(frozen=True)
class Usual:
    """Where a training is the usual one.

    asked: what is asked of the learner, one of `quickstudy.base.task.ASKED`. frozen: of reservoirs,
    or of cores that have to be trained; None: of both. convention: under that one only, where it
    goes before what is usual under all.
    """

    asked: str
    frozen: bool | None = None
    convention: str | None = None

    def holds(self, core_class: Any, convention: str, asked: str) -> bool:
        """Whether it speaks of this core, convention and question."""
        return (
            self.asked == asked
            and self.frozen in (None, bool(core_class.frozen))
            and self.convention in (None, convention)
        )


def default_training(core_class: Any, convention: str, asked: str = "symbols") -> str:
    """The name of the usual way of training a core: the core's own, else the one that declares it.

    Built-in trainings go before those from outside, so that a core's name means the same in every
    installation; then a declaration for this convention, then for this kind of core, goes before a
    general one. Raises NotApplicable if there is none.
    """
    own = stated(core_class, CoreFacts).training
    if isinstance(own, str) or asked in own:
        return str(own if isinstance(own, str) else own[asked])
    found = []
    for entry in registries.training.entries():
        if entry.target is None and not _declares(entry.origin):
            continue
        training = registries.training.get(entry.id)
        for usual in stated(training, TrainingFacts).usual_for:
            if usual.holds(core_class, convention, asked):
                rank = (
                    not is_ours(training),
                    usual.convention is None,
                    usual.frozen is None,
                    entry.id,
                )
                found.append((rank, entry.id))
    if not found:
        raise NotApplicable(f"no way of training a core {_BY[asked]} is installed")
    return min(found)[1]


_BY = {
    "symbols": "to give symbols",
    "spans": "to give symbols",
    "reals": "to give real numbers",
    "strings": "on strings",
    "reward": "by reward",
    "episodes": "on whole episodes",
    "fitness": "by how good its answers are",
}


@lru_cache
def _declares(file: str) -> bool:
    """Whether a file has a training that is usual for anything: others are not imported just to ask
    them.
    """
    return "usual_for" in Path(file).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Trained:
    """A core and its training, as one learner. beside: the training of each lane, where they are
    not all the same.
    """

    core: Any
    training: Any
    beside: tuple[Any, ...] = ()

    @property
    def pace(self) -> Pace:
        """As declared by the training. Only on a reservoir it may go question by question."""
        training = self.training
        by_question = bool(self.core.frozen) and bool(stated(training, TrainingFacts).by_question)
        return Pace(
            int(training.passes),
            int(training.batch),
            by_question,
            bool(stated(training, TrainingFacts).peek),
        )

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Pupil:
        """A fresh pupil with one lane per stream. Raises NotApplicable for spaces that it is not
        for.
        """
        check_spaces(self.training.id, self.training, brief.inputs, brief.outputs)
        losses = stated(self.training, TrainingFacts).losses
        if brief.loss not in losses:
            if brief.loss in SHOWN:
                raise NotApplicable(
                    f"{self.training.id} learns from {' or '.join(losses)}, not from right answers"
                )
            raise NotApplicable(f"{self.training.id} learns from right answers, and none are shown")
        if stated(self.core, CoreFacts).precision == "float64":
            return DoublePupil(lambda: self._begun(brief, streams))
        return self._begun(brief, streams)  # type: ignore[no-any-return]

    def side_by_side(self, others: Sequence[Trained]) -> Trained:
        """One learner with a lane of each of these, which differ from it only in what their
        training traces.
        """
        return replace(self, beside=tuple(other.training for other in others))

    def _begun(self, brief: Brief, streams: Sequence[Streams]) -> Any:
        more = {"beside": self.beside} if self.beside else {}
        return self.training.begin(self.core, brief, streams, **more)


class DoublePupil:
    """Proxy that runs every call under jax.enable_x64, from the construction of the pupil on."""

    lanes: int

    def __init__(self, begin: Callable[[], Any]) -> None:
        from quickstudy.jax_gateway import double

        self._double = double
        with double():
            self._pupil = begin()

    def cost(self) -> Sequence[Cost]:
        """As the pupil."""
        return self._pupil.cost()  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pupil, name)
        if not callable(found):
            return found

        @wraps(found)
        def called(*given: Any, **named: Any) -> Any:
            with self._double():
                return found(*given, **named)

        if name == "of_lanes":  # they live there as well
            return lambda numbers: DoublePupil(lambda: found(numbers))
        return called
