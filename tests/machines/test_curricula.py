"""What machines share, against all ways to pair their states; orders, against all orders."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import NotApplicable
from quickstudy.machines.curricula import (
    Compared,
    by_complexity,
    by_graduality,
    graduality,
    is_ordered,
    rank_correlation,
    way_to,
)
from quickstudy.machines.description import (
    description_length,
    length_given,
    natural,
    overlap,
    step,
    steps_between,
)
from quickstudy.machines.entropies import topological
from quickstudy.machines.finite import machine_of
from quickstudy.machines.likeness import resemblance, resemblances
from quickstudy.machines.sharing import shared_structure
from quickstudy.machines.transducer import Transducer
from quickstudy.tasks.curriculum.reduced import LettersAndEcho, OneAnswer, Reduction


@st.composite
def small(draw, most=4):
    size = draw(st.integers(1, most))
    arrows = []
    for state in range(size):
        for symbol in "ab":
            outputs = draw(
                st.lists(
                    st.sampled_from([("x", 1), ("y", 1), ("x", -1)]),
                    min_size=1,
                    max_size=2,
                    unique=True,
                )
            )
            arrows += [
                (state, symbol, output, draw(st.integers(0, size - 1)), Fraction(1, len(outputs)))
                for output in outputs
            ]
    return Transducer.of(arrows, states=range(size))


def labelled(machine):
    return {
        (source, machine.inputs[x], *machine.outputs[y], target)
        for source, x, y, target, _ in machine.edges.tolist()
    }


def most_shared(first, second):
    """Every choice of pairs and every renaming."""
    mine, theirs = labelled(first), labelled(second)
    seen = [sorted({edge[2] for edge in edges}) for edges in (mine, theirs)]
    renamings = [
        (dict(zip("ab", inputs, strict=True)), dict(zip(shorter, some, strict=False)))
        for inputs in itertools.permutations("ab")
        for shorter, some in (
            [(seen[0], other) for other in itertools.permutations(seen[1], min(map(len, seen)))]
            if len(seen[0]) <= len(seen[1])
            else [(own, seen[1]) for own in itertools.permutations(seen[0], len(seen[1]))]
        )
    ]
    best = 0
    places = [None, *range(second.size)]
    for choice in itertools.product(places, repeat=first.size):
        used = [place for place in choice if place is not None]
        if len(set(used)) < len(used):
            continue
        inside = [e for e in mine if choice[e[0]] is not None and choice[e[4]] is not None]
        for inputs, renamed in renamings:
            there = all(
                e[2] in renamed
                and (choice[e[0]], inputs[e[1]], renamed[e[2]], e[3], choice[e[4]]) in theirs
                for e in inside
            )
            if there:
                best = max(best, len(inside))
    return best


@settings(max_examples=60, deadline=None)
@given(small(3), small(3))
def test_the_search_finds_the_most(first, second):
    found = shared_structure(first, second)
    assert found.exact
    assert found.edges == most_shared(first, second)


@settings(max_examples=30, deadline=None)
@given(small())
def test_a_machine_holds_itself(machine):
    found = shared_structure(machine, machine)
    assert (found.containment, found.coverage, found.exact) == (1, 1, True)
    assert resemblance(machine, machine) == 1


def test_task_one_embeds_in_task_two():
    first, second = machine_of(OneAnswer()), machine_of(LettersAndEcho())
    drawn = shared_structure(first.hidden, second.hidden)
    assert (drawn.state_containment, drawn.state_coverage, drawn.containment, drawn.exact) == (
        1.0,
        0.5,
        1.0,
        True,
    )
    true = shared_structure(first.machine, second.machine)
    assert (true.containment, true.exact) == (1.0, True)
    assert true.state_coverage == pytest.approx(11 / 30)
    assert len(dict(true.pairs)) == len({place for _, place in true.pairs}) == 11


def test_large_machines_are_searched_without_turning_back():
    small_one, large = (
        machine_of(OneAnswer(3, 4)).machine,
        machine_of(LettersAndEcho(3, 4, specials=2)).machine,
    )
    assert large.size > 50
    assert shared_structure(small_one, large).containment == 1
    other = machine_of(Reduction("micro-7.1")).machine
    found = shared_structure(other, large)
    assert not found.exact
    assert 0 <= found.containment < 1


def test_bits_are_saved_by_what_is_known():
    first, second = machine_of(OneAnswer()).machine, machine_of(LettersAndEcho()).machine
    assert [natural(number) for number in (0, 1, 2, 3, 6, 7)] == [1, 3, 3, 5, 5, 7]
    shared = shared_structure(first, second)
    assert length_given(second, first, shared) < description_length(second)
    found = step(first, second)
    assert 0 < found.graduality < 1
    assert found.graduality == pytest.approx(
        1 - length_given(second, first, shared) / description_length(second)
    )
    itself = step(second, second)
    assert itself.graduality > found.graduality
    assert (
        next([one.graduality for one in row] for row in steps_between([first, second]))[1]
        == found.graduality
    )


def test_machines_walk_together():
    first, second = machine_of(OneAnswer()).machine, machine_of(LettersAndEcho()).machine
    assert 0 < overlap(first, second) < overlap(first, second, rewards=True) < 1
    certain = Transducer.of(
        [(s, x, (s, x), (s + int(x)) % 2, Fraction(1)) for s in (0, 1) for x in "01"],
        {0: Fraction(1)},
    )
    assert overlap(certain, certain) == 1
    with pytest.raises(NotApplicable, match="no input in common"):
        overlap(first, certain)


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 6), st.integers(0, 10**9))
def test_no_order_is_more_gradual(count, seed):
    rng = np.random.default_rng(seed)
    steps = np.round(rng.random((count, count)), 2)
    complexities = rng.permutation(count).astype(float).tolist()
    order = by_graduality(steps, complexities)
    assert sorted(order) == list(range(count))
    least = by_complexity(complexities)[0]
    best = max(
        graduality(steps, some).best_earlier
        for some in itertools.permutations(range(count))
        if some[0] == least
    )
    assert graduality(steps, order).best_earlier == pytest.approx(best)


def test_orders_and_ranks():
    assert by_complexity([3.0, 1.0, 2.0, 1.0]) == [1, 3, 2, 0]
    assert is_ordered([1, 1, 2])
    assert not is_ordered([1, 2, 1])
    up = rank_correlation(list(range(8)))
    assert (up.tau, rank_correlation(list(range(8))[::-1]).tau) == (1, -1)
    assert up.p < 0.01
    assert rank_correlation([1, 2, 3, 4, 5, 6, 7, 8]) == rank_correlation([1, 2, 3, 4, 5, 6, 7, 8])
    with pytest.raises(NotApplicable, match="three tasks"):
        rank_correlation([1, 1, 1])
    with pytest.raises(NotApplicable, match="two tasks"):
        graduality(np.zeros((1, 1)), [0])


def test_a_way_keeps_what_it_promises():
    tasks = [OneAnswer(2, wanted) for wanted in (1, 2, 3, 4, 5)] + [
        LettersAndEcho(2, 2),
        LettersAndEcho(),
    ]
    machines = [machine_of(task).machine for task in tasks]
    complexities = [topological(machine) for machine in machines]
    found = way_to(6, machines, complexities, rise=1.5, contained=0.1)
    assert (found.tasks[0], found.tasks[-1]) == (0, 6)
    assert all(0 < rise <= 1.5 for rise in found.rises)
    assert all(share >= 0.1 for share in found.contained)
    for before, after, share in zip(found.tasks, found.tasks[1:], found.contained, strict=False):
        assert shared_structure(machines[before], machines[after]).containment == share
    # Steps of 1.5 bits over 3.3 bits: three at the least.
    assert len(found.tasks) == 4
    with pytest.raises(NotApplicable, match="no way to the goal"):
        way_to(6, machines, complexities, rise=0.1, contained=0.1)


def test_a_curriculum_is_compared_whole():
    machines = [
        machine_of(task).machine for task in (LettersAndEcho(), OneAnswer(), OneAnswer(wanted=2))
    ]
    found = Compared("abc", [topological(one) for one in machines], resemblances(machines)).facts()
    assert found["ordered"] is False
    assert found["tau"] == -1
    assert found["orders"]["complexity"] == ["c", "b", "a"]
    assert (
        found["graduality"]["graduality"]["best_earlier"]
        >= found["graduality"]["complexity"]["best_earlier"]
    )


def test_shared_structure_stands_beside_what_was_gained():
    """The block of a study, with gains that rise with resemblance and gains that do not."""
    from types import SimpleNamespace

    from quickstudy.studies.gradual_transfer import SharedAndGained

    pairs = [
        ("micro-1", "micro-2"),
        ("micro-2", "micro-1"),
        ("micro-4", "micro-2"),
        ("micro-5.1", "micro-5.2"),
    ]
    pairs += [("micro-5.3", "micro-1"), ("micro-7.1", "micro-9.1")]
    rows = [
        SimpleNamespace(
            label=f"{a} {b}",
            task=f"curriculum/transfer:before={a},target={b}",
            learner=lambda *_: "program",
        )
        for a, b in pairs
    ]
    request = SimpleNamespace(
        rows=rows,
        columns=["program"],
        convention="corrected",
        name="x",
        values=lambda row, learner, score: {
            0: 0.9 if row.label[:8] == "micro-1 " else 0.1,
            1: float("nan"),
        },
    )
    made = SharedAndGained().blocks(request)
    facts = made.facts["shared"]
    assert facts["micro-1 micro-2"]["gain"] == {"program": 0.9}
    assert facts["micro-1 micro-2"]["resemblance"] == 1
    assert facts["micro-5.3 micro-1"]["resemblance"] < 0.5
    assert "Kendall's tau of resemblance and gain" in made.blocks[-1].text
    few = SimpleNamespace(**{**vars(request), "rows": rows[:2]})
    assert "too few" in SharedAndGained().blocks(few).blocks[-1].text


def test_every_public_name_is_there():
    import quickstudy as qs

    assert all(callable(getattr(qs.machines, name)) for name in dir(qs.machines))
