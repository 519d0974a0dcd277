"""Lessons of one task that differ a little in size are learned by one compiled program."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Lesson
from quickstudy.gateway import jax
from quickstudy.learners.naming import choose_learner


@pytest.fixture
def compiled():
    """The events of compiling, as they come."""
    events = []

    def listener(event, seconds, **_):
        if event.startswith("/jax/core/compile/"):
            events.append(event)

    jax.monitoring.register_event_duration_secs_listener(listener)
    yield events
    jax.monitoring.unregister_event_duration_listener(listener)


def fresh(count, world):
    """Episodes of one length with a question at the end, drawn anew."""
    tokens = np.random.default_rng(count).integers(world.symbols, size=(count, 12))
    return Lesson([Examples.from_sequences(tokens, [[11]] * count)], np.arange(count)[None])


@pytest.mark.parametrize(
    "name", ["lstm:units=5", "transformer:embedding=8,hidden=8", "esn:units=20", "lstm:units=5,batch=0"]
)
def test_lessons_of_different_sizes_share_a_program(name, world, compiled):
    pupil = choose_learner(name, "corrected").make(None).begin(world.brief(world.examples(9)), world.streams())
    lesson = fresh(96, world)
    pupil.learn(lesson, 0, lesson.items)
    before = pupil.snapshot().arrays
    assert compiled
    compiled.clear()
    for count in (90, 93, 91):
        lesson = fresh(count, world)
        pupil.learn(lesson, 0, lesson.items)
    assert compiled == []
    changed = [name for name, array in pupil.snapshot().arrays.items() if not np.array_equal(array, before[name])]
    assert changed
