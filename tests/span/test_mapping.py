"""Items by reward: their scripts, what is counted, and the compiled form of their world."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.registries import typed_task
from quickstudy.base.seeds import Streams
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.span import psychometric, span_scores
from quickstudy.protocols.lifetime import Lifetime
from quickstudy.protocols.span_world import SpanWorldProtocol
from quickstudy.tasks.span.script import Script, ScriptWorld

ITEMS = ["span/mapping", "span/keep", "span/reuse"]


def trace(task, name, repetition=0):
    task = typed_task(task)
    learner = choose_learner(name, "corrected", asked="reward").make(task)
    return SpanWorldProtocol().examine(task, learner, [Streams(3, task.id, repetition)]).traces[0]


def test_counts_by_hand():
    """Six steps in two parts and two bins; one step is not scored, one answer is wrong."""
    zeros = np.zeros(6, np.int32)
    level, part = np.array([0, 0, 1, 1, 0, 1]), np.array([0, -1, 0, 1, 1, 1])
    script = Script(zeros, np.array([1, 1, 2, 2, 1, 2], np.int32), zeros, level, part, 4)
    right = script.action == np.array([1, 1, 2, 0, 1, 2])
    assert script.counts(right, 2, 2).tolist() == [[1, 1], [1, 1]]
    assert script.counts(np.ones(6, bool), 2, 2).tolist() == [[1, 1], [1, 2]]
    assert script.rewards(2, [2, 0, 1]).tolist() == [
        1,
        0,
        0,
    ]  # the fifth is right, after the lesson
    world = ScriptWorld(dataclasses.replace(script, cue=np.arange(6, dtype=np.int32)))
    assert world.reset() == 0
    turns = [world.step(action) for action in (1, 0, 2, 2, 1, 2)]
    assert [turn.observation for turn in turns] == [1, 2, 3, 4, 5, 5]
    assert [turn.reward for turn in turns] == [1, 0, 1, 1, 0, 0]
    assert [turn.done for turn in turns] == [False] * 5 + [True]


def test_blocks_of_a_mapping():
    task = typed_task("span/mapping:block=30,rounds=2")
    script = task.script(np.random.default_rng(0))
    assert task.grid == (1, 2, 3, 4, 6, 8)
    assert script.steps == script.taught == task.horizon == 360
    for number in range(12):
        own = script.mapping == number
        pairs = set(zip(script.cue[own].tolist(), script.action[own].tolist(), strict=True))
        size = task.grid[int(script.level[own][0])]
        assert (
            len({cue for cue, _ in pairs})
            == len({action for _, action in pairs})
            == len(pairs)
            <= size
        )
        assert np.flatnonzero(script.part[own] == 0).tolist() == list(range(20, 30))
    assert (
        sorted(script.level[::30][:6].tolist())
        == sorted(script.level[::30][6:].tolist())
        == [0, 1, 2, 3, 4, 5]
    )


def test_parts_of_reuse_are_thirds_of_the_run():
    task = typed_task("span/reuse:block=9,rounds=6")
    script = task.script(np.random.default_rng(0))
    rounds = script.mapping // 6
    assert [sorted(set(rounds[script.part == part].tolist())) for part in range(3)] == [
        [0, 1],
        [2, 3],
        [4, 5],
    ]


def test_keep_asks_every_mapping_by_what_was_learned_since():
    task = typed_task("span/keep:longest=6,block=10,tests=5")
    script = task.script(np.random.default_rng(0))
    assert task.mappings == 7
    assert script.taught == 70
    assert (script.part[:70] == -1).all()
    test = np.arange(script.steps) >= 70
    for number, cues in enumerate(
        np.sort(np.unique(script.cue[script.mapping == n])) for n in range(7)
    ):
        own = test & (script.mapping == number)
        assert np.bincount(script.cue[own])[cues].tolist() == [5, 5]
        assert set(script.part[own].tolist()) == ({-1} if number == 6 else {0})
    since = {5: 0, 4: 1, 3: 2, 2: 3, 1: 4, 0: 4}  # mapping -> bin: 5 and 6 since are one bin
    assert {n: int(script.level[test & (script.mapping == n)][0]) for n in since} == since


@pytest.mark.parametrize("task", ITEMS)
def test_the_oracle_has_the_whole_axis_and_a_random_action_nothing(task):
    assert span_scores(trace(task, "watches-mapping"))["span"] == pytest.approx(8)
    chance = [psychometric(trace(task, "random-action", seed))[-1].mean() for seed in range(3)]
    assert abs(np.mean(chance)) < 0.06
    assert span_scores(trace(task, "tabular"))["span"] > 7.8


def test_a_rule_that_ignores_the_cue_gets_one_of_k():
    """Exactly: p = (1/k - 1/8) / (7/8) of every k."""
    found = psychometric(trace("span/mapping", "best-single-action"))[-1]
    assert found == pytest.approx([(1 / k - 1 / 8) / (7 / 8) for k in (1, 2, 3, 4, 6, 8)], abs=0.06)


@pytest.mark.parametrize(
    "task", ["span/mapping:block=40,rounds=1", "span/keep:longest=2,block=70,tests=3"]
)
def test_the_compiled_world_gives_the_numbers_of_the_steps(task, monkeypatch):
    name = "gru:units=8"
    fast = trace(task, name)
    monkeypatch.setattr(Lifetime, "_compiled", lambda self, steps: [])
    slow = trace(task, name)
    assert fast.arrays["correct"].tolist() == slow.arrays["correct"].tolist()
    assert fast.arrays["asked"].sum() > 0


def test_other_worlds_are_not_for_this_protocol():
    task = typed_task("curriculum/micro-1")
    with pytest.raises(NotApplicable, match="no difficulty axis"):
        SpanWorldProtocol().examine(task, None, [Streams(0, task.id, 0)])
