from __future__ import annotations

import doctest
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.seeds import Streams
from quickstudy.tasks import sampling
from quickstudy.tasks.sampling import between, draw_unique, split

LANGUAGE = [id for id in registries.task.names() if id.startswith(("language/", "continual/"))]
FEWER = ("language/periodic", "language/mixed", "continual/chained", "language/extra-walk")
"""They have fewer than 1200 different sequences under some convention."""


@dataclass
class Script:
    """Gives prepared words one after the other, with supervision that differs from draw to draw."""

    words: list[str]
    place: int = 0

    def sample(self, rng, count):
        chosen = self.words[self.place : self.place + count]
        masks = [[1 + (self.place + k) % (len(word) - 1)] for k, word in enumerate(chosen)]
        self.place += count
        return Examples.from_sequences(
            [[ord(letter) - ord("a") for letter in word] for word in chosen], masks
        )


def words_of(examples):
    return [
        "".join(chr(ord("a") + token) for token in examples.sequence(i)[0])
        for i in range(examples.count)
    ]


def test_order_of_first_appearance_with_its_own_mask():
    # Batches of 3: (abc, ab, abc), (ab, ba, abcd).
    examples = draw_unique(
        Script(["abc", "ab", "abc", "ab", "ba", "abcd"]), np.random.default_rng(0), 3
    )
    assert words_of(examples) == ["abc", "ab", "ba"]
    assert [examples.sequence(i)[1] for i in range(3)] == [[1], [1], [1]]


def test_a_prefix_is_a_different_sequence():
    # Padding must not make "aa" (ids 0 0) and "aaa" (ids 0 0 0) equal.
    assert words_of(
        draw_unique(Script(["aaa", "aa", "aaa", "aa"]), np.random.default_rng(0), 2)
    ) == ["aaa", "aa"]


def test_stops_at_the_draws_allowed():
    script = Script(["ab"] * 7 + ["ba"] * 20)
    assert words_of(draw_unique(script, np.random.default_rng(0), 2, 7)) == ["ab"]
    assert script.place == 7
    script = Script(["ab"] * 10 + ["ba"])
    assert words_of(draw_unique(script, np.random.default_rng(0), 2)) == ["ab"]
    assert script.place == 10


@pytest.mark.parametrize("id", LANGUAGE)
@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_same_as_drawing_one_by_one(make_task, id, convention):
    task = make_task(id, convention)
    rng = np.random.default_rng(5)
    seen: dict[tuple[int, ...], list[int]] = {}
    for _ in range(5 * 60):
        tokens, mask = task.sample(rng, 1).sequence(0)
        if len(seen) < 60:
            seen.setdefault(tuple(tokens), mask)
    examples = draw_unique(task, np.random.default_rng(5), 60)
    assert [examples.sequence(i) for i in range(examples.count)] == [
        (list(t), m) for t, m in seen.items()
    ]


def test_published_periodic_has_52_sequences_41_to_learn_from(make_task):
    for repetition in range(3):
        streams = Streams(0, "language/periodic", repetition)
        examples = draw_unique(
            make_task("language/periodic", "published"), streams.numpy("data"), 1200
        )
        train, test = split(examples, streams.numpy("split"))
        assert (examples.count, train.count, test.count) == (52, 41, 11)


@pytest.mark.parametrize("id", [id for id in LANGUAGE if id not in FEWER])
@pytest.mark.parametrize("convention", ["published", "written", "corrected"])
def test_1200_sequences_that_train_and_test_do_not_share(make_task, id, convention):
    examples = draw_unique(make_task(id, convention), np.random.default_rng(1), 1200)
    train, test = split(examples, np.random.default_rng(2))
    assert (examples.count, train.count, test.count) == (1200, 960, 240)
    learned = {tuple(train.sequence(i)[0]) for i in range(train.count)}
    held_out = {tuple(test.sequence(i)[0]) for i in range(test.count)}
    assert len(learned) == 960
    assert len(held_out) == 240
    assert not learned & held_out


def test_written_periodic_gives_1200(make_task):
    assert (
        draw_unique(make_task("language/periodic", "written"), np.random.default_rng(1), 1200).count
        == 1200
    )


@settings(max_examples=30, deadline=None)
@given(count=st.integers(1, 40), share=st.floats(0, 1), seed=st.integers(0, 1000))
def test_split_is_a_permutation_cut_once(count, share, seed):
    examples = Examples.from_sequences([[0] * (2 + i) for i in range(count)], [[1]] * count)
    train, test = split(examples, np.random.default_rng(seed), share)
    assert train.count == int(share * count)
    order = np.random.default_rng(seed).permutation(count)
    assert [*train.lengths, *test.lengths] == examples.lengths[order].tolist()


def test_what_cannot_be_asked_for(make_task):
    task = make_task("language/qa")
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="at least 1 sequence must be wanted, got 0"):
        draw_unique(task, rng, 0)
    with pytest.raises(UsageError, match="at least 1 draw must be allowed, got 0"):
        draw_unique(task, rng, 3, 0)
    with pytest.raises(UsageError, match=r"share must lie in 0..1, got 1.5"):
        split(task.sample(rng, 3), rng, 1.5)


def test_doctests():
    result = doctest.testmod(sampling)
    assert result.attempted >= 2
    assert result.failed == 0


@given(st.integers(1, 10**6), st.integers(-5, 5))
def test_between_never_leaves_its_range(width, low):
    largest = np.nextafter(1.0, 0.0)
    assert between(np.array([0.0, largest]), low, low + width - 1).tolist() == [
        low,
        low + width - 1,
    ]


def test_bounds_may_differ_by_row():
    assert between(np.full(3, 0.99), np.array([0, 1, 2]), np.array([0, 3, 9])).tolist() == [0, 3, 9]


@pytest.mark.parametrize("id", LANGUAGE)
@pytest.mark.parametrize("convention", ["published", "written", "corrected"])
def test_draws_do_not_depend_on_grouping(make_task, id, convention):
    task = make_task(id, convention)
    whole = task.sample(np.random.default_rng(3), 9)
    rng = np.random.default_rng(3)
    parts = [task.sample(rng, count) for count in (2, 0, 1, 6)]
    grouped = [part.sequence(i) for part in parts for i in range(part.count)]
    assert grouped == [whole.sequence(i) for i in range(9)]
