"""A recurrent network with a tape that is moved as a whole (Suzgun et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from quickstudy.base.catalogue import core
from quickstudy.cores.core import Array
from quickstudy.cores.recurrent import RNN, RecurrentLayer
from quickstudy.cores.stack_lstm import MemoryCore, MemorySpec
from quickstudy.gateway import jnp


class TapeCore(MemoryCore):
    """Moves of all rows: 0 up around the end, 1 down around the end, 2 none, 3 down, 4 up (row 0 takes row 1).

    By index shifts: inside, both moves up are one and both moves down are one, and only the first and the last row
    tell those that go around the end from those that do not.
    """

    def rows_for(self, capacity: int) -> int:
        """Content wanders by one row a step, and only row 0 is read: around the end it would come too late."""
        return capacity + 2

    def moved(self, memory: Array, actions: Array, new: Array) -> Array:
        """M <- sum of the moves, each to its extent; then what is new is added to row 0."""
        around_up, around_down, none, down, up = (actions[:, k, None, None] for k in range(5))
        first, last = memory[:, :1], memory[:, -1:]
        from_below = jnp.concatenate([memory[:, 1:] * (around_up + up), around_up * first], axis=1)
        from_above = jnp.concatenate([around_down * last, memory[:, :-1] * (around_down + down)], axis=1)
        return (from_below + from_above + none * memory).at[:, 0].add(new)


@core("baby-ntm", version=1)
@dataclass(frozen=True)
class BabyNTM(MemorySpec):
    """Baby neural Turing machine: a tanh network with a tape that is shifted or turned as a whole, softly.

    units: size of the network. cell: numbers in a row of the tape. rows: of the tape, in training and test; none: as
    many as there are steps, which is as good as endless. No weight depends on it. precision: float32 or float64.

    Before a step row 0 is added to h by a linear map. Then a = softmax(W h) weighs five moves of the tape (up and down,
    around the end or not, and none), and sigmoid(V h) is added to row 0. Source: Suzgun et al. 2019, softmax variant;
    their sizes. The benchmark of Lan et al. 2023 has 2,050 rows from the start: `rows=2050`.
    """

    layer: ClassVar[type[RecurrentLayer]] = RNN
    core: ClassVar[type[MemoryCore]] = TapeCore

    @property
    def actions(self) -> int:
        """Five moves."""
        return 5
