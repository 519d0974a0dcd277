"""What actions are worth, by a network with a memory: values of the parts of an action add up, and
what all actions of a moment have in common is a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.spaces import Fields, Reals, Space, Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import device_kind, eqx, jax, jnp
from quickstudy.learners.stepping import Head


class ActionValues(eqx.Module):
    """A memory and its heads: advantage of every choice, value of the moment (dueling), and the
    reconstruction of the input. Each row has a memory of its own, even if a core shares memory
    among its rows.
    """

    core: Any
    advantage: Head
    value: Head
    rebuilt: Head

    @classmethod
    def drawn(
        cls, spec: CoreSpec, inputs: Space, outputs: Space, numbers: int, rng: np.random.Generator
    ) -> Any:
        """Weights of the core, then of the heads."""
        core = spec.build(inputs, rng)
        if core.capabilities.leaks:
            raise NotApplicable(
                "a core that is shown whole sequences, their answers included, cannot go step by"
                " step"
            )
        if core.capabilities.straightens and device_kind() != "cpu":
            core = replace(core, straight=True)  # type: ignore[call-arg]
        return cls(core, *(Head.drawn(core, width, rng) for width in (outputs.width, 1, numbers)))

    def trainable(self) -> Any:
        """What the core lets be trained, and all heads."""
        heads = jax.tree.map(lambda _: True, (self.advantage, self.value, self.rebuilt))
        return ActionValues(self.core.trainable(), *heads)

    @property
    def _apart(self) -> bool:
        """Whether rows of the core have nothing in common: all that it keeps has them in front."""
        few, more = (
            jax.tree.leaves(jax.eval_shape(lambda rows=rows: self.core.start(rows, 2)))
            for rows in (2, 3)
        )
        return all(
            one.shape[:1] == (2,) and other.shape[:1] == (3,)
            for one, other in zip(few, more, strict=True)
        )

    def start(self, rows: int, capacity: int) -> Any:
        """(row, ...): empty memories."""
        if self._apart:
            return self.core.start(rows, capacity)
        alone = self.core.start(1, capacity)
        return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (rows, *jnp.shape(leaf))), alone)

    def step(self, memories: Any, inputs: Any) -> tuple[Any, Any]:
        """One step (row, ...) of every row: memories after it, features (row, feature)."""
        if self._apart:
            return self.core.step(memories, inputs)  # type: ignore[no-any-return]
        alone = jax.tree.map(lambda leaf: leaf[:, None], inputs)
        memories, features = jax.vmap(lambda memory, x: self.core.step(memory, x))(memories, alone)
        return memories, features[:, 0]

    def unroll(self, memories: Any, inputs: Any) -> tuple[Any, Any]:
        """Many steps (time, row, ...): memories after them, features (time, row, feature)."""
        if self._apart:
            return self.core.unroll(memories, inputs)  # type: ignore[no-any-return]
        alone = jax.tree.map(lambda leaf: leaf[:, :, None], inputs)

        def of_row(memory: Any, xs: Any) -> Any:
            return self.core.unroll(memory, xs)

        memories, features = jax.vmap(of_row, in_axes=(0, 1), out_axes=(0, 1))(memories, alone)
        return memories, features[:, :, 0]

    def scores(self, space: Space, features: Any) -> Any:
        """(..., choice): advantages, 0 in the mean over the choices of every part."""
        return centred(space, self.advantage(features))

    def of(self, space: Space, features: Any, action: Any) -> Any:
        """(...): what an action is worth."""
        return self.value(features)[..., 0] + taken(space, self.scores(space, features), action)


def centred(space: Space, scores: Any) -> Any:
    """(..., choice): without the mean of every part."""
    if isinstance(space, Fields):
        return jnp.concatenate(
            [centred(part, own) for _, part, own in _parts(space, scores)], axis=-1
        )
    return scores - scores.mean(axis=-1, keepdims=True)


def taken(space: Space, scores: Any, action: Any) -> Any:
    """(...): the scores of the choices that make up an action, added up."""
    if isinstance(space, Fields):
        return sum(taken(part, own, action[name]) for name, part, own in _parts(space, scores))
    return jnp.take_along_axis(scores, action[..., None], axis=-1)[..., 0]


def _parts(space: Fields, scores: Any) -> Iterator[tuple[str, Space, Any]]:
    """Of every part its name, its space and its scores."""
    cuts = np.cumsum([part.width for _, part in space.parts])[:-1]
    for (name, part), own in zip(space.parts, jnp.split(scores, cuts, axis=-1), strict=True):
        yield name, part, own


def written(space: Space, action: Any) -> Any:
    """(..., width): an action as ones and zeros."""
    if isinstance(space, Fields):
        return jnp.concatenate([written(part, action[name]) for name, part in space.parts], axis=-1)
    return jax.nn.one_hot(action, space.width)


def check_choices(space: Space) -> None:
    """Raise NotApplicable unless an action is one choice or several."""
    parts: Sequence[tuple[str, Space]] = space.parts if isinstance(space, Fields) else [("", space)]
    for _, part in parts:
        if isinstance(part, Fields):
            check_choices(part)
        elif not isinstance(part, Tokens):
            raise NotApplicable(f"r2d2 is for actions that are choices, not {part}")


def widened(inputs: Space, outputs: Space, others: bool) -> Space:
    """What a memory reads: what is seen, what was done last, and perhaps what another thought
    best.
    """
    if not isinstance(inputs, Reals):
        return inputs
    return Reals(inputs.width + outputs.width * (1 + others))


def squeezed(values: Any) -> Any:
    """Large values made small (Pohlen et al. 2018).

    >>> float(stretched(squeezed(jnp.float32(12.5)))).__round__(3)
    12.5
    """
    return jnp.sign(values) * (jnp.sqrt(jnp.abs(values) + 1) - 1) + 1e-3 * values


def stretched(values: Any) -> Any:
    """The inverse."""
    inside = jnp.sqrt(1 + 4e-3 * (jnp.abs(values) + 1 + 1e-3))
    return jnp.sign(values) * (jnp.square((inside - 1) / 2e-3) - 1)
