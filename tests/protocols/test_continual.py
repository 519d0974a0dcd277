from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.learner import Cost
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.continual import ContinualProtocol
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.runs import run_one
from quickstudy.tasks.language.continual import Chained, Growing
from quickstudy.tasks.language.qa import Qa
from quickstudy.tasks.language.symbol_counting import SymbolCounting

CHAIN = Chained(("symbol-counting", "qa", "harder-qa"))


@dataclass
class Pupil:
    """Writes down what happens to it, and gives one answer to everything."""

    brief: Any
    lanes: int
    log: list[Any]
    answer_with: int

    scale = "order"

    def learn(self, lesson, start, stop):
        self.log.append(("learn", lesson, start, stop))

    def answer(self, exam):
        self.log.append(("answer", exam))
        one = np.eye(self.brief.outputs.width)[self.answer_with]
        return np.broadcast_to(one, (*exam.targets.shape, self.brief.outputs.width))

    def cost(self):
        return [Cost(examples=5 + lane) for lane in range(self.lanes)]


@dataclass(frozen=True)
class Learner:
    batch: int = 1
    passes: int = 1
    kind: type = Pupil
    answer_with: int = 0
    log: list[Any] = field(default_factory=list)

    def begin(self, brief, streams):
        self.log.append(("begin", brief, streams))
        return self.kind(brief, len(streams), self.log, self.answer_with)

    @property
    def lesson(self):
        return next(entry[1] for entry in self.log if entry[0] == "learn")

    @property
    def exam(self):
        return next(entry[1] for entry in self.log if entry[0] == "answer")


def streams_of(task, *repetitions):
    return [Streams(0, task.id, repetition) for repetition in repetitions]


def examine(learner=None, repetitions=(0,), task=CHAIN, **given):
    given = {"sequences": 50, **given}
    return ContinualProtocol(**given).examine(
        task, learner or Learner(), streams_of(task, *repetitions)
    )


def sequences(examples, vocabulary):
    return [
        tuple(vocabulary[token] for token in examples.sequence(index)[0])
        for index in range(examples.count)
    ]


def shown(learner, task, lane=0):
    """The sequences of words in the order in which they were shown."""
    found = sequences(learner.lesson.examples[lane], task.vocabulary)
    return [found[place] for place in learner.lesson.order[lane] if place >= 0]


def right_for(task, segment, words):
    return task.segments[segment].task.check(list(words)).right


def test_segments_come_in_order_and_once():
    learner = Learner(passes=3)
    (trace,) = examine(learner).traces
    order = shown(learner, CHAIN)
    assert len(order) == len(set(order)) == 120
    assert trace.arrays["boundary"].tolist() == [0, 40, 80, 120]
    for segment, (start, end) in enumerate(pairwise(trace.arrays["boundary"].tolist())):
        assert all(right_for(CHAIN, segment, words) for words in order[start:end])
    assert (
        len({id(entry[1]) for entry in learner.log if entry[0] == "learn"}) == 1
    )  # no sign of where one ends
    assert trace.facts["passes"] == 1


def test_weights_say_how_long_a_segment_lasts():
    task = Chained(("symbol-counting", "qa"), (1.0, 3.0))
    (trace,) = examine(task=task).traces
    assert trace.arrays["boundary"].tolist() == [0, 40 * 2 / 4, 40 * 2]
    assert trace.facts["test_sequences"] == [5, 15]


@pytest.mark.parametrize("task", [CHAIN, Chained(CHAIN.members[::-1])])
def test_a_segment_shows_what_its_task_alone_would_show(task):
    learner = Learner()
    (trace,) = examine(learner, (3,), task).traces
    order, exam = shown(learner, task), sequences(learner.exam.examples[0], task.vocabulary)
    boundary, tests = trace.arrays["boundary"], np.cumsum([0, *trace.facts["test_sequences"]])
    for number, member in enumerate(task.tasks):
        alone = Learner()
        LanguageProtocol(sequences=50).examine(member, alone, streams_of(member, 3))
        assert order[boundary[number] : boundary[number + 1]] == shown(alone, member)
        assert exam[tests[number] : tests[number + 1]] == sequences(
            alone.exam.examples[0], member.vocabulary
        )


