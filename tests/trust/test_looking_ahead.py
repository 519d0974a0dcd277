"""`run` finds out by itself which learners of a user's look ahead."""

import dataclasses

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.errors import LearnerFault
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Cost
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.learners.host import HostPupil
from quickstudy.learners.lookahead_check import NOTHING_FOUND, UNSTEADY, Watched, _apart
from quickstudy.report.build import gather
from quickstudy.report.page import FORMS
from quickstudy.runs.sql import query

SMALL = {"sequences": 20}


class Base:
    def __init__(self, brief, seed):
        self.width = brief.outputs.width
        self.rng = np.random.default_rng(seed)
        self.weights = self.rng.normal(size=(self.width, self.width))

    def learn(self, inputs, targets):
        pass


class Bidirectional(Base):
    """Every row is a sum over what was read, and a little over what comes."""

    def predict(self, inputs):
        rows = self.weights[inputs]
        return np.cumsum(rows, axis=0) + 0.01 * np.cumsum(rows[::-1], axis=0)[::-1]


class Peek(Base):
    """The published fault: the next input is the answer."""

    def predict(self, inputs):
        return np.append(inputs[1:], 0)


class Length(Base):
    """Knows how long the sequence will be."""

    def predict(self, inputs):
        return np.full(len(inputs), len(inputs) % self.width)


class Honest(Base):
    """In single precision, summed in another order for every length: not the same bits."""

    def predict(self, inputs):
        rows = self.weights[inputs].astype(np.float32)
        return np.stack([rows[: end + 1].mean(axis=0) for end in range(len(inputs))])


class Unsteady(Base):
    """A dropout that was left on."""

    def predict(self, inputs):
        return np.cumsum(self.weights[inputs], axis=0) + self.rng.normal(
            size=(len(inputs), self.width)
        )


class Samples(Base):
    """Peeks behind noise."""

    def predict(self, inputs):
        return np.eye(self.width)[np.append(inputs[1:], 0)] + self.rng.normal(
            0, 0.3, (len(inputs), self.width)
        )


class Asserting(Base):
    """Peeks, and does not answer what has no period."""

    def predict(self, inputs):
        assert any(
            (inputs[period:] == inputs[:-period]).all() for period in range(1, len(inputs))
        ), "no period"
        return np.zeros(len(inputs), int)


