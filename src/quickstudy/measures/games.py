"""Scores of meta-referential games: new combinations understood, when, and after how much
experience.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

EXPLORATION: float = (0.4 + sum(0.4 ** (1 + 2 * actor / 31) for actor in range(1, 32))) / 32
"""The mean share of random decisions over the 32 actors of the published training, whose logs are
of these.
"""
LEVELS = (0.7, 0.9, 0.97)
BLOCK = 4
"""Support games whose decisions have one score together."""
SEEN = (1, 9, 17, 33, math.inf)
"""Where ranges of support games begin, which identify the episodes."""

_SHARE = "share of decisions"


@measure(
    "zero-shot-accuracy",
    version=1,
    kinds=("games",),
    equation=(
        "mean over test episodes of right / all decisions of the query phase; exploratory: (1 - e)"
        " a + e / D with e = 0.185, the mean exploration of the published actors, and D decisions"
    ),
    chance="1 / D",
    scores=(
        Score("zero-shot-accuracy", "zero-shot accuracy", _SHARE, "higher", (0, 1)),
        Score("exploratory-accuracy", "zero-shot, exploring", _SHARE, "higher", (0, 1)),
        Score("support-accuracy", "support accuracy", _SHARE, "higher", (0, 1)),
        Score("target-accuracy", "target there", _SHARE, "higher", (0, 1)),
        Score("foil-support", "foil of the support", _SHARE, "higher", (0, 1)),
        Score("foil-query", "foil of the query", _SHARE, "higher", (0, 1)),
    ),
)
def zero_shot_accuracy(trace: Trace) -> Mapping[str, float]:
    """Greedy decisions of the last test. Those of query games also by what stood in the target's
    place: the target, or a foil that had been a target in the support phase or could only be one in
    the query phase.
    """
    right, query, foil = (trace.arrays[name] for name in ("right", "query", "foil"))
    found = {"zero-shot-accuracy": by_episode(trace.arrays, query)}
    found["exploratory-accuracy"] = (1 - EXPLORATION) * found[
        "zero-shot-accuracy"
    ] + EXPLORATION / trace.facts["decisions"]
    if not query.all():
        found["support-accuracy"] = by_episode(trace.arrays, ~query)
    if foil.any():
        names = ("target-accuracy", "foil-support", "foil-query")
        parts = {name: right[query & (foil == kind)] for kind, name in enumerate(names)}
        found |= {name: float(part.mean()) for name, part in parts.items() if len(part)}
    return found


@measure(
    "pooled-accuracy",
    version=1,
    kinds=("games",),
    equation="right / all decisions of the query phase, over all test episodes together",
    chance="1 / D",
    scores=(Score("pooled-accuracy", "zero-shot, pooled", _SHARE, "higher", (0, 1)),),
)
def pooled_accuracy(trace: Trace) -> Mapping[str, float]:
    """Where episodes are unequally long, this is not the mean over episodes: a long one counts for
    more.
    """
    return {"pooled-accuracy": float(trace.arrays["right"][trace.arrays["query"]].mean())}


def by_episode(arrays: Mapping[str, NDArray[Any]], chosen: NDArray[np.bool_]) -> float:
    """The mean over episodes of the share of right decisions among those that are chosen."""
    right, episode = arrays["right"][chosen], arrays["episode"][chosen]
    asked = np.bincount(episode)
    return float((np.bincount(episode, right)[asked > 0] / asked[asked > 0]).mean())


@measure(
    "learning-in-games",
    version=1,
    kinds=("games",),
    equation=(
        "accuracy of a test: right / all decisions of the query phase, over all its episodes"
        " together (not, as in zero-shot-accuracy, the mean over episodes); least observations"
        " after which it reached a level; area under it against log2 observations, from the first"
        " test to the last; right / all decisions of support games n .. n+3 of the last test, over"
        " all episodes together"
    ),
    chance="of an area 1 / D",
    scores=(
        Score(
            "observations-to-*",
            "observations to",
            "observations",
            "lower",
            (0, math.inf),
            "median",
            words={"inf": "never"},
        ),
        Score(
            "curve-area", "area under the curve", "mean accuracy over log time", "higher", (0, 1)
        ),
        Score("support-games-*", "support games", _SHARE, "higher", (0, 1)),
    ),
)
def learning_in_games(trace: Trace) -> Mapping[str, float]:
    """How much experience it took across episodes, and how decisions become better within one.
    Curves pool decisions, so that a long episode counts for more; where episodes are unequally
    long, their last point is not the headline, and a level may be reached by one and not by the
    other.
    """
    seen, accuracy = trace.arrays["observations"], trace.arrays["correct"] / trace.arrays["asked"]
    found = {}
    if len(seen) > 1:
        for level in LEVELS:
            reached = np.flatnonzero(accuracy >= level)
            found[f"observations-to-{level}"] = (
                float(seen[reached[0]]) if len(reached) else math.inf
            )
        time = np.log2(seen)
        found["curve-area"] = float(np.trapezoid(accuracy, time) / (time[-1] - time[0]))
    if not trace.arrays["query"].all():
        support = ~trace.arrays["query"]
        block, right = trace.arrays["game"][support] // BLOCK, trace.arrays["right"][support]
        asked = np.bincount(block)
        for number in np.flatnonzero(asked >= 20)[:5]:
            name = f"support-games-{number * BLOCK + 1}-{(number + 1) * BLOCK}"
            found[name] = float(right[block == number].mean())
    return found


@measure(
    "accuracy-by-support",
    version=1,
    kinds=("games",),
    equation=(
        "zero-shot-accuracy, the mean over test episodes of right / all decisions of the query"
        " phase, of the episodes with 1 to 8 support games, 9 to 16, 17 to 32, and 33 or more"
    ),
    chance="1 / D",
    scores=(Score("query-after-*", "query after support games", _SHARE, "higher", (0, 1)),),
)
def accuracy_by_support(trace: Trace) -> Mapping[str, float]:
    """What an episode's own experience is worth: query accuracy by the support games that were seen
    in it, each time that one is played. Numbers of games that no episode has are left out. Episodes
    with more of them have larger spaces, so that a learner that learns nothing within an episode
    need not be level.
    """
    query, episode = trace.arrays["query"], trace.arrays["episode"]
    seen = np.bincount(episode[~query], minlength=int(episode.max()) + 1)[episode]
    found = {}
    for first, last in itertools.pairwise(SEEN):
        chosen = query & (seen >= first) & (seen < last)
        if chosen.any():
            name = f"{first}-{'more' if math.isinf(last) else int(last) - 1}"
            found[f"query-after-{name}"] = by_episode(trace.arrays, chosen)
    return found


@measure(
    "reconstruction",
    version=1,
    kinds=("games",),
    equation=(
        "share of numbers read at decisions that are reconstructed with an error below 0.05"
        " (fine: 0.02), where the range -1 .. 1 of a number counts 1"
    ),
    chance=(
        "none: of a learner that outputs 0 throughout about 0.11, fine 0.05, where dimensions"
        " have 2 to 5 values"
    ),
    scores=(
        Score(
            "reconstruction-accuracy",
            "reconstruction accuracy",
            "share of numbers",
            "higher",
            (0, 1),
        ),
        Score("reconstruction-fine", "reconstruction, fine", "share of numbers", "higher", (0, 1)),
    ),
)
def reconstruction(trace: Trace) -> Mapping[str, float]:
    """How well the input can be reconstructed. The publication has 0.05, its programs 0.02, of
    numbers from 0 to 1. Nothing for a learner that was never asked to.
    """
    if "rebuilt" not in trace.arrays:
        return {}
    off = trace.arrays["rebuilt"] / 2
    return {
        "reconstruction-accuracy": float((off < 0.05).mean()),
        "reconstruction-fine": float((off < 0.02).mean()),
    }


@measure(
    "ease-of-acquisition",
    version=1,
    kinds=("games",),
    equation=(
        "right / all decisions of fresh listeners in the query games of an episode, each been"
        " trained to memorise the messages of its support games (512 epochs, batches of 32, Adam"
        " 3e-4, hinge loss after every token)"
    ),
    chance="1 / 2",
    scores=(Score("ease-of-acquisition", "ease of acquisition", _SHARE, "higher", (0, 1)),),
)
def ease_of_acquisition(trace: Trace) -> Mapping[str, float]:
    """How well a re-initialised agent understands what players have made up. Nothing where the
    protocol has taught none.
    """
    taught = trace.arrays.get("acquired")
    return (
        {} if taught is None or not len(taught) else {"ease-of-acquisition": float(taught.mean())}
    )
