from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import chisquare

Stated = tuple[str, tuple[str, ...], tuple[str, ...]]


def _spreads(
    things: Sequence[str], verbs: Sequence[str], fewest: int, most: int, sides: int
) -> Iterator[tuple[list[Stated], Fraction]]:
    """Every way to spread things over verbs as (verb, affirmed, denied), with probabilities, from
    the definition.
    """
    spare = max(2 * sides - 1, 0)
    for size in range(fewest, most + 1):
        shared = size - spare
        numbers = range(1, min(len(verbs), shared) + 1)
        for number in numbers:
            cuts = list(itertools.combinations(range(shared), number))
            orders = list(itertools.permutations(things, size))
            used = list(itertools.permutations(verbs, number))
            places = range(number) if sides else range(1)
            whole = (
                (most - fewest + 1)
                * len(numbers)
                * len(cuts)
                * len(orders)
                * len(used)
                * len(places)
            )
            for cut, order, chosen, sure in itertools.product(cuts, orders, used, places):
                groups = [order[a:b] for a, b in itertools.pairwise((*cut, shared))]
                if sides:
                    groups[sure] = groups[sure] + order[shared:]
                margins = [sides if place == sure else 0 for place in range(number)]
                splits = [
                    range(m, len(group) - m + 1) for m, group in zip(margins, groups, strict=True)
                ]
                for split in itertools.product(*splits):
                    parts = zip(chosen, groups, split, strict=True)
                    stated = [(verb, group[:k], group[k:]) for verb, group, k in parts]
                    weight = Fraction(1, whole)
                    for options in splits:
                        weight /= len(options)
                    yield stated, weight


def _prompts(stated: Sequence[Stated]) -> dict[str, Fraction]:
    """Every way to put statements into words, with probabilities."""
    ways: dict[str, Fraction] = {"": Fraction(1)}
    for verb, affirmed, denied in stated:
        clauses = [f"I {verb} {' AND '.join(affirmed)}"] if affirmed else []
        clauses += [f"I DO NOT {verb} {' AND '.join(denied)}"] if denied else []
        said: Counter[str] = Counter()
        for sides, joint in itertools.product((clauses, clauses[::-1]), (" AND ", " BUT ")):
            said[joint.join(sides)] += Fraction(1, 4)
        ways = {f"{way}{text} . ": a * b for way, a in ways.items() for text, b in said.items()}
    return ways


def _fits(found: Counter[str], weights: dict[str, Fraction], least: float = 5) -> bool:
    """Whether counts come from a distribution, by chi-square; what is expected less than `least`
    times is pooled.
    """
    total = found.total()
    assert sum(weights.values()) == 1
    assert set(found) <= set(weights)
    common = [key for key, weight in weights.items() if float(weight) * total > least]
    observed = [found[key] for key in common]
    expected = [float(weights[key]) * total for key in common]
    if len(common) < len(weights):
        observed.append(total - sum(observed))
        expected.append(total - sum(expected))
    assert len(common) > 10
    return bool(chisquare(observed, expected).pvalue > 1e-4)


@pytest.fixture(scope="session")
def spreads() -> Callable[..., Any]:
    return _spreads


@pytest.fixture(scope="session")
def prompts() -> Callable[..., Any]:
    return _prompts


@pytest.fixture(scope="session")
def fits() -> Callable[..., bool]:
    return _fits


@pytest.fixture(scope="session")
def texts() -> Callable[..., list[str]]:
    """The sequences of some examples, in words."""

    def write(task: Any, examples: Any) -> list[str]:
        words = task.vocabulary
        return [
            " ".join(words[id] for id in examples.sequence(i)[0]) for i in range(examples.count)
        ]

    return write
