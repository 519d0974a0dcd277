"""Reviews of films, the one task of the family that is not made up, and a rule that knows no word
of praise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.base.spaces import Tokens
from quickstudy.data.encoded import EncodedPart, EncodedReviews, Encoding, encoded_reviews
from quickstudy.data.imdb import IMDB
from quickstudy.data.locate import find
from quickstudy.tasks.controls import AnswerCounter
from quickstudy.tasks.sampling import Split

ANSWERS = ("negative", "positive")


@task(
    "reviews/imdb",
    version=1,
    controls=["majority", "stated-rating"],
    oracle="unknown: how many of these opinions follow from their text",
    data=IMDB,
)
@dataclass(frozen=True)
class Reviews:
    """Say whether a review of a film is positive.

    Sees: a review, cut into word pieces out of a vocabulary of `pieces` learned from the reviews
        themselves, one after the other.
    Answers: 0 (negative: 1 to 4 stars of 10) or 1 (positive: 7 to 10 stars), after the last piece.
    Scored: share of right answers on reviews of other films than those learned from.
    Chance: 1/2, exactly: either label has half of each part. Controls: the most frequent answer;
        `stated-rating`, which looks for a rating that the writer gives in so many words.
    Ceiling: unknown.
    Source: the Large Movie Review Dataset (Maas et al. 2011) in its official split, 25,000 reviews
        to learn from and 25,000 to be tested on; used as Cisneros, Sivic and Mikolov 2022, section
        4, use it. It is not part of this package: `QUICKSTUDY_DATA` names the folder that holds it.

    The split is fixed, so repetitions differ in the order in which reviews are shown and in the
    learner's own draws. Reviews are decomposed (NFD), put in lower case, rid of accents and cut at
    whitespace and punctuation.

    Departures: Published: the vocabulary is learned from the test reviews' text as well, line
        breaks stay in the text as `<br />`, without a piece for padding or for the unknown.
        Corrected and written: the vocabulary is learned from the training part alone, line breaks
        are spaces, pieces 0 and 1 mean padding and the unknown.

    Parameters
    ----------
    pieces:
        Size of the vocabulary of word pieces.
    longest:
        Longest review, in pieces; longer ones are cut. none: no limit.
    training:
        Number of training reviews; none: all.
    test:
        Number of test reviews; none: all.
    learned_from:
        Reviews from which the vocabulary is learned: the training part, or `all`, as published.
    markup:
        Whether line breaks `<br />` are removed or kept.
    special:
        Pieces 0 and 1 are reserved for padding and unknown pieces.
    """

    pieces: int = parameter(30_000, at_least=100)
    """Size of the vocabulary."""
    longest: int | None = parameter(None, at_least=1)
    """Pieces after which a review is cut off; none for whole reviews."""
    training: int | None = parameter(None, at_least=2)
    """How many reviews can be learned from, the first of either label in equal numbers; none for
    all.
    """
    test: int | None = parameter(None, at_least=2)
    """The same for the reviews that are tested on."""
    learned_from: str = parameter("train", choices=("train", "all"))
    """The reviews that the vocabulary is learned from."""
    markup: str = parameter("removed", choices=("removed", "kept"))
    """What becomes of `<br />`."""
    special: bool = True
    """Whether pieces 0 and 1 mean padding and the unknown."""

    answers: ClassVar[tuple[str, ...]] = ANSWERS
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"learned_from": "all", "markup": "kept", "special": False},
    }

    @property
    def inputs(self) -> Tokens:
        """Word pieces."""
        return Tokens(self.pieces)

    @property
    def outputs(self) -> Tokens:
        """Negative or positive."""
        return Tokens(len(ANSWERS))

    def ready(self) -> None:
        """Raise UsageError, with the remedy, if the data is not on this machine."""
        find(IMDB)

    def parts(self) -> Split:
        """The reviews to learn from and those to be tested on. Every call gives the same two
        objects.
        """
        return _parts(self, self._encoded())

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` reviews of the training part: all different, unless there are fewer."""
        train = self.parts().train
        whole, rest = divmod(count, train.count)
        rounds = [rng.permutation(train.count) for _ in range(whole)] + [
            rng.permutation(train.count)[:rest]
        ]
        return train.take(np.concatenate(rounds))

    def words(self, numbers: Sequence[int] | NDArray[Any]) -> list[str]:
        """Word pieces by number."""
        pieces = self._encoded().pieces
        return [pieces[number] for number in numbers]

    def numbers(self, words: Sequence[str]) -> list[int | None]:
        """The numbers of some pieces; None for a number without a piece."""
        known = {piece: number for number, piece in enumerate(self._encoded().pieces)}
        return [known.get(word) for word in words]

    def facts(self) -> dict[str, str]:
        """What a record should say of the data at hand."""
        return {"text_digest": self._encoded().text_digest}

    def _encoded(self) -> EncodedReviews:
        return encoded_reviews(Encoding(self.pieces, self.learned_from, self.markup, self.special))


