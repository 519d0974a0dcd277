"""Is a language made of parts? Topographic similarity, positional and bag-of-symbols
disentanglement.

Entropies are those of the list itself. Definitions are those of Chaabouni et al. 2020
("listener-centred", as in EGG, whose topsim is `topsim-with-end` here) and those of the authors of
the benchmark ("speaker-centred"); they differ, and are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

PAIRS = 1 << 20
"""Pairs of meanings that are compared at once."""
ROUNDING = 1e-12
"""Bits that two columns seem to share by rounding alone: ratios of such would be anything."""
DECIMALS = 12
"""Of a cosine: further digits are rounding, and would break ties."""
LONGEST = 2048
"""Meanings of the longest list whose pairs are ranked by real numbers, two million of them."""

Integers = NDArray[np.int64]


MOST_CELLS = 1 << 28
"""Utterances by positions by different tokens: as many bytes are taken at once."""


def language_scores(meanings: ArrayLike, utterances: ArrayLike) -> dict[str, float]:
    """Every score of a language: meanings (meaning, attribute) and what each is called, (meaning,
    position) tokens, of which the first 0 ends an utterance. A language in which nothing varies has
    0 everywhere. `topsim` compares utterances up to their end; `topsim-with-end` compares whole
    rows, with 0 from the end on, as EGG does. The two differ only where utterances end early.
    """
    means, said = codes_of(meanings), _renumbered(ended(utterances))
    if len(means) != len(said):
        raise UsageError(f"{len(means)} meanings but {len(said)} utterances")
    tokens = np.arange(1, said.max(initial=0) + 1)
    if said.size * (len(tokens) + 1) > MOST_CELLS:
        raise UsageError(
            f"{said.shape[0]:,} utterances of up to {said.shape[1]:,} positions with"
            f" {len(tokens):,} different tokens are too large to score; give fewer or shorter"
            " utterances"
        )
    bags = (said[:, :, None] == np.append(tokens, 0)).sum(axis=1)
    by_place, by_bag = information(means, said), information(means, bags)
    without_end = information(means, bags[:, :-1])
    return {
        "topsim": topographic_similarity(means, said),
        "topsim-with-end": topographic_similarity(means, said, with_end=True),
        "posdis": _gap(by_place, of_symbols=True),
        "bosdis": _gap(without_end, of_symbols=True),
        "posdis-speaker": _gap(by_place, of_symbols=False),
        "bosdis-speaker": _gap(without_end, of_symbols=False),
        "bosdis-with-end": _gap(by_bag, of_symbols=True),
    }


def plain_similarity(meanings: ArrayLike, utterances: ArrayLike) -> float:
    """Topographic similarity with the plain edit distance: that of a language in
    `language_scores` divides it by the mean of the two lengths, which is another order of pairs
    where utterances are unequally long.
    """
    return topographic_similarity(codes_of(meanings), _renumbered(ended(utterances)), plain=True)


def authors_similarities(
    meanings: ArrayLike, utterances: ArrayLike, means: ArrayLike | None = None
) -> dict[str, float]:
    """Topographic similarity as the library of the benchmark's authors has it: minus the rank
    correlation of the plain edit distance with the cosine of two vectors that represent the
    meanings; of all pairs in the order of the list, but for those with its last item.

    `topsim-one-hot`: a vector has a one for every value. `topsim-indices`: the values themselves;
    only where they are finite numbers. Utterances are compared as whole rows, with 0 from their end
    on. `topsim-means`: rows of real numbers, one for each meaning, such as the means of the
    sections that its values have; only where these are given. Each again as `-fast`: of pairs at
    most a fifth of the list apart, or next to each other. A vector of zeros has cosine 0 with
    everything. Nothing for more than 2,048 meanings, or fewer than three. That library also draws
    batches that share one value of an attribute; how many, and how large, is not known.

    >>> language = [[1, 1], [2, 2], [1, 2], [0, 0]], [[1, 1], [2, 2], [1, 2], [3, 3]]
    >>> found = authors_similarities(*language)
    >>> {name: round(value, 6) for name, value in found.items() if "fast" not in name}
    {'topsim-indices': -1.0, 'topsim-one-hot': 1.0}
    """
    codes, said, numbers = codes_of(meanings), _renumbered(ended(utterances)), np.asarray(meanings)
    if not 3 <= len(codes) <= LONGEST:
        return {}
    vectors: dict[str, ArrayLike | None] = {
        "indices": numbers if numbers.dtype.kind in "biuf" and np.isfinite(numbers).all() else None,
        "means": means,
        "one-hot": _one_hot(codes, codes.max(axis=0, initial=0) + 1),
    }
    last, found = len(said) - 1, {}
    edits = np.concatenate([edit for _, edit in _edit_distances(said[:last], with_end=True)])
    apart = np.arange(last) - np.arange(last)[:, None]
    for name, rows in vectors.items():
        if rows is None:
            continue
        cosine = _cosines(np.asarray(rows, np.float64)[:last])
        for ending, reach in (("", last), ("-fast", max(1, len(said) // 5))):
            compared = (apart > 0) & (apart <= reach)
            values, number = np.unique(cosine[compared], return_inverse=True)
            place = edits[compared] * np.int64(len(values)) + number.reshape(-1)
            table = np.bincount(place, minlength=(said.shape[1] + 1) * len(values)).reshape(
                -1, len(values)
            )
            found[f"topsim-{name}{ending}"] = 0.0 - _spearman(table)
    return found


def codes_of(rows: ArrayLike) -> Integers:
    """(row, column): what is in each column, as numbers 0, 1, 2 ..."""
    table = np.asarray(rows)
    columns = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in table.T]
    return (
        np.stack(columns, axis=1).astype(np.int64)
        if columns
        else np.zeros((len(table), 0), np.int64)
    )


def ended(utterances: ArrayLike) -> Integers:
    """The tokens, with only 0 after the first 0."""
    said = np.asarray(utterances, dtype=np.int64)
    return said * np.cumprod(said != 0, axis=1)


def _renumbered(said: Integers) -> Integers:
    """Tokens by their rank among those that occur, 0 being 0: how large they are must not cost
    anything.
    """
    found, number = np.unique(said, return_inverse=True)
    return number.reshape(said.shape) + (0 if 0 in found else 1)


def topographic_similarity(
    means: Integers, said: Integers, plain: bool = False, with_end: bool = False
) -> float:
    """The rank correlation, over all pairs, of how far utterances and how far meanings are apart.

    Utterances: edit distance over the mean of the two lengths, or plain; with_end: of whole rows.
    Meanings: attributes that differ. Both take
    few values, so that pairs are counted by these, and ranks are those of the counts.
    """
    length, count = said.shape[1], len(said)
    lengths = _lengths(said, with_end)
    edits, sums = np.meshgrid(np.arange(length + 1), np.arange(2 * length + 1), indexing="ij")
    apart_by = edits if plain else 2 * edits / np.maximum(sums, 1)
    distance, code = np.unique(apart_by.ravel(), return_inverse=True)
    width = means.shape[1] + 1
    code = code.reshape(edits.shape) * width
    table = np.zeros((len(distance), width), dtype=np.int64)
    small_means = means.astype(np.int16)
    for some, edit in _edit_distances(said, with_end):
        apart = np.zeros(edit.shape, dtype=np.int16)
        for column in small_means.T:
            apart += column[some, None] != column
        even = (lengths == length).all()
        place = (code[:, -1][edit] if even else code[edit, lengths[some, None] + lengths]) + apart
        table += np.bincount(place.ravel(), minlength=table.size).reshape(table.shape)
    table[0, 0] -= count  # everything was compared with itself, and every pair twice
    return _spearman(table // 2)


def _lengths(said: Integers, with_end: bool) -> Integers:
    """(row,): how many tokens of each utterance are compared."""
    return np.full(len(said), said.shape[1]) if with_end else np.asarray((said != 0).sum(axis=1))


def _edit_distances(said: Integers, with_end: bool = False) -> Iterator[tuple[slice, Integers]]:
    """(row, column) distances of some rows of a list from all of it, and which rows; some at a
    time.
    """
    rows, small, lengths = (
        max(1, PAIRS // max(len(said), 1)),
        said.astype(np.int16),
        _lengths(said, with_end),
    )
    for first in range(0, len(said), rows):
        some = slice(first, first + rows)
        yield some, _edit_distance(small[some], small, lengths[some], lengths)


def _edit_distance(
    rows: NDArray[Any], columns: NDArray[Any], row_lengths: Integers, column_lengths: Integers
) -> Integers:
    """(row, column): insertions, deletions and changes that make one utterance of another."""
    steps, small = rows.shape[1], np.int8 if rows.shape[1] < 60 else np.int16
    shape = len(rows), len(columns)
    table: list[list[Any]] = [
        [np.full(shape, i + j, small) for j in range(steps + 1)] for i in range(steps + 1)
    ]
    for i in range(steps):
        for j in range(steps):
            changed = table[i][j] + (rows[:, i, None] != columns[:, j])
            shorter = np.minimum(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = np.minimum(changed, shorter + small(1))
    if (row_lengths == steps).all() and (column_lengths == steps).all():
        return np.asarray(table[steps][steps])
    whole = np.array(table)
    numbers = np.ix_(np.arange(len(rows)), np.arange(len(columns)))
    return np.asarray(whole[row_lengths[:, None], column_lengths, *numbers])


def _spearman(table: Integers) -> float:
    """The rank correlation of two ordered properties, from how often each combination occurs; 0 if
    one is constant.
    """
    sides = []
    for axis in (1, 0):
        counts = table.sum(axis=axis)
        sides.append((counts, np.cumsum(counts) - (counts + 1) / 2 - (table.sum() - 1) / 2))
    (rows, first), (columns, second) = sides
    spread = np.sqrt((rows * first**2).sum() * (columns * second**2).sum())
    return float(first @ table @ second / spread) if spread > 0 else 0.0


def _cosines(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """(row, column): of all pairs; 0 with a vector of zeros."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = vectors / np.where(
        largest > 0, largest, 1.0
    )  # squares of large numbers would be infinite
    unit = scaled / np.maximum(np.sqrt(np.square(scaled).sum(axis=1, keepdims=True)), 1.0)
    return np.asarray(np.round(unit @ unit.T, DECIMALS))