def test_a_task_that_comes_again_shows_other_sequences():
    learner = Learner()
    examine(learner, task=Chained(("qa", "symbol-counting", "qa")))
    order = shown(learner, Chained(("qa", "symbol-counting", "qa")))
    assert len(set(order[:40]) & set(order[80:])) < 10


def test_what_is_held_out_of_one_segment_is_learned_from_in_none():
    """Every sequence of the first stage is one of the second too."""
    task = Growing("symbol-counting", "longest", ("2", "3"))
    learner = Learner()
    (trace,) = examine(learner, task=task, sequences=400).traces
    held_out = sequences(learner.exam.examples[0], task.vocabulary)
    assert not set(shown(learner, task)) & set(held_out)
    first, second = (set(part) for part in (held_out[: trace.facts["test_sequences"][0]], held_out))
    assert len(second) > len(first) > 20
    # Without the rule the second stage would have shown some of what was held out of the first.
    alone = Learner()
    LanguageProtocol(sequences=400).examine(
        SymbolCounting(longest=3), alone, [Streams(0, "language/symbol-counting#2", 0)]
    )
    assert set(shown(alone, SymbolCounting(longest=3))) & first
    assert trace.facts["training_sequences"][1] < alone.lesson.items


def test_lanes_see_what_they_would_see_alone():
    """With few different sequences, chance decides how many of them turn up, and where a segment
    ends.
    """
    task = Chained(("periodic:longest=4:length=12", "qa"))
    alone = [
        examine(Learner(), (repetition,), task, sequences=28).traces[0] for repetition in range(6)
    ]
    ends = [int(trace.arrays["boundary"][1]) for trace in alone]
    pair = int(np.argmax(ends)), int(np.argmin(ends))
    assert ends[pair[0]] > ends[pair[1]]
    both = examine(Learner(), pair, task, sequences=28).traces
    for repetition, trace in zip(pair, both, strict=True):
        assert trace.facts == alone[repetition].facts
        assert set(trace.arrays) == {"step", "correct", "accuracy", "boundary"}
        for name, array in trace.arrays.items():
            assert array.tolist() == alone[repetition].arrays[name].tolist()
    assert [trace.cost.examples for trace in both] == [5, 6]


@pytest.mark.parametrize("schedule", ["thinned", "every"])
@pytest.mark.parametrize("batch", [1, 8, 7])
def test_tests_come_after_updates_and_at_the_end_of_every_segment(schedule, batch):
    learner = Learner(batch=batch)
    (trace,) = examine(learner, schedule=schedule, sequences=200).traces
    steps, boundary = trace.arrays["step"].tolist(), trace.arrays["boundary"].tolist()
    assert set(boundary[1:]) <= set(steps)
    assert all(step % batch == 0 or step in boundary for step in steps)
    calls = [entry[2:] for entry in learner.log if entry[0] == "learn"]
    assert calls == list(pairwise([0, *steps]))
    for start, end in pairwise(boundary):
        inside = [step for step in steps if start < step <= end]
        updates = [step for step in range(start + 1, end + 1) if step % batch == 0]
        assert inside[:8] == updates[:8]
        if schedule == "every":
            assert inside == sorted({*updates, end})
    if schedule == "thinned" and batch == 1:
        # 8, then 4 for each doubling: 8 -> 160 is 4.3 doublings.
        assert sum(0 < step <= 160 for step in steps) == 8 + 17 + 1
        assert [step - 160 for step in steps if 160 < step <= 320] == [
            step for step in steps if step <= 160
        ]


def test_accuracy_by_segment_is_what_was_answered():
    yes = CHAIN.vocabulary.index("YES")
    learner = Learner(answer_with=yes)
    (trace,) = examine(learner).traces
    exam = sequences(learner.exam.examples[0], CHAIN.vocabulary)
    assert trace.facts["test_sequences"] == [10, 10, 10]
    affirmed = [
        sum(words[-1] == "YES" for words in exam[start : start + 10]) for start in (0, 10, 20)
    ]
    assert affirmed[0] == 0
    assert 0 < affirmed[1] < 10
    assert (trace.arrays["correct"] == affirmed).all()
    assert trace.arrays["correct"].shape == (len(trace.arrays["step"]), 3)
    questions = trace.facts["test_questions"]
    assert trace.arrays["accuracy"][-1].tolist() == [
        count / n for count, n in zip(affirmed, questions, strict=True)
    ]


