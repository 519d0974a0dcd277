"""How the grammar family examines: learn from few strings of a language, then be asked about many longer ones."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import protocol
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.learner import Brief, Cost, Keeping, Snapshot, face, pace_of
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.trace import SoFar, Trace, Unfinished
from quickstudy.protocols.examination import Clock, Examination, right_answers, sit
from quickstudy.protocols.marking import Marking, Outcomes, judged
from quickstudy.protocols.outcomes import outcomes
from quickstudy.tasks.grammar import released
from quickstudy.tasks.grammar.lists import MODES, TestList
from quickstudy.tasks.grammar.strings import String, StringTask, read_grammar

MOST_SEEN = 5000
"""Strings no longer than those shown that are asked as well, all of them, to see from where on a learner fails."""


@protocol("grammar", version=1)
@dataclass(frozen=True)
class GrammarProtocol:
    """Learn from few strings, then be asked about many longer ones; the fewer and the more, the better.

    order, factors: for a factor b a fresh learner is shown 10^order / b strings and asked about 10^order b others. The
    largest factor comes first, and the first at which nothing is wrong is the last: smaller ones cannot be better.
    training: `sampled` by the grammar (the strings of a larger factor are the first of those of a smaller one),
    `exhaustive`, the shortest, each once, or `released`, the published sets, of `data_seed`. test: where the strings
    come from, all longer than the longest shown: `exhaustive`, `released`, `grid` or `deep`, see `TestList`. A factor
    for which there are not enough strings is left out, and the record says so. metric: `det`, the likeliest symbol
    where the next is certain; `majority`, more than half of the probability, there; `cat`, the symbols that may follow
    and no others above the margin, everywhere; `usual`: `cat` for languages in which nothing is certain, else `det`.
    margins: shares of errors that are forgiven, or, for `cat`, the probability that counts as none. bits: also the
    cross-entropy. upto: `whole` asks about all strings, `first-wrong` no further than that (then only what margin 0
    decides is scored).

    Passes over the strings stand in the cost. Source: Lan, Chemla and Katzir 2023. Departures: their training sizes are
    rounded here where a factor does not divide.
    """

    order: int = parameter(3, at_least=1, at_most=6)
    factors: tuple[float, ...] = parameter((10.0, 4.0, 2.0, 1.0))
    training: str = parameter("sampled", choices=("sampled", "exhaustive", "released"))
    data_seed: int = parameter(100, at_least=0)
    test: str = parameter("exhaustive", choices=MODES)
    metric: str = parameter("usual", choices=("usual", "det", "majority", "cat"))
    margins: tuple[float, ...] = parameter((0.0, 0.005))
    bits: bool = parameter(False)
    upto: str = parameter("whole", choices=("whole", "first-wrong"))

    measures: ClassVar[tuple[str, ...]] = ("reach", "b-index", "string-accuracy", "cross-entropy")
    question: ClassVar[str] = "How far does it generalise from how little?"
    headline: ClassVar[str] = "log-reach"
    second: ClassVar[str] = "accuracy"
    columns: ClassVar[tuple[str, ...]] = (
        "log-reach", "largest-right", "b-index", "b-index-0.005", "accuracy", "strings-right",
    )  # fmt: skip
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"training": "released", "test": "released"},
    }

    def __post_init__(self) -> None:
        if not self.factors or min(self.factors) <= 0 or len(set(self.factors)) < len(self.factors):
            raise ValueError(f"factors must be different numbers above 0, got {self.factors}")
        if not self.margins or not all(0 <= margin < 1 for margin in self.margins):
            raise ValueError(f"margins must be numbers from 0 to below 1, got {self.margins}")

    def examine(
        self, task: Any, learner: Any, streams: Sequence[Streams], unfinished: Unfinished | None = None
    ) -> Examination:
        """One trace per lane, of kind `string-outcomes`; lanes are taken one after another."""
        if not isinstance(task, StringTask):
            raise NotApplicable(f"{task.id} is no language of strings")
        given = unfinished if len(streams) == 1 else None
        lanes = [_Lane(self, task, learner, stream, given or Unfinished()).examined() for stream in streams]
        pupils, briefs = [pupil for _, pupil, _ in lanes], [brief for _, _, brief in lanes]
        return Examination([trace for trace, _, _ in lanes], _Beside(pupils), briefs[0])

    def sizes(self, factor: float) -> tuple[int, int]:
        """Strings shown and strings asked about."""
        return max(1, round(10**self.order / factor)), max(1, round(10**self.order * factor))

    def material(self, task: StringTask, stream: Streams, factor: float) -> tuple[list[String], TestList]:
        """What is shown, and what is asked about. Raises UsageError where there are not enough strings."""
        shown, asked = self.sizes(factor)
        if self.training == "released":
            strings = released.training_strings(read_grammar(task.released_rules), self.data_seed, shown)
        elif self.training == "exhaustive":
            strings = list(TestList(task, "exhaustive", 0, shown))
        else:
            strings = task.grammar.draws(stream.numpy("data"), shown)
        return strings, TestList.behind(task, self.test, strings, asked)


@dataclass
class _Lane:
    """One run: the factors, one after another."""

    protocol: GrammarProtocol
    task: Any
    learner: Any
    stream: Streams
    unfinished: Unfinished

    def examined(self) -> tuple[Trace, Any, Brief]:
        """The trace, the last pupil and what it was told."""
        factors = sorted(self.protocol.factors, reverse=True)
        found = self.unfinished.found
        first = int(found.facts["factor"]) if found else 0
        parts: list[Outcomes] = [_under(found.arrays, "before/")] if found and first else []
        costs = [Cost(**facts) for facts in found.facts["costs"]] if found else []
        facts: dict[str, Any] = (
            dict(found.facts["facts"]) if found else {"left_out": [], "shown": {}, "largest_shown": {}}
        )
        pupil, brief = None, None
        for number, factor in enumerate(factors[first:], first):
            try:
                strings, tests = self.protocol.material(self.task, self.stream, factor)
            except UsageError as reason:
                if len(factors) == 1:
                    raise
                facts["left_out"].append(f"factor {factor:g}: {reason}")
                continue
            before = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
            so_far = _Factor(self.unfinished, number, before, costs, facts)
            pupil, brief, part, cost = self._factor(factor, strings, tests, so_far, facts)
            parts.append(part)
            costs.append(cost)
            if self._passed(part):
                break
        if pupil is None or brief is None:
            raise UsageError(str(facts["left_out"][0]).partition(": ")[2])
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        marking = {"metric": self._metric, "margins": list(self.protocol.margins), "order": self.protocol.order}
        more = {"passes": pace_of(self.learner).passes, "test": self.protocol.test, "upto": self.protocol.upto}
        return Trace("string-outcomes", arrays, {**facts, **marking, **more}, _total(costs)), pupil, brief

    def _factor(
        self, factor: float, strings: list[String], tests: TestList, so_far: Unfinished, facts: dict[str, Any]
    ) -> tuple[Any, Brief, Outcomes, Cost]:
        examples = self.task.lesson(strings, self.stream.numpy("negatives"))
        rng = self.stream.numpy("order")
        order = np.concatenate([rng.permutation(examples.count) for _ in range(pace_of(self.learner).passes)])
        tokens = isinstance(self.task.outputs, Tokens)
        loss = "cross-entropy" if tokens else "squared"
        brief = Brief(self.task.inputs, self.task.outputs, loss, examples.steps, len(order))
        exam, lesson = Exam([examples.take(_different(strings))]), Lesson([examples], order[None])
        mark: Callable[[Any], NDArray[Any]] = (
            (lambda scores: right_answers(scores, exam).mean(axis=1)) if tokens else lambda scores: np.full(1, np.nan)
        )
        done = sit(self.learner, brief, [self.stream], lesson, [lesson.items], exam, mark, so_far)
        facts["shown"][f"{factor:g}"] = len(strings)
        facts["largest_shown"][f"{factor:g}"] = max(map(self.task.grammar.size, strings))
        clock = Clock()
        with clock.timing("answer"):
            seen = self._asked(done.pupil, self._seen(strings, tests))
            asked = self._asked(done.pupil, tests)
        tested = np.repeat([False, True], [len(seen["size"]), len(asked["size"])])
        part = {name: np.concatenate([seen[name], asked[name]]) for name in asked}
        part |= {"factor": np.full(len(tested), factor), "tested": tested}
        cost = dataclasses.replace(
            done.costs[0],
            answer_seconds=done.costs[0].answer_seconds + clock.seconds.get("answer", 0.0),
            compile_seconds=done.costs[0].compile_seconds + clock.seconds["compile"],
        )
        return done.pupil, brief, part, cost

    def _asked(self, pupil: Any, strings: Any) -> Outcomes:
        if self.task.setup != "next":
            return judged(pupil, strings, self.task, self.stream.numpy("corruption"))
        marking = Marking(self._metric, self.protocol.margins, self.protocol.bits)
        return outcomes(pupil, strings, self.task.grammar, marking, self.protocol.upto == "first-wrong")

    def _seen(self, strings: list[String], tests: TestList) -> Any:
        """All strings before the tests where the list has them, and they are not too many; else those shown."""
        if tests.mode in ("exhaustive", "released") and 0 < tests.start <= MOST_SEEN:
            return TestList(self.task, tests.mode, 0, tests.start)
        return sorted((strings[index] for index in _different(strings)), key=len)

    @property
    def _metric(self) -> str:
        if self.task.setup != "next":
            return str(self.task.setup)
        if self.protocol.metric != "usual":
            return self.protocol.metric
        some = itertools.islice(TestList(self.task, "exhaustive", 0, 8), 8)
        return "det" if any((self.task.grammar.likely(string)[1:] == 1).any() for string in some) else "cat"

    def _passed(self, part: Outcomes) -> bool:
        """Nothing is wrong, by any column: no smaller factor can be better. With bits there is always more to know."""
        columns = [name for name in part if name.startswith("wrong")]
        return not self.protocol.bits and not any(part[name][part["tested"]].any() for name in columns)


class _Factor(Unfinished):
    """What one factor of a call hands in, beside what the factors before it have left."""

    def __init__(
        self, whole: Unfinished, number: int, before: Outcomes, costs: Sequence[Cost], facts: Mapping[str, Any]
    ) -> None:
        self._whole, self.keeps = whole, whole.keeps
        self._beside = {f"before/{name}": array for name, array in before.items()}
        kept = {name: list(value) if isinstance(value, list) else dict(value) for name, value in facts.items()}
        self._facts = {"factor": number, "costs": [cost.as_facts() for cost in costs], "facts": kept}
        found = whole.found
        if found is not None and found.facts["factor"] == number:
            self.found = SoFar(_under(found.arrays, "now/"), found.facts["now"], found.pupil)

    def hand_in(self, so_far: Callable[[], SoFar]) -> None:
        """The pupil's part, and what was there before it."""

        def make() -> SoFar:
            own = so_far()
            arrays = {**self._beside, **{f"now/{name}": array for name, array in own.arrays.items()}}
            return SoFar(arrays, {**self._facts, "now": dict(own.facts)}, own.pupil)

        self._whole.hand_in(make)


