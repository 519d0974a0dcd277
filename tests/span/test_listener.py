"""The listener by values per dimension: what is shown and asked, counts by bin, baselines."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.span import span_scores
from quickstudy.protocols.span import SpanProtocol
from quickstudy.tasks.span.listener import ListenerItem, ListenerLookup, NewestCandidate

TASK = ListenerItem(longest=4)
LEVELS = np.repeat(np.arange(len(TASK.grid)), 40)


@pytest.fixture(scope="module")
def drawn():
    """A test of 40 episodes in each bin."""
    return TASK.draw(np.random.default_rng(0), LEVELS)


def _parts(examples, index):
    """Candidates (step, 2, 3), words (step, 3), -1 where nothing is shown; the query steps."""
    rows = examples.inputs[: examples.lengths[index], index]
    blocks = rows[:, :-1].reshape(len(rows), 3, 3, TASK.longest)
    named = np.where(blocks.any(axis=-1), blocks.argmax(axis=-1), -1)
    return named[:, :2], named[:, 2], rows[:, -1] > 0


def _right(rule, examples):
    """(question,): whether a rule is right, episode by episode."""
    made = rule(TASK, Brief(*spaces_of(TASK), "cross-entropy", examples.steps, 0), 0)
    right = []
    for index, length in enumerate(examples.lengths):
        given = made.predict(examples.inputs[:length, index])
        correct = given == examples.targets[:length, index]
        right += correct[examples.asked[:length, index]].tolist()
    return np.array(right)


def test_every_episode_asks_three_query_games(drawn):
    """Equally many questions in every bin, each in a query game, and none in the support."""
    assert (drawn.asked.sum(axis=0) == 3).all()
    for index in range(drawn.count):
        query = _parts(drawn, index)[2]
        assert query.tolist() == drawn.asked[: len(query), index].tolist()
        assert query.tolist() == [False] * (len(query) - 3) + [True] * 3


def test_no_candidate_was_named_in_its_own_support(drawn):
    """Zero-shot: all values were named, the combinations were not; values are those of the bin."""
    for index, level in enumerate(LEVELS):
        candidates, words, query = _parts(drawn, index)
        support = set(map(tuple, candidates[~query, 0]))
        assert (candidates[~query, 1] == -1).all()
        assert not support & set(map(tuple, candidates[query].reshape(-1, 3)))
        assert (candidates[query, 0] != candidates[query, 1]).any(axis=1).all()
        for dimension in range(3):
            named = {thing[dimension] for thing in support}
            assert named == set(range(TASK.grid[level]))
            assert len(set(words[~query, dimension])) == TASK.grid[level]


def test_the_words_of_a_query_name_the_right_candidate(drawn):
    """By a dictionary of values and words, made by hand from the support."""
    for index in range(drawn.count):
        candidates, words, query = _parts(drawn, index)
        answers = drawn.targets[: len(query), index]
        for step in np.flatnonzero(query):
            meant = candidates[step, answers[step]]
            for dimension in range(3):
                values = candidates[~query, 0, dimension]
                known = dict(zip(values, words[~query, dimension], strict=True))
                assert known[meant[dimension]] == words[step, dimension]


def test_shapes_are_the_same_in_every_seed():
    """One compiled program; episodes of one size share the program that draws them."""
    drawn = [TASK.draw(np.random.default_rng(seed), LEVELS[::8]) for seed in range(3)]
    shapes = {examples.inputs.shape for examples in drawn}
    assert len(shapes) == 1
    assert len({TASK.game(size).sizes for size in (2, 3, 4)}) == 1


def test_words_change_from_episode_to_episode(drawn):
    """No value has a word of its own."""
    first = set()
    for index in np.flatnonzero(LEVELS == 2):
        candidates, words, query = _parts(drawn, index)
        first |= set(words[~query, 0][candidates[~query, 0, 0] == 0])
    assert first == set(range(4))


def test_oracle_at_the_ceiling_and_blind_listener_at_the_floor(drawn):
    """In every bin, and in the last query game, where a listener has seen most candidates
    before.
    """
    assert _right(ListenerLookup, drawn).all()
    many = TASK.made(np.random.default_rng(5), np.full(1000, 2))
    blind = _right(NewestCandidate, many).reshape(-1, 3).mean(axis=0)
    assert np.abs(blind - 0.5).max() < 4 * 0.5 / np.sqrt(1000)


def test_trace_by_bin():
    """Counts by bin and the exact span of the oracle."""
    learner = choose_learner("listener-lookup", "corrected", TASK).make(TASK)
    streams = [Streams(0, TASK.id, 0)]
    trace = SpanProtocol(sequences=16, tests=5).examine(TASK, learner, streams).traces[0]
    assert trace.kind == "span"
    assert trace.arrays["difficulty"].tolist() == [2, 3, 4]
    assert trace.arrays["asked"].tolist() == trace.arrays["correct"][-1].tolist() == [15] * 3
    assert trace.arrays["chance"].tolist() == [0.5] * 3
    assert trace.facts["least"] == 1
    assert span_scores(trace)["span"] == pytest.approx(4.0)
