"""Proofs about counters: of those that are right, those that are not, and those about which nothing
can be shown.
"""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.learners.mdl.exact import Automaton, Span, activated, likeliest, possible, tanh
from quickstudy.learners.mdl.network import Network


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("bliss-an-bn", "an-bn"),
        ("built-an-bn", "an-bn"),
        ("bliss-an-bn-cn", "an-bn-cn"),
        ("bliss-an-bm-cnm", "an-bm-cnm"),
        ("exact-an-bn", "an-bn"),
        ("exact-an-bn-cn", "an-bn-cn"),
        ("exact-an-bn-cn-dn", "an-bn-cn-dn"),
        ("exact-an-bm-cnm", "an-bm-cnm"),
    ],
)
def test_exact_counters_are_certified(name, language):
    network = Network.read(name)
    shown = network.certificate()
    assert shown.right
    assert shown.language == language
    assert "right for every string" in str(shown)
    assert shown.steps[0].startswith("n from ")
    assert 10**4 < shown.limit < 10**7
    if name.startswith("bliss"):  # a proof takes seconds where there are many blocks
        assert network.certificate(f"grammar/{language}") == shown


def weight(network, edge, value):
    return dataclasses.replace(network, edges={**network.edges, edge: value})


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        (
            (("forward", 2, 6), (-1, 3)),
            (2,),
        ),  # b counts less than a: the counter never comes to nothing
        ((("recurrent", 6, 6), (1, 2)), (2,)),  # forgets
        ((("forward", 1, 6), (1, 3)), (3,)),
    ],
)
def test_the_first_string_that_is_wrong_is_found(change, fails):
    shown = weight(Network.read("bliss-an-bn"), *change).certificate("an-bn")
    assert shown.right is False
    assert shown.fails == fails


def test_a_failure_behind_all_that_was_tried_is_proved_and_then_found():
    """A second unit adds 1/40 for every a to the output of the end, whose rival is at 3/2 before
    the last b.
    """
    network = Network.read("bliss-an-bn")
    late = dataclasses.replace(
        network,
        activations=(*network.activations, "linear"),
        products=(*network.products, False),
        edges={
            **network.edges,
            ("forward", 1, 7): (1, 40),
            ("recurrent", 7, 7): (1, 1),
            ("recurrent", 7, 3): (1, 1),
        },
    )
    for tried in (3, 70):
        shown = late.certificate("an-bn", tried=tried)
        assert shown.right is False
        assert shown.fails == (60,)
    assert "wrong, first at 60" in str(shown)


def test_what_cannot_be_shown_is_said():
    shown = Network.read("bliss-an-bn-cn-2023").certificate("an-bn-cn", tried=5)
    assert shown.right is None
    assert "tanh of an input that varies" in str(shown)
    with pytest.raises(UsageError, match='"dyck-2" is not a language of counters over 5 symbols'):
        Network.read("built-dyck-2").certificate("dyck-2")


@pytest.mark.parametrize("name", ["bliss-dyck-1", "exact-dyck-1"])
def test_brackets_of_one_kind_are_certified_at_every_depth(name):
    shown = Network.read(name).certificate("grammar/dyck-1")
    assert shown.right
    assert shown.steps == ("depth 0 to 7: one by one, depth from 4 on: by induction",)
    assert 10**4 < shown.limit < 10**7


def closed(depth):
    """All balanced beginnings of up to nine brackets that are no deeper, as symbols behind `#`."""
    found = [((0,), 0)]
    for word, deep in found:
        if len(word) < 10:
            found += [((*word, 1), deep + 1)] if deep < depth else []
            found += [((*word, 2), deep - 1)] if deep else []
    return found


