"""Meta-referential games as published, K = 0, and the quantising pair in them, written anew in
plain NumPy: nothing of the package is used. `python tests/shared/plain_games.py EPISODES` prints
accuracies by how an unknown token is read: the mean over episodes, and that over all games.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

WORDS = 6
READINGS = ("fits everything", "fits nothing", "stands for a section that no known token has")


def drawn_space(rng, samples):
    """Values of three dimensions, and for each value its numbers."""
    values = rng.integers(2, 6, 3)
    numbers = []
    for count in values:
        width = 2 / count
        deviation, place = rng.uniform(width / 12, width / 6, count), rng.random(count)
        mean = -1 + np.arange(count) * width + 3 * deviation + place * (width - 6 * deviation)
        numbers.append(rng.normal(mean[:, None], deviation[:, None], (count, samples)))
    return values, numbers


def picked(rng, values, pool, shots, samples, query):
    """Targets in the order of playing, so many that every value comes `shots` times."""
    pool = np.array(pool)
    again = shots * values.sum() > len(pool) * samples
    if again and query:
        return [tuple(meaning) for meaning in pool for _ in range(samples)]
    weights, found, rejected = [np.full(count, (shots + 1) * 100.0) for count in values], [], 0
    while any((weight > 100).any() for weight in weights):
        tries = 0
        while True:
            meaning = tuple(rng.choice(len(weight), p=weight / weight.sum()) for weight in weights)
            if meaning not in found or (again and tries >= 5):
                break
            rejected, tries = rejected + (not again), tries + again
            again = again or rejected > 10
        apart = np.square(10 * (pool - meaning)).sum(axis=1)
        if apart.min() > 0:
            meaning = tuple(
                pool[rng.choice(len(pool), p=(near := 1 / (apart + 0.001)) / near.sum())]
            )
        found.append(meaning)
        for weight, value in zip(weights, meaning, strict=True):
            weight[value] = max(100, weight[value] - 100)
    return found


def games_of(rng, shots, samples):
    """(query, what the speaker sees, what the listener sees, whether it is the target) of one
    episode.
    """
    values, numbers = drawn_space(rng, samples)
    pools = [[], []]
    for meaning in itertools.product(*map(range, values)):
        pools[sum(value % 2 for value in meaning) >= 2].append(meaning)
    support, query = (
        picked(rng, values, pool, shots, samples, asked) for asked, pool in enumerate(pools)
    )

    def shown(meaning):
        sample = rng.integers(samples)
        return np.array([numbers[at][value][sample] for at, value in enumerate(meaning)])

    for asked, targets, among in ((False, support, support), (True, query, support + query)):
        for target in targets:
            others = [meaning for meaning in among if meaning != target]
            kept = rng.random() < 0.5 or not others
            yield (
                asked,
                shown(target),
                shown(target if kept else others[rng.integers(len(others))]),
                kept,
            )


def near(sections, coordinates, tolerance):
    """Whether coordinates lie in these of six equal sections of -1 .. 1, or so near to them."""
    ends = sections / (WORDS / 2) - 1, (sections + 1) / (WORDS / 2) - 1
    return (ends[0] - tolerance <= coordinates) & (coordinates <= ends[1] + tolerance)


def decided(rng, shots, samples, tolerance):
    """(game, reading): of the query games of one episode, whether the quantising pair decides
    rightly.
    """
    known, right = set(), []
    for asked, speaker, listener, kept in games_of(rng, shots, samples):
        sent = np.clip(np.floor((speaker + 1) * WORDS / 2), 0, WORDS - 1)
        seen, there = np.clip(listener, -1, 1), np.array([section in known for section in sent])
        free = np.array([section for section in range(WORDS) if section not in known])
        unknown = (
            True,
            False,
            np.array([near(free, coordinate, tolerance).any() for coordinate in seen]),
        )
        fits = [np.where(there, near(sent, seen, tolerance), reading).all() for reading in unknown]
        right += [[one == kept for one in fits]] if asked else []
        known |= set(sent)
    return np.array(right)


if __name__ == "__main__":
    count = int(sys.argv[1])
    for setting in ((1, 4, 0.2), (2, 4, 0.2), (1, 1, 0.0)):
        rng = np.random.default_rng(5)
        games = [decided(rng, *setting) for _ in range(count)]
        found, over_all = (
            np.array([one.mean(axis=0) for one in games]),
            np.concatenate(games).mean(axis=0),
        )
        lines = ["shots {}, samples {}, tolerance {}; an unknown token".format(*setting)]
        errors = found.std(axis=0) / count**0.5
        for reading, mean, error, one in zip(
            READINGS, found.mean(axis=0), errors, over_all, strict=True
        ):
            lines.append(
                f"  {reading}: {mean:.4f}, standard error {error:.4f}; over all games {one:.4f}"
            )
        sys.stdout.write("\n".join(lines) + "\n")
