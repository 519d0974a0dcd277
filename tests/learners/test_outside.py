"""Components in files of a user's own, by public names only: the files of the how-to pages."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

pytest.importorskip("jax")

import quickstudy as qs
from quickstudy.base import registries, registry
from quickstudy.base.errors import UsageError
from quickstudy.base.exchange import Exam
from quickstudy.cores.recurrent import LSTM
from quickstudy.jax_gateway import jnp
from quickstudy.learners import GradientTraining, Played
from quickstudy.learners.adam import Adam
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.runs.run_spec import component
from quickstudy.tasks.curriculum import courses  # noqa: F401  (registered before tests copy)

HOW_TO = pathlib.Path(__file__).resolve().parents[2] / "docs" / "how-to"
CORE = LSTM(units=4)


def code_of(page):
    text = (HOW_TO / f"{page}.md").read_text(encoding="utf-8")
    return re.search(r"```python file=\S+\n(.*?)```", text, flags=re.DOTALL)[1]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """What a file registers is known while the test runs, and no longer."""

    def load(page, **changes):
        code = code_of(page)
        for old, new in changes.values():
            assert old in code
            code = code.replace(old, new)
        path = tmp_path / f"{page.replace('-', '_')}_{len(list(tmp_path.iterdir()))}.py"
        path.write_text(code, encoding="utf-8")
        return qs.include(path)

    kinds = (registries.task, registries.core, registries.training)
    for kind in kinds:
        kind.names()
        monkeypatch.setattr(kind, "_entries", dict(kind._entries))
    monkeypatch.setattr(registry, "_included", [])
    return load


@pytest.fixture(scope="module")
def setup(world):
    train, test = world.examples(20), world.examples(10, seed=1)
    return world.lesson(train, passes=2), Exam([test]), world.brief(train), world.streams()


def leaves(pupil):
    return {name: part for name, part in pupil.snapshot().arrays.items() if part.dtype.kind == "f"}


def test_a_rule_of_its_own_makes_the_updates(own, setup):
    """Each weight moves by the rate, or stays where its gradient is 0."""
    lesson, _, brief, streams = setup
    pupil = own("write-a-training").SignDescent(rate=0.125, batch=4).begin(CORE, brief, streams)
    before = leaves(pupil)
    pupil.learn(lesson, 0, 7)
    assert int(pupil.updates()[0]) == 1
    moved = {name: np.unique(np.abs(leaves(pupil)[name] - part)) for name, part in before.items()}
    assert all(np.isin(sizes.round(5), [0.0, 0.125]).all() for sizes in moved.values())
    assert any(sizes.max() > 0.1 for sizes in moved.values())


def test_without_a_rule_it_is_adam(setup):
    lesson, exam, brief, streams = setup
    scores = []
    for training in (GradientTraining(0.01, 4), Adam(rate=0.01, batch=4, among="all")):
        pupil = training.begin(CORE, brief, streams)
        pupil.learn(lesson, 0, 17)
        pupil.learn(lesson, 17, lesson.items)
        scores.append(pupil.answer(exam))
    assert np.allclose(*scores, atol=1e-4)
    assert not np.allclose(scores[0], 0, atol=1e-2)


def test_a_lane_whose_lesson_is_over_waits(world):
    short, long = world.examples(8), world.examples(20, seed=1)
    streams, exam = world.streams(2), world.examples(5, seed=2)
    both = GradientTraining(batch=4).begin(CORE, world.brief(long), streams)
    both.learn(world.lesson(short, long), 0, 20)
    alone = GradientTraining(batch=4).begin(CORE, world.brief(long), streams[:1])
    lesson = world.lesson(short, long)
    alone.learn(type(lesson)([short], lesson.order[:1, :8]), 0, 8)
    given = both.answer(Exam([exam, exam]))[0], alone.answer(Exam([exam]))[0]
    assert np.allclose(*given, atol=1e-5)
    assert both.shown.tolist() == [8, 20]


def test_an_auxiliary_loss_adds_outputs_that_are_not_scored(own, setup, world):
    lesson, exam, brief, streams = setup
    given = own("write-an-auxiliary-loss").Rereading
    scores = {}
    for weight in (0.0, 5.0):
        pupil = given(weight=weight, batch=4).begin(CORE, brief, streams)
        pupil.learn(lesson, 0, 12)
        scores[weight] = pupil.answer(exam)
        assert scores[weight].shape[-1] == world.symbols
    assert not np.allclose(scores[0.0], scores[5.0], atol=1e-3)


def test_returns_and_means_end_with_the_episode():
    rewards = jnp.array([[1.0, 1.0], [0.0, 2.0], [2.0, 9.0]])
    there = jnp.array([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    played = Played(None, None, rewards, there, None)
    assert played.returns(0.5).tolist() == [[1.5, 2.0], [1.0, 2.0], [2.0, 0.0]]
    assert float(played.mean(rewards)) == pytest.approx(6 / 5)


def test_an_own_micro_task_is_a_member_like_a_published_one(own, world):
    given = own("write-a-micro-task").Successor
    alone = given()
    chain = registries.typed_task("curriculum/chain:members=successor/micro-1", "corrected")
    streams = world.streams()[0]
    questions = []
    for task in (alone, chain):
        (member, *_) = [alone.member()] if task is alone else task.named(task.members)
        environment = task.open(streams)
        environment.live(lambda observation, reward: 32, 40)
        questions.append((environment.stage.texts, environment.stage.text, member.name))
    assert questions[0] == questions[1]
    with pytest.raises(UsageError, match='no task "predecessor" in the curriculum'):
        registries.typed_task("curriculum/chain:members=predecessor", "corrected")


def test_a_chain_is_another_task_when_the_code_of_a_member_changes(own):
    name, known = "curriculum/chain:members=successor/micro-1", []
    for change in ("below(9)", "below(8)"):
        registries.task._entries.pop(("curriculum/successor", 1), None)
        own("write-a-micro-task", one=("below(9)", change))
        known.append(component(registries.typed_task(name, "corrected"))["code"])
    assert known[0] != known[1]
    plain = registries.typed_task("curriculum/chain:members=micro-4/micro-1", "corrected")
    assert "code" not in component(plain)


def test_an_own_speaker_is_heard(own, world):
    task = own("write-a-speaker").Backwards(most=2, renaming="none")
    drawn = task.episodes(world.streams()[0].jax("data"), 0, 3)
    assert (drawn.message == drawn.target[..., ::-1] + 1).all()
    assert drawn.message.max() == 2


def test_a_word_that_does_not_exist_is_an_error(own):
    task = own("write-a-speaker").Backwards(most=5, words=4)
    with pytest.raises(UsageError, match=r"tokens of message must be 0..4 \(words=4\), got 1..5"):
        task.world()


def test_a_core_says_whether_it_is_trained(own):
    own("write-a-core", one=("    frozen = False\n", ""))
    with pytest.raises(UsageError, match="add `frozen = False` to Decaying"):
        choose_learner("decaying", "corrected")


def test_the_pages_use_public_names_only():
    """Each page has one file, which imports nothing but what is public."""
    for page in (
        *("write-a-training", "write-an-auxiliary-loss", "write-a-core"),
        *("write-an-agent", "write-a-micro-task", "write-a-speaker"),
    ):
        named = re.findall(r"^(?:from|import) (\S+)", code_of(page), flags=re.MULTILINE)
        public = {"dataclasses", "typing", "quickstudy", "quickstudy.learners", "quickstudy.cores"}
        assert set(named) <= public