def information(
    first: Integers, second: Integers
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Of columns of two tables: mutual information (first, second), entropies of the first and of
    the second; bits.
    """
    sizes = [table.max(axis=0, initial=0) + 1 for table in (first, second)]
    counts = _one_hot(first, sizes[0]).T @ _one_hot(second, sizes[1])
    shares = counts / max(len(first), 1)
    starts = [np.cumsum(size) - size for size in sizes]
    if not len(starts[0]) or not len(starts[1]):
        return (
            np.zeros((len(starts[0]), len(starts[1]))),
            np.zeros(len(starts[0])),
            np.zeros(len(starts[1])),
        )
    joint = -np.add.reduceat(np.add.reduceat(_plogp(shares), starts[0], axis=0), starts[1], axis=1)
    alone = [
        -np.add.reduceat(_plogp(_one_hot(table, size).mean(axis=0)), start)
        for table, size, start in zip((first, second), sizes, starts, strict=True)
    ]
    shared = alone[0][:, None] + alone[1] - joint
    return np.where(shared > ROUNDING, shared, 0.0), alone[0], alone[1]


def _one_hot(table: Integers, sizes: Integers) -> NDArray[np.float64]:
    hot = np.zeros((len(table), int(sizes.sum())))
    hot[np.arange(len(table))[:, None], table + np.cumsum(sizes) - sizes] = 1.0
    return hot


def _plogp(shares: NDArray[Any]) -> NDArray[Any]:
    return shares * np.log2(np.where(shares > 0, shares, 1.0))


def _gap(found: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], of_symbols: bool) -> float:
    """The mean, over symbols, of how much more information each has on one attribute than of the
    next, over its entropy; or the other way round, over attributes. What does not vary is left out.
    """
    shared, of_attributes, of_representation = found
    rows, entropy = (shared.T, of_representation) if of_symbols else (shared, of_attributes)
    varied = entropy > 1e-9
    if not varied.any() or not rows.shape[1]:
        return 0.0
    ordered = np.sort(
        np.pad(rows, ((0, 0), (1, 0))), axis=1
    )  # of a single one, the next is nothing
    return float(((ordered[:, -1] - ordered[:, -2])[varied] / entropy[varied]).mean())


@measure(
    "spoken-language",
    version=1,
    kinds=("games",),
    equation=(
        "of the messages about the targets of every test episode: topsim = Spearman(edit distance /"
        " mean length, Hamming distance); posdis = mean_j (I1 - I2) / H(symbol j); bosdis the same"
        " of the counts of every token"
    ),
    chance="0",
    scores=tuple(
        Score(name, title, "of 1", "higher", (-1 if name.startswith("topsim") else 0, 1))
        for name, title in (
            ("topsim", "topsim"),
            ("topsim-with-end", "topsim with the end"),
            ("posdis", "posdis"),
            ("bosdis", "bosdis"),
            ("posdis-speaker", "posdis of the speaker"),
            ("bosdis-speaker", "bosdis of the speaker"),
            ("bosdis-with-end", "bosdis with the end"),
        )
    ),
)
def spoken_language(trace: Trace) -> Mapping[str, float]:
    """Means over test episodes: every episode has a language of its own. A meaning that was named
    twice counts once, by its last name.
    """
    return _mean_over_episodes(trace, language_scores)


@measure(
    "authors-topsim",
    version=2,
    kinds=("games",),
    equation=(
        "of the messages about the targets of every test episode, in the order of meanings and"
        " without the last: - Spearman(edit distance, cosine of value indices, or of values"
        " one-hot); fast: of pairs within a fifth of the list"
    ),
    chance="0",
    scores=tuple(
        Score(f"topsim-{name}{ending}", f"topsim, {name}{words}", "of 1", "higher", (-1, 1))
        for name in ("indices", "one-hot")
        for ending, words in (("", ""), ("-fast", ", fast"))
    ),
)
def authors_topsim(trace: Trace) -> Mapping[str, float]:
    """Means over test episodes, as of `spoken-language`. Section means are not part of a trace."""
    return _mean_over_episodes(trace, authors_similarities)


def _mean_over_episodes(trace: Trace, scored: Callable[..., dict[str, float]]) -> dict[str, float]:
    """Of scores(meanings, utterances) those that all episodes have; empty where no player
    speaks.
    """
    if "utterances" not in trace.arrays:
        return {}
    episode, meanings, said = (
        trace.arrays[name] for name in ("speaks_in", "meanings", "utterances")
    )
    found = []
    for number in np.unique(episode):
        own = np.flatnonzero(episode == number)[::-1]
        last = own[np.unique(meanings[own], axis=0, return_index=True)[1]]
        found.append(scored(meanings[last], said[last]))
    names = [name for name in found[0] if all(name in one for one in found)] if found else []
    return {name: float(np.mean([one[name] for one in found])) for name in names}
