"""One call of the grammar protocol: fresh learners for each factor, shown few strings and asked
about many.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Cost, pace_of
from quickstudy.base.offers import Describing, offers
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.trace import SoFar, Trace, Unfinished
from quickstudy.protocols.examination import Examination, Sitting, sit
from quickstudy.protocols.marking import Marking, Outcomes, Stop, joined, judged
from quickstudy.protocols.outcomes import outcomes
from quickstudy.protocols.session import Clock
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.lists import LISTED, TestList, together
from quickstudy.tasks.grammar.strings import String

FEW_CERTAIN = 0.25
"""The share of steps with a certain next symbol below which a report notes that most steps do
not count.
"""
MOST_SEEN = 5000
"""Strings no longer than those shown that are asked as well, all of them, to see from where on a
learner fails.
"""
Material = tuple[list[String], TestList]
"""The strings shown, and the strings asked about."""
_COUNTS = ("tokens", "answers", "understood")
"""Costs of language models."""


@dataclass
class _Lane:
    """What one run has come to. facts: those of its trace. done: it needs no smaller factor."""

    parts: list[Outcomes] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    facts: dict[str, Any] = field(
        default_factory=lambda: {"left_out": [], "shown": {}, "largest_shown": {}, "learned": {}}
    )
    done: bool = False

    @property
    def arrays(self) -> Outcomes:
        """Of all factors so far."""
        return joined(self.parts)


class Call:
    """Runs side by side: the factors, one after another. A lane that is done goes along, and is not
    written down.
    """

    def __init__(
        self,
        protocol: Any,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished,
    ) -> None:
        self._protocol, self._task, self._learner, self._streams = protocol, task, learner, streams
        self._unfinished = unfinished
        self._lanes = [_Lane() for _ in streams]

    def examined(self) -> Examination:
        """Of all factors that are needed."""
        factors = sorted(self._protocol.factors, reverse=True)
        first = self._taken_up() if self._unfinished.found else 0
        done, brief = None, None
        for number, factor in enumerate(factors[first:], first):
            if not (wanted := self._material(factor, len(factors) == 1)):
                continue
            so_far = _Factor(self._unfinished, number, self._lanes)
            # Where there is nothing for a lane, it is given what another has.
            filled = [
                wanted.get(lane) or next(iter(wanted.values())) for lane in range(len(self._lanes))
            ]
            done, brief = self._learned(filled, so_far)
            asked = self._asked(done.pupil, filled, so_far)
            for lane, (strings, _) in wanted.items():
                cost = _with_seconds(done.costs[lane], asked.clock)
                # The pupil has been asked more since then: what that cost a language model is known
                # now.
                self._lanes[lane].costs.append(_with_counts(cost, done.pupil.cost()[lane]))
                self._note(self._lanes[lane], factor, strings, asked.of(lane))
                found = done.pupil.described() if offers(done.pupil, Describing) else {}
                if found:
                    self._lanes[lane].facts["learned"][f"{factor:g}"] = found
            if all(lane.done for lane in self._lanes):
                break
        if done is None or brief is None or not all(lane.parts for lane in self._lanes):
            reasons = [lane.facts["left_out"][0] for lane in self._lanes if not lane.parts]
            raise UsageError(str(reasons[0]).partition(": ")[2])
        own = self._protocol
        said = {"metric": self._metric, "margins": list(own.margins), "order": own.order}
        said |= {"passes": pace_of(self._learner).passes, "test": own.test}
        said["upto"] = self._upto
        traces = [
            Trace(
                "string-outcomes",
                lane.arrays,
                {**lane.facts, **said, **self._for_readers(lane)},
                _total(lane.costs),
            )
            for lane in self._lanes
        ]
        return Examination(traces, done.pupil, brief)

    def _for_readers(self, lane: _Lane) -> dict[str, Any]:
        """Facts for a report: which factors were not asked, and what sizes count; see `Trace`."""
        facts: dict[str, Any] = {}
        if not isinstance(self._task.grammar, Counting):
            facts["titles"] = {
                "log-beyond": "reach beyond training, in symbols",
                "log-reach": "reach in symbols",
                "largest-right": "longest string right",
            }
        most = max(map(float, lane.facts["shown"]))
        remarks = [_not_asked(one, most) for one in lane.facts["left_out"]]
        if "titles" in facts and self._metric == "det":
            steps, sizes = lane.arrays["steps"].sum(), (lane.arrays["size"] + 1).sum()
            if steps < FEW_CERTAIN * sizes:
                remarks.append(
                    f"Only {steps / sizes:.0%} of the steps have a certain next symbol, and only"
                    " they count under metric=det; metric=cat counts every step."
                )
        if remarks:
            facts["remarks"] = remarks
        if most < max(self._protocol.factors):
            facts["ceilings"] = dict.fromkeys(("b-index*", "b-continuous"), most)
        return facts

    def _taken_up(self) -> int:
        """What an interrupted call has left. Gives the number of the factor that it was at."""
        found = self._unfinished.found
        assert found is not None
        for number, (lane, facts) in enumerate(zip(self._lanes, found.facts["lanes"], strict=True)):
            before = _under(found.arrays, f"before/{number}/")
            lane.parts = [before] if before else []
            lane.costs, lane.facts, lane.done = (
                [Cost(**one) for one in facts["costs"]],
                facts["facts"],
                facts["done"],
            )
        return int(found.facts["factor"])

    def _material(self, factor: float, only: bool) -> dict[int, Material]:
        """By lane that is not done. Where there are not enough strings, the lane notes it, or this
        is an error.
        """
        wanted = {}
        for number, (lane, stream) in enumerate(zip(self._lanes, self._streams, strict=True)):
            if lane.done:
                continue
            try:
                wanted[number] = self._protocol.material(self._task, stream, factor)
            except UsageError as reason:
                if only:
                    raise
                lane.facts["left_out"].append(f"factor {factor:g}: {reason}")
        return wanted

    def _learned(self, material: Sequence[Material], so_far: Unfinished) -> tuple[Sitting, Brief]:
        """A fresh pupil that has been shown the strings."""
        passes, lanes, orders = pace_of(self._learner).passes, [], []
        for stream, (strings, _) in zip(self._streams, material, strict=True):
            lanes.append(self._task.lesson(strings, stream.numpy("negatives")))
            rng = stream.numpy("order")
            orders.append(np.concatenate([rng.permutation(lanes[-1].count) for _ in range(passes)]))
        loss = "cross-entropy" if isinstance(self._task.outputs, Tokens) else "squared"
        steps, items = max(lane.steps for lane in lanes), len(orders[0])
        brief = Brief(self._task.inputs, self._task.outputs, loss, steps, items)
        # The test proper comes behind: here one string is asked about, so that a pupil that cannot
        # answer declares it.
        exam = Exam([lane.take([int(np.argmin(lane.lengths))]) for lane in lanes])
        given = Lesson(lanes, np.stack(orders)), [items], exam, lambda scores: np.zeros(len(lanes))
        return sit(self._learner, brief, self._streams, *given, so_far), brief

    def _asked(self, pupil: Any, material: Sequence[Material], so_far: _Factor) -> _Asked:
        """How it does on the strings up to the longest shown, and on the tests, with
        checkpoints.
        """
        seen = [seen_strings(self._task, strings, tests) for strings, tests in material]
        clock = Clock({"answer": so_far.asked_seconds})
        with clock.timing("answer"):
            least, lists = 10**self._protocol.order, [tests for _, tests in material]
            tests = self._outcomes(pupil, lists, least, so_far.asked, so_far.hand_in_asked)
            return _Asked(self._outcomes(pupil, seen, 0), tests, clock)

    def _outcomes(
        self,
        pupil: Any,
        lists: Sequence[Any],
        least: int,
        before: Sequence[Outcomes] = (),
        note: Callable[[list[Outcomes]], None] = lambda so_far: None,
    ) -> list[Outcomes]:
        """Of every lane, on its own strings, at least so many of them. before, note: see
        `outcomes`.
        """
        own, task = self._protocol, self._task
        if task.setup != "next":
            return judged(
                pupil, lists, task, [stream.numpy("corruption") for stream in self._streams]
            )
        whole, places = together(lists)
        marking = Marking(self._metric, own.margins, own.bits)
        # Lanes that are asked about the same strings stop by the same rule: going through all of
        # them takes seconds.
        first = Stop.of(self._upto, marking, task.grammar, lists[0], least)
        stops = [
            (
                first
                if _alike(strings, lists[0])
                else Stop.of(self._upto, marking, task.grammar, strings, least)
            )
            for strings in lists
        ]

        def enough(lane: int, so_far: Outcomes) -> bool:
            place = places[lane]
            return (
                len(so_far["steps"]) >= place.stop
                or stops[lane].cut(_part(so_far, place)) is not None
            )

        found = outcomes(pupil, whole, task.grammar, marking, enough, before, note)
        parts = [_part(lane, place) for lane, place in zip(found, places, strict=True)]
        return [_part(part, slice(stop.cut(part))) for part, stop in zip(parts, stops, strict=True)]

    def _note(
        self, lane: _Lane, factor: float, strings: list[String], asked: tuple[Outcomes, Outcomes]
    ) -> None:
        seen, tests = asked
        tested = np.repeat([False, True], [len(seen["size"]), len(tests["size"])])
        lane.parts.append(
            {**joined([seen, tests]), "factor": np.full(len(tested), factor), "tested": tested}
        )
        lane.facts["shown"][f"{factor:g}"] = len(strings)
        lane.facts["largest_shown"][f"{factor:g}"] = max(map(self._task.grammar.size, strings))
        # Nothing is wrong, by any column: no smaller factor can be better. With bits there is
        # always more to know.
        columns = [name for name in tests if name.startswith("wrong")]
        lane.done = not self._protocol.bits and not any(tests[name].any() for name in columns)

    @property
    def _upto(self) -> str:
        return "whole" if self._protocol.bits else str(self._protocol.upto)

    @cached_property
    def _metric(self) -> str:
        if self._task.setup != "next":
            return str(self._task.setup)
        if self._protocol.metric != "usual":
            return str(self._protocol.metric)
        return usual_metric(self._task)


def seen_strings(task: Any, strings: list[String], tests: TestList, most: int = MOST_SEEN) -> Any:
    """All strings before the tests where the list has them, and they are not too many; else those
    shown.
    """
    if tests.mode in LISTED and 0 < tests.start <= most:
        return TestList(task, tests.mode, 0, tests.start)
    different = {string.tobytes(): string for string in strings}
    return sorted(different.values(), key=len)


def usual_metric(task: Any) -> str:
    """`det` where the language has places at which the next symbol is certain, else `cat`."""
    some = itertools.islice(TestList(task, "exhaustive", 0, 8), 8)
    return "det" if any((task.grammar.likely(string)[1:] == 1).any() for string in some) else "cat"


class _Asked(NamedTuple):
    """By lane: outcomes on the strings up to the longest shown, and on the tests. clock: how long
    it took.
    """

    seen: list[Outcomes]
    tests: list[Outcomes]
    clock: Clock

    def of(self, lane: int) -> tuple[Outcomes, Outcomes]:
        """Those of one lane."""
        return self.seen[lane], self.tests[lane]


class _Factor(Unfinished):
    """The checkpoint of one factor of a call, added to those of earlier factors: the pupil, and
    after its lesson the progress of its test. asked, asked_seconds: of the test, by lane, what was
    found; empty where nothing was.
    """

    def __init__(self, whole: Unfinished, number: int, lanes: Sequence[_Lane]) -> None:
        self._whole, self.keeps = whole, whole.keeps
        self._before = {
            f"before/{lane}/{name}": array
            for lane, own in enumerate(lanes)
            for name, array in own.arrays.items()
        }
        kept = [
            {
                "costs": [cost.as_facts() for cost in lane.costs],
                "facts": lane.facts,
                "done": lane.done,
            }
            for lane in lanes
        ]
        self._facts = {"factor": number, "lanes": copy.deepcopy(kept)}
        self.asked: list[Outcomes] = []
        self.asked_seconds, self._began = 0.0, time.monotonic()
        found = whole.found
        if found is not None and found.facts["factor"] == number:
            own = _under(found.arrays, "now/")
            self.found = SoFar(own, found.facts["now"], found.pupil)
            self.asked_seconds = float(found.facts["now"].get("asked_seconds", 0.0))
            tests = [_under(own, f"asked/{lane}/") for lane in range(len(lanes))]
            self.asked = tests if any(tests) else []
        self._learned: Callable[[], SoFar | None] = lambda: self.found

    def hand_in(self, so_far: Callable[[], SoFar]) -> None:
        """The pupil's part, and the parts before it."""
        self._learned, self._began = so_far, time.monotonic()
        self._hand_in(so_far)

    def hand_in_asked(self, tests: Sequence[Outcomes]) -> None:
        """Besides, the outcomes of its test so far."""

        def so_far() -> SoFar:
            own = self._learned()
            assert own is not None  # who asks has learned
            seconds = self.asked_seconds + time.monotonic() - self._began
            found = {
                f"asked/{lane}/{name}": array
                for lane, one in enumerate(tests)
                for name, array in one.items()
            }
            return SoFar(
                {**own.arrays, **found}, {**own.facts, "asked_seconds": seconds}, own.pupil
            )

        self._hand_in(so_far)

    def _hand_in(self, so_far: Callable[[], SoFar]) -> None:
        def make() -> SoFar:
            own = so_far()
            arrays = {
                **self._before,
                **{f"now/{name}": array for name, array in own.arrays.items()},
            }
            return SoFar(arrays, {**self._facts, "now": dict(own.facts)}, own.pupil)

        self._whole.hand_in(make)


