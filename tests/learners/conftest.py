"""A small world for pupils: random sequences over a few symbols, asked at random places."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.jax_gateway import jax

SYMBOLS = 5


def random_examples(count, seed=0, longest=9, symbols=SYMBOLS):
    """Sequences of 3 .. longest tokens; each place after the first is asked with probability 1/2,
    the last always.
    """
    rng = np.random.default_rng(seed)
    tokens = [rng.integers(symbols, size=rng.integers(3, longest + 1)) for _ in range(count)]
    asked = [[*np.flatnonzero(rng.random(len(t) - 2) < 0.5) + 1, len(t) - 1] for t in tokens]
    return Examples.from_sequences(tokens, asked)


def brief_for(examples, symbols=SYMBOLS):
    return Brief(Tokens(symbols), Tokens(symbols), "cross-entropy", examples.steps, examples.count)


def lesson_of(*lanes, item="example", seed=0, passes=1):
    """A lesson in random order, with lanes padded by -1."""
    rng = np.random.default_rng(seed)
    sizes = [lane.count if item == "example" else lane.questions for lane in lanes]
    orders = [np.concatenate([rng.permutation(size) for _ in range(passes)]) for size in sizes]
    longest = max(map(len, orders))
    padded = np.stack(
        [np.pad(order, (0, longest - len(order)), constant_values=-1) for order in orders]
    )
    return Lesson(list(lanes), padded, item)


def streams_of(count=1, seed=0):
    return [Streams(seed, "testing/pupils", repetition) for repetition in range(count)]


def features_of(spec, examples, streams, symbols=SYMBOLS):
    """(time, example, feature), from the core by itself, in float64."""
    core = spec.build(Tokens(symbols), streams.numpy("core"))
    run = jax.jit(lambda inputs: core.unroll(core.start(examples.count, examples.steps), inputs)[1])
    return np.asarray(run(examples.inputs), float)


@pytest.fixture(scope="session")
def world():
    """The helpers above, for tests that cannot import this file."""

    class World:
        symbols = SYMBOLS
        examples = staticmethod(random_examples)
        brief = staticmethod(brief_for)
        lesson = staticmethod(lesson_of)
        streams = staticmethod(streams_of)
        features = staticmethod(features_of)

    return World
