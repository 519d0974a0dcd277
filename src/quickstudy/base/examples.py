"""Data with questions in it: sequences (`Examples`) and one long series (`Series`).

Axes are time, then example, then width, here and everywhere: `inputs[t, i]` is what example i shows
at time t. `targets[t, i]` is the answer that is asked for after `inputs[:t+1, i]` has been read,
where `asked[t, i]` tells whether it is asked at all. For a sequence of tokens that is the next
token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError


@dataclass(frozen=True)
class Examples:
    """Sequences, padded to one length.

    inputs: (time, example) integer tokens or (time, example, width) reals; targets: the same for
    the answers; asked: (time, example) booleans, False in the padding; lengths: (example,) steps
    that are not padding.
    """

    inputs: NDArray[Any]
    targets: NDArray[Any]
    asked: NDArray[np.bool_]
    lengths: NDArray[np.int64]

    def __post_init__(self) -> None:
        steps, count = self.asked.shape
        if self.inputs.shape[:2] != (steps, count) or self.targets.shape[:2] != (steps, count):
            raise UsageError(
                f"inputs {self.inputs.shape}, targets {self.targets.shape} and asked"
                f" {self.asked.shape} must agree in their first two axes (time, example)"
            )
        if self.lengths.shape != (count,):
            raise UsageError(
                f"lengths must have one entry per example ({count}), got {self.lengths.shape}"
            )

    @property
    def count(self) -> int:
        """Number of examples."""
        return int(self.asked.shape[1])

    @property
    def steps(self) -> int:
        """Number of time steps, padding included."""
        return int(self.asked.shape[0])

    @property
    def questions(self) -> int:
        """Number of answers asked for, over all examples."""
        return int(self.asked.sum())

    @classmethod
    def from_sequences(
        cls, tokens: Iterable[ArrayLike], supervised: Iterable[ArrayLike]
    ) -> Examples:
        """Token sequences and, for each, the indices of the tokens that must be predicted from all
        before them.
        """
        sequences = [np.asarray(sequence, dtype=np.int32) for sequence in tokens]
        masks = [np.asarray(indices, dtype=np.int64) for indices in supervised]
        if len(sequences) != len(masks):
            raise UsageError(
                f"{len(sequences)} sequences but {len(masks)} lists of supervised indices"
            )
        lengths = np.array([len(sequence) - 1 for sequence in sequences], dtype=np.int64)
        if len(lengths) and lengths.min() < 1:
            raise UsageError("a sequence needs at least two tokens: one to read, one to predict")
        steps = int(lengths.max(initial=1))
        inputs = np.zeros((steps, len(sequences)), dtype=np.int32)
        targets = np.zeros_like(inputs)
        asked = np.zeros(inputs.shape, dtype=np.bool_)
        for index, (sequence, mask) in enumerate(zip(sequences, masks, strict=True)):
            if len(mask) and not (mask.min() >= 1 and mask.max() < len(sequence)):
                raise UsageError(
                    f"sequence {index}: supervised indices must lie in 1..{len(sequence) - 1}, got"
                    f" {mask}"
                )
            inputs[: len(sequence) - 1, index] = sequence[:-1]
            targets[: len(sequence) - 1, index] = sequence[1:]
            asked[mask - 1, index] = True
        return cls(inputs, targets, asked, lengths)

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[ArrayLike, ArrayLike]]) -> Examples:
        """(prompt, answer) pairs of tokens: the prompt is read, every token of the answer is asked
        for.
        """
        whole = [(np.asarray(prompt), np.asarray(answer)) for prompt, answer in pairs]
        return cls.from_sequences(
            [np.concatenate(pair) for pair in whole],
            [np.arange(len(prompt), len(prompt) + len(answer)) for prompt, answer in whole],
        )

    @property
    def sequential(self) -> bool:
        """Whether every answer is the token that is read next, so that the examples are sequences
        and nothing else.

        A question after the last input is followed by no input that could differ.
        """
        tokens = all(
            array.ndim == 2 and np.issubdtype(array.dtype, np.integer)
            for array in (self.inputs, self.targets)
        )
        followed = np.arange(1, self.steps)[:, None] < self.lengths
        return (
            tokens
            and not (self.asked[:-1] & followed & (self.targets[:-1] != self.inputs[1:])).any()
        )

    def sequence(self, index: int) -> tuple[list[int], list[int]]:
        """One example as (tokens, supervised indices): the inverse of `from_sequences`.

        Raises UsageError where an answer is not the token that is read next: no sequence holds
        both. `take` and `joined` keep such examples unchanged.
        """
        if not self.take([index]).sequential:
            raise UsageError(
                f"example {index} is not a sequence: one of its answers differs from the next token"
            )
        length = int(self.lengths[index])
        tokens = [*self.inputs[:length, index].tolist(), int(self.targets[length - 1, index])]
        return tokens, (np.flatnonzero(self.asked[:, index]) + 1).tolist()

    def take(self, indices: NDArray[np.integer[Any]] | Sequence[int]) -> Examples:
        """Some of the examples, in the order of the indices, with no more padding than they
        need.
        """
        chosen = np.asarray(indices, dtype=np.int64)
        lengths = self.lengths[chosen]
        steps = int(lengths.max(initial=1))
        return Examples(
            self.inputs[:steps, chosen],
            self.targets[:steps, chosen],
            self.asked[:steps, chosen],
            lengths,
        )

    def padded(self, steps: int) -> Examples:
        """The same examples with padding up to `steps` time steps."""
        if steps < self.steps:
            raise UsageError(f"cannot pad {self.steps} steps to {steps}")
        grow = [(0, steps - self.steps), (0, 0)]
        pad = [
            np.pad(array, grow + [(0, 0)] * (array.ndim - 2))
            for array in (self.inputs, self.targets, self.asked)
        ]
        return Examples(pad[0], pad[1], pad[2], self.lengths)

    @classmethod
    def joined(cls, parts: Sequence[Examples]) -> Examples:
        """All examples of the parts, in their order, with no more padding than the longest needs.
        What `take` has taken apart comes back whole, for any inputs and questions.
        """
        if not parts:
            return cls.from_sequences([], [])
        lengths = np.concatenate([part.lengths for part in parts])
        steps, ends = int(lengths.max(initial=1)), np.cumsum([part.count for part in parts])

        def side_by_side(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
            whole = np.zeros(
                (steps, len(lengths), *arrays[0].shape[2:]),
                np.result_type(*{one.dtype for one in arrays}),
            )
            for end, array in zip(ends, arrays, strict=True):
                whole[: len(array), end - array.shape[1] : end] = array[:steps]
            return whole

        return cls(
            side_by_side([part.inputs for part in parts]),
            side_by_side([part.targets for part in parts]),
            side_by_side([part.asked for part in parts]),
            lengths,
        )


@dataclass(frozen=True)
class Series:
    """One long drive with an answer at every step, cut into washout, training, validation and test,
    in that order.

    inputs: (time, width) reals; targets: (time, width). The state runs through all the parts
    without a reset.
    """

    inputs: NDArray[np.float64]
    targets: NDArray[np.float64]
    washout: int
    training: int
    validation: int
    test: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts of this sample for the record, such as how many drives diverged and were resampled.
    """

    def __post_init__(self) -> None:
        parts = self.washout + self.training + self.validation + self.test
        if not parts == len(self.inputs) == len(self.targets):
            raise UsageError(
                f"{self.washout} + {self.training} + {self.validation} + {self.test} steps must be"
                f" the whole series, which has {len(self.inputs)} inputs and {len(self.targets)}"
                " targets"
            )

    def part(self, name: str) -> Examples:
        """One example that runs from the start of the series to the end of a part and asks within
        that part only.
        """
        stop, length = self._end(name), getattr(self, name)
        asked = np.zeros((stop, 1), dtype=np.bool_)
        asked[stop - length :] = True
        return Examples(
            self.inputs[:stop, None], self.targets[:stop, None], asked, np.array([stop])
        )

    def windows(self, name: str, asked: int, before: int) -> Examples:
        """A part as many short examples, for learners by gradient: each asks about `asked` steps,
        after reading the `before` steps that precede them (if fewer exist, it starts later). A
        rest shorter than `asked` is left out.
        """
        stop, length = self._end(name), getattr(self, name)
        if not 1 <= asked <= length:
            raise UsageError(f"asked must lie in 1..{length}, got {asked}")
        starts = np.arange(stop - length, stop - asked + 1, asked) - before
        starts = starts[starts >= 0]
        steps = starts + np.arange(before + asked)[:, None]
        mask = np.broadcast_to(np.arange(before + asked)[:, None] >= before, steps.shape)
        return Examples(
            self.inputs[steps], self.targets[steps], mask, np.full(len(starts), before + asked)
        )

    def _end(self, name: str) -> int:
        lengths = {
            "washout": self.washout,
            "training": self.training,
            "validation": self.validation,
            "test": self.test,
        }
        if name not in lengths or name == "washout":
            raise UsageError(f'no part "{name}" of a series; parts: training, validation, test')
        return int(sum(lengths[part] for part in list(lengths)[: list(lengths).index(name) + 1]))
