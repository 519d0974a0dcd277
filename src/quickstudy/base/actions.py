"""Actions: whether one is in its space, and how one is drawn from scores, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.base.errors import LearnerFault
from quickstudy.base.spaces import Bits, Fields, Reals, Space, Tokens


@dataclass(frozen=True, eq=False)
class Policy:
    """What scores say of an action: every part by itself, every number in it by itself.

    scores: (..., width), the parts side by side as in `space.width`. Of tokens they are logits; of
    bits the log odds of a one; a real number is spread around its score by the logistic
    distribution of scale 1. NumPy arrays give NumPy arrays, JAX arrays (in a compiled function or
    out of it) JAX arrays.
    """

    space: Space
    scores: Any

    def draw(self, uniform: Any = None) -> Any:
        """An action: the likeliest, or drawn by means of uniform numbers in 0 .. 1, one for every
        score.

        They come from that place's random source: `rng.random(scores.shape)`,
        `jax.random.uniform(key, scores.shape)`.
        """
        if isinstance(self.space, Fields):
            return {name: part.draw(_cut(uniform, where)) for name, part, where in self._parts()}
        xp = self.scores.__array_namespace__()
        if uniform is not None:
            uniform = xp.clip(uniform, 1e-30, 1 - 6e-8)  # float32 has nothing nearer to 1
        if isinstance(self.space, Tokens):
            gumbel = 0.0 if uniform is None else -xp.log(-xp.log(uniform))
            return xp.argmax(self.scores + gumbel, axis=-1)
        drawn = (
            self.scores if uniform is None else self.scores + xp.log(uniform) - xp.log1p(-uniform)
        )
        return (drawn > 0).astype(xp.int32) if isinstance(self.space, Bits) else drawn

    def log_probability(self, action: Any) -> Any:
        """(...): of drawing this action; the density, where there are real numbers in it."""
        if isinstance(self.space, Fields):
            return sum(part.log_probability(action[name]) for name, part, _ in self._parts())
        xp = self.scores.__array_namespace__()
        if isinstance(self.space, Tokens):
            chosen = xp.take_along_axis(self.scores, xp.asarray(action)[..., None], axis=-1)[..., 0]
            return chosen - _log_sum(xp, self.scores)
        if isinstance(self.space, Bits):
            return -xp.logaddexp(0.0, xp.where(action > 0, -self.scores, self.scores)).sum(axis=-1)
        distance = xp.abs(action - self.scores)
        return -(distance + 2 * xp.log1p(xp.exp(-distance))).sum(axis=-1)

    def entropy(self) -> Any:
        """(...): in nats."""
        if isinstance(self.space, Fields):
            return sum(part.entropy() for _, part, _ in self._parts())
        xp = self.scores.__array_namespace__()
        if isinstance(self.space, Tokens):
            # A token may be ruled out by a score of minus infinity: it adds nothing, and no slope.
            logs = xp.maximum(self.scores - _log_sum(xp, self.scores)[..., None], -1e30)
            return -(xp.exp(logs) * logs).sum(axis=-1)
        if isinstance(self.space, Bits):
            one = 1 / (1 + xp.exp(-xp.abs(self.scores)))
            return (xp.logaddexp(0.0, xp.abs(self.scores)) - one * xp.abs(self.scores)).sum(axis=-1)
        return xp.full_like(self.scores, 2.0).sum(axis=-1)

    def _parts(self) -> Iterator[tuple[str, Policy, slice]]:
        start = 0
        for name, part in self.space.parts if isinstance(self.space, Fields) else ():
            where = slice(start, start + part.width)
            yield name, Policy(part, self.scores[..., where]), where
            start += part.width


def checked_action(space: Space, action: Any, shape: tuple[int, ...] = ()) -> Any:
    """The action in plain form: an integer or an array of them, an array of numbers, or a mapping
    of these.

    shape: of the axes in front, (players,) where there are several. Raises LearnerFault for one
    outside its space.
    """
    if isinstance(space, Fields):
        wanted = [name for name, _ in space.parts]
        if not isinstance(action, Mapping) or set(action) != set(wanted):
            given = (
                f"one with {', '.join(map(str, action))}"
                if isinstance(action, Mapping)
                else repr(action)
            )
            raise LearnerFault(f"act must give a mapping with {', '.join(wanted)}, got {given}")
        return {name: checked_action(part, action[name], shape) for name, part in space.parts}
    try:
        values = np.asarray(action)
    except ValueError as error:  # rows of different lengths
        raise LearnerFault(f"act must give {_described(space)}, got {action!r}") from error
    wanted_shape = shape if isinstance(space, Tokens) else (*shape, space.width)
    if values.shape != wanted_shape:
        raise LearnerFault(
            f"act must give {_described(space)} of shape {wanted_shape}, got {action!r}"
        )
    if isinstance(space, Reals):
        fits = values.dtype.kind in "iuf" and bool(np.isfinite(values).all())
    else:
        size = space.size if isinstance(space, Tokens) else 2
        fits = values.dtype.kind in "iub" and bool(((values >= 0) & (values < size)).all())
    if not fits:
        raise LearnerFault(f"act must give {_described(space)}, got {action!r}")
    return int(values) if isinstance(space, Tokens) and not shape else values


def _described(space: Tokens | Reals | Bits) -> str:
    if isinstance(space, Tokens):
        return f"a token 0..{space.size - 1}"
    return f"{space.width} {'zeros and ones' if isinstance(space, Bits) else 'finite numbers'}"


def _cut(array: Any, where: slice) -> Any:
    return None if array is None else array[..., where]


def _log_sum(xp: Any, scores: Any) -> Any:
    largest = scores.max(axis=-1, keepdims=True)
    return (largest + xp.log(xp.exp(scores - largest).sum(axis=-1, keepdims=True)))[..., 0]
