"""Fitted shallow rules find a shortcut that is there, and none where there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.testing import shortcuts
from quickstudy.testing.shortcuts import find_shortcuts


@dataclass(frozen=True)
class Marked:
    """Six of ten symbols, a pause, a question; the answer is yes if the symbol asked for stood
    behind a mark.
    """

    vocabulary = (*"abcdefghij", "!", "?", "yes", "no", "-")
    controls = ("majority",)
    oracle = "none: made for a test"
    id = "test/marked"
    marked: float = 1.0

    def sample(self, rng, count):
        pairs = []
        for _ in range(count):
            symbols = rng.permutation(10)[:6].tolist()
            place = int(rng.integers(6))
            asked = symbols[place] if rng.random() < 0.5 else symbols[(place + 1) % 6]
            said = (asked == symbols[place]) == (rng.random() < self.marked)
            shown = [
                part
                for n, symbol in enumerate(symbols)
                for part in ([10, symbol] if n == place else [symbol])
            ]
            pairs.append(([*shown, *[14] * 8, 11, asked], [12 if said else 13]))
        return qs.Examples.from_pairs(pairs)


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch):
    monkeypatch.setattr(shortcuts, "FITTED", 800)
    monkeypatch.setattr(shortcuts, "CHOSEN", 200)
    monkeypatch.setattr(shortcuts, "TESTED", 500)


def test_a_link_is_found_and_named():
    found = find_shortcuts(Marked())
    rules = {rule.rule: rule for rule in found.rules}
    assert rules["linear rule on linked n-grams"].accuracy > 0.97
    assert rules["tree rule on linked n-grams"].accuracy > 0.97
    assert "! #1" in rules["tree rule on linked n-grams"].goes_by
    assert rules["majority"].accuracy < 0.6
    assert not found.declared


def test_where_answers_are_coins_nothing_is_found():
    found = find_shortcuts(Marked(marked=0.5))
    assert all(rule.accuracy < 0.6 for rule in found.rules)
    assert found.declared
    assert find_shortcuts(Marked(marked=0.5)) == found


def test_tasks_of_another_kind_are_refused():
    from quickstudy.base import registries

    with pytest.raises(qs.UsageError, match="is not a task of token sequences"):
        find_shortcuts(registries.task.get("dynamics/narma-10")())


def test_the_tree_counts_by_hand():
    pure = shortcuts._purity(np.array([[4.0, 0.0], [2.0, 2.0]]))
    assert pure.tolist() == [4.0, 2.0]
