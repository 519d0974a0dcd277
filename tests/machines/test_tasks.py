"""Machines of tasks: their known sizes, and that a task is in nothing that its world is not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.seeds import Streams
from quickstudy.machines.chains import stationary
from quickstudy.machines.entropies import complexity, entropy
from quickstudy.machines.finite import machine_of
from quickstudy.runs.run_spec import make_task
from quickstudy.tasks.curriculum.finite_loop import MiniLoop
from quickstudy.tasks.curriculum.loop import (
    IN_A_ROW,
    Instance,
    Question,
    Stage,
    ends_right,
    micro,
    mini,
)
from quickstudy.tasks.curriculum.reduced import LettersAndEcho, OneAnswer, Reduction
from quickstudy.tasks.curriculum.reductions import Scripted, every, reduced_loop
from quickstudy.tasks.curriculum.schedule import MEMBERS
from quickstudy.testing import check_task


def test_task_one_reduced():
    found = machine_of(OneAnswer())
    figures = found.figures()
    assert (figures["states"], figures["transient_states"], figures["states_as_drawn"]) == (
        11,
        0,
        10,
    )
    assert figures["topological_complexity"] == pytest.approx(3.459432, abs=1e-6)
    assert figures["complexity_uniform"] == pytest.approx(2.8803, abs=5e-5)
    always = entropy(np.array([1 / 5, 4 / 5])) + 4 / 5 * math.log2(4 * 2)
    assert figures["complexity_right"] == pytest.approx(always, abs=1e-12)
    assert figures["complexity_right"] == pytest.approx(3.1219, abs=5e-5)


def test_task_one_as_it_is_drawn():
    hidden = machine_of(OneAnswer()).hidden
    assert not hidden.unifilar
    assert math.log2(hidden.size) == pytest.approx(3.321928, abs=1e-6)
    assert complexity(hidden) == pytest.approx(2.792906, abs=1e-6)
    policy = np.array([[float(state[0] == "A"), float(state[0] == "B")] for state in hidden.states])
    assert entropy(stationary(hidden, policy)) == pytest.approx(3.321928, abs=1e-6)


def test_task_two_reduced():
    figures = machine_of(LettersAndEcho()).figures()
    assert (figures["states"], figures["states_as_drawn"]) == (30, 20)
    assert figures["topological_complexity"] == pytest.approx(4.906891, abs=1e-6)
    assert figures["complexity_uniform"] == pytest.approx(3.3039, abs=5e-5)
    assert figures["complexity_right"] == pytest.approx(4.2907, abs=5e-5)


@pytest.mark.parametrize(("instances", "wanted"), [(2, 1), (2, 3), (3, 2), (4, 3)])
def test_sizes_follow_the_formulas(instances, wanted):
    first = machine_of(OneAnswer(instances, wanted))
    assert first.machine.size == instances * wanted + 2**instances - instances - 1
    for specials in (1, 2):
        second = machine_of(LettersAndEcho(instances, wanted, specials=specials))
        assert second.machine.size == wanted * (1 + specials) * (2**instances - 1)
        assert second.hidden.size == instances * wanted * (1 + specials)


def test_letters_change_how_often_and_not_how_many():
    few, many = (machine_of(LettersAndEcho(letters=letters)) for letters in (2, 6))
    assert few.machine.size == many.machine.size == 30
    assert few.figures()["complexity_uniform"] != pytest.approx(
        many.figures()["complexity_uniform"]
    )
    assert machine_of(OneAnswer(letters=5)).figures() == pytest.approx(
        machine_of(OneAnswer()).figures()
    )


@pytest.mark.parametrize(
    "task", ["curriculum/reduced-1", "curriculum/reduced-2", "curriculum/reduced"]
)
def test_a_reduced_task_keeps_its_promises(task):
    assert [finding for finding in check_task(make_task(task, "corrected")) if not finding.ok] == []


def test_the_world_is_drawn_from_what_the_machine_is_built_of():
    """How often the machine is in each of its states, with random replies in the world, is what the
    machine says.
    """
    task = OneAnswer(wanted=3)
    found = machine_of(task)
    machine, rng = found.machine, np.random.default_rng(0)
    step = {
        (s, machine.inputs[x], machine.outputs[y]): t for s, x, y, t, _ in machine.edges.tolist()
    }
    world, counts = task.open(Streams(0, "curriculum/reduced-1", 0)), np.zeros(machine.size)
    state = found.began[chr(world.reset()), 0]
    for _ in range(20_000):
        reply = "ab"[rng.integers(2)]
        turn = world.step(ord(reply))
        state = step[state, reply, (chr(turn.observation), turn.reward)]
        counts[state] += 1
        if turn.done:  # its stream goes on without it; a fresh one begins like any other instance
            state = found.began[chr(world.reset()), 0]
    assert counts / counts.sum() == pytest.approx(stationary(machine), abs=0.02)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_loop_is_that_of_the_environment(member):
    """The environment's own loop with the questions of a reduction: whatever it shows, the written
    one may show.
    """
    loop = reduced_loop(member, 2, IN_A_ROW)
    rng = np.random.default_rng(MEMBERS.index(member))
    for _ in range(3):
        life, first = begun(loop, rng)
        followed = {
            place
            for (shown, place), _ in loop.first().items()
            if shown == (chr(first[0]), first[1])
        }
        assert followed
        steps = 0
        while steps < 150:
            place = sorted(followed, key=repr)[0]
            honest = rng.random() < 0.8
            reply = loop.right(place) if honest else str(rng.choice(loop.inputs))
            try:
                byte, reward = life.send(ord(reply))
            except StopIteration:
                break
            followed = {
                later
                for one in followed
                for (shown, later) in loop.after(one, reply)
                if shown == (chr(byte), reward)
            }
            assert followed, f"{chr(byte)!r} {reward} after {reply!r} in {place}"
            steps += 1


def begun(loop, rng):
    """An instance of a reduction in the environment's own loop, and the first that it shows."""
    if isinstance(loop, MiniLoop):
        question = loop.questions[rng.integers(len(loop.questions))][0]
        life = mini(Instance(lambda: question, ends_right, by_period=True), Stage(), 0)
    else:
        asked, _ = loop.instances[rng.integers(len(loop.instances))]
        chances = np.array([float(chance) for _, chance in asked.questions])
        questions = (
            asked.questions[number][0]
            for number in iter(lambda: rng.choice(len(chances), p=chances), -1)
        )
        life = micro(Instance(questions.__next__, loop.judge, loop.by_period), Stage(), 0)
    return life, next(life)