def test_facts():
    learner = Learner(batch=4)
    (trace,) = examine(learner).traces
    test = learner.exam.examples[0]
    parts = [
        test.targets[:, start : start + 10][test.asked[:, start : start + 10]].tolist()
        for start in (0, 10, 20)
    ]
    assert trace.kind == "continual-curve"
    assert trace.facts == {
        "unit": "sequences",
        "item": "example",
        "batch": 4,
        "passes": 1,
        "segments": ["symbol-counting", "qa", "harder-qa"],
        "training_sequences": [40, 40, 40],
        "test_sequences": [10, 10, 10],
        "test_questions": [len(part) for part in parts],
        "classes": [len(set(part)) for part in parts],
        "constants": [max(part.count(answer) for answer in part) / len(part) for part in parts],
    }


def test_replay_stays_within_the_segment_and_is_said():
    learner = Learner(passes=3)
    (trace,) = examine(learner, replay=True).traces
    order = shown(learner, CHAIN)
    assert trace.arrays["boundary"].tolist() == [0, 120, 240, 360]
    for start, end in pairwise(trace.arrays["boundary"].tolist()):
        passes = [order[first : first + 40] for first in range(start, end, 40)]
        assert len({tuple(part) for part in passes}) == 3
        assert len({frozenset(part) for part in passes}) == 1
    assert trace.facts["passes"] == 3
    assert trace.facts["training_sequences"] == [40, 40, 40]


def test_the_brief_tells_no_more_than_it_should():
    learner = Learner()
    brief = examine(learner, (2,)).brief
    size = Tokens(len(CHAIN.vocabulary))
    assert (brief.inputs, brief.outputs, brief.loss, brief.budget) == (
        size,
        size,
        "cross-entropy",
        120,
    )
    assert brief.capacity == learner.lesson.examples[0].steps
    (_, _, streams) = learner.log[0]
    assert streams == [streams_of(CHAIN, 2)[0].for_learner()]


class Diverged(Pupil):
    def answer(self, exam):
        return super().answer(exam) * np.nan


class WrongShape(Pupil):
    def answer(self, exam):
        return super().answer(exam)[:, 1:]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Diverged, "not finite: it has diverged"),
        (WrongShape, r"answer must give scores of shape \(1, \d+, outputs\)"),
    ],
)
def test_learners_that_break_the_protocol(kind, message):
    with pytest.raises(LearnerFault, match=message):
        examine(Learner(kind=kind))


def test_what_cannot_be_examined():
    with pytest.raises(NotApplicable, match="language/qa has no segments"):
        examine(task=Qa())
    peeking = choose_learner("esn:units=10", "published").make(CHAIN)
    with pytest.raises(
        NotApplicable, match="looks at the whole stream before it learns; give peek=false"
    ):
        examine(peeking)
    with pytest.raises(UsageError, match="nothing can be learned from 120 sequences"):
        examine(Learner(batch=121))
    with pytest.raises(
        UsageError, match="longest=1: 0 sequences to learn from and 2 to be tested on; give more"
    ):
        examine(task=Growing("periodic", "longest", ("1",)), sequences=5, share=0.4)


def test_measures_exist():
    for id in ContinualProtocol.measures:
        assert "continual-curve" in registries.measure.get(id).kinds
    assert ContinualProtocol.headline in ContinualProtocol.measures


def run(learner, task="continual/chained:members=symbol-counting/qa"):
    (outcome,) = run_one.examine(run_one.Setting(task, learner, protocol={"sequences": 60}), [0])
    assert outcome.record.reason == ""
    return {
        name: value
        for part in outcome.record.scores.values()
        for name, value in part["values"].items()
    }


def test_the_oracle_keeps_everything():
    scores = run("oracle")
    assert scores["average-accuracy"] == scores["learned-accuracy"] == scores["wade-within"] == 1
    assert scores["forgetting"] == scores["backward-transfer"] == 0
    assert scores["forward-transfer"] > 0.3


def test_one_who_begins_anew_forgets_what_another_keeps():
    keeper = "reca+rls:rule=28"
    kept, lost = run(keeper), run(f"relearning:learner={keeper},every=48")
    assert kept["forgetting"] < 0.1
    assert lost["forgetting"] > 0.3
    assert lost["learned-accuracy"] > 0.6
    assert lost["wade-within-1"] == kept["wade-within-1"]
    assert kept["average-accuracy"] > lost["average-accuracy"] + 0.15
