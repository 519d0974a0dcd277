"""A causal transformer core: attention over a window, taken step by step or over whole
sequences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import Array, Core, InputWeights
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.adam import Adam
from quickstudy.learners.core_with_training import Trained


class WindowCore(Core):
    """One attention head with a learned bias for every distance. State: keys and values (B, W, F),
    their number.
    """

    inputs: InputWeights
    mix: Array
    bias: Array
    window: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        return int(self.mix.shape[-1])

    def start(self, batch: int, capacity: int) -> Any:
        nothing = jnp.zeros((batch, min(self.window, capacity), self.width))
        return nothing, nothing, jnp.int32(0)

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        state, features = self.unroll(state, jax.tree.map(lambda leaf: leaf[None], x))
        return state, features[0]

    def unroll(self, state: Any, xs: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        before_keys, before_values, count = state
        size, rows = before_keys.shape[1], self.inputs(xs)
        queries, keys, values = (jnp.swapaxes(rows @ mix, 0, 1) for mix in self.mix[:3])
        keys, values = (
            jnp.concatenate([before_keys, keys], 1),
            jnp.concatenate([before_values, values], 1),
        )
        distance = size + jnp.arange(len(rows))[:, None] - jnp.arange(keys.shape[1])
        seen = (
            (distance >= 0)
            & (distance < size)
            & (distance - jnp.arange(len(rows))[:, None] <= count)
        )
        scores = (
            jnp.einsum("bqf,bkf->bqk", queries, keys) / np.sqrt(self.width)
            + self.bias[distance % size]
        )
        read = jnp.swapaxes(jax.nn.softmax(jnp.where(seen, scores, -1e30)) @ values, 0, 1)
        return (keys[:, -size:], values[:, -size:], count + len(rows)), jnp.tanh(
            rows + read @ self.mix[3]
        )


@dataclass(frozen=True)
class Window:
    units: int = 24
    window: int = 6
    id: ClassVar[str] = "window"
    version: ClassVar[int] = 1
    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> WindowCore:
        weights, mix = (
            rng.normal(size=(inputs.width, self.units)),
            rng.normal(size=(4, self.units, self.units)),
        )
        drawn = jnp.asarray(mix / np.sqrt(self.units), jnp.float32)
        return WindowCore(
            InputWeights(jnp.asarray(weights, jnp.float32), inputs),
            drawn,
            jnp.zeros(self.window),
            self.window,
        )


@dataclass(frozen=True)
class Echo:
    """Random tokens; the answer is the token read three steps ago."""

    vocabulary: ClassVar[str] = "abcd"

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        tokens = rng.integers(4, size=(16, count))
        asked = np.repeat(np.arange(16) >= 3, count).reshape(16, count)
        return Examples(tokens, np.roll(tokens, 3, axis=0), asked, np.full(count, 16))


@pytest.fixture(scope="module")
def pupil(streams: Streams, taught: Any) -> Any:
    examples = Echo().sample(streams.numpy("data"), 200)
    return taught(Trained(Window(), Adam(rate=0.01, passes=6)), Echo(), examples, streams)


def test_attention_learns_to_look_three_steps_back(pupil: Any, streams: Streams) -> None:
    exam = Exam([Echo().sample(streams.numpy("test"), 50)])
    assert (np.asarray(pupil.answer(exam)).argmax(axis=-1) == exam.targets).mean() > 0.9


@pytest.mark.parametrize("capacity", [4, 12])
def test_whole_sequences_agree_with_single_steps(capacity: int) -> None:
    core, rng = Window().build(Tokens(4), np.random.default_rng(0)), np.random.default_rng(1)
    core = eqx.tree_at(lambda core: core.bias, core, jnp.asarray(rng.normal(size=6), jnp.float32))
    xs = jnp.asarray(rng.integers(4, size=(12, 3)))
    state, whole = jax.jit(lambda xs: core.unroll(core.start(3, capacity), xs))(xs)
    scanned, single = jax.jit(lambda xs: Core.unroll(core, core.start(3, capacity), xs))(xs)
    assert np.allclose(whole, single, atol=1e-5)
    assert all(np.allclose(*pair, atol=1e-5) for pair in zip(state, scanned, strict=True))


def test_answers_do_not_look_ahead(pupil: Any, streams: Streams) -> None:
    examples = Echo().sample(streams.numpy("test"), 20)
    later = examples.inputs.copy()
    later[10:] = (later[10:] + 1) % 4
    before, after = (
        np.asarray(pupil.answer(Exam([given])))[0]
        for given in (examples, replace(examples, inputs=later))
    )
    early = Exam([examples]).positions[0, :, 0] < 10
    assert np.allclose(before[early], after[early], atol=1e-6)
    assert not np.allclose(before[~early], after[~early], atol=1e-2)
