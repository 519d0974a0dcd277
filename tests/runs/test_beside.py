"""Settings that differ in nothing but what is traced run side by side on an accelerator, each with
its own numbers.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from quickstudy.learners.resolved_learner import Choice
from quickstudy.runs import execute
from quickstudy.runs.engines import Bundle
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting

GIVEN = {"order": 1, "factors": (1.0,)}
NAMES = [
    f"lstm:units=3,batch=0,passes=30,rate=0.02,total=questions{more}"
    for more in ("", ",l1=0.1", ",l2=0.5")
]
SETTINGS = [Setting("grammar/an-bn", name, "corrected", 0, GIVEN) for name in NAMES]


def test_a_plan_knows_what_may_run_beside_what():
    others = [
        Setting("grammar/an-bn", name, "corrected", 0, GIVEN)
        for name in ("lstm:units=4", "esn", "bigram")
    ]
    plan = make_plan([*SETTINGS, *others], 2)
    groups = {}
    for cell in plan.cells:
        groups.setdefault(cell.beside, []).append(cell)
    assert sorted(map(len, groups.values())) == [2, 2, 2, 6]
    (beside,) = (cells for cells in groups.values() if len(cells) == 6)
    assert {(cell.wanted, cell.lanes) for cell in beside} == {(6, 6)}
    assert max(map(len, execute.cut(plan.cells, 1))) == 2  # a processor takes one after the other
    assert max(map(len, execute.cut(plan.cells, 1, on_gpu=True))) == 6


@pytest.mark.slow
def test_each_has_the_numbers_it_has_alone(monkeypatch):
    whole = [(setting, repetition) for setting in SETTINGS for repetition in (0, 1)]
    alone = [outcome for setting in SETTINGS for outcome in examine(setting, [0, 1])]
    monkeypatch.setattr(
        Choice, "lanes", lambda self, wanted, device=None: 4
    )  # a full call, and one that is filled up
    settings, repetitions = zip(*whole, strict=True)
    beside = list(examine(settings[0], repetitions, beside=settings))
    for own, other in zip(alone, beside, strict=True):
        assert (own.record.key, own.record.labels) == (other.record.key, other.record.labels)
        assert own.record.cost["updates"] == other.record.cost["updates"] == 30
        for name in ("wrong", "steps", "size", "factor", "tested"):
            assert np.array_equal(own.trace.arrays[name], other.trace.arrays[name])
    assert len({outcome.trace.arrays["wrong"].tobytes() for outcome in beside}) > 2


def test_a_bundle_loses_settings_with_their_repetitions():
    bundle = Bundle(SETTINGS[0], (0, 0, 1), ("a", "b", "c"), "folder", beside=tuple(SETTINGS))
    left = pickle.loads(pickle.dumps(bundle.without({"a"})))
    assert (left.repetitions, left.keys, left.setting_of(1)) == ((0, 1), ("b", "c"), SETTINGS[2])
    alone = Bundle(SETTINGS[1], (0, 1), ("a", "b"), "folder").without({"a"})
    assert (alone.keys, alone.setting_of(0)) == (("b",), SETTINGS[1])


def test_the_mean_over_questions_is_of_the_whole_lesson():
    with pytest.raises(Exception, match="give batch=0"):
        Setting("grammar/an-bn", "lstm:total=questions", "corrected", 0, GIVEN).resolve()