class _Beside:
    """Pupils of one lane each, as one of several: to be kept."""

    def __init__(self, pupils: Sequence[Any]) -> None:
        self._pupils, self.lanes = pupils, len(pupils)
        if all(hasattr(pupil, "snapshot") for pupil in pupils):
            self.snapshot, self.restore = self._snapshot, None

    def cost(self) -> Sequence[Cost]:
        """Of each."""
        return [pupil.cost()[0] for pupil in self._pupils]

    def _snapshot(self) -> Snapshot:
        whole = [face(pupil, Keeping).snapshot() for pupil in self._pupils]
        arrays = {name: np.concatenate([one.arrays[name] for one in whole]) for name in whole[0].arrays}
        return Snapshot(arrays, whole[0].facts)


def _different(strings: Sequence[String]) -> list[int]:
    """Numbers of strings that equal none before them."""
    return list({string.tobytes(): number for number, string in reversed(list(enumerate(strings)))}.values())[::-1]


def _under(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _total(costs: Sequence[Cost]) -> Cost:
    """Of all factors together; the size is that of one learner."""
    sums = {
        name: sum(getattr(cost, name) for cost in costs)
        for name in ("examples", "updates", "learn_seconds", "answer_seconds", "compile_seconds")
    }
    return dataclasses.replace(costs[-1], **sums)
