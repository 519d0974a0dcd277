"""Sequences that are to be classified: vowels, and images read line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.data.locate import DataSet, find
from quickstudy.data.measured import DIGITS, MNIST, MNIST_TEST, VOWELS, archive, digest, rows_of
from quickstudy.tasks.dynamics.series import Floats, taxonomy
from quickstudy.tasks.sampling import Split

ALIKE: dict[str, Any] = {
    "controls": ["mean", "linear", "linear-whole"],
    "oracle": "unknown: how many can be distinguished",
    "protocol": "classification",
}


@dataclass(frozen=True)
class Recordings:
    """Sequences of numbers, each of one class, in an official split. The state is reset for each
    sequence, without a washout.

    Parameters
    ----------
    asked:
        `every`: the class is asked for after every step, and the answers are averaged. `last`:
        after the last step.
    """

    asked: str = parameter("every", choices=("every", "last"))

    sets: ClassVar[tuple[DataSet, ...]]
    classes: ClassVar[int] = 10
    taps: ClassVar[int] = 1

    @property
    def outputs(self) -> Reals:
        """1 at the place of the class, 0 elsewhere."""
        return Reals(self.classes)

    def ready(self) -> None:
        """Raise UsageError, with the remedy, if the data is not on this machine."""
        for data in self.sets:
            find(data)

    def facts(self) -> dict[str, Any]:
        """What a record should say of the data at hand."""
        return {"sha256": [digest(data) for data in self.sets], "varies": ["order", "weights"]}

    def parts(self) -> Split:
        """The training data and the test data. Every call gives the same two objects."""
        return _parts(self, tuple(digest(data) for data in self.sets))

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` sequences of the training part."""
        train = self.parts().train
        return train.take(rng.integers(train.count, size=count))

    def sequences(self) -> tuple[list[Floats], NDArray[Any], NDArray[np.bool_]]:
        """All sequences (time, width), the class of each, and whether it is tested on."""
        raise NotImplementedError


@lru_cache(maxsize=4)
def _parts(of: Recordings, digests: tuple[str, ...]) -> Split:
    sequences, labels, tested = of.sequences()
    parts = []
    for chosen in (np.flatnonzero(~tested), np.flatnonzero(tested)):
        if not len(chosen):
            raise UsageError(
                f"{', '.join(data.title for data in of.sets)}: nothing is left to learn from or to"
                " test on"
            )
        parts.append(
            _examples(
                [sequences[place] for place in chosen],
                labels[chosen],
                of.classes,
                of.asked == "last",
            )
        )
    return Split(*parts)


def _examples(
    sequences: Sequence[Floats], labels: NDArray[Any], classes: int, last: bool
) -> Examples:
    lengths = np.array([len(sequence) for sequence in sequences])
    steps = np.arange(lengths.max())[:, None]
    inputs = np.zeros((len(steps), len(sequences), sequences[0].shape[1]))
    for place, sequence in enumerate(sequences):
        inputs[: len(sequence), place] = sequence
    targets = np.broadcast_to(np.eye(classes)[labels], (len(steps), len(sequences), classes))
    return Examples(inputs, targets, steps == lengths - 1 if last else steps < lengths, lengths)


@task("dynamics/japanese-vowels", version=1, **ALIKE)
@dataclass(frozen=True)
class JapaneseVowels(Recordings):
    """Identify which of nine men speaks two vowels.

    Sees: 12 cepstrum coefficients of each of 7 to 29 frames.
    Answers: the speaker, one-hot.
    Scored: share of wrong answers, by the largest mean over the frames.
    Chance: 282 of 370 wrong, by answering the most frequent speaker.
    Ceiling: 0, reached by a vote of 1,000 networks.
    Source: 270 training and 370 test utterances (Kudo, Toyama and Shimbo 1999); Jaeger et al. 2007;
        Wringe, Trefzer and Stepney 2024, section 7.3.
    """

    sets: ClassVar[tuple[DataSet, ...]] = (VOWELS,)
    classes: ClassVar[int] = 9
    inputs: ClassVar[Reals] = Reals(12)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "classification", "unknown", stationary=False, output="one-hot", licence="CC BY 4.0"
    )

    def sequences(self) -> tuple[list[Floats], NDArray[Any], NDArray[np.bool_]]:
        """By split and utterance."""
        found: dict[tuple[str, int, int], list[list[float]]] = {}
        for row in rows_of(find(VOWELS)):
            which = row["split"], int(row["utterance"]), int(row["speaker"]) - 1
            found.setdefault(which, []).append(
                [float(row[f"c{number}"]) for number in range(1, 13)]
            )
        tested = np.array([split == "test" for split, _, _ in found])
        return (
            [np.array(frames) for frames in found.values()],
            np.array([speaker for _, _, speaker in found]),
            tested,
        )


