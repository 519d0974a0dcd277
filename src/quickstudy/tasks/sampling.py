"""From uniform numbers to choices, from draws to a set of different sequences, from the set to what
is learned and tested; and whether what was drawn is what a task's spaces say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples, Series
from quickstudy.base.spaces import Bits, Fields, Space, Tokens
from quickstudy.base.task import ExampleTask

T = TypeVar("T")
DRAWS_PER_SEQUENCE = 5


def between(uniform: NDArray[np.float64], low: Any, high: Any) -> NDArray[np.int64]:
    """Integers uniform in low .. high, both included, from numbers uniform in [0, 1). Bounds may be
    arrays.

    >>> between(np.array([0.0, 0.3, 0.999]), 1, 4).tolist()
    [1, 2, 4]
    """
    # floor(u * n) is below n for every double u < 1: u * n is never rounded up to n.
    return np.asarray(low + np.floor(uniform * (np.asarray(high) - low + 1)), dtype=np.int64)


def heads(uniform: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Fair coins."""
    return uniform < 0.5


def shuffled(uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """A uniformly random order of 0 .. width-1 for every row of a (count, width) table.

    >>> shuffled(np.array([[0.5, 0.9, 0.1]])).tolist()
    [[2, 0, 1]]
    """
    return np.argsort(uniform, axis=1, kind="stable")


def pick(uniform: float, choices: Sequence[T]) -> T:
    """One of the choices, each as likely as the others, from a number uniform in [0, 1)."""
    return choices[int(uniform * len(choices))]


class Split(NamedTuple):
    """The training data and the held-out data."""

    train: Examples
    test: Examples


def draw_unique(
    task: ExampleTask, rng: np.random.Generator, wanted: int, most_draws: int | None = None
) -> Examples:
    """The first `wanted` different sequences among at most `most_draws` (5 times `wanted`) draws;
    fewer if no more exist.

    Exactly: let d1, d2 ... be the draws that `task.sample(rng, ...)` gives, called again and again:
    for `wanted` at first, and then for twice as many as are still missing (at least 64, at most
    `wanted`). The result is those of d1 .. d(most_draws) that equal no earlier one, in order, cut
    after `wanted`. Two sequences are equal when their tokens are; of equal ones the first is kept,
    with its own supervised positions. For a task that draws the same for any grouping, as the
    language tasks do, this is what drawing one by one gives. The stream itself ends after the
    last batch, not after the last sequence kept.
    """
    if wanted < 1:
        raise UsageError(f"at least 1 sequence must be wanted, got {wanted}")
    left = DRAWS_PER_SEQUENCE * wanted if most_draws is None else most_draws
    seen: set[bytes] = set()
    kept: list[Examples] = []
    while left > 0 and len(seen) < wanted:
        size = min(wanted, left, max(64, 2 * (wanted - len(seen))))
        batch = task.sample(rng, size)
        left -= size
        fresh = []
        for index, key in enumerate(sequence_keys(batch)):
            if key not in seen and len(seen) < wanted:
                seen.add(key)
                fresh.append(index)
        kept.append(batch.take(fresh))
    if not kept:
        raise UsageError(f"at least 1 draw must be allowed, got {most_draws}")
    return Examples.joined(kept)


def split(examples: Examples, rng: np.random.Generator, share: float = 0.8) -> Split:
    """A random permutation; the first int(share * count) examples are learned from, the rest are
    held out.
    """
    if not 0 <= share <= 1:
        raise UsageError(f"share must lie in 0..1, got {share}")
    order = rng.permutation(examples.count)
    cut = int(share * examples.count)
    return Split(examples.take(order[:cut]), examples.take(order[cut:]))


def sequence_keys(examples: Examples) -> list[bytes]:
    """What makes two sequences equal: all that is in them, less the padding and the supervised
    positions.
    """
    inputs = np.ascontiguousarray(np.moveaxis(examples.inputs, 1, 0))
    targets = np.ascontiguousarray(np.moveaxis(examples.targets, 1, 0))
    lengths = examples.lengths.tolist()
    return [
        inputs[i, :length].tobytes() + targets[i, :length].tobytes()
        for i, length in enumerate(lengths)
    ]


def check_drawn(drawn: Any, inputs: Space, outputs: Space) -> None:
    """Raise UsageError unless examples or a series are what the spaces say, and every example asks
    something.
    """
    if isinstance(drawn, Series):
        check_within("inputs", drawn.inputs, inputs, (len(drawn.inputs),))
        return check_within("targets", drawn.targets, outputs, (len(drawn.targets),))
    if not isinstance(drawn, Examples):
        raise UsageError(f"sample(rng, count) must give Examples, got {type(drawn).__name__}")
    inside = np.arange(drawn.steps)[:, None] < drawn.lengths
    if (drawn.asked & ~inside).any():
        raise UsageError("something is asked in the padding, after the end of an example")
    silent = np.flatnonzero(~drawn.asked.any(axis=0))
    if len(silent):
        raise UsageError(f"example {silent[0]} asks nothing; every example needs a question")
    there = int(inside.sum())
    shown = (
        drawn.inputs[inside]
        if there < inside.size
        else drawn.inputs.reshape(there, *drawn.inputs.shape[2:])
    )
    check_within("inputs", shown, inputs, (there,))
    return check_within("targets", drawn.targets[drawn.asked], outputs, (drawn.questions,))


def check_within(name: str, values: Any, space: Space, leading: tuple[int, ...]) -> None:
    """Raise UsageError unless values lie in a space, with those axes in front."""
    if isinstance(space, Fields):
        for part, inner in space.parts:
            check_within(f"{name} ({part})", values[part], inner, leading)
        return
    array: NDArray[Any] = np.asarray(values)
    wanted = leading if isinstance(space, Tokens) else (*leading, space.width)
    if isinstance(space, Tokens) and not np.issubdtype(array.dtype, np.integer):
        raise UsageError(f"{name} must be integer tokens, got {array.dtype}")
    if array.shape != wanted:
        raise UsageError(f"{name} must have the shape {wanted}, got {array.shape}")
    if isinstance(space, Tokens) and array.size and (array.min() < 0 or array.max() >= space.size):
        raise UsageError(
            f"{name} must be tokens 0..{space.size - 1}, got {array.min()}..{array.max()}"
        )
    if isinstance(space, Bits) and not np.isin(array, (0, 1)).all():
        raise UsageError(f"{name} must be zeros and ones, got {array[~np.isin(array, (0, 1))][0]}")
    if not np.isfinite(array).all():
        raise UsageError(f"{name} must be finite")
