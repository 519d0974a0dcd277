"""Agents that talk: what each passes from a fresh start, and the parts that the program learner is
made of.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.agents.guessing import Hints
from quickstudy.learners.agents.library import Library
from quickstudy.learners.agents.operations import ALL, Program, Substitution, explaining, makers
from quickstudy.learners.agents.turns import BYTE, NOTHING, Format, Step, contradictions

BYTES = Brief(Tokens(256), Tokens(256), "reward", 10_000, 1000)


def lived(name, members, steps, repetition=0, convention="corrected"):
    made = configure(
        "chain", registries.task.get("curriculum/chain"), {"members": members}, convention
    )
    world = made.open(Streams(3, "tests", repetition))
    agent = registries.learner.get(name)(BYTES, 1)
    return world.live(lambda byte, reward: agent.act(byte, reward, False), steps), agent


def test_search_passes_the_first_task_in_about_two_hundred_steps():
    steps = [
        len(lived("search", "micro-1", 2_000, repetition)[0].actions) for repetition in range(20)
    ]
    assert 170 < np.mean(steps) < 280


@pytest.mark.parametrize(
    "member", ["micro-1", "micro-2", "micro-3", "micro-4", "micro-5.1", "micro-5.10", "micro-6"]
)
def test_the_table_reader_passes(member):
    assert lived("table", member, 40_000)[0].done


def test_the_table_reader_cannot_repeat_words():
    assert not lived("table", "micro-7.2", 10_000)[0].done


@pytest.mark.parametrize(
    "members",
    [
        "micro-5.5/micro-7.2/micro-8/micro-9.3",
        "micro-5.5/micro-11/micro-12/micro-13.2/micro-14",
        "mini-1",
    ],
)
def test_the_program_learner_passes_what_no_table_holds(members):
    assert lived("program", members, 80_000)[0].done


def test_the_program_learner_knows_no_words():
    made = configure(
        "hidden", registries.task.get("curriculum/hidden"), {"part": "development", "number": 0}
    )
    world, agent = made.open(Streams(0, made.id, 0)), registries.learner.get("program")(BYTES, 1)
    assert world.live(lambda byte, reward: agent.act(byte, reward, False), 60_000).done


def test_an_agent_is_set_back_by_what_it_has_heard():
    life, agent = lived("program", "micro-5.5/micro-7.1", 900)
    kept = Snapshot(agent.snapshot())
    other = registries.learner.get("program")(BYTES, 1)
    other.restore(kept)
    stream = list(zip(life.observations, [0, *life.rewards], strict=False))[:300]
    assert [agent.act(*one, False) for one in stream] == [other.act(*one, False) for one in stream]


def test_agents_talk_in_bytes():
    with pytest.raises(NotApplicable, match="it talks in bytes"):
        registries.learner.get("program")(Brief(Tokens(3), Tokens(3), "reward", 10, 10), 0)


def test_a_format_is_told_by_what_silence_brings():
    # One symbol of feedback after each: 0 7 | 7 8 | 9 2, answered by silence.
    steps = [
        Step(byte, 32, reward, after)
        for byte, reward, after in zip(b"077892", [-1, 0] * 3, b"778925", strict=True)
    ]
    assert contradictions(Format(BYTE, BYTE), steps, answered=False) == 0
    assert contradictions(Format(NOTHING, BYTE), steps, answered=False) > 0


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("say: abc", "abc"),
        ("say: ab say: cd reverse:", "cd ab"),
        ("say: ab say: cd interleave:", "acbd"),
        ("spell: dog", "d o g "),
        ("join: dog by -", "d-o-g"),
        ("after k comes what:", "l"),
        ("say: a or b but not a", "b"),
    ],
)
def test_some_program_makes_it(question, answer):
    assert makers(question).get(answer)


@settings(max_examples=60, deadline=None)
@given(st.text("abc -:", max_size=14))
def test_makers_are_the_programs(text):
    made = makers(text)
    for place in range(0, len(ALL), 37):
        out = ALL[place](text)
        assert out is None or place in made[out]


def test_programs_that_explain_come_simplest_first():
    found = explaining([("say: ab say: cd x:", "abcd"), ("say: ef say: gh x:", "efgh")], 2)
    assert found[0] == Program("every second word", "glued", "as it is")


def test_a_word_is_put_in_the_place_of_another():
    assert Substitution(0, 3, 5)("lank is as say - lank: ab lank: cd.") == "say: ab say: cd."


def test_a_library_uses_each_program_for_its_words():
    library = Library()
    for first, second in (("ab", "cd"), ("ef", "gh"), ("ij", "kl"), ("mn", "op")):
        library.shown(f"say: {first} say: {second} turn:", f"{second} {first}", "")
        library.shown(f"say: {first} say: {second} glue:", f"{first}{second}", "")
    assert library.answer("say: uv say: wx turn:")[0] == "wx uv"
    assert library.answer("say: uv say: wx glue:")[0] == "uvwx"


def test_hints_learn_which_part_of_the_feedback_is_the_answer():
    hints = Hints()
    for number, noise in enumerate("3847261"):
        hints.read("k", f"{noise}{number}5.")
    assert hints.read("k", "9975.").endswith("5.")
    hints.told("k", "5.", right=True)
    assert hints.read("other", "1234.") in ("4.", "34.", "234.", "1234.")