@task("dynamics/mnist-rows", version=1, **ALIKE)
@dataclass(frozen=True)
class Images(Recordings):
    """Recognise a written digit from its image, read row by row.

    Sees: the 28 points of each row, 0 to 1.
    Answers: the digit, one-hot.
    Scored: share of wrong answers.
    Chance: 0.9.
    Ceiling: below 0.01.
    Source: 500 training images of each digit of MNIST and its 10,000 test images; Wringe, Trefzer
        and Stepney 2024, section 7.1.

    Parameters
    ----------
    reading:
        `rows`; `columns`; `pixels`: point by point, 784 steps; `permuted`: points in one random
        order for all images.
    permutation:
        Seed of that order.
    points:
        Reduce images to this many points per side first, each the mean over its area; none: full
        size.
    """

    reading: str = parameter("rows", choices=("rows", "columns", "pixels", "permuted"))
    permutation: int = parameter(0, at_least=0)
    points: int | None = parameter(None, at_least=2, added=True)

    sets: ClassVar[tuple[DataSet, ...]] = (MNIST, MNIST_TEST)
    side: ClassVar[int] = 28
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "classification", "none", stationary=False, output="one-hot", licence="CC BY-SA 3.0"
    )

    @property
    def inputs(self) -> Reals:
        """A line, or a point."""
        return Reals((self.points or self.side) if self.reading in ("rows", "columns") else 1)

    def __post_init__(self) -> None:
        if self.points is not None and self.points > self.side:
            raise ValueError(
                f"images have {self.side} points a side, none is made larger; got"
                f" points={self.points}"
            )

    def images(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """(image, row, column) values 0 to 1, labels, and whether it is tested on."""
        (train, learned), (test, asked) = (archive(data, "images", "labels") for data in self.sets)
        tested = np.arange(len(train) + len(test)) >= len(train)
        return np.concatenate([train, test]) / 255.0, np.concatenate([learned, asked]), tested

    def sequences(self) -> tuple[list[Floats], NDArray[Any], NDArray[np.bool_]]:
        """Training images first."""
        images, labels, tested = self.images()
        if self.points:
            images = smaller(images, self.points)
        if self.reading == "columns":
            images = images.transpose(0, 2, 1)
        elif self.reading != "rows":
            images = images.reshape(len(images), -1, 1)
        if self.reading == "permuted":
            images = images[:, np.random.default_rng(self.permutation).permutation(images.shape[1])]
        return list(images), labels.astype(np.int64), tested


task.variant(
    "dynamics/mnist-pixels",
    version=1,
    of=Images,
    summary="Say which digit is written, its image read point by point.",
    reading="pixels",
    asked="last",
)
task.variant(
    "dynamics/psmnist",
    version=1,
    of=Images,
    summary="Say which digit is written, its image read point by point in one random order.",
    reading="permuted",
    asked="last",
)


task.variant(
    "dynamics/mnist-columns-small",
    version=1,
    of=Images,
    summary=(
        "Say which digit is written, its image made smaller and read column by column (after"
        " Schaetti et al.)."
    ),
    reading="columns",
    points=15,
)


def smaller(images: NDArray[Any], points: int) -> Floats:
    """Images (image, row, column) with so many points a side, each the mean over the area that it
    covers.
    """
    side = images.shape[1]
    edges, new = np.arange(side), np.arange(points)[:, None] * side / points
    shares = (
        np.clip(np.minimum(new + side / points, edges + 1) - np.maximum(new, edges), 0.0, None)
        * points
        / side
    )
    return np.asarray(shares @ images @ shares.T)


@task("dynamics/digits", version=1, **ALIKE)
@dataclass(frozen=True)
class SmallImages(Images):
    """Recognise a written digit from a small image, read row by row.

    Sees: the 8 points of each of 8 rows, 0 to 1.
    Answers: the digit, one-hot.
    Scored: share of wrong answers.
    Chance: 0.9.
    Source: 1,797 digits of 8 x 8 points (UCI, the part in scikit-learn); the first 1,000 are for
        training, which is our choice.
    """

    sets: ClassVar[tuple[DataSet, ...]] = (DIGITS,)
    side: ClassVar[int] = 8
    taxonomy: ClassVar[Mapping[str, Any]] = {**Images.taxonomy, "licence": "CC BY 4.0"}

    def images(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """In the order of the file."""
        images, labels = archive(DIGITS, "images", "labels")
        return images / 16.0, labels, np.arange(len(images)) >= 1000
