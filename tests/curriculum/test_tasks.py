"""What the tasks ask: steps of the perfect learner, instances by number, words, strings, files,
hidden curricula.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import statistics

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.protocols.curriculum import perfect_steps
from quickstudy.tasks.curriculum.mini import MINI, Language
from quickstudy.tasks.curriculum.rules import Perfect
from quickstudy.tasks.curriculum.schedule import MEMBERS
from quickstudy.tasks.curriculum.tables import Ground
from quickstudy.tasks.curriculum.words import ALL_SYNONYMS, Words, without, word_list

STEPS = dict(
    zip(
        MEMBERS,
        (
            50,
            50,
            50,
            50,
            100,
            150,
            200,
            300,
            300,
            250,
            348,
            350,
            325,
            350,
            325,
            595,
            448,
            449,
            508,
            401,
            607,
            986,
            1622,
            1000,
            1724,
            2757,
            1772,
            1250,
            2452,
            2854,
            2837,
            2134,
            1886,
            1553,
            1796,
            1600,
            1966,
            2306,
            2261,
            3224,
        ),
        strict=False,
    )
)
"""Counted in the original environment, means of 20 runs."""


def task(name, convention="corrected", **given):
    return configure(name, registries.task.get(f"curriculum/{name}"), given, convention)


def opened(made, repetition=0, root=0):
    return made.open(Streams(root, made.id, repetition))


def perfect(world):
    oracle = Perfect(None, None, 0)
    oracle.watch(world)
    return lambda byte, reward: oracle.act(byte, reward, False)


def test_steps_of_the_perfect_learner():
    made = task("round1", "published")
    runs = np.array([perfect_steps(made, Streams(0, made.id, seed)) for seed in range(20)])
    for member, steps in STEPS.items():
        found = runs[:, MEMBERS.index(member)]
        # Our words are others: half a percent for that, besides four standard errors of both means.
        assert (
            abs(found.mean() - steps)
            <= 4 * np.sqrt(2) * found.std(ddof=1) / np.sqrt(20) + 0.005 * steps
        ), member
    total = runs.sum(axis=1)
    assert abs(total.mean() - 45_997) < 4 * np.sqrt(324**2 / 20 + total.var(ddof=1) / 20)


def test_words_have_the_statistics_of_the_published_list():
    words = word_list().every
    assert len(words) == len(set(words)) == 2284
    assert round(statistics.mean(map(len, words)), 2) == 5.84
    assert max(map(len, words)) == 15
    assert len(without(words, ALL_SYNONYMS)) == 2130
    strange = [word for word in words if not (word.isalpha() and word.islower())]
    assert len(strange) == 3
    assert word_list("another").every != words


def asked(name, number=0, repetition=0, count=30):
    world = opened(task(name), repetition)
    member = world.members[0]
    instance = member.draw(Ground(world.names[0], number, word_list()))
    return [instance.ask() for _ in range(count)]


@pytest.mark.parametrize("name", ["micro-1", "micro-5.18", "micro-6", "micro-20", "mini-4"])
def test_an_instance_depends_on_its_stream_and_number_alone(name):
    assert asked(name) == asked(name)
    assert asked(name) != asked(name, number=1)
    assert asked(name) != asked(name, repetition=1)


def test_a_task_shows_the_same_alone_and_after_others():
    alone, after = opened(task("micro-5.5")), opened(task("chain", members="micro-4/micro-5.5"))
    first = alone.live(perfect(alone), 10_000)
    both = after.live(perfect(after), 10_000)
    begins = max(step for step, told in both.events if told["task"] == 0) + 1
    assert bytes(both.observations[begins:]) == bytes(first.observations)


@pytest.mark.parametrize("name", ["round1", "chain", "hidden"])
def test_renamed_symbols_are_as_hard_for_the_perfect_learner(name):
    plain, renamed = (opened(task(name, renamed=renamed)) for renamed in (False, True))
    one, other = plain.live(perfect(plain), 10**6), renamed.live(perfect(renamed), 10**6)
    assert one.done
    assert other.done
    assert len(one.actions) == len(other.actions)
    assert bytes(one.observations) != bytes(other.observations)


@pytest.mark.parametrize("kind", ["consecutive", "round-robin", "random", "cumulative"])
@pytest.mark.parametrize("cut", [1, 37, 500])
def test_a_world_is_kept_and_set_back(kind, cut):
    made = dataclasses.replace(task("file", members="micro-2/micro-5.5/mini-2"), kind=kind)
    rng = np.random.default_rng(cut)
    replies = [int(rng.choice([32, 46, 97, 55])) for _ in range(1500)]

    def lived(world, some):
        said = iter(some)
        return world.live(lambda byte, reward: next(said), len(some))

    world = opened(made)
    lived(world, replies[:cut])
    kept = world.snapshot()
    lives = []
    for other in (world, opened(made)):
        if other is not world:
            other.restore(kept)
        life = lived(other, replies[cut:])
        lives.append(
            (bytes(life.observations), list(life.rewards), [told for _, told in life.events])
        )
    assert lives[0] == lives[1]


@pytest.mark.parametrize("reply", [256, -1, "a", None, 3.5])
def test_a_reply_that_is_no_byte(reply):
    with pytest.raises(LearnerFault, match="a reply is one byte"):
        opened(task("micro-1")).live(lambda byte, reward: reply, 3)


def test_an_error_of_the_learner_is_its_own():
    def act(byte, reward):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        opened(task("micro-1")).live(act, 3)


def verified(name, count, balanced):
    for number in range(count):
        question = MINI[name](Ground("strings", number, Words(), balanced=balanced)).ask()
        description, _, text = (
            question.text.decode().removeprefix("description: ").partition("; verify: ")
        )
        yield description, text.removesuffix("."), question.expected == b"true."


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("name", MINI)
def test_mini_strings_are_in_their_language_or_not(name, balanced):
    for description, text, true in verified(name, 300, balanced):
        if text or balanced:  # published, an empty string is wrong where nothing can be
            assert Language.read(description).holds(text) is true, (description, text)


def length_guess(pairs):
    """How often the length alone tells the answer, at best."""
    counts = {}
    for _, text, true in pairs:
        counts.setdefault(len(text), [0, 0])[true] += 1
    return sum(map(max, counts.values())) / sum(map(sum, counts.values()))


@pytest.mark.parametrize(
    ("name", "published"), [("0", 0.74), ("1", 0.71), ("2", 0.63), ("5", 0.63)]
)
def test_lengths_tell_as_published_and_do_not_when_balanced(name, published):
    assert abs(length_guess(verified(name, 2000, False)) - published) < 0.06
    assert length_guess(verified(name, 2000, True)) < 0.56


@pytest.mark.parametrize(
    ("description", "text", "holds"),
    [
        ("AB", "ABAB", True),
        ("AB", "ABA", False),
        ("ABA", "ABABA", True),
        ("A or BC", "ABCA", True),
        ("A or BC", "ACB", False),
        ("A and BC", "AA", False),
        ("A and BC", "BCA", True),
        ("A and anything", "XXAX", True),
        ("anything and not B and A", "XA", True),
        ("anything and not B and A", "XAB", False),
        ("anything", "", True),
    ],
)
def test_languages(description, text, holds):
    assert Language.read(description).holds(text) is holds


FILE = {
    "worlds": {"gw": {"type": "worlds.grid_world.GridWorld"}},
    "tasks": {
        "a": {"type": "tasks.challenge.round1.challenge_micro.Micro5Sub1Task"},
        "b": {"type": "tasks.challenge.round1.challenge_mini.TaskSet0", "world": "gw"},
    },
    "scheduler": {
        "type": "core.scheduler.ConsecutiveTaskScheduler",
        "args": {"tasks": ["a", "b"], "success_threshold": 3},
    },
}


def written(folder, content):
    path = folder / "curriculum.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return path


def test_a_curriculum_file_of_the_original(tmp_path):
    made = task("file", path=str(written(tmp_path, FILE)))
    assert (made.members, made.successes, made.kind) == (("micro-5.1", "mini-0"), 3, "consecutive")
    world = opened(made)
    life = world.live(perfect(world), 10_000)
    assert life.done
    assert [told["task"] for _, told in life.events] == [0] * 3 + [1] * 3


def changed(**scheduler):
    arguments = {**FILE["scheduler"]["args"], **scheduler.pop("args", {})}
    return {**FILE, "scheduler": {**FILE["scheduler"], **scheduler, "args": arguments}}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{\n oops", "line 2, Expecting property name"),
        (
            {**FILE, "tasks": {"a": {"type": "tasks.Micro99Task"}}},
            'line 9: no task "tasks.Micro99Task"',
        ),
        (changed(args={"tasks": ["a", "c"]}), 'the task "c" is scheduled and not described'),
        (
            changed(args={"success_threshold": 0}),
            "success_threshold must be a whole number from 1 on, got 0",
        ),
        (changed(type="core.scheduler.Oracle"), 'no scheduler "Oracle"'),
        (
            changed(
                type="DependenciesTaskScheduler",
                args={"tasks_dependencies": [["a", "b"], ["b", "a"]]},
            ),
            "the dependencies run in a loop: a, b",
        ),
        ({**FILE, "worlds": {}}, 'is in a world "gw" that is not described'),
        ([], '"tasks" must be an object'),
    ],
)
def test_bad_curriculum_files(tmp_path, content, reason):
    with pytest.raises(UsageError, match=r"curriculum\.json(, line| is not JSON)") as error:
        task("file", path=str(written(tmp_path, content)))
    assert reason in str(error.value)


def test_dependencies_are_kept(tmp_path):
    content = changed(
        type="DependenciesTaskScheduler",
        args={"tasks_dependencies": [["a", "b"]], "unlock_threshold": 2},
    )
    world = opened(task("file", path=str(written(tmp_path, content))))
    life = world.live(perfect(world), 5_000)
    order = [told["task"] for _, told in life.events]
    assert order[:2] == [0, 0]
    assert 1 in order


def test_hidden_curricula_differ_by_family_part_and_number():
    ways = itertools.product(("words", "rules"), ("development", "evaluation"), (0, 1))
    texts = {}
    for family, part, number in ways:
        world = opened(task("hidden", family=family, part=part, number=number))
        texts[family, part, number] = bytes(world.live(perfect(world), 3000).observations)
    assert len(set(texts.values())) == len(texts)
