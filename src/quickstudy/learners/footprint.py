"""What a trained learner costs to run, measured: bytes of recurrent state, MACs for one step.

Nothing is declared. A built-in learner is measured on its compiled program
(`quickstudy.learners.work`), a host learner on what it shows: its own `start` and `step` for the
state, and a method `count_work`, which the adapter of PyTorch has. What cannot be known is left
out, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.offers import CountingWork, offers
from quickstudy.base.spaces import Fields, Space, Tokens
from quickstudy.base.text import described
from quickstudy.jax_gateway import double, jax, lax
from quickstudy.learners.core_with_training import DoublePupil
from quickstudy.learners.host import HostPupil
from quickstudy.learners.lanes import Frame
from quickstudy.learners.work import Work, with_work, work_of

STATE, MACS, MATRIX, EFFECTIVE = NAMES = (
    "state_bytes",
    "macs",
    "matrix_macs",
    "effective_macs",
)
SEQUENCES, STEPS = 8, 256
"""Effective MACs are the mean over the steps of so many sequences, and at most so many steps."""
NO_TEST = "its test has no sequences of arrays to count on"


@dataclass(frozen=True)
class Footprint:
    """Of one sequence, for one step.

    known: by name, state_bytes (leaves of the state before anything is read, with room for the
        longest sequence), macs (multiplications of a step), matrix_macs (those of matrix products
        and convolutions), effective_macs (those of factors that are not zero, mean over steps of
        the test).
    unknown: by the same names, why a number is missing.
    """

    known: Mapping[str, float] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)


def footprint(pupil: Any, brief: Brief, sequences: Sequence[NDArray[Any]] = ()) -> Footprint:
    """Measure a pupil in its present state.

    Parameters
    ----------
    pupil:
        Of any kind; of one with several lanes, the first is measured.
    brief:
        What it was given: the longest sequence counts for states that grow.
    sequences:
        Inputs (time, ...) from the test, on which effective MACs are counted.

    """
    wide = False
    while not isinstance(pupil, HostPupil) and "_voice" not in dir(type(pupil)):
        wide = wide or isinstance(pupil, DoublePupil)
        inner = vars(pupil).get("_pupil")
        if inner is None:
            return _nothing("this kind of learner does not read step by step")
        pupil = inner
    try:
        if isinstance(pupil, HostPupil):
            return _of_host(pupil, brief, sequences)
        with double() if wide else nullcontext():
            return _of_program(pupil, brief, sequences)
    except NotApplicable as reason:
        return _nothing(str(reason))
    except Exception as error:  # the run is finished, and its scores are good without this
        return _nothing(f"could not be measured: {described(error)}")


def _nothing(reason: str) -> Footprint:
    return Footprint({}, dict.fromkeys(NAMES, reason))


def _of_program(pupil: Any, brief: Brief, sequences: Sequence[NDArray[Any]]) -> Footprint:
    arrays, frame = Frame.of(pupil._voice())
    own = [array[0] for array in arrays]
    shapes = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in own)
    kind = np.float64 if any(array.dtype == np.float64 for array in own) else np.float32
    state_bytes, work = _static(frame, shapes, brief.capacity, brief.inputs, kind)
    if work.unknown:
        parts = " and ".join(sorted(work.unknown))
        reason = f"its program has {parts}, which is not counted"
        return Footprint({STATE: state_bytes}, dict.fromkeys((MACS, MATRIX, EFFECTIVE), reason))
    known: dict[str, float] = {STATE: state_bytes, MACS: work.macs, MATRIX: work.matrix}
    if not sequences:
        return Footprint(known, {EFFECTIVE: NO_TEST})
    return Footprint({**known, EFFECTIVE: _effective(frame, own, brief.capacity, sequences)})


@lru_cache
def _static(
    frame: Frame, shapes: tuple[Any, ...], capacity: int, inputs: Space, kind: Any
) -> tuple[int, Work]:
    """Bytes of the state of one sequence, and the work of one step. Only shapes are computed."""
    state = jax.eval_shape(lambda arrays: frame.filled(arrays).start(1, capacity), list(shapes))

    def step(arrays: Any, state: Any, x: Any) -> Any:
        return frame.filled(arrays).step(state, x)

    work = work_of(step, list(shapes), state, _one_step(inputs, kind))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state)), work


def _one_step(space: Space, kind: Any) -> Any:
    """The shape of what one sequence reads in a step."""
    if isinstance(space, Fields):
        return {name: _one_step(part, kind) for name, part in space.parts}
    if isinstance(space, Tokens):
        return jax.ShapeDtypeStruct((1,), np.int32)
    return jax.ShapeDtypeStruct((1, space.width), kind)


def _effective(
    frame: Frame, arrays: Sequence[Any], capacity: int, sequences: Sequence[NDArray[Any]]
) -> float:
    """The mean over all steps of the first sequences."""
    some = [inputs[:STEPS] for inputs in sequences[:SEQUENCES]]
    longest = max(map(len, some))
    counts = []
    for inputs in some:
        more = [(0, longest - len(inputs))] + [(0, 0)] * (inputs.ndim - 1)
        counted = _counts(frame, capacity)(list(arrays), np.pad(inputs, more)[:, None])
        counts.append(np.asarray(counted)[: len(inputs)])
    return float(np.concatenate(counts).mean())


@lru_cache
def _counts(frame: Frame, capacity: int) -> Any:
    """A compiled function of bare arrays and inputs (time, 1, ...): the effective MACs of every
    step.
    """

    def counts(arrays: Any, xs: Any) -> Any:
        speaker = frame.filled(arrays)

        def step(state: Any, x: Any) -> Any:
            (after, _), count = with_work(lambda *given: speaker.step(*given))(state, x)
            return after, count

        return lax.scan(step, speaker.start(1, capacity), xs)[1]

    return jax.jit(counts)


def _of_host(pupil: HostPupil, brief: Brief, sequences: Sequence[NDArray[Any]]) -> Footprint:
    host: Any = pupil.host
    known: dict[str, float] = {}
    unknown: dict[str, str] = {}
    if pupil.by_prediction:
        unknown[STATE] = "it reads the whole sequence again after every step: it has no state"
    elif not sequences:
        unknown[STATE] = NO_TEST
    else:
        # Many hosts make their state with the first input, so that of `start` may be empty.
        first = host.start(1, brief.capacity)
        sizes = [_bytes_of(one) for one in (first, host.step(first, sequences[0][:1])[0])]
        if None in sizes:
            unknown[STATE] = "its state holds objects other than arrays and numbers"
        else:
            known[STATE] = max(size for size in sizes if size is not None)
    if not offers(host, CountingWork):
        reason = "a learner in plain Python: what it computes cannot be seen"
        unknown |= dict.fromkeys((MACS, MATRIX, EFFECTIVE), reason)
    elif not sequences:
        unknown |= dict.fromkeys((MACS, MATRIX, EFFECTIVE), NO_TEST)
    else:
        found = host.count_work([inputs[:STEPS] for inputs in sequences[:SEQUENCES]])
        known |= {name: float(found[name]) for name in (MACS, MATRIX, EFFECTIVE)}
    return Footprint(known, unknown)


def _bytes_of(state: Any) -> int | None:
    """Bytes of the arrays and numbers in a state; None where it has anything else."""
    if state is None or isinstance(state, bool | str):
        return 0
    if isinstance(state, int | float):
        return 8
    if isinstance(state, Mapping):
        parts = [_bytes_of(one) for one in state.values()]
    elif isinstance(state, list | tuple):
        parts = [_bytes_of(one) for one in state]
    elif (size := getattr(state, "nbytes", None)) is not None:
        return None if str(getattr(state, "dtype", "")) == "object" else int(size)
    else:
        return None
    return None if None in parts else sum(part for part in parts if part is not None)


def test_sequences(exam: Any) -> list[NDArray[Any]]:
    """Inputs (time, ...) of an exam from its first sequence to its last, evenly spaced, since tests
    often go from short to long.
    """
    examples = exam.examples[0]
    if isinstance(examples.inputs, Mapping):
        return []
    places = np.unique(np.linspace(0, examples.count - 1, SEQUENCES).round().astype(int))
    lengths = np.asarray(examples.lengths)
    return [np.asarray(examples.inputs[: lengths[at], at]) for at in places if lengths[at]]
