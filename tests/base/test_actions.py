"""Actions: drawn from scores part by part, and refused outside their space."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.actions import Policy, checked_action
from quickstudy.base.errors import LearnerFault
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.jax_gateway import jax, jnp

SPACE = Fields(
    {
        "choice": Tokens(3),
        "message": Fields({"word": Tokens(2), "tone": Reals(1)}),
        "lights": Bits(2),
    }
)
SCORES = np.log([0.2, 0.3, 0.5, 1, 3, 1, 0.25, 4])


def test_the_likeliest_action_by_hand():
    action = Policy(SPACE, SCORES).draw()
    assert (action["choice"], action["message"]["word"]) == (2, 1)
    assert action["message"]["tone"].tolist() == [0.0]
    assert action["lights"].tolist() == [0, 1]


def test_log_probability_and_entropy_by_hand():
    """Tokens 0.5 and 3/4, a logistic density of 1/4 at its middle, lights that are on with 0.2 and
    0.8.
    """
    policy = Policy(SPACE, SCORES)
    action = {"choice": 2, "message": {"word": 1, "tone": np.zeros(1)}, "lights": np.array([1, 1])}
    assert policy.log_probability(action) == pytest.approx(np.log(0.5 * 0.75 * 0.25 * 0.2 * 0.8))

    def nats(*chances):
        return -sum(chance * np.log(chance) for chance in chances)

    assert policy.entropy() == pytest.approx(
        nats(0.2, 0.3, 0.5) + nats(0.25, 0.75) + 2 + 2 * nats(0.2, 0.8)
    )


def test_parts_are_drawn_as_often_as_their_scores_say():
    draws = 40_000
    rng = np.random.default_rng(0)
    policy = Policy(SPACE, np.tile(SCORES, (draws, 1)))
    action = policy.draw(rng.random((draws, SPACE.width)))
    # Three standard deviations of a share are at most 0.0075.
    assert np.allclose(np.bincount(action["choice"]) / draws, [0.2, 0.3, 0.5], atol=0.0075)
    assert np.allclose(np.bincount(action["message"]["word"]) / draws, [0.25, 0.75], atol=0.0075)
    assert np.allclose(action["lights"].mean(axis=0), [0.2, 0.8], atol=0.0075)
    assert np.allclose(
        np.quantile(action["message"]["tone"], [0.25, 0.5, 0.75]),
        [-np.log(3), 0, np.log(3)],
        atol=0.04,
    )
    # Entropy is the mean surprise, parts are drawn each by itself.
    assert -policy.log_probability(action).mean() == pytest.approx(policy.entropy()[0], abs=0.03)
    both = ((action["choice"] == 2) & (action["lights"][:, 1] == 1)).mean()
    assert both == pytest.approx(0.5 * 0.8, abs=0.0075)


def test_numpy_and_jax_draw_the_same():
    rng = np.random.default_rng(0)
    scores, uniform = rng.normal(size=(500, SPACE.width)), rng.random((500, SPACE.width))
    host = Policy(SPACE, scores)
    action, chance, entropy = jax.jit(examined)(jnp.asarray(scores), jnp.asarray(uniform))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, atol=1e-4), host.draw(uniform), action
    )
    np.testing.assert_allclose(
        host.log_probability(jax.tree.map(np.asarray, action)), chance, atol=1e-4
    )
    np.testing.assert_allclose(host.entropy(), entropy, atol=1e-5)


def examined(scores, uniform):
    policy = Policy(SPACE, scores)
    action = policy.draw(uniform)
    return action, policy.log_probability(action), policy.entropy()


def test_the_ends_of_the_interval_are_no_trouble():
    for dtype in (np.float32, np.float64):
        for end in (0.0, np.nextafter(dtype(1), dtype(0))):
            action = Policy(SPACE, SCORES.astype(dtype)).draw(
                np.full(SPACE.width, end, dtype=dtype)
            )
            assert np.isfinite(action["message"]["tone"]).all()
            assert action["choice"] == 2


def test_gradients_are_those_of_the_scores():
    """The slope of the log-probability of a token: 1 less its probability, and less theirs for the
    others.
    """
    slope = jax.grad(lambda scores: Policy(Tokens(3), scores).log_probability(jnp.array(1)))(
        jnp.asarray(SCORES[:3])
    )
    assert np.allclose(slope, [-0.2, 0.7, -0.5], atol=1e-6)


def test_a_token_may_be_ruled_out():
    scores = jnp.array([0.0, -jnp.inf, 0.0])
    assert float(Policy(Tokens(3), scores).entropy()) == pytest.approx(np.log(2))
    assert jax.grad(lambda scores: Policy(Tokens(3), scores).entropy())(
        scores
    ).tolist() == pytest.approx([0, 0, 0])
    drawn = Policy(Tokens(3), np.tile(scores, (200, 1))).draw(
        np.random.default_rng(0).random((200, 3))
    )
    assert np.bincount(drawn).tolist()[1] == 0 < np.bincount(drawn)[0] < 200


GOOD = {"choice": 1, "message": {"word": 0, "tone": [0.5]}, "lights": [True, False]}


def test_an_action_of_several_parts_comes_back_plain():
    action = checked_action(SPACE, GOOD)
    assert action["choice"].__class__ is int
    assert (action["message"]["word"], action["message"]["tone"].tolist()) == (0, [0.5])
    assert checked_action(Tokens(3), np.int64(2)).__class__ is int
    assert checked_action(Tokens(3), np.bool_(True)) == 1
    assert checked_action(Tokens(3), [0, 2], (2,)).tolist() == [0, 2]
    assert checked_action(Bits(1), [[0], [1]], (2,)).shape == (2, 1)


@pytest.mark.parametrize(
    ("space", "action", "shape", "complaint"),
    [
        (SPACE, 1, (), "act must give a mapping with choice, message, lights, got 1"),
        (SPACE, {"choice": 1, "lights": [0, 0]}, (), "got one with choice, lights"),
        (SPACE, {**GOOD, "more": 1}, (), "got one with choice, message, lights, more"),
        (SPACE, {**GOOD, "choice": 3}, (), r"a token 0\.\.2, got 3"),
        (SPACE, {**GOOD, "message": {"word": 2, "tone": [0.0]}}, (), r"a token 0\.\.1, got 2"),
        (SPACE, {**GOOD, "message": {"word": 1, "tone": [np.nan]}}, (), "1 finite numbers"),
        (SPACE, {**GOOD, "lights": [0, 2]}, (), "2 zeros and ones, got"),
        (SPACE, {**GOOD, "lights": [0]}, (), r"2 zeros and ones of shape \(2,\), got \[0\]"),
        (Tokens(3), 1, (2,), r"of shape \(2,\), got 1"),
        (Tokens(3), [0, 3], (2,), r"a token 0\.\.2, got \[0, 3\]"),
        (Tokens(2), 1.0, (), r"a token 0\.\.1, got 1\.0"),
        (Bits(2), [[0], [1, 1]], (), "2 zeros and ones, got"),
        (Reals(1), ["x"], (), "1 finite numbers, got"),
    ],
)
def test_what_is_outside_its_space_is_refused(space, action, shape, complaint):
    with pytest.raises(LearnerFault, match=complaint):
        checked_action(space, action, shape)