def test_proofs_about_brackets_agree_with_reading():
    """Of many networks near the released one: what is proved is what is read, with no probability
    for what cannot follow.
    """
    rng, verdicts, beginnings = np.random.default_rng(1), [], closed(5)
    for _ in range(60):
        shown = (network := random_counter(rng, "bliss-dyck-1")).certificate("dyck-1")
        verdicts.append(shown.right)
        pupil, wrong = Automaton(network, Fraction(0), clipped=False), []
        for word, deep in beginnings:
            state = pupil.start(1, 1)
            for symbol in word:
                state, said = pupil.step(state, np.array([[symbol]]))
            wrong += [deep] if said[0, 0].tolist() != [deep == 0, True, deep > 0] else []
        if shown.right is not None:
            assert shown.fails == ((wrong[0],) if wrong else None)
    assert verdicts.count(True) >= 3
    assert verdicts.count(False) >= 10


def test_how_deep_brackets_are_first_wrong_is_said():
    """The end is impossible where the counter is 1 or more; at a step of 1/20 it is not there
    behind one bracket.
    """
    network = Network.read("bliss-dyck-1")
    shown = dataclasses.replace(
        weight(network, ("forward", 1, 6), (1, 10)), biases={**network.biases, 6: (-1, 20)}
    )
    assert str(shown.certificate("dyck-1")) == "dyck-1: wrong, first at depth 1"


def random_counter(rng, name="bliss-an-bn"):
    """A network of the shape of a released one, with other numbers."""
    network = Network.read(name)
    edges = list(network.edges)
    for number in rng.choice(len(edges), rng.integers(1, 3), replace=False):
        network = weight(
            network,
            edges[number],
            (int(rng.choice([-3, -2, -1, 1, 2, 3])), int(rng.integers(1, 4))),
        )
    return network


def test_proofs_agree_with_reading():
    """Of many networks near the released one, some right and most not: what is proved is what is
    read.
    """
    rng, grammar, verdicts = (
        np.random.default_rng(0),
        registries.task.get("grammar/an-bn")().grammar,
        [],
    )
    for _ in range(60):
        network = random_counter(rng)
        shown = network.certificate("an-bn", tried=3)
        verdicts.append(shown.right)
        pupil, wrong = Automaton(network, clipped=False), None
        for n in range(1, 45):
            state, string = pupil.start(1, 1), grammar.string([n])
            for time, symbol in enumerate(string[:-1]):
                state, said = pupil.step(state, np.array([[symbol]]))
                if time > n and said[0, 0].argmax() != string[time + 1]:
                    wrong = wrong or (n,)
            if wrong:
                break
        if shown.right is not None:
            assert shown.fails == wrong
    assert verdicts.count(True) >= 3
    assert verdicts.count(False) >= 10


def test_values_that_are_no_fractions_are_enclosed():
    for x in (Fraction(1, 10**30), Fraction(1, 3), Fraction(5), Fraction(300), Fraction(-2, 7)):
        span = tanh(x)
        assert span.low <= span.high
        assert span.high - span.low <= 2 * Fraction(1, 10**50)
        assert float(span.low) == pytest.approx(np.tanh(float(x)), rel=1e-14)
        assert -1 < span.low <= span.high < 1
        assert (span.low > 0) == (x > 0)
        half = activated("sigmoid", Span.at(x))
        assert 0 < half.low <= half.high < 1
        assert float(half.high) == pytest.approx(1 / (1 + np.exp(-float(x))))
    assert tanh(Fraction(300)).above(tanh(Fraction(299))) is True


def test_outputs_are_compared_exactly():
    one, tiny = Span.at(Fraction(1)), Fraction(1, 10**40)
    assert likeliest([one, Span.at(1 + tiny)]) == 1
    assert likeliest([one, one]) == 0
    assert likeliest([Span.at(Fraction(-1)), Span.at(Fraction(-2))]) == 0
    assert likeliest([Span.at(Fraction(0)), tanh(Fraction(1, 2)), tanh(Fraction(2, 3))]) == 2
    assert possible([one, Span.at(tiny)], Fraction(0)) == [True, True]
    assert possible([one, Span.at(tiny)], Fraction(1, 200)) == [True, False]
    assert possible([Span.at(Fraction(-1))] * 2, Fraction(1, 200)) == [True, True]