@lru_cache(maxsize=2)
def _parts(task: Reviews, reviews: EncodedReviews) -> Split:
    train, test = (
        _examples(reviews.parts[name], count, task.longest, name)
        for name, count in (("train", task.training), ("test", task.test))
    )
    return Split(train, test)


def _examples(part: EncodedPart, count: int | None, longest: int | None, name: str) -> Examples:
    chosen = np.arange(len(part.labels)) if count is None else _balanced(part.labels, count, name)
    lengths = part.lengths[chosen]
    if longest is not None:
        lengths = np.minimum(lengths, longest)
    starts = (part.ends - part.lengths)[chosen]
    # By review, then turned: a review's pieces lie side by side in memory, where they are read
    # together.
    inputs = np.zeros((len(chosen), int(lengths.max())), dtype=part.numbers.dtype)
    asked = np.zeros(inputs.shape, dtype=np.bool_)
    for row, start, length in zip(inputs, starts.tolist(), lengths.tolist(), strict=True):
        row[:length] = part.numbers[start : start + length]
    asked[np.arange(len(chosen)), lengths - 1] = True
    targets = np.broadcast_to(part.labels[chosen], (inputs.shape[1], len(chosen)))
    return Examples(inputs.T, targets, asked.T, lengths)


def _balanced(labels: NDArray[np.int8], count: int, name: str) -> NDArray[np.int64]:
    """The first reviews of either label, as many of one as of the other; one more negative if the
    count is odd.
    """
    wanted = (count + 1) // 2, count // 2
    found = [np.flatnonzero(labels == label) for label in range(len(ANSWERS))]
    if any(len(those) < number for those, number in zip(found, wanted, strict=True)):
        raise UsageError(
            f"reviews/imdb: {count} reviews are asked for, the {name} part has {len(labels)}"
        )
    return np.sort(
        np.concatenate([those[:number] for those, number in zip(found, wanted, strict=True)])
    )


STARS = 10
"""A rating is one number out of so many."""


@control("stated-rating", version=1, role="control")
class StatedRating(AnswerCounter):
    """Takes the writer's own rating, such as `8/10`, for the answer; the most frequent answer so
    far without one.

    The labels of the reviews are their writers' ratings, so a rating in the text gives the answer
    away. Positive from 6 on; of several ratings the last one counts.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        super().__init__(task, brief, seed)
        of, *self._numbers = task.numbers(["/", *map(str, range(STARS + 1))])
        # Pieces that are not in the vocabulary must not be found: no input is negative.
        self._of = -1 if of is None else of

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """One answer per row, from what has been read up to it."""
        answers = np.full(len(inputs), np.argmax(self._counts))
        for place in np.flatnonzero(inputs[1:-1] == self._of) + 1:
            if (
                inputs[place + 1] == self._numbers[STARS]
                and int(inputs[place - 1]) in self._numbers
            ):
                answers[place + 1 :] = 2 * self._numbers.index(int(inputs[place - 1])) > STARS
        return answers
