from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.learner import Cost
from quickstudy.base.parameters import configure
from quickstudy.base.registry import include
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.learning_curve import data_efficiency
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.runs import run_one
from quickstudy.testing.check_result import Broken
from quickstudy.testing.metadata_checks import Papers
from quickstudy.testing.small_tasks import Partners

TASK = Partners()


@dataclass
class Pupil:
    """Writes down what happens to it; right wherever the time of a question is below `skill`, else
    answers 0.
    """

    brief: Any
    lanes: int
    log: list[Any]
    skill: int = 0

    def learn(self, lesson, start, stop):
        self.log.append(("learn", lesson, start, stop))

    def answer(self, exam):
        self.log.append(("answer", exam))
        right = np.eye(self.brief.outputs.width)[exam.targets]
        wrong = np.broadcast_to(np.eye(self.brief.outputs.width)[0], right.shape)
        return np.where((exam.positions[..., 0] < self.skill)[..., None], right, wrong)

    scale = "order"

    def cost(self):
        return [Cost(examples=5 + lane) for lane in range(self.lanes)]


@dataclass(frozen=True)
class Learner:
    """Begins such pupils."""

    batch: int = 1
    passes: int = 1
    by_question: bool = False
    skill: int = 0
    kind: type = Pupil
    log: list[Any] = field(default_factory=list)

    def begin(self, brief, streams):
        self.log.append(("begin", streams))
        return self.kind(brief, len(streams), self.log, self.skill)

    @property
    def lesson(self):
        return next(entry[1] for entry in self.log if entry[0] == "learn")

    @property
    def exam(self):
        return next(entry[1] for entry in self.log if entry[0] == "answer")


def streams_of(*repetitions, root=0):
    return [Streams(root, TASK.id, repetition) for repetition in repetitions]


def examine(learner=None, repetitions=(0,), task=TASK, **given):
    given = {"sequences": 60, **given}
    return LanguageProtocol(**given).examine(task, learner or Learner(), streams_of(*repetitions))


def sequences(examples):
    return [tuple(examples.sequence(index)[0]) for index in range(examples.count)]


def test_all_learners_of_a_seed_see_the_same():
    one, two, other = Learner(), Learner(batch=4, passes=3, skill=9), Learner()
    examine(one)
    examine(two)
    examine(other, (1,))
    assert sequences(one.lesson.examples[0]) == sequences(two.lesson.examples[0])
    assert sequences(one.exam.examples[0]) == sequences(two.exam.examples[0])
    assert np.array_equal(one.lesson.order[0], two.lesson.order[0, : one.lesson.items])
    assert sequences(one.lesson.examples[0]) != sequences(other.lesson.examples[0])


def test_lanes_see_what_they_would_see_alone():
    together, alone = Learner(), Learner()
    both = examine(together, (0, 1))
    single = examine(alone, (1,))
    assert sequences(together.lesson.examples[1]) == sequences(alone.lesson.examples[0])
    assert np.array_equal(together.lesson.order[1], alone.lesson.order[0])
    assert (
        both.traces[1].arrays["accuracy"].tolist() == single.traces[0].arrays["accuracy"].tolist()
    )
    assert both.traces[1].facts == single.traces[0].facts
    assert [trace.cost.examples for trace in both.traces] == [5, 6]


def test_no_test_sequence_is_learned_from():
    learner = Learner()
    examine(learner)
    train, test = sequences(learner.lesson.examples[0]), sequences(learner.exam.examples[0])
    assert not set(train) & set(test)
    assert len(set(train)) == len(train) == 48
    assert len(set(test)) == len(test) == 12


def test_every_pass_shows_everything_in_a_new_order():
    learner = Learner(passes=3)
    examine(learner)
    passes = learner.lesson.order.reshape(3, 48)
    for order in passes:
        assert sorted(order.tolist()) == list(range(48))
    assert len({tuple(order.tolist()) for order in passes}) == 3


def test_the_brief_tells_no_more_than_it_should():
    examination = examine(Learner(passes=2))
    brief = examination.brief
    assert (brief.inputs, brief.outputs, brief.loss) == (Tokens(12), Tokens(12), "cross-entropy")
    assert (brief.capacity, brief.budget) == (9, 96)


def test_from_its_streams_a_learner_finds_out_nothing():
    learner = Learner()
    examine(learner, (2,))
    _, (streams,) = learner.log[0]
    assert (streams.task, streams.repetition) == ("", 0)
    assert streams == streams_of(2)[0].for_learner()
    for purpose in ("data", "split", "order"):
        assert streams.words(purpose).tolist() != streams_of(2)[0].words(purpose).tolist()


def test_learning_goes_on_without_gaps_and_tests_come_between():
    learner = Learner(batch=4, passes=2)
    (trace,) = examine(learner).traces
    calls = [entry for entry in learner.log if entry[0] == "learn"]
    stops = [stop for _, _, _, stop in calls]
    assert [start for _, _, start, _ in calls] == [0, *stops[:-1]]
    assert trace.arrays["step"].tolist() == stops
    assert all(stop % 4 == 0 for stop in stops)
    assert stops[-1] == 96
    assert [entry[0] for entry in learner.log] == ["begin", *["learn", "answer"] * len(stops)]


