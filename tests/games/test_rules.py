"""What rules reach without learning: ceilings, and the ways round the language that the published
game leaves open.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

pytest.importorskip("jax")

from plain_games import decided
from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Transcript
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.jax_gateway import eqx, jax
from quickstudy.learners.rollout import play
from quickstudy.measures.games import by_episode
from quickstudy.protocols.games import logged
from quickstudy.tasks.games.pair import Pair


@pytest.fixture
def accuracy(made, drawn):
    """accuracy(rule, convention): of the query phase, and of the support phase, in the episodes of
    `drawn`.
    """

    @lru_cache
    def found(name, convention, pair=False):
        task = (
            configure("games/pair", Pair, {"samples": 4}, convention) if pair else made(convention)
        )
        world, episodes = task.world(), drawn(convention)
        rule = registries.control.get(name)(
            task, Brief(task.inputs, task.outputs, "reward", task.horizon, 0)
        )
        numbers, key = np.arange(len(episodes.count)), jax.random.key(0)

        @eqx.filter_jit
        def run(episodes):
            begun = jax.vmap(world.started)(episodes)
            return play(world, rule.start(len(numbers), 0), rule.step, key, key, numbers, begun)[1]

        transcript = jax.tree.map(lambda leaf: np.asarray(leaf)[None], run(episodes))
        arrays = logged(Transcript(*transcript))[0]
        return by_episode(arrays, arrays["query"]), by_episode(arrays, ~arrays["query"])

    return found


def test_the_oracle_wins_every_query_game(accuracy):
    for convention in ("published", "corrected"):
        query, support = accuracy("nearest-neighbour", convention)
        assert query > 0.998
        assert support > 0.65
    assert accuracy("binning", "corrected")[0] > 0.995


def test_who_hears_nothing_wins_as_published_and_guesses_when_corrected(accuracy):
    """Measured in the original, S = 1, O = 4: 71.9 % of query games (over all of them; by episode a
    little more).
    """
    assert 0.70 < accuracy("blind", "published")[0] < 0.76
    assert abs(accuracy("blind", "corrected")[0] - 0.5) < 0.02


def test_who_remembers_what_was_named_gains_little_when_corrected(accuracy):
    """Only behind the last query meaning there is none to come: 1/2 of one game in an episode."""
    assert 0.5 < accuracy("novelty", "corrected")[0] < 0.57


def test_the_quantising_pair_is_what_a_plain_reckoning_gives(accuracy, drawn):
    """Sections of a third; a token is known when its section was sent before; 0.2 beside the
    section is near enough.
    """
    episodes, shares = drawn("published"), []
    for number, count in enumerate(episodes.count):
        known, right = set(), []
        for game in range(count):
            sent = np.clip(np.floor((episodes.speaker[number, game, 0] + 1) * 3), 0, 5)
            shown = np.clip(episodes.listener[number, game, 0], -1, 1)
            near = (sent / 3 - 1 - 0.2 <= shown) & (shown <= (sent + 1) / 3 - 1 + 0.2)
            fits = all(near | [section not in known for section in sent])
            right.append(fits == (episodes.correct[number, game] == 0))
            known |= set(sent)
        shares.append(np.mean(right[episodes.support[number] :]))
    found = accuracy("quantising-pair", "published", pair=True)[0]
    assert abs(found - np.mean(shares)) < 1e-3  # a coordinate may lie on the edge, by rounding
    assert 0.95 < found < 0.98


def test_games_written_anew_give_the_same(accuracy):
    """Nothing of the package is in them; the mean of 150 episodes scatters by 0.006, and so does
    that of `drawn`.
    """
    rng = np.random.default_rng(5)
    plain = np.mean([decided(rng, 1, 4, 0.2)[:, 0].mean() for _ in range(150)])
    assert abs(plain - accuracy("quantising-pair", "published", pair=True)[0]) < 0.025


def test_chance_is_one_half(accuracy):
    assert abs(accuracy("uniform-decision", "corrected")[0] - 0.5) < 0.02


def test_a_rule_says_which_languages_it_reads(made):
    task = made("corrected", 0, language="holistic")
    brief = Brief(task.inputs, task.outputs, "reward", task.horizon, 0)
    with pytest.raises(NotApplicable, match="holistic is not so"):
        registries.control.get("binning")(task, brief)
    registries.control.get("always-none")(task, brief)
