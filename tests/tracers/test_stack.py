"""A core with a stack that is as deep as the strings are long: 10 in training, 100 in the test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Answering, Brief, face
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import Array, Core
from quickstudy.cores.recurrent import LSTM, LongShortTermMemory
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.adam import Adam
from quickstudy.learners.core_with_training import Trained

ALLOCATED: list[int] = []


class StackCore(Core):
    """An LSTM that reads the top of a stack and, after each step, pushes or pops in the proportions
    it chooses.
    """

    controller: LongShortTermMemory
    read: Array
    act: Array
    new: Array
    cell: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        return self.controller.width

    def start(self, batch: int, capacity: int) -> Any:
        ALLOCATED.append(capacity)
        return *self.controller.start(batch, capacity), jnp.zeros((batch, capacity, self.cell))

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        hidden, cell, stack = state
        (hidden, cell), features = self.controller.step((hidden + stack[:, 0] @ self.read, cell), x)
        push = jax.nn.softmax(features @ self.act)[:, :1, None]
        pushed = jnp.concatenate(
            [jax.nn.sigmoid(features @ self.new)[:, None], stack[:, :-1]], axis=1
        )
        popped = jnp.concatenate([stack[:, 1:], jnp.zeros_like(stack[:, :1])], axis=1)
        return (hidden, cell, push * pushed + (1.0 - push) * popped), features


@dataclass(frozen=True)
class Stack:
    units: int = 8
    cell: int = 5
    id: ClassVar[str] = "stack"
    version: ClassVar[int] = 1
    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> StackCore:
        controller = LSTM(units=self.units).build(inputs, rng)
        shapes = (self.cell, self.units), (self.units, 2), (self.units, self.cell)
        drawn = [jnp.asarray(rng.normal(0.0, 0.5, shape), jnp.float32) for shape in shapes]
        return StackCore(controller, drawn[0], drawn[1], drawn[2], self.cell)


def loss(scores: Any, exam: Exam) -> float:
    right: NDArray[Any] = np.take_along_axis(
        np.asarray(jax.nn.log_softmax(scores))[0], exam.targets[0][:, None], 1
    )
    return float(-right.mean())


def test_the_stack_is_as_deep_as_the_longest_string(
    counting: Any, streams: Streams, taught: Any
) -> None:
    examples = counting.sample(streams.numpy("data"), 200)
    examples = examples.take(np.flatnonzero(examples.lengths <= 9)).padded(10)
    learned, far = Exam([examples]), Exam([counting.beyond([10, 49])])
    learner = Trained(Stack(), Adam(rate=0.02, passes=15))
    untaught = face(
        learner.begin(Brief(Tokens(3), Tokens(3), "cross-entropy", 10, 1), [streams]), Answering
    )
    pupil = taught(learner, counting, examples, streams)
    assert set(ALLOCATED) == {10}
    assert loss(pupil.answer(learned), learned) < 0.8 * loss(untaught.answer(learned), learned)
    ALLOCATED.clear()
    scores = np.asarray(pupil.answer(far))
    assert ALLOCATED == [100]
    assert scores.shape == (1, 10 + 49, 3)
    assert np.isfinite(scores).all()
    assert (scores[0, :3].argmax(axis=-1) == 2).all()


def test_a_deeper_stack_changes_nothing_before_the_bottom_is_reached() -> None:
    core = Stack().build(Tokens(3), np.random.default_rng(0))
    xs = jnp.asarray(np.random.default_rng(1).integers(3, size=(12, 2)))
    shallow, deep, wet = (
        np.asarray(core.unroll(core.start(2, depth), xs)[1]) for depth in (12, 40, 2)
    )
    assert np.allclose(shallow, deep, atol=1e-6)
    assert not np.allclose(wet, deep, atol=1e-4)
