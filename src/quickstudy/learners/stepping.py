"""Reading step by step, many rows side by side: the face `Stepping` of every compiled pupil.

Rows are rounded up, and so is the capacity: a step is one compiled program for about that many
rows, for any input.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.offers import Unrolling, offers
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space
from quickstudy.cores.core import CoreSpec, precision_of
from quickstudy.jax_gateway import eqx, handed_over, jax, jnp, lax
from quickstudy.learners.lanes import Frame, over_lanes, rounded

NEAR = 2048
"""Steps for which there is always room: every size of a memory is a program."""
LAP = 64
"""Steps that are read with what is near in a large memory, before the rest of it is brought
along.
"""


class Speaker(eqx.Module):
    """A core that returns its answer after every step. Anything else with these three
    methods is one as well.
    """

    core: Any

    @abstractmethod
    def scores(self, features: Any) -> Any:
        """(row, output) from (row, feature)."""

    def start(self, rows: int, capacity: int) -> Any:
        """Before anything is read."""
        return self.core.start(rows, capacity)

    def step(self, state: Any, x: Any) -> tuple[Any, Any]:
        """Read one step x (row, ...), and give (row, output) scores."""
        state, features = self.core.step(state, x)
        return state, self.scores(features)

    def rows(self, state: Any, numbers: Any) -> Any:
        """Some rows of a state."""
        return self.core.rows(state, numbers)


class Head(eqx.Module):
    """An affine map from features to outputs."""

    weights: Any
    bias: Any

    @classmethod
    def drawn(cls, core: Any, outputs: int, rng: np.random.Generator) -> Head:
        """On top of a core, uniform within the bounds that it names: weights, then bias."""
        usual = 1.0 / np.sqrt(core.width)
        of_weights, of_bias = core.capabilities.head_bounds or (usual, usual)
        weights = rng.uniform(-of_weights, of_weights, (core.width, outputs))
        bias = rng.uniform(-of_bias, of_bias, outputs)
        # A number of the core's precision is one of the head's; drawn ones are single anyway.
        precision = precision_of(core)
        parts = (np.asarray(part, np.float32).astype(precision) for part in (weights, bias))
        return handed_over(cls(*parts))  # type: ignore[no-any-return]

    def __call__(self, features: Any) -> Any:
        """(..., V) from (..., F)."""
        return features @ self.weights + self.bias


class Model(Speaker):
    """A core and its head."""

    head: Head

    @classmethod
    def drawn(cls, spec: CoreSpec, inputs: Space, outputs: int, streams: Streams) -> Model:
        """Weights of the core, then of its head."""
        rng = streams.numpy("core")
        core = spec.build(inputs, rng)
        return cls(core, Head.drawn(core, outputs, rng))

    def scores(self, features: Any) -> Any:
        """What the head makes of them."""
        return self.head(features)

    def trainable(self) -> Any:
        """What the core lets be trained, and the whole head."""
        return Model(self.core.trainable(), jax.tree.map(lambda _: True, self.head))


class _Programs(NamedTuple):
    """Compiled functions of a speaker's bare arrays, and of what the methods of a pupil are
    given.
    """

    start: Callable[..., Any]
    resize: Callable[..., Any]
    step: Callable[..., Any]
    unroll: Callable[..., Any]
    judge: Callable[..., Any]
    rows: Callable[..., Any]


@lru_cache
def _programs(frame: Frame, lanes: int) -> _Programs:
    def start(arrays: Any, rows: int, capacity: int) -> Any:
        return over_lanes(lambda speaker: speaker.start(rows, capacity), lanes)(
            frame.filled(arrays)
        )

    def step(arrays: Any, memory: Any, inputs: Any) -> Any:
        return over_lanes(lambda speaker, *rest: speaker.step(*rest), lanes)(
            frame.filled(arrays), memory, inputs
        )

    def unroll(arrays: Any, memory: Any, inputs: Any) -> Any:
        def single(speaker: Any, memory: Any, inputs: Any) -> Any:
            return lax.scan(lambda carry, x: speaker.step(carry, x), memory, inputs)

        return over_lanes(single, lanes)(frame.filled(arrays), memory, inputs)

    def judge(arrays: Any, memory: Any, inputs: Any, targets: Any, counts: Any) -> Any:
        def step(speaker: Any, carry: Any, x: Any) -> Any:
            (memory, wrong, fine), (read, target, counted) = carry, x
            memory, scores = speaker.step(memory, read)
            said = jnp.argmax(scores, axis=-1).astype(jnp.int8)
            return (
                memory,
                wrong + ((said != target) & counted),
                fine & jnp.isfinite(scores).all(),
            ), said

        def read(speaker: Any, carry: Any, xs: Any) -> Any:
            return lax.scan(lambda carry, x: step(speaker, carry, x), carry, xs)

        def lap(speaker: Any, carry: Any, xs: Any) -> Any:
            (memory, *counted), core = carry, speaker.core
            (near, *counted), said = read(speaker, (core.near(memory, LAP), *counted), xs)
            return (core.caught_up(memory, near), *counted), said

        def single(speaker: Any, memory: Any) -> Any:
            begun = memory, jnp.zeros(targets.shape[1], jnp.int32), jnp.asarray(True)
            given = inputs, targets, counts
            if (
                len(inputs) % LAP
                or not isinstance(speaker, Speaker)
                or speaker.core.near(memory, LAP) is None
            ):
                return read(speaker, begun, given)
            laps = jax.tree.map(lambda part: part.reshape(-1, LAP, *part.shape[1:]), given)
            carry, said = lax.scan(lambda carry, xs: lap(speaker, carry, xs), begun, laps)
            return carry, said.reshape(inputs.shape)

        (memory, wrong, fine), said = over_lanes(single, lanes)(frame.filled(arrays), memory)
        return memory, said, wrong, fine.all()

    def rows(arrays: Any, memory: Any, numbers: Any) -> Any:
        return over_lanes(lambda speaker, memory: speaker.rows(memory, numbers), lanes)(
            frame.filled(arrays), memory
        )

    def resize(arrays: Any, memory: Any, room: int) -> Any:
        return over_lanes(lambda speaker, memory: speaker.core.resized(memory, room), lanes)(
            frame.filled(arrays), memory
        )

    shaped = jax.jit(start, static_argnums=(1, 2)), jax.jit(resize, static_argnums=2)
    return _Programs(*shaped, *(jax.jit(program) for program in (step, unroll, judge, rows)))


@dataclass(frozen=True, eq=False)
class Reading:
    """A state: how many rows there are, and of them and some that fill up, what the speaker has in
    mind. room: that it was given last, where it has been.
    """

    rows: int
    memory: Any
    programs: _Programs
    room: int | None = None


class SteppingPupil:
    """The face `Stepping`, and `unroll`, for a pupil with a speaker. Nothing is learned on the
    way.
    """

    lanes: int

    @abstractmethod
    def _speaker(self) -> Any:
        """What speaks now, with a lane axis on every array. Raises NotApplicable where it cannot go
        step by step.
        """

    def start(self, rows: int, capacity: int) -> Reading:
        """Nothing read."""
        arrays, frame = Frame.of(self._speaker())
        programs = _programs(frame, self.lanes)
        return Reading(rows, programs.start(arrays, _filled(rows), rounded(capacity, 2)), programs)

    def step(self, state: Reading, inputs: Any) -> tuple[Reading, NDArray[Any]]:
        """Read one step (lane, row, ...): the state after it, and (lane, row, output) scores."""
        return self._read(state, inputs, state.programs.step, axis=1)

    def unroll(self, state: Reading, inputs: Any) -> tuple[Reading, NDArray[Any]]:
        """Many steps (lane, time, row, ...) in one call, and (lane, time, row, output) scores; a
        program for each number of steps.
        """
        return self._read(state, inputs, state.programs.unroll, axis=2)

    def judged(
        self, state: Reading, inputs: Any, targets: Any, counts: Any
    ) -> tuple[Reading, Any, NDArray[np.int32]]:
        """Many steps (time, row), the same in all lanes: (lane, time, row) symbols of the largest
        score, the first among equals; and (lane, row) how many of those that count are not the
        target. Raises LearnerFault for scores that are not finite.
        """
        parts = (_with_rows(np.asarray(part), state.rows, 1) for part in (inputs, targets, counts))
        memory, said, wrong, fine = state.programs.judge(self._arrays_now(), state.memory, *parts)
        if not fine:
            raise LearnerFault("the learner's scores are not finite: it has diverged")
        if said.shape[2] > state.rows:  # to cut an array of the device is a call of its own
            said = said[:, :, : state.rows]
        return replace(state, memory=memory), said, np.asarray(wrong)[:, : state.rows]

    def rows(self, state: Reading, numbers: NDArray[Any]) -> Reading:
        """The rows of these numbers, which may repeat."""
        chosen = np.asarray(numbers, np.int32)
        if chosen.ndim != 1 or (
            len(chosen) and not (chosen.min() >= 0 and chosen.max() < state.rows)
        ):
            raise UsageError(f"rows must be numbers 0..{state.rows - 1}, got {numbers}")
        chosen_and_more = np.pad(chosen, (0, _filled(len(chosen)) - len(chosen)))
        memory = state.programs.rows(self._arrays_now(), state.memory, chosen_and_more)
        return replace(state, rows=len(chosen), memory=memory)

    def fitted(self, state: Reading, past: int, future: int) -> Reading:
        """The same state, in no more room than about what is needed while at most `past` steps have
        been read and `future` may follow.
        """
        room = _room(
            self._speaker(), rounded(max(min(past, future), NEAR), 0), rounded(past + future, 1)
        )
        if room is None or room == state.room:
            return state
        return replace(
            state, memory=state.programs.resize(self._arrays_now(), state.memory, room), room=room
        )

    def _voice(self) -> Any:
        """What speaks, whole in a compiled program: as `_speaker`, with everything that is done to
        its scores.
        """
        return self._speaker()

    def act_on(
        self, warm: Any, plants: Any, advance: Callable[..., Any], steps: int
    ) -> NDArray[np.float64]:
        """What it reaches where its answers move something; see
        `quickstudy.learners.closed_loop.reached`.
        """
        from quickstudy.learners.closed_loop import reached

        return reached(self._voice(), warm, plants, advance, steps, self.lanes)

    def exponents(
        self, warm: Any, count: int, steps: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Its largest Lyapunov exponents, reading its own answers, and these; see
        `closed_loop.exponents`.
        """
        from quickstudy.learners.closed_loop import exponents

        return exponents(self._voice(), warm, count, steps, self.lanes)

    def same(self, state: Reading, other: Reading) -> bool:
        """Whether two states are the same, bit for bit: then the same comes after them."""
        pairs = zip(jax.tree.leaves(state.memory), jax.tree.leaves(other.memory), strict=True)
        fewest_first = sorted(
            pairs, key=lambda pair: pair[0].nbytes
        )  # most states differ in what is small
        return state.rows == other.rows and all(
            np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in fewest_first
        )

    def weight(self, state: Reading) -> int:
        """Bytes of a state."""
        return sum(int(leaf.nbytes) for leaf in jax.tree.leaves(state.memory))

    def _read(
        self, state: Reading, inputs: Any, program: Any, axis: int
    ) -> tuple[Reading, NDArray[Any]]:
        filled = jax.tree.map(lambda leaf: _with_rows(np.asarray(leaf), state.rows, axis), inputs)
        memory, scores = program(self._arrays_now(), state.memory, filled)
        answered = np.asarray(scores)[(slice(None),) * axis + (slice(state.rows),)]
        return replace(state, memory=memory), answered

    def _arrays_now(self) -> list[Any]:
        return [leaf for leaf in jax.tree.leaves(self._speaker()) if eqx.is_array(leaf)]


