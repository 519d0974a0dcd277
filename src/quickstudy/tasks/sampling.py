"""From a task's independent draws to a set of different sequences, and from the set to what is learned and tested."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.task import ExampleTask

DRAWS_PER_SEQUENCE = 5


class Split(NamedTuple):
    """What is learned from and what is held out."""

    train: Examples
    test: Examples


def draw_unique(task: ExampleTask, rng: np.random.Generator, wanted: int, most_draws: int | None = None) -> Examples:
    """The first `wanted` different sequences among at most `most_draws` (5 times `wanted`) draws; fewer if there are
    no more.

    Exactly: let d1, d2 ... be the draws that `task.sample(rng, ...)` gives, called again and again: for `wanted` at
    first, and then for twice as many as are still missing (at least 64, at most `wanted`). The result is those of
    d1 .. d(most_draws) that equal no earlier one, in order, cut after `wanted`. Two sequences are equal when their
    tokens are; of equal ones the first is kept, with its own supervised positions. For a task that draws the same
    whatever the grouping, as the language tasks do, this is what drawing one by one gives. The stream itself is left
    behind the last batch, not behind the last sequence kept.
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
    """A random permutation; the first int(share * count) examples are learned from, the rest are held out."""
    if not 0 <= share <= 1:
        raise UsageError(f"share must lie in 0..1, got {share}")
    order = rng.permutation(examples.count)
    cut = int(share * examples.count)
    return Split(examples.take(order[:cut]), examples.take(order[cut:]))


def sequence_keys(examples: Examples) -> list[bytes]:
    """What makes two sequences equal: all that is in them, less the padding and the supervised positions."""
    inputs = np.ascontiguousarray(np.moveaxis(examples.inputs, 1, 0))
    targets = np.ascontiguousarray(np.moveaxis(examples.targets, 1, 0))
    lengths = examples.lengths.tolist()
    return [inputs[i, :length].tobytes() + targets[i, :length].tobytes() for i, length in enumerate(lengths)]
