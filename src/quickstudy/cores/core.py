"""The interface of all memories, and the two pieces that most of them share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.spaces import Fields, Reals, Space, Tokens
from quickstudy.jax_gateway import double, eqx, jax, jnp, lax

State: TypeAlias = Any
Array: TypeAlias = Any

PRECISIONS = ("float32", "float64")
"""In which numbers a core computes."""
ABSENT = -1
"""No token at all: the padding of a sequence, where a core has to know it."""


@dataclass(frozen=True)
class Capabilities:
    """What a core needs, and what it can do besides reading step by step.

    scans: its `unroll` is the scan of `step`, so that who needs fewer steps may make fewer.
    selects: `unroll_at` needs less work than an `unroll`.
    stops: `unroll_at` reads no further than it has to, so that sequences of any length share one
        program.
    packs: it has `unroll_packed`.
    straightens: it has a field `straight`, with which `unroll` is written out step by step: faster
        for short sequences on a GPU.
    noisy: it must be given a key while it is trained by gradient (dropout).
    attends: each step of an `unroll` looks at all others; its memory grows with the square of the
        steps.
    leaks: a published defect, never right: it must be shown whole sequences at once, with the
        answer to be given. Its inputs are then one step longer, with the last answer after the last
        input, and `ABSENT` in the padding.
    head_bounds: weights and bias of an output layer trained by gradient start uniform in +- these;
        None: 1/sqrt(width).
    """

    scans: bool = False
    selects: bool = False
    stops: bool = False
    packs: bool = False
    straightens: bool = False
    noisy: bool = False
    attends: bool = False
    leaks: bool = False
    head_bounds: tuple[float, float] | None = None


_CAPABILITIES = {one.name for one in fields(Capabilities)}


class Core(eqx.Module):
    """A memory that folds an input stream into features. Time first: xs (T, B, ...), features (T,
    B, F).

    The batch axis belongs to the core, and the layout of its state is its own. Tokens come as
    integers, fields as mappings by name. A core has a `width` and four methods: `start`, `step`,
    and, where the ones here do not do, `unroll` and `trainable`. Its further abilities are declared
    by its `capabilities`; the other methods are for memories that grow with what is read.
    """

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of features F."""

    @abstractmethod
    def start(self, batch: int, capacity: int) -> State:
        """The state before anything is read. capacity: steps that may follow; stack, tape and
        window size by it.
        """

    @abstractmethod
    def step(self, state: State, x: Array, *, key: Array | None = None) -> tuple[State, Array]:
        """Read one step x (B, ...), give features (B, F). key None: no noise."""

    def unroll(self, state: State, xs: Array, *, key: Array | None = None) -> tuple[State, Array]:
        """Read many steps. An override must agree with this scan of `step`."""
        if key is None:
            return lax.scan(lambda carry, x: self.step(carry, x), state, xs)
        keys = jax.random.split(key, len(jax.tree.leaves(xs)[0]))
        return lax.scan(
            lambda carry, both: self.step(carry, both[0], key=both[1]), state, (xs, keys)
        )

    def unroll_at(
        self, xs: Any, places: Array, capacity: int, *, key: Array | None = None
    ) -> Array:
        """Features (B, Q, F) at some steps (B, Q) of sequences that are read from the start: those
        that `unroll` gives. A core that needs less work for few of them declares `selects`.
        """
        features = self.unroll(self.start(len(places), capacity), xs, key=key)[1]
        return features[places, jnp.arange(len(places))[:, None]]

    def unroll_packed(self, rows: tuple[int, ...], steps: Array, xs: Any) -> Array:
        """Features (N, F) of sequences of different lengths, from the start, with no padding
        between them; only of a core that declares `packs`.

        The first `rows[0]` inputs of xs (N, ...) are step 0 of all sequences, longest first; and so
        on for `steps[0]` steps. Then `rows[1]` of the sequences, the longest, go on for `steps[1]`
        steps; and so on. steps: an array: one program for all lengths. Features after the last
        step are zero.
        """
        raise NotApplicable(f"{type(self).__name__} does not read packed sequences")

    @property
    def capabilities(self) -> Capabilities:
        """What a learner has to know about it. An override is `replace(super().capabilities,
        ...)`.
        """
        return Capabilities(scans=type(self).unroll is Core.unroll)

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in _CAPABILITIES & vars(cls).keys():
            raise UsageError(
                f"{cls.__name__}.{name}: a core declares this by its capabilities; write"
                " `capabilities` as a property that gives replace(super().capabilities,"
                f" {name}=...)"
            )

    def rows(self, state: State, numbers: Array) -> State:
        """Some rows of a state, by their numbers (row,), which may repeat: each goes on as it would
        have.

        The batch axis of an array is the one that grows with the batch in `start`; one that does
        not grow belongs to all rows. A core that lays out its batch in another way declares how its
        rows are picked.
        """

        def pick(part: Array, alone: Any, beside: Any) -> Array:
            grows = np.not_equal(alone.shape, beside.shape)
            return jnp.take(part, numbers, axis=int(np.argmax(grows))) if grows.any() else part

        alone, beside = jax.eval_shape(lambda: (self.start(1, 1), self.start(2, 1)))
        return jax.tree.map(pick, state, alone, beside)

    def room(self, distance: int, total: int) -> int | None:
        """Size of a memory that grows with its input, if at most `distance` steps have been
        read or may follow, whichever are fewer, and at most `total` together; None if a state has
        one size. Omitted entries are zero, or would come too late to be read.
        """
        return None

    def resized(self, state: State, room: int) -> State:
        """The same state in another room: it goes on as it would have."""
        return state

    def near(self, state: State, steps: int) -> State | None:
        """A smaller state that can be read on from for so many steps in place of this one, which is
        then brought along by `caught_up`; None where that saves nothing.
        """
        return None

    def caught_up(self, state: State, near: State) -> State:
        """The state after the steps that were read from the smaller one."""
        return near

    def trainable(self) -> Any:
        """A tree of booleans: which arrays are trained. All inexact ones, unless a core declares
        otherwise.
        """
        return jax.tree.map(eqx.is_inexact_array, self)


