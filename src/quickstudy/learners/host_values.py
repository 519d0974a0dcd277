"""What passes between us and a host learner: what it is handed is its own, and what it gives is
looked at.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.actions import checked_action
from quickstudy.base.errors import LearnerFault, NotApplicable
from quickstudy.base.spaces import Space, Tokens, check_distributions
from quickstudy.base.stated import HostFacts, stated


def checked_rows(predicted: Any, length: int, outputs: Space, scale: str) -> NDArray[np.float64]:
    """(length, width) scores out of what `predict` gave. Raises LearnerFault where that is none, or
    no number.
    """
    if predicted is None:
        raise LearnerFault("predict returned None; it must return one row per input row")
    try:
        rows = np.asarray(predicted)
    except ValueError as error:
        raise LearnerFault(f"predict must give an array, got what makes none: {error}") from error
    if rows.dtype.kind not in "biuf" and rows.size and rows.ndim:
        raise LearnerFault(f"predict must give real numbers, got {rows.dtype}")
    width = outputs.width
    if rows.shape == (length,) and isinstance(outputs, Tokens):
        if not np.issubdtype(rows.dtype, np.integer) or rows.min() < 0 or rows.max() >= width:
            raise LearnerFault(
                f"predict must give tokens 0..{width - 1}, got {rows.min()}..{rows.max()}"
            )
        return np.asarray(rows[:, None] == np.arange(width), dtype=np.float64)
    if rows.shape != (length, width):
        raise LearnerFault(
            f"predict must give one row per input row: ({length}, {width}), got {rows.shape}"
        )
    if not np.isfinite(rows).all():
        raise LearnerFault("predict gave a score that is not finite")
    if scale == "probabilities":
        check_distributions(rows)
    return rows.astype(np.float64)


def parameters_counted(host: Any) -> tuple[int | None, int]:
    """Trained and fixed parameters of a host: its attribute `parameters`, a whole number, or
    the numbers in its arrays, or a function that gives either. Trained: None if there is nothing to
    count.
    """
    own: Any = stated(host, HostFacts).parameters
    try:
        said = own() if callable(own) else own
        # What can be gone through only once would count nothing at the next test.
        if isinstance(said, bool) or (
            said is own and not isinstance(said, list | tuple | numbers.Integral)
        ):
            return None, 0
        if isinstance(said, numbers.Integral):
            return int(said), 0
        sizes = [(getattr(part, "requires_grad", True), _size(part)) for part in said]
    except Exception:  # a method of that name that is for something else
        return None, 0
    return sum(size for trained, size in sizes if trained), sum(
        size for trained, size in sizes if not trained
    )


def _size(array: Any) -> int:
    return int(array.numel()) if callable(getattr(array, "numel", None)) else math.prod(array.shape)


def action_checker(space: Space) -> Callable[[Any, Any], Any]:
    """A function of (action, reward): the action if it is in the space, else LearnerFault. Rewards
    tell the players.
    """
    tokens = space.size if isinstance(space, Tokens) else 0
    index, several = operator.index, np.ndarray

    def checked(action: Any, reward: Any) -> Any:
        # One token of one player needs no array to be looked at: 0.1 microseconds where the rest
        # takes 12.
        if tokens and reward.__class__ is not several:
            try:
                token = index(action)
            except TypeError:
                token = -1
            if 0 <= token < tokens:
                return token
        return checked_action(space, action, np.shape(reward))

    return checked


class Prefixes:
    """Stepping by prediction alone: what was read is kept, and read again after every step.
    predicted: of several sequences, what is predicted for each.
    """

    def __init__(
        self, predicted: Callable[[list[NDArray[Any]]], Iterable[NDArray[np.float64]]]
    ) -> None:
        self._predicted = predicted

    def start(self, rows: int, capacity: int) -> tuple[list[Any], ...]:
        """Of every row what it has read."""
        return ([],) * rows

    def step(
        self, state: tuple[list[Any], ...], inputs: Any
    ) -> tuple[tuple[list[Any], ...], NDArray[np.float64]]:
        """The last row of every prediction."""
        if isinstance(inputs, Mapping):
            raise NotApplicable(
                "a host learner that has no step of its own reads arrays, not fields"
            )
        longer = tuple([*read, x] for read, x in zip(state, inputs, strict=True))
        return longer, np.stack(
            [rows[-1] for rows in self._predicted([np.stack(read) for read in longer])]
        )

    def unroll(
        self, state: tuple[list[Any], ...], inputs: NDArray[Any]
    ) -> tuple[Any, NDArray[np.float64]]:
        """Many steps (time, row, ...), each row read once: (time, row, output) predictions."""
        longer = tuple([*read, *inputs[:, row]] for row, read in enumerate(state))
        predicted = self._predicted([np.stack(read) for read in longer])
        return longer, np.stack([rows[-len(inputs) :] for rows in predicted], axis=1)

    def rows(self, state: tuple[list[Any], ...], numbers: NDArray[Any]) -> tuple[list[Any], ...]:
        """What these rows have read."""
        return tuple(state[number] for number in numbers)


def of_lane(value: Any, lane: int) -> Any:
    """A lane's part of a value with a lane axis, through all the fields it has."""
    if isinstance(value, Mapping):
        return {name: of_lane(part, lane) for name, part in value.items()}
    return value[lane]


def as_lanes(values: Sequence[Any]) -> Any:
    """Values of one space, one per lane, with a lane axis in front, through all the fields they
    have.
    """
    if isinstance(values[0], Mapping):
        return {name: as_lanes([value[name] for value in values]) for name in values[0]}
    return np.stack([np.asarray(value) for value in values])


def answers_before(targets: NDArray[Any]) -> NDArray[Any]:
    """The right answers one row later; nothing in the first row."""
    nothing = np.full_like(targets[:1], -1 if np.issubdtype(targets.dtype, np.integer) else np.nan)
    return np.concatenate([nothing, targets[:-1]])


_TYPES: dict[str, Any] = {"i": np.int32, "u": np.int32, "f": np.float64}
"""The input of a host, of the same types for every task: a model must not meet another type in
the next task.
"""


def own_copy(values: Any) -> Any:
    """A copy, through all the fields it has: changes that a host makes to it affect nothing
    else.
    """
    if isinstance(values, Mapping):
        return {name: own_copy(part) for name, part in values.items()}
    array = np.asarray(values)
    return np.array(array, dtype=_TYPES.get(array.dtype.kind, array.dtype))
