"""Lanes: the same program for several repetitions at once. Arrays carry a first axis with one entry
per lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import TooManyLanes, UsageError
from quickstudy.jax_gateway import (
    device_kind,
    device_memory,
    double,
    eqx,
    handed_over,
    jax,
    jnp,
    lax,
)

MOST_OF_THE_MEMORY = 2 / 3
"""The largest part of a device's memory that one array of features may take: tests hold a second,
smaller one, and programs need room to work in.
"""


def over_lanes(function: Callable[..., Any], lanes: int) -> Callable[..., Any]:
    """A function of one lane, made to work on all. A single lane does without vmap: it is
    faster.
    """
    if lanes > 1:
        return eqx.filter_vmap(function)

    def single(*arguments: Any) -> Any:
        inner = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, arguments)
        return jax.tree.map(
            lambda leaf: leaf[None] if eqx.is_array(leaf) else leaf, function(*inner)
        )

    return single


def lane_by_lane(function: Callable[..., Any], lanes: int) -> Callable[..., Any]:
    """The same, but on a CPU one lane after the other within the program: each has, bit for bit,
    what it has alone, its weights stay in the cache, and the Python around a call is paid once for
    all.
    """
    if lanes == 1 or device_kind() != "cpu":
        return over_lanes(function, lanes)

    def mapped(*arguments: Any) -> Any:
        arrays, rest = eqx.partition(arguments, eqx.is_array)
        return lax.map(lambda own: function(*eqx.combine(own, rest)), arrays)

    return mapped


def stack_lanes(trees: Sequence[Any]) -> Any:
    """One tree with a lane axis from one tree per lane."""
    if len(trees) == 1:
        leaves, structure = jax.tree.flatten(trees[0])
        alone = iter(_with_an_axis([leaf for leaf in leaves if eqx.is_array(leaf)]))
        return jax.tree.unflatten(
            structure, [next(alone) if eqx.is_array(leaf) else leaf for leaf in leaves]
        )
    # On the host: stacking a hundred device arrays would be a program of its own, and seconds of
    # compilation.
    rows = [jax.tree.flatten(tree)[0] for tree in trees]
    stacked = [leaves[0] for leaves in zip(*rows, strict=True)]
    bare = [
        place for place, leaf in enumerate(stacked) if eqx.is_array(leaf) and leaf is _bare(leaf)
    ]
    arrays = handed_over(
        [np.stack([np.asarray(leaves[place]) for leaves in rows]) for place in bare]
    )
    for place, leaf in enumerate(stacked):
        if eqx.is_array(leaf) and leaf is not _bare(leaf):
            stacked[place] = jnp.stack([leaves[place] for leaves in rows])
    for place, array in zip(bare, arrays, strict=True):
        stacked[place] = array
    return jax.tree.unflatten(jax.tree.structure(trees[0]), stacked)


@jax.jit
def _with_an_axis(arrays: Any) -> Any:
    return [array[None] for array in arrays]


def check_room(lanes: int, bytes_of_lane: int) -> None:
    """Raise TooManyLanes, with how many fit, if an array that all lanes hold would not leave the
    device enough memory.

    Said before anything is allocated: to be refused by the device, lanes after lanes, takes seconds
    each time.
    """
    memory = device_memory()
    if lanes > 1 and memory is not None and lanes * bytes_of_lane > MOST_OF_THE_MEMORY * memory:
        reason = (
            f"{lanes} lanes of {bytes_of_lane / 1e9:.2f} GB are too many for {memory / 1e9:.1f} GB"
        )
        raise TooManyLanes(reason, int(MOST_OF_THE_MEMORY * memory / bytes_of_lane))


@dataclass(frozen=True)
class Frame:
    """A tree without its arrays, by which programs can be kept: bare arrays make a call cheaper
    than trees do.

    others: the leaves other than arrays, with None in the place of an array.
    """

    structure: Any
    others: tuple[Any, ...]

    @classmethod
    def of(cls, tree: Any) -> tuple[list[Any], Frame]:
        """The arrays of a tree, and the rest."""
        leaves, structure = jax.tree.flatten(tree)
        others = tuple(None if eqx.is_array(leaf) else leaf for leaf in leaves)
        return [leaf for leaf in leaves if eqx.is_array(leaf)], cls(structure, others)

    def filled(self, arrays: Sequence[Any]) -> Any:
        """The tree with these arrays."""
        given = iter(arrays)
        return self.structure.unflatten(
            [next(given) if other is None else other for other in self.others]
        )


def rounded(count: int, fineness: int) -> int:
    """Round up so that nearby sizes share one compiled program: to 1/2**fineness of the power of
    two below.

    >>> [rounded(count, 2) for count in (3, 19, 64, 145)]
    [3, 20, 64, 160]
    """
    unit = 1 << max(0, count.bit_length() - 1 - fineness)
    return -(-count // unit) * unit


def grown(array: NDArray[Any], *lengths: int) -> NDArray[Any]:
    """Padded with zeros at the end of its first axes, to these lengths; itself where nothing is
    missing.
    """
    grow = [(0, length - size) for length, size in zip(lengths, array.shape, strict=False)]
    return (
        np.pad(array, grow + [(0, 0)] * (array.ndim - len(lengths)))
        if any(more for _, more in grow)
        else array
    )


def numbers_of(tree: Any, lanes: int) -> list[int]:
    """Of every lane, how many numbers of its inexact arrays are not zero."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree) if eqx.is_inexact_array(leaf)]
    return [sum(int(np.count_nonzero(leaf[lane])) for leaf in leaves) for lane in range(lanes)]


def named_arrays(tree: Any, name: str = "") -> dict[str, NDArray[Any]]:
    """Every array of a tree by its path, after the name of the tree; those of the host copied."""
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {
        name + jax.tree_util.keystr(path): np.array(leaf)
        if isinstance(leaf, np.ndarray)
        else np.asarray(_bare(leaf))
        for path, leaf in leaves
        if eqx.is_array(leaf)
    }


def _bare(leaf: Any) -> Any:
    """The array itself, or the words of a random key."""
    return jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def with_arrays(tree: Any, arrays: Mapping[str, NDArray[Any]], name: str = "") -> Any:
    """The tree with its arrays replaced by those of the same path after its name. Raises UsageError
    unless names and shapes fit.
    """

    def place(path: Any, leaf: Any) -> Any:
        if not eqx.is_array(leaf):
            return leaf
        where = name + jax.tree_util.keystr(path)
        bare = _bare(leaf)
        if where not in arrays or arrays[where].shape != bare.shape:
            found = arrays[where].shape if where in arrays else "nothing"
            raise UsageError(
                f"a snapshot of another learner: {where} should be {bare.shape}, found {found}"
            )
        if isinstance(leaf, np.ndarray):
            return np.array(arrays[where], leaf.dtype)
        with double():  # else a float64 would lose its half
            array = jnp.asarray(arrays[where], bare.dtype)
        return (
            array
            if bare is leaf
            else jax.random.wrap_key_data(array, impl=jax.random.key_impl(leaf))
        )

    return jax.tree_util.tree_map_with_path(place, tree)


def sizes_of(model: Any) -> tuple[int, int]:
    """How many numbers of a model are trained, and how many are not."""
    trained = size_of(eqx.filter(model, model.trainable()))
    return trained, size_of(eqx.filter(model, eqx.is_inexact_array)) - trained


def size_of(tree: Any) -> int:
    """How many numbers there are in the arrays of a tree."""
    return sum(int(leaf.size) for leaf in jax.tree.leaves(tree))
