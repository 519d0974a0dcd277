"""What a game shows: probabilities by hand, as published and corrected."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")


def games(episodes, phase):
    """(episode, game): those of a phase."""
    number = np.arange(episodes.foil.shape[1])
    query = number >= episodes.support[:, None]
    return (number < episodes.count[:, None]) & (query if phase == "query" else ~query)


def share(found):
    """The mean of some coins, and four standard errors of a fair one."""
    return found.mean(), 2 / np.sqrt(found.size)


@pytest.mark.parametrize(
    ("convention", "distractors", "none"),
    [
        ("published", 0, 1 / 2),
        ("corrected", 0, 1 / 2),
        ("published", 3, 4 / 5),
        ("corrected", 3, 1 / 5),
    ],
)
def test_none_is_right_as_often_as_it_should_be(drawn, convention, distractors, none):
    """Published, the target is missing with (K+1)/(K+2); corrected, all K+2 decisions are equally
    likely.
    """
    episodes = drawn(convention, distractors)
    correct = episodes.correct[games(episodes, "query")]
    for decision in range(distractors + 2):
        expected = none if decision == distractors + 1 else (1 - none) / (distractors + 1)
        found, error = share(correct == decision)
        assert abs(found - expected) < error


def test_the_right_place_shows_the_target(drawn):
    for convention, distractors in (("published", 0), ("corrected", 3), ("published", 3)):
        episodes = drawn(convention, distractors)
        there = games(episodes, "query") | games(episodes, "support")
        same = (episodes.listener_means == episodes.target[:, :, None]).all(axis=-1)
        kept = episodes.correct <= distractors
        at = np.take_along_axis(same, np.minimum(episodes.correct, distractors)[..., None], axis=2)[
            ..., 0
        ]
        assert at[there & kept].all()
        assert not same[
            there & ~kept
        ].any()  # O > 1: no entry of the target's meaning is a distractor
        assert (same[there & kept].sum(axis=1) == 1).all()
        # The speaker sees the target first, then what stands beside it, unshuffled.
        assert (episodes.speaker_means[:, :, 0] == episodes.target).all(axis=-1)[there].all()
        if distractors:
            beside = np.sort(episodes.speaker_means[:, :, 1:] @ [100, 10, 1], axis=-1)
            shown = np.sort(episodes.listener_means @ [100, 10, 1], axis=-1)
            assert all(
                set(one) <= set(other)
                for one, other in zip(beside[there].tolist(), shown[there].tolist(), strict=True)
            )


def test_stimuli_are_those_of_the_episode(drawn):
    """One float for each value and sample: with O = 4, at most four for a value, all dimensions by
    the same sample.
    """
    episodes = drawn("corrected")
    for number in range(40):
        seen = {}
        for game in range(episodes.count[number]):
            for shown, means in (
                (episodes.speaker, episodes.speaker_means),
                (episodes.listener, episodes.listener_means),
            ):
                vector, meaning = shown[number, game, 0], means[number, game, 0]
                for dimension in range(3):
                    seen.setdefault((dimension, meaning[dimension]), set()).add(
                        float(vector[dimension])
                    )
        assert max(map(len, seen.values())) <= 4


def test_a_kept_target_is_shown_by_another_sample(drawn):
    """Strictly so when corrected; published, the listener sees the very same vector in one of O."""
    for convention, expected in (("corrected", 0.0), ("published", 0.25)):
        episodes = drawn(convention)
        kept = games(episodes, "query") & (episodes.correct == 0)
        same = (episodes.speaker[:, :, 0] == episodes.listener[:, :, 0]).all(axis=-1)[kept]
        found, error = share(same)
        assert abs(found - expected) <= (error if expected else 0)


def test_foils_come_from_where_they_should(drawn):
    """Published, from all picks; corrected, from the query, and as long as there is one, from what
    is yet to come.
    """
    published, corrected = drawn("published"), drawn("corrected")
    query = games(published, "query") & (published.correct == 1)
    picks = published.support / published.count
    expected = np.repeat(picks, query.sum(axis=1))
    found, error = share(published.foil[query] == 1)
    assert abs(found - expected.mean()) < error + 0.03  # the target's own entries are left out
    query = games(corrected, "query") & (corrected.correct == 1)
    assert (corrected.foil[query] == 2).all()
    for number in range(100):
        last = corrected.count[number] - 1
        targets = [tuple(target) for target in corrected.target[number, : last + 1].tolist()]
        for game in np.flatnonzero(query[number]):
            foil = tuple(corrected.listener_means[number, game, 0].tolist())
            assert (foil in targets[game + 1 :]) or game == last


def test_all_stimuli_of_a_corrected_game_mean_different_things(drawn):
    episodes = drawn("corrected", 3)
    means = episodes.listener_means[games(episodes, "query") | games(episodes, "support")] @ [
        100,
        10,
        1,
    ]
    assert (np.diff(np.sort(means, axis=1), axis=1) > 0).all()


def test_words_are_renamed_by_one_bijection_of_the_episode(drawn):
    renamed = drawn("corrected").renamed
    assert (renamed == renamed[:, :1]).all()
    assert (renamed[:, 0, 0] == 0).all()
    assert (np.sort(renamed[:, 0], axis=1) == np.arange(7)).all()
    counts = np.array([(renamed[:, 0, token] == 3).sum() for token in range(1, 7)])
    assert (np.abs(counts - len(renamed) / 6) < 4 * np.sqrt(len(renamed) * 5 / 36)).all()


def test_the_speaker_names_values_by_position(drawn):
    """Table 3 of the paper: (0, 1, 2) is called 1 2 3, (1, 3, 4) is called 2 4 5."""
    episodes = drawn("published")
    assert (episodes.message == episodes.target + 1).all()


def test_support_games_that_are_played_twice_are_the_same_picks(drawn):
    episodes = drawn("corrected", 3)
    for number in range(100):
        half = episodes.support[number] // 2
        first, second = (
            episodes.target[number, part] for part in (slice(half), slice(half, 2 * half))
        )
        assert (first == second).all()