def test_the_curve_is_what_was_answered():
    learner = Learner(skill=3)
    (trace,) = examine(learner, schedule="every").traces
    exam = learner.exam
    right = ((exam.positions[0, :, 0] < 3) | (exam.targets[0] == 0)).sum()
    assert trace.kind == "learning-curve"
    assert trace.arrays["correct"].tolist() == [right] * 48
    assert trace.arrays["accuracy"].tolist() == [right / exam.counted.sum()] * 48
    assert trace.arrays["step"].tolist() == list(range(1, 49))


def test_facts():
    learner = Learner()
    (trace,) = examine(learner).traces
    train, test = learner.lesson.examples[0], learner.exam.examples[0]
    answers = test.targets[test.asked]
    assert trace.facts == {
        "item": "example",
        "batch": 1,
        "network": True,
        "passes": 1,
        "unit": "sequences",
        "training_sequences": 48,
        "test_sequences": 12,
        "test_questions": test.questions,
        "tokens_per_sequence": train.questions / 48,
        "classes": len(set(answers.tolist())),
        "constant": max(np.mean(answers == answer) for answer in set(answers.tolist())),
    }
    assert trace.cost.examples == 5
    assert trace.cost.learn_seconds >= 0


def test_a_task_with_fewer_sequences_than_asked_for():
    (trace,) = examine(task=configure("p", type(TASK), {"letters": 1})).traces
    assert (
        trace.facts["training_sequences"] + trace.facts["test_sequences"] == 4
    )  # one for each length


@pytest.fixture(scope="module")
def published():
    return configure("language", LanguageProtocol, {}, "published"), configure(
        "language/periodic", registries.task.get("language/periodic"), {}, "published"
    )


def test_the_published_order_of_a_readout(published):
    """The first question alone, then all of them in groups of 8, the first again among them."""
    protocol, periodic = published
    learner = Learner(by_question=True)
    (trace,) = protocol.examine(periodic, learner, [Streams(0, "language/periodic", 0)]).traces
    lesson = learner.lesson
    tokens = lesson.examples[0].questions
    order = lesson.order[0]
    assert lesson.item == "question"
    assert len(order) == tokens + 1
    assert sorted(order[1:].tolist()) == list(range(tokens))
    assert order[0] in order[1:9]
    assert trace.arrays["step"].tolist() == [
        1,
        *range(9, tokens + 1, 8),
        *([tokens + 1] if tokens % 8 else []),
    ]
    assert len(trace.arrays["step"]) == 1 + -(-tokens // 8)
    assert trace.facts["unit"] == "tokens"
    assert trace.facts["training_sequences"] == 41
    assert trace.facts["test_sequences"] == 11
    # The unit of the published scores comes from 500 different sequences of the task as written:
    # periods up to 10.
    assert trace.facts["published_tokens_per_sequence"] == pytest.approx(81, abs=1.5)
    assert trace.facts["tokens_per_sequence"] == tokens / 41


@pytest.mark.parametrize("changes", [{"length": 20}, {"shortest": 11, "longest": 12}])
@pytest.mark.slow
def test_a_task_of_ones_own_gives_the_unit_itself(published, changes):
    """Parameters that do not fit the package's longest period are no fault: they have no published
    unit.
    """
    protocol, periodic = published
    task = dataclasses.replace(periodic, **changes)
    (trace,) = protocol.examine(
        task, Learner(by_question=True), [Streams(0, "language/periodic", 0)]
    ).traces
    latest = task.length - 2 * task.shortest
    assert 0 < trace.facts["published_tokens_per_sequence"] < latest


def test_the_published_order_of_a_network(published):
    """41 sequences ten times, an update from every 8: 51 tests."""
    protocol, periodic = published
    learner = choose_learner("lstm:units=2", "published").make(periodic)
    (trace,) = protocol.examine(periodic, learner, [Streams(0, "language/periodic", 0)]).traces
    assert trace.arrays["step"].tolist() == list(range(8, 409, 8))
    assert len(trace.arrays["accuracy"]) == 51
    assert trace.cost.updates == 51
    assert trace.facts["unit"] == "sequences"


def test_a_network_that_learns_from_single_sequences_is_tested_after_every_one(published):
    protocol, periodic = published
    (trace,) = protocol.examine(periodic, Learner(), [Streams(0, "language/periodic", 0)]).traces
    assert trace.arrays["step"].tolist() == list(range(1, 42))
    # Right from the second test on: T = 2, the number of the update.
    seen = dataclasses.replace(
        trace, arrays={**trace.arrays, "accuracy": np.where(trace.arrays["step"] > 1, 1.0, 0.0)}
    )
    assert data_efficiency(seen, "published")["wade"] == pytest.approx(0.5, rel=1e-12)


def test_a_readout_may_be_shown_the_published_order_several_times(published):
    protocol, periodic = published
    learner = Learner(by_question=True, passes=3)
    protocol.examine(periodic, learner, [Streams(0, "language/periodic", 0)])
    order, tokens = learner.lesson.order[0], learner.lesson.examples[0].questions
    assert len(order) == 3 * tokens + 1
    parts = order[1:].reshape(3, tokens)
    assert all(sorted(part.tolist()) == list(range(tokens)) for part in parts)
    assert (parts[0] != parts[1]).any()
    assert order[0] in parts[0, :8]


def test_the_published_order_of_a_host_learner(published):
    """A rule is tested after the first sequence, then every 8."""
    protocol, periodic = published
    learner = choose_learner("majority", "published", periodic).make(periodic)
    (trace,) = protocol.examine(periodic, learner, [Streams(0, "language/periodic", 0)]).traces
    assert trace.arrays["step"].tolist() == [1, 9, 17, 25, 33, 41]


def test_a_lane_with_less_material_ends_where_it_ends():
    """With few different sequences, chance decides how many of them turn up."""
    task = configure(
        "language/periodic", registries.task.get("language/periodic"), {"longest": 4, "length": 12}
    )
    alone = [
        examine(Learner(), (repetition,), task, sequences=28).traces[0] for repetition in range(6)
    ]
    sizes = [trace.facts["training_sequences"] for trace in alone]
    pair = int(np.argmax(sizes)), int(np.argmin(sizes))
    assert sizes[pair[0]] > sizes[pair[1]]
    both = examine(Learner(), pair, task, sequences=28).traces
    for repetition, trace in zip(pair, both, strict=True):
        assert trace.facts == alone[repetition].facts
        for name in ("step", "correct"):
            assert trace.arrays[name].tolist() == alone[repetition].arrays[name].tolist()


class Diverged(Pupil):
    def answer(self, exam):
        return np.where(np.arange(12) == 3, np.nan, super().answer(exam))


class Infinite(Pupil):
    def answer(self, exam):
        return super().answer(exam) - np.inf


class WrongShape(Pupil):
    def answer(self, exam):
        return super().answer(exam)[:, 1:]


class Flat(Pupil):
    def answer(self, exam):
        return super().answer(exam).argmax(axis=-1)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Diverged, "not finite: it has diverged"),
        (Infinite, "not finite: it has diverged"),
        (WrongShape, r"answer must give scores of shape \(1, \d+, outputs\), got"),
        (Flat, r"outputs\), got \(1, \d+\)"),
    ],
)
def test_learners_that_break_the_protocol(kind, message):
    with pytest.raises(LearnerFault, match=message):
        examine(Learner(kind=kind))