def _not_asked(left_out: str, most: float) -> str:
    """A sentence about a factor that was left out; most: the largest factor asked."""
    named, _, reason = left_out.partition(": ")
    if float(named.removeprefix("factor ")) > most:
        return f"B at most {most:g}: {named} was not asked ({reason})."
    return f"{named.capitalize()} was not asked ({reason})."


def _alike(one: Any, other: Any) -> bool:
    return one is other or (isinstance(one, TestList) and one == other)


def _part(outcomes: Outcomes, place: slice) -> Outcomes:
    return {name: values[place] for name, values in outcomes.items()}


def _under(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _with_seconds(cost: Cost, clock: Clock) -> Cost:
    return dataclasses.replace(
        cost,
        answer_seconds=cost.answer_seconds + clock.seconds.get("answer", 0.0),
        compile_seconds=cost.compile_seconds + clock.seconds["compile"],
    )


def _with_counts(cost: Cost, now: Cost) -> Cost:
    return dataclasses.replace(cost, **{name: getattr(now, name) for name in _COUNTS})


def _total(costs: Sequence[Cost]) -> Cost:
    """Of all factors together; the size is that of one learner."""
    sums = {
        name: sum(getattr(cost, name) for cost in costs)
        for name in ("examples", "updates", "learn_seconds", "answer_seconds", "compile_seconds")
    }
    for name in _COUNTS:
        if getattr(costs[-1], name) is not None:
            sums[name] = sum(getattr(cost, name) or 0 for cost in costs)
    return dataclasses.replace(costs[-1], **sums)