class Counting(Honest):
    """Changes by answering; `asked` is what it has been asked."""

    asked = 0

    def predict(self, inputs):
        self.asked += 1
        return np.full(len(inputs), self.asked // 3 % self.width)


def ran(learner, tmp_path, task="language/periodic", **options):
    options = {"seeds": 1, "out": tmp_path, "protocol": SMALL, "controls": False, **options}
    (record,) = qs.run(task, learner, **options).records
    return record


@pytest.mark.parametrize("learner", [Bidirectional, Peek, Length, Samples, Asserting])
def test_one_that_looks_ahead_fails_with_that_reason(learner, tmp_path):
    record = ran(learner, tmp_path, keep_learners=True)
    assert record.status == "failed"
    assert "looks ahead" in record.reason
    assert not record.scores
    assert not record.trace


@pytest.mark.parametrize(("learner", "words"), [(Honest, NOTHING_FOUND), (Unsteady, UNSTEADY)])
def test_one_that_does_not_is_fine_and_the_record_says_that_it_was_asked(learner, words, tmp_path):
    record = ran(learner, tmp_path)
    assert (record.status, record.where["look_ahead"]) == ("ok", words)
    assert "look_ahead" not in record.what


def test_ours_and_rules_are_not_asked(tmp_path):
    assert "look_ahead" not in ran("majority", tmp_path).where


def test_asking_changes_no_number_of_a_learner_that_changes_by_answering(tmp_path, monkeypatch):
    """Its answers count its questions: one question more before the last test would move them
    all.
    """
    asked = ran(Counting, tmp_path / "asked")
    monkeypatch.setattr(Watched, "look_ahead", lambda self: "")
    quiet = ran(Counting, tmp_path / "quiet")
    assert asked.where["look_ahead"] == UNSTEADY
    assert asked.trace == quiet.trace


BRIEF = Brief(Tokens(5), Tokens(5), "cross-entropy", 6, 1)


def exam():
    tokens = np.random.default_rng(3).integers(5, size=(7, 8))
    every = np.ones((6, 8), dtype=bool)
    return Exam([qs.Examples(tokens[:-1], tokens[1:], every, np.full(8, 6))])


class Compiled:
    """A pupil with `answer` of its own, which is handed whole exams; it reads the answers off
    them.
    """

    lanes, scale = 1, "order"

    def __init__(self, read):
        self.read = read

    def learn(self, lesson, start, stop):
        lesson.examples[0].inputs[:] = 0

    def answer(self, exam):
        (lane,) = exam.examples
        found = self.read(exam)
        lane.targets[:] = 0
        return np.eye(5)[None, found]

    def cost(self):
        return [Cost()]


def test_answers_that_are_read_off_the_exam_are_found_too():
    watched = Watched(
        Compiled(lambda exam: exam.targets[0].copy()), BRIEF, np.random.default_rng(0)
    )
    asked = exam()
    watched.answer(asked)
    with pytest.raises(LearnerFault, match="looks ahead"):
        watched.look_ahead()
    assert asked.targets.any()  # and what it did to its exam it did to a copy
    honest = Watched(
        Compiled(lambda exam: exam.examples[0].inputs.T.reshape(-1)),
        BRIEF,
        np.random.default_rng(0),
    )
    honest.answer(asked)
    assert honest.look_ahead() == NOTHING_FOUND
    lesson = Lesson(asked.examples, np.array([[0]]))
    honest.learn(lesson, 0, 1)
    assert lesson.examples[0].inputs.any()


def test_states_are_looked_at_and_a_pupil_without_answers_has_nothing_to_find():
    brief = dataclasses.replace(BRIEF, inputs=Reals(1), outputs=Reals(1), loss="squared")
    inputs = np.random.default_rng(0).normal(size=(40, 2, 1))
    for states, found in (
        (lambda x: np.cumsum(x, axis=0), True),
        (lambda x: x - x.mean(axis=0), False),
    ):
        host = Base(BRIEF, 0)
        host.states = states
        watched = Watched(HostPupil(host, brief), brief, np.random.default_rng(0))
        assert watched.look_ahead() == ""
        watched.states(inputs)
        if found:
            assert watched.look_ahead() == NOTHING_FOUND
        else:
            with pytest.raises(LearnerFault, match="states change"):
                watched.look_ahead()


def test_one_that_is_not_only_noisy_is_told_from_one_that_is():
    """Asked 300 times, an honest one is never taken for one that looks; a false alarm comes once in
    6,435.
    """
    rng = np.random.default_rng(0)
    drifting = iter(range(100_000))

    def noisy(shift):
        return lambda: rng.normal(size=20) + shift + next(drifting) / 10

    assert not any(_apart(noisy(0.0), noisy(0.0), 1e-4, rng) for _ in range(300))
    assert all(
        _apart(lambda: rng.normal(size=20), lambda: rng.normal(size=20) + 3.0, 1e-4, rng)
        for _ in range(20)
    )


class Guesses(Base):
    """Guesses between two answers."""

    def predict(self, inputs):
        return self.rng.integers(2, size=len(inputs))


def test_one_that_guesses_is_never_taken_for_one_that_looks():
    """Four guesses are alike twice in one of 16 times: one more asking does not show steadiness."""
    for seed in range(30):
        watched = Watched(
            HostPupil(Guesses(BRIEF, seed), BRIEF), BRIEF, np.random.default_rng(seed)
        )
        watched.answer(exam())
        assert watched.look_ahead() == UNSTEADY


def test_one_that_answers_nothing_twice_cannot_be_told_and_everybody_says_so(tmp_path):
    class Once(Honest):
        def predict(self, inputs):
            if ended:
                raise KeyError("no more")
            return super().predict(inputs)

    ended: list[bool] = []
    watched = Watched(HostPupil(Once(BRIEF, 0), BRIEF), BRIEF, np.random.default_rng(0))
    watched.answer(exam())
    ended.append(True)
    assert watched.look_ahead().startswith("cannot be told: KeyError: 'no more'")
    ran(Unsteady, tmp_path)
    (row,) = query(tmp_path, "SELECT look_ahead FROM runs").rows
    assert row == (UNSTEADY,)
    data = gather([tmp_path])
    said = (
        "Unsteady could not be checked for looking ahead: asked the same twice, it gives two"
        " answers; another run of the same seed may give another number."
    )
    assert said in data.tables[0].verdict.remarks
    assert UNSTEADY in FORMS["html"](data).replace("<wbr>", "")
    assert UNSTEADY not in FORMS["html"](replace_runs(data)).replace("<wbr>", "")


def replace_runs(data):
    """The same report of a learner of whom nothing is said."""
    (table,) = data.tables
    rows = [
        dataclasses.replace(row, runs=[dataclasses.replace(run, look_ahead="") for run in row.runs])
        for row in table.rows
    ]
    return dataclasses.replace(data, tables=(dataclasses.replace(table, rows=tuple(rows)),))


def test_one_that_cannot_be_asked_other_sequences_has_looked_at_them(tmp_path):
    class Known(Honest):
        def predict(self, inputs):
            if inputs.tolist() not in seen and len(seen) >= 20:
                raise KeyError("never seen")
            seen.append(inputs.tolist())
            return super().predict(inputs)

    seen: list[list[int]] = []
    record = ran(Known, tmp_path, seeds=1)
    assert record.status == "failed"
    assert (
        "it does not answer when only what comes after the question changes: KeyError: 'never seen'"
        in record.reason
    )