class Reservoir(Core):
    """A core in which nothing is trained."""

    def trainable(self) -> Any:
        """Nothing."""
        return jax.tree.map(lambda _: False, self)


class CoreSpec(Protocol):
    """Frozen parameters of a core. `frozen`: nothing in it is trained (a reservoir).

    A core in which nothing is random declares `draws = False`. One that is not made for every space
    declares this by `reads` and refuses the others in `build`, by `check_spaces`; tokens are for
    every core. One whose features are codes, which few trainings can read, declares `coded`; if it
    has a `reader`, it gives numbers to the others. `training` names a way of training that is its
    own, for any question, or by what is; `usual` has parameters by what is asked
    (`quickstudy.base.parameters`); `searched` has the ranges of those that a search for different
    memories resamples (`quickstudy.protocols.charc`), each a factor of some of its arrays, and
    `varied` those of whole numbers that it draws with every core.
    """

    id: ClassVar[str]
    version: ClassVar[int]
    frozen: ClassVar[bool]

    def build(self, inputs: Space, rng: np.random.Generator) -> Core:
        """A core with weights drawn on the host, so that they are the same on every device and in
        every JAX.
        """


def at_precision(core: Core, precision: str) -> Any:
    """The core with the same numbers in a precision. In float64 it is for use within
    `jax_gateway.double()` only, where every call of such a learner runs.
    """
    if precision == PRECISIONS[0]:
        return core
    with double():
        return jax.tree.map(
            lambda leaf: jnp.asarray(leaf, precision) if eqx.is_inexact_array(leaf) else leaf, core
        )


def precision_of(core: Core) -> Any:
    """The kind of number that a core's weights are, float32 if it has none."""
    return jnp.result_type(
        np.float32, *(leaf for leaf in jax.tree.leaves(core) if eqx.is_inexact_array(leaf))
    )


class InputWeights(eqx.Module):
    """What an input contributes to each unit: a row of the matrix for a token, a product for real
    numbers.

    weights: (width of the inputs, units).
    """

    weights: Array
    space: Space = eqx.field(static=True)

    def __call__(self, x: Any) -> Array:
        """(..., units) contributions of inputs x."""
        return _contribution(self.space, self.weights, x)


class WaveWeights(InputWeights):
    """The same, where real numbers, of a vector the first `waved` or with 0 all, are also seen as
    sines and cosines of their multiples by pi, 2 pi, 4 pi ...: a product then separates points that
    are close together. weights: (`waved_width`, units).
    """

    waves: int = eqx.field(static=True)
    waved: int = eqx.field(static=True, default=0)

    def __call__(self, x: Any) -> Array:
        """(..., units) contributions of inputs x."""
        return (
            jnp.concatenate(_waved(self.space, x, self.waves, self.waved), axis=-1) @ self.weights
        )


def waved_width(space: Space, waves: int, waved: int = 0) -> int:
    """Numbers that encode a value: those of its vector, and two more for every wave of a real
    number.
    """
    if isinstance(space, Fields):
        return sum(waved_width(part, waves, waved) for _, part in space.parts)
    return (
        space.width + 2 * waves * min(space.width, waved or space.width)
        if isinstance(space, Reals)
        else space.width
    )


def as_numbers(space: Space, x: Any) -> Array:
    """(..., width): a value as one vector, tokens one-hot."""
    return jnp.concatenate(_waved(space, x, 0), axis=-1)


def _waved(space: Space, x: Any, waves: int, waved: int = 0) -> list[Array]:
    if isinstance(space, Fields):
        return [row for name, part in space.parts for row in _waved(part, x[name], waves, waved)]
    if isinstance(space, Tokens):
        return [jax.nn.one_hot(x, space.size)]
    numbers = jnp.asarray(x, jnp.float32)
    if not isinstance(space, Reals) or not waves:
        return [numbers]
    chosen = numbers[..., : waved or None, None]
    angles = (chosen * (np.pi * 2.0 ** np.arange(waves, dtype=np.float32))).reshape(
        *numbers.shape[:-1], -1
    )
    return [numbers, jnp.sin(angles), jnp.cos(angles)]


def _contribution(space: Space, weights: Array, x: Any) -> Array:
    if isinstance(space, Tokens):
        return weights[x]
    if isinstance(space, Fields):
        total, first = jnp.zeros(()), 0
        for name, part in space.parts:
            total = total + _contribution(part, weights[first : first + part.width], x[name])
            first += part.width
        return total
    return jnp.asarray(x, weights.dtype) @ weights
