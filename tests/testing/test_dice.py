"""Nobody guesses what a world draws at its next step: the keys of learner and world have nothing in
common.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from quickstudy.base.exchange import Transcript
from quickstudy.testing.acting import RehearsingChecks
from quickstudy.testing.check_result import Broken
from quickstudy.testing.dice import Dice, check_guesses, dice_for
from quickstudy.testing.fixtures import Examinee
from quickstudy.testing.small_tasks import PureLevers

LEARNERS = (
    "gru+ppo:units=6,batch=8,parts=1",
    "gru+r2d2:units=6,batch=4,replay=2000,unroll=8,overlap=4,burn_in=2",
    "esn+cma:units=6",
)


@cache
def promises(learner: str) -> dict:
    task = PureLevers()
    return dict(RehearsingChecks(Examinee.of(learner, task), task, 0).promises())


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_learner_of_ours_shares_its_key_with_the_world(learner):
    """With one key for both, PPO guessed 0.42 of the rolls and R2D2 0.45, where 0.333 is
    possible.
    """
    detail = promises(learner)["cannot guess what the world draws next"]()
    assert detail.startswith("guesses 0.3")


def test_it_is_said_where_it_cannot_be_checked():
    assert dice_for(PureLevers(players=2)) is None


@pytest.mark.parametrize("share", [0.2, 0.47])
def test_a_share_of_right_guesses_that_chance_does_not_explain(share):
    dice = Dice(PureLevers())
    right = (np.arange(900) < 900 * share).astype(np.float32).reshape(1, 90, 10)
    with pytest.raises(
        Broken,
        match=f"guesses {share:.3f} of 900 rolls while it rehearses, where 0.333 is possible",
    ):
        check_guesses(dice, Transcript(None, right, None, {}), "rehearses")
    assert check_guesses(
        dice, Transcript(None, np.float32(np.arange(900) % 3 == 0), None, {}), "rehearses"
    )