def test_what_cannot_be_examined():
    class World:
        id = "games/x"

    with pytest.raises(NotApplicable, match="games/x does not sample examples"):
        examine(task=World())

    class Actor:
        lanes = 1

        def __init__(self, *_):
            pass

        def act(self, observation, reward, first): ...

    with pytest.raises(NotApplicable, match="Actor does not answer: it has no learn and no answer"):
        examine(Learner(kind=Actor))


@pytest.mark.parametrize("schedule", ["thinned", "every"])
def test_less_than_one_update_is_said_and_not_run(schedule):
    with pytest.raises(UsageError, match="nothing can be learned from 48 sequences"):
        examine(Learner(batch=64), schedule=schedule)


def test_measures_exist():
    for id in LanguageProtocol.measures:
        assert "learning-curve" in registries.measure.get(id).kinds
    assert LanguageProtocol.headline in LanguageProtocol.measures


def test_a_task_that_cannot_be_hashed_is_examined_all_the_same(tmp_path):
    source = '''
from dataclasses import dataclass, field

import quickstudy as qs


@qs.task("mine/listed", version=1, protocol="language")
@dataclass(frozen=True)
class Listed:
    """Repeat a symbol."""

    words: list = field(default_factory=lambda: ["a", "b", "c"])

    @property
    def vocabulary(self):
        return self.words

    def sample(self, rng, count):
        drawn = rng.integers(3, size=(count, 4))
        return qs.Examples.from_pairs(([a, b, c, d], [a]) for a, b, c, d in drawn)
'''
    path = tmp_path / "listed.py"
    path.write_text(source)
    include(path)
    (outcome,) = run_one.examine(
        run_one.Setting("mine/listed", "majority", protocol={"sequences": 40}), [0]
    )
    assert outcome.record.reason == ""


class Integrate:
    """A task with real outputs that would be examined by the language protocol."""

    id, inputs, outputs = "language/integrate", Reals(1), Reals(1)

    def sample(self, rng, n):
        raise AssertionError("nothing is drawn")


def test_a_task_that_asks_for_numbers_is_refused_in_one_line(monkeypatch):
    words = (
        "language asks for symbols, and language/integrate for reals; give it a protocol of its own"
    )
    with pytest.raises(NotApplicable, match=words):
        LanguageProtocol().examine(Integrate(), None, [Streams(0, "t", 0)])
    monkeypatch.setattr(registries, "task", ["language/integrate"])
    promised = dict(Papers(Integrate()).company())["has a protocol"]
    with pytest.raises(Broken, match=words):
        promised()
    monkeypatch.setattr(Integrate, "outputs", Tokens(3))
    assert promised() == "language"
