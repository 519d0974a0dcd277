"""Languages and codes by hand; scores of games from traces by hand."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from quickstudy.base.trace import Trace
from quickstudy.measures.compositionality import (
    authors_similarities,
    authors_topsim,
    language_scores,
    plain_similarity,
)
from quickstudy.measures.disentanglement import disentanglement_scores, factor_vae_score
from quickstudy.measures.games import (
    EXPLORATION,
    accuracy_by_support,
    ease_of_acquisition,
    learning_in_games,
    pooled_accuracy,
    reconstruction,
    zero_shot_accuracy,
)

GRID = np.array(list(itertools.product(range(5), repeat=3)))


def test_the_speaker_by_position_on_the_full_grid():
    """Five values in three dimensions: topsim is below 1, since an edit can align shifted
    symbols.
    """
    found = language_scores(GRID, GRID + 1)
    assert found["topsim"] == pytest.approx(0.9421, abs=5e-5)
    assert found["posdis"] == pytest.approx(1.0)
    assert found["bosdis"] == pytest.approx(0.0, abs=1e-9)


def test_topsim_agrees_with_a_plain_reckoning():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(4)
    said = rng.integers(0, 4, (40, 3))
    said = said * np.cumprod(said != 0, axis=1)
    meanings = rng.integers(0, 3, (40, 2))

    def edits(one, other):
        table = np.arange(len(other) + 1)
        for place, token in enumerate(one):
            new = [place + 1]
            for at, sign in enumerate(other):
                new.append(min(table[at + 1] + 1, new[at] + 1, table[at] + (token != sign)))
            table = new
        return table[-1]

    spoken = [[int(token) for token in row if token] for row in said]
    pairs = list(itertools.combinations(range(40), 2))
    distance = [
        edits(spoken[a], spoken[b]) / max((len(spoken[a]) + len(spoken[b])) / 2, 1e-9)
        for a, b in pairs
    ]
    apart = [(meanings[a] != meanings[b]).sum() for a, b in pairs]
    assert language_scores(meanings, said)["topsim"] == pytest.approx(
        spearmanr(distance, apart).statistic, abs=1e-9
    )
    plain = [edits(spoken[a], spoken[b]) for a, b in pairs]
    assert plain_similarity(meanings, said) == pytest.approx(
        spearmanr(plain, apart).statistic, abs=1e-9
    )
    assert plain_similarity(GRID, GRID + 1) == language_scores(GRID, GRID + 1)["topsim"]


def test_the_authors_topsim_by_hand():
    """Of three pairs (the last item is dropped) edits are 2, 0 and 2, in ranks 2.5, 1 and 2.5.
    Values one-hot have cosines 0, 1/2 and 1/2: ranks 1, 2.5 and 2.5, and the correlation is -0.75 /
    1.5. As vectors they have cosines 1, 0.949 and 0.949, ranks 3, 1.5 and 1.5: it is 0.75 / 1.5.
    Means with cosines 0, 1 and 0 go wholly with the edits.
    """
    meanings, said = [[1, 1], [2, 2], [1, 2], [9, 0]], [[1, 1], [2, 2], [1, 1], [3, 0]]
    found = authors_similarities(
        meanings, said, means=[[0.0, 1.0], [-1.0, 0.0], [0.0, 0.5], [5.0, 5.0]]
    )
    whole = {name: value for name, value in found.items() if "fast" not in name}
    assert whole == pytest.approx(
        {"topsim-indices": -0.5, "topsim-means": 1.0, "topsim-one-hot": 0.5}
    )
    assert authors_similarities([*meanings[:3], [7, 7]], [*said[:3], [1, 2]])[
        "topsim-one-hot"
    ] == pytest.approx(0.5)
    # Words have no indices, and a list of two has no pair without its last item.
    assert set(authors_similarities([["a"], ["b"], ["a"]], [[1], [2], [1]])) == {
        "topsim-one-hot",
        "topsim-one-hot-fast",
    }
    assert authors_similarities(meanings[:2], said[:2]) == {}


def test_the_authors_topsim_agrees_with_a_plain_reckoning():
    """Of 31 items the last is dropped, and fast pairs are no more than 6 places apart."""
    from scipy.spatial.distance import cosine
    from scipy.stats import spearmanr

    rng = np.random.default_rng(5)
    meanings, said = rng.integers(0, 4, (31, 3)) + 1, rng.integers(1, 4, (31, 2))
    found = authors_similarities(meanings, said)
    hot = np.eye(6)[meanings].reshape(31, -1)
    for ending, reach in (("", 31), ("-fast", 6)):
        pairs = [(a, b) for a, b in itertools.combinations(range(30), 2) if b - a <= reach]
        # Of two words, edits are changes: to shift one takes two.
        distance = [(said[a] != said[b]).sum() for a, b in pairs]
        for name, rows in (("indices", meanings), ("one-hot", hot)):
            alike = [round(1 - cosine(rows[a], rows[b]), 10) for a, b in pairs]
            assert found[f"topsim-{name}{ending}"] == pytest.approx(
                -spearmanr(distance, alike).statistic, abs=1e-9
            )


def test_the_authors_topsim_of_the_speaker_by_position():
    """Where topsim has 0.9421, theirs loses an item and, of neighbours only, comes near the printed
    0.9667.
    """
    found = authors_similarities(GRID, GRID + 1)
    assert found["topsim-one-hot"] == pytest.approx(0.9413, abs=5e-5)
    assert found["topsim-one-hot-fast"] == pytest.approx(0.9706, abs=5e-5)


def test_the_authors_topsim_of_a_trace_is_the_mean_over_episodes():
    """A meaning that was named twice counts once, by its last name; nothing of a trace in which
    nobody speaks.
    """
    meanings, said = (
        np.array([[1, 1], [1, 1], [1, 2], [2, 2], [3, 3]]),
        np.array([[2, 2], [1, 1], [1, 2], [2, 2], [3, 3]]),
    )
    arrays = {
        "speaks_in": np.repeat([0, 1], 5),
        "meanings": np.tile(meanings, (2, 1)),
        "utterances": np.tile(said, (2, 1)),
    }
    arrays["utterances"][5:] = 1
    spoken = authors_topsim(Trace("games", arrays, {}))
    alone = authors_similarities(meanings[1:], said[1:])
    assert alone["topsim-one-hot"] == pytest.approx(1.0)
    assert spoken == pytest.approx({name: value / 2 for name, value in alone.items()})
    assert authors_topsim(trace()) == {}


def test_a_bag_of_symbols_by_hand():
    """Every value has a symbol of its own, and their order says nothing: bosdis 1, posdis 0."""
    meanings = [[0, 0], [0, 1], [1, 0], [1, 1]] * 2
    said = [[1, 3], [1, 4], [2, 3], [2, 4], [3, 1], [4, 1], [3, 2], [4, 2]]
    found = language_scores(meanings, said)
    assert found["bosdis"] == pytest.approx(1.0)
    assert found["posdis"] == pytest.approx(0.0, abs=1e-9)


def test_a_language_of_one_word_has_nothing():
    assert set(language_scores([[0], [1], [2]], [[1, 0], [1, 0], [1, 0]]).values()) == {0.0}


@given(arrays(np.int64, (12, 3), elements=st.integers(0, 3)))
def test_scores_stay_in_their_ranges_and_do_not_know_the_order_of_the_list(said):
    meanings = np.array(list(itertools.product(range(3), range(4))))
    found = language_scores(meanings, said)
    assert -1 <= found["topsim"] <= 1
    assert all(-1e-9 <= found[name] <= 1 + 1e-9 for name in found if not name.startswith("topsim"))
    backwards = language_scores(meanings[::-1], said[::-1])
    assert all(found[name] == pytest.approx(backwards[name], abs=1e-9) for name in found)


def test_125_meanings_are_scored_in_a_moment():
    language_scores(GRID, GRID + 1)
    before = time.process_time()
    for _ in range(20):
        language_scores(GRID, GRID + 1)
    assert (time.process_time() - before) / 20 / 125 < 0.0005


def test_codes_that_are_factors_and_codes_that_are_mixed():
    factors = np.array(list(itertools.product(range(4), repeat=3)))
    plain = disentanglement_scores(factors, factors + 0.5)
    assert plain == {"mig": pytest.approx(1.0), "modularity": pytest.approx(1.0)}
    mixed = disentanglement_scores(factors, factors @ np.array([[1, 1, 0], [1, -1, 0], [0, 0, 1]]))
    assert mixed["mig"] < 0.5
    # Two copies of one code: no gap between them. A code that says nothing has modularity 0.
    copied = disentanglement_scores(
        factors, np.column_stack([factors, factors[:, 0], np.zeros(len(factors))])
    )
    assert copied["mig"] == pytest.approx(2 / 3)
    assert copied["modularity"] == pytest.approx(4 / 5)


def test_a_code_of_what_no_factor_says_has_no_modularity():
    """On a full grid the third code is independent of both factors; rounding must not be taken for
    information.
    """
    grid = np.repeat(list(itertools.product(range(2), range(6), range(7))), 3, axis=0)
    found = disentanglement_scores(grid[:, :2], 1.0 * grid)
    assert found == {"mig": pytest.approx(1.0), "modularity": pytest.approx(2 / 3)}


def test_names_of_tokens_do_not_matter_however_large():
    names = np.array([0, 7, 10**12, 2**61])
    said = np.random.default_rng(2).integers(0, 4, (30, 3))
    meanings = np.random.default_rng(3).integers(0, 3, (30, 2))
    assert language_scores(meanings, names[said]) == pytest.approx(language_scores(meanings, said))


def test_the_factor_that_is_fixed_is_found():
    def draw(rng, count):
        factors = rng.integers(0, 5, (count, 3))
        return factors, factors + 0.1 * rng.random((count, 3))

    def fix(rng, factor, count):
        _, codes = draw(rng, count)
        codes[:, factor] = codes[0, factor]
        return codes

    assert factor_vae_score(draw, fix, np.random.default_rng(0)) == 1.0
    noise = factor_vae_score(
        lambda rng, count: (rng.integers(0, 5, (count, 3)), rng.random((count, 3))),
        lambda rng, factor, count: rng.random((count, 3)),
        np.random.default_rng(0),
    )
    assert noise < 0.6


def trace():
    """Two episodes: 2 of 2 and 1 of 4 query decisions right; one support game each, one of them
    right.
    """
    return Trace(
        "games",
        {
            "right": np.array([1, 1, 1, 0, 1, 0, 0, 0], bool),
            "query": np.array([0, 1, 1, 0, 1, 1, 1, 1], bool),
            "foil": np.array([0, 0, 1, 0, 2, 1, 1, 0]),
            "episode": np.array([0, 0, 0, 1, 1, 1, 1, 1]),
            "game": np.array([0, 1, 2, 0, 1, 2, 3, 4]),
            "observations": np.array([100.0, 200.0, 400.0]),
            "correct": np.array([50, 80, 95]),
            "asked": np.array([100, 100, 100]),
        },
        {"decisions": 2},
    )


def test_accuracy_is_a_mean_over_episodes_by_hand():
    found = zero_shot_accuracy(trace())
    assert found["zero-shot-accuracy"] == (1 + 1 / 4) / 2
    assert found["support-accuracy"] == 1 / 2
    assert pooled_accuracy(trace()) == {"pooled-accuracy": (2 + 1) / (2 + 4)}
    assert (found["target-accuracy"], found["foil-support"], found["foil-query"]) == (
        1 / 2,
        1 / 3,
        1,
    )
    assert pytest.approx(0.185, abs=5e-4) == EXPLORATION
    assert found["exploratory-accuracy"] == pytest.approx(
        0.625 * (1 - EXPLORATION) + EXPLORATION / 2
    )


def test_query_accuracy_by_support_games_by_hand():
    """Episodes with 8, 9, 33 and 40 support games; nobody has 17 to 32. Shares of an episode first,
    then their mean.
    """
    support, query = (8, 9, 33, 40), (1, 2, 4, 4)
    right = ([1], [1, 0], [1, 1, 1, 1], [1, 0, 0, 0])
    arrays = {
        "episode": np.repeat(
            np.arange(4), [one + other for one, other in zip(support, query, strict=True)]
        ),
        "query": np.concatenate(
            [np.arange(one + other) >= one for one, other in zip(support, query, strict=True)]
        ),
        "right": np.concatenate(
            [[*[False] * one, *own] for one, own in zip(support, right, strict=True)]
        ).astype(bool),
    }
    found = accuracy_by_support(Trace("games", arrays, {}))
    assert found == {
        "query-after-1-8": 1.0,
        "query-after-9-16": 0.5,
        "query-after-33-more": pytest.approx((1 + 1 / 4) / 2),
    }
    assert accuracy_by_support(trace()) == {"query-after-1-8": (1 + 1 / 4) / 2}
    asked = {name: array[arrays["query"]] for name, array in arrays.items()}
    assert accuracy_by_support(Trace("games", asked, {})) == {}


def test_curves_by_hand():
    found = learning_in_games(trace())
    assert (found["observations-to-0.7"], found["observations-to-0.9"]) == (200, 400)
    assert found["observations-to-0.97"] == np.inf
    assert found["curve-area"] == pytest.approx((0.65 + 0.875) / 2)


def test_reconstruction_and_acquisition_by_hand():
    off = np.array(
        [[0.0, 0.03, 0.09], [0.11, 0.5, 0.039]]
    )  # numbers from -1 to 1: half of it counts
    trace = Trace("games", {"rebuilt": off, "acquired": np.array([True, True, False, True])}, {})
    assert reconstruction(trace) == {
        "reconstruction-accuracy": pytest.approx(4 / 6),
        "reconstruction-fine": pytest.approx(3 / 6),
    }
    assert ease_of_acquisition(trace) == {"ease-of-acquisition": 0.75}
    nothing = Trace("games", {}, {})
    assert reconstruction(nothing) == ease_of_acquisition(nothing) == {}


def test_topsim_with_the_end_compares_whole_rows():
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    meanings, said = rng.integers(0, 4, (30, 3)), rng.integers(0, 5, (30, 4))
    rows = [
        np.append(row[: np.append(row == 0, True).argmax()], [0] * 4)[:4].tolist() for row in said
    ]

    def edits(one, other):
        table = {(i, 0): i for i in range(5)} | {(0, j): j for j in range(5)}
        for i in range(4):
            for j in range(4):
                change = table[i, j] + (one[i] != other[j])
                table[i + 1, j + 1] = min(change, table[i, j + 1] + 1, table[i + 1, j] + 1)
        return table[4, 4]

    pairs = [(i, j) for i in range(30) for j in range(i)]
    apart = [(meanings[i] != meanings[j]).sum() for i, j in pairs]
    wanted = spearmanr([edits(rows[i], rows[j]) for i, j in pairs], apart).statistic
    found = language_scores(meanings, said)
    assert found["topsim-with-end"] == pytest.approx(wanted, abs=1e-9)
    assert abs(found["topsim-with-end"] - found["topsim"]) > 1e-3
