from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.seeds import Streams

names = st.text(st.characters(codec="ascii", exclude_characters="/"), min_size=1, max_size=12)

GOLDEN = {
    "words": [
        345118427,
        2185821062,
        4008230384,
        573927978,
        1297680007,
        2860568224,
        337705290,
        1850152670,
    ],
    "data": [3743726817, 745486580, 4013410875, 1870129770],
    "core": [0.32745366414355603, 0.5142326090579883],
    "host": 1804596678,
    "noise": [2053496824, 992675372],
    "learner": [4012719676, 76869007],
}


def test_streams_are_what_they_were():
    """Golden numbers: every result ever journalled rests on them."""
    streams = Streams(0, "language/qa", 0)
    assert streams.words("data").tolist() == GOLDEN["words"]
    assert streams.numpy("data").integers(2**32, size=4).tolist() == GOLDEN["data"]
    assert streams.numpy("core").random(2).tolist() == GOLDEN["core"]
    assert streams.integer("host") == GOLDEN["host"]
    assert (
        Streams(12305, "grammar/dyck-1", 99).numpy("noise").integers(2**32, size=2).tolist()
        == GOLDEN["noise"]
    )
    assert streams.for_learner().numpy("core").integers(2**32, size=2).tolist() == GOLDEN["learner"]


def test_jax_keys_come_from_the_same_words():
    from quickstudy.jax_gateway import jax

    streams = Streams(0, "language/qa", 0)
    data = np.asarray(jax.random.key_data(streams.jax("noise")))
    assert data.tolist() == streams.words("noise", 2).tolist()


@given(st.integers(0, 2**63), names, st.integers(0, 10**6), names)
def test_the_same_stream_starts_again(root, task, repetition, purpose):
    streams = Streams(root, task, repetition)
    again = Streams(root, task, repetition)
    assert streams.numpy(purpose).random(5).tolist() == again.numpy(purpose).random(5).tolist()
    assert 0 <= streams.integer(purpose) < 2**31


keys = st.tuples(st.integers(0, 99), names, st.integers(0, 99), names)


@given(keys, keys)
def test_different_names_are_different_streams(one, other):
    def draw(key):
        return Streams(*key[:3]).numpy(key[3]).integers(2**62, size=2).tolist()

    assert (draw(one) == draw(other)) == (one == other)


def test_purposes_are_independent():
    """The correlation of 4000 pairs has a standard deviation of 0.016."""
    streams = Streams(3, "language/qa", 7)
    purposes = ("data", "split", "order", "core", "noise", "host")
    draws = np.array([streams.numpy(purpose).random(4000) for purpose in purposes])
    correlations = np.corrcoef(draws)[np.triu_indices(len(purposes), 1)]
    assert np.abs(correlations).max() < 0.08


def test_drawing_from_one_stream_moves_no_other():
    streams = Streams(0, "a", 0)
    before = streams.numpy("data").random()
    streams.numpy("noise").random(100)
    assert streams.numpy("data").random() == before
