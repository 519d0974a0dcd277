"""Recall of named things: lengths, answers by hand, baselines at the floor, oracle at the top."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.learner import Brief
from quickstudy.base.task import spaces_of
from quickstudy.tasks.span.naming import Values
from quickstudy.tasks.span.recall import Recombine
from quickstudy.tasks.span.rules import AmongShown, SpanOracle

SHAPE, COLOUR, U, W, BAR, ASK_U, ASK_W = 0, 8, 16, 24, 32, 33, 34


def _answers(rule, task, examples):
    """Share of right answers of a rule."""
    made = rule(task, Brief(*spaces_of(task), "cross-entropy", examples.steps, 0), 0)
    right = 0
    for index, length in enumerate(examples.lengths):
        given = made.predict(examples.inputs[:length, index])
        correct = given == examples.targets[:length, index]
        right += int(correct[examples.asked[:length, index]].sum())
    return right / examples.questions


def test_two_things_by_hand():
    """The word belongs to the thing of the question."""
    shown = [SHAPE + 1, COLOUR + 2, U + 3, W + 4, SHAPE + 5, COLOUR + 6, U + 7, W + 0, BAR]
    assert Values().solve([*shown, SHAPE + 5, COLOUR + 6, ASK_U]) == U + 7
    assert Values().solve([*shown, SHAPE + 1, COLOUR + 2, ASK_W]) == W + 4
    assert Values().solve(shown) == -1


@pytest.mark.parametrize(("task", "shown"), [(Values(), True), (Recombine(), False)])
def test_only_values_asks_for_things_that_were_shown(task, shown):
    """The one difference between the two items."""
    examples = task.draw(np.random.default_rng(0), np.repeat(np.arange(len(task.grid)), 20))
    for index in range(examples.count):
        tokens, positions = examples.sequence(index)
        bar = tokens.index(BAR)
        things = set(zip(tokens[0:bar:4], tokens[1:bar:4], strict=True))
        assert len(positions) == 2
        assert all(((tokens[at - 3], tokens[at - 2]) in things) is shown for at in positions)


def test_axis_and_vocabulary_are_those_of_recombine():
    """Otherwise the difference of the two spans says nothing."""
    one, other = Values(), Recombine()
    assert (one.grid, one.least, one.vocabulary) == (other.grid, other.least, other.vocabulary)
    assert one.chances().tolist() == [1 / 8] * 5
    levels = np.repeat(np.arange(5), 6)
    pairs = [(task, seed) for task in (one, other) for seed in (0, 1)]
    drawn = [task.draw(np.random.default_rng(seed), levels) for task, seed in pairs]
    assert len({tuple(examples.lengths) for examples in drawn}) == 1
    assert len({examples.asked.tobytes() for examples in drawn}) == 1
    assert sorted(set(drawn[0].lengths[levels == 3])) == [4 * size + 8 for size in (5, 6)]


def test_oracle_is_at_the_ceiling_and_a_guess_among_the_shown_is_not():
    """Eight things: a guess among their words is right in one of eight."""
    task = Values()
    examples = task.made(np.random.default_rng(1), np.full(300, 8))
    assert _answers(SpanOracle, task, examples) == 1.0
    assert abs(_answers(AmongShown, task, examples) - 1 / 8) < 4 * np.sqrt(7 / 64 / 600)