@pytest.mark.parametrize(
    "member", ["micro-3", "micro-5.1", "micro-5.11", "micro-6", "micro-9.1", "micro-13.1", "mini-0"]
)
def test_chances_of_a_reduction_sum_to_one(member):
    found = machine_of(Reduction(member))
    assert sum(found.source.first().values()) == 1
    assert found.machine.unifilar
    assert (
        0 <= found.figures()["complexity_right"] <= found.figures()["topological_complexity"] + 1e-9
    )


def test_every_published_task_has_a_complexity():
    for task in (
        "curriculum/micro-1",
        "curriculum/micro-5.18",
        "curriculum/micro-15",
        "curriculum/mini-2",
    ):
        assert machine_of(make_task(task, "corrected")).figures()["states"] > 1
    with pytest.raises(NotApplicable, match="has 46"):
        machine_of(make_task("curriculum/round1", "corrected"))
    with pytest.raises(NotApplicable, match="more than 10 configurations"):
        machine_of(OneAnswer(wanted=9), most=10)
    with pytest.raises(NotApplicable, match="language/qa has no finite machine"):
        machine_of(make_task("language/qa", "corrected"))


def test_every_draw_is_gone_through():
    def two(draws):
        first = draws.one_of("abc")
        return first + (draws.one_of("xy") if first == "a" else "")

    assert dict(every(two, 3)) == {
        "b": Fraction(1, 3),
        "c": Fraction(1, 3),
        "ax": Fraction(1, 6),
        "ay": Fraction(1, 6),
    }
    assert dict(every(lambda draws: draws.one_of("abcde"), 1)) == {"a": Fraction(1)}
    assert dict(every(lambda draws: draws.between(2, 5), 2)) == {
        2: Fraction(1, 2),
        3: Fraction(1, 2),
    }
    assert sorted("".join(made) for made, _ in every(lambda draws: draws.some_of("abc", 2), 2)) == [
        "ab",
        "ba",
    ]
    assert {"".join(made) for made, _ in every(lambda draws: draws.some_of("abcde", 5), 2)} == {
        "abcde",
        "bcdea",
    }
    assert isinstance(Scripted((), 2).below(7), int)


def test_a_right_reply_may_be_any_that_the_judge_takes():
    loop = reduced_loop("micro-13.1", 2, 2)
    questions: list[Question] = [
        question for asked, _ in loop.instances for question, _ in asked.questions
    ]
    question = next(question for question in questions if b"and not" in question.text)
    unwanted = question.text[-2:-1]
    for said, right in (
        (b"b.", unwanted != b"b"),
        (unwanted + b".", False),
        (b".", False),
        (b"ccc.", True),
    ):
        reply = b""
        for byte in said[:-1]:
            reply = loop.shorten(question, reply + bytes([byte]))
        assert loop.judge(question, reply + b".") is right, said