class SomeLanes(SteppingPupil):
    """Some lanes of a pupil in its present state, to go on reading without the others."""

    def __init__(self, speaker: Any, scale: str, numbers: Sequence[int]) -> None:
        chosen = np.asarray(numbers, np.int32)
        self.lanes, self.scale = len(chosen), scale
        self._own = jax.tree.map(lambda leaf: leaf[chosen] if eqx.is_array(leaf) else leaf, speaker)

    def _speaker(self) -> Any:
        return self._own


def _room(speaker: Any, distance: int, total: int) -> int | None:
    return speaker.core.room(distance, total) if isinstance(speaker, Speaker) else None


def _filled(rows: int) -> int:
    """So many rows are read for this many: at most half as many more."""
    return rounded(max(rows, 1), 1)


def _with_rows(array: NDArray[Any], rows: int, axis: int) -> NDArray[Any]:
    if array.ndim <= axis or array.shape[axis] != rows:
        raise UsageError(f"inputs must have {rows} rows on axis {axis}, got shape {array.shape}")
    more = _filled(rows) - rows
    return (
        np.pad(array, [(0, more if at == axis else 0) for at in range(array.ndim)])
        if more
        else array
    )


def unrolled(pupil: Any, state: Any, inputs: Any) -> tuple[Any, NDArray[Any]]:
    """Many steps (lane, time, row, ...) of any pupil that steps: by its `unroll` if it has one,
    else one by one.
    """
    if offers(pupil, Unrolling):
        return pupil.unroll(state, inputs)
    scores = []
    for number in range(jax.tree.leaves(inputs)[0].shape[1]):
        state, given = pupil.step(
            state, jax.tree.map(lambda leaf, number=number: leaf[:, number], inputs)
        )
        scores.append(given)
    return state, np.stack(scores, axis=1)
