"""Question answering by number of facts, symbol counting by count: by hand, balance, nothing in the
length.
"""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.tasks.span.language import CountingItem, FactsItem


def _tokens(task, text):
    return [task.vocabulary.index(word) for word in text.split()]


def test_questions_by_hand():
    task = FactsItem()
    told = "I DO NOT SEE TOM . I SEE PAUL . DO I SEE"
    answers = [
        task.vocabulary[task.solve(_tokens(task, f"{told} {name} ?"))] for name in ("TOM", "PAUL")
    ]
    assert answers == ["NO", "YES"]
    assert task.solve(_tokens(task, told)) == -1


def _sentences(task, examples, index):
    tokens, positions = examples.sequence(index)
    words = [task.vocabulary[token] for token in tokens]
    *facts, question = " ".join(words).split(" . ")
    return facts, question.split(), positions


def test_facts_are_about_different_names_and_the_question_about_one_of_them():
    task = FactsItem()
    examples = task.made(np.random.default_rng(0), np.repeat([1, 2, 5, 8], 40))
    yes = []
    for index in range(examples.count):
        facts, (*_, name, mark, answer), positions = _sentences(task, examples, index)
        denied = {fact.split()[-1]: "NOT" in fact for fact in facts}
        assert len(denied) == len(facts) == (1, 2, 5, 8)[index // 40]
        assert mark == "?"
        assert answer == ("NO" if denied[name] else "YES")
        assert len(positions) == 1
        assert len(facts) == 1 or 0 < sum(denied.values()) < len(facts)
        yes.append(answer == "YES")
    assert np.abs(np.reshape(yes, (4, 40)).mean(axis=1) - 0.5).max() < 4 * 0.5 / np.sqrt(40)


def test_the_answer_does_not_follow_from_what_is_stated():
    """Among lists with equally many affirmed names, YES is as frequent as NO."""
    task = FactsItem()
    examples = task.made(np.random.default_rng(1), np.full(2400, 4))
    by_affirmed = {1: [], 2: [], 3: []}
    for index in range(examples.count):
        facts, question, _ = _sentences(task, examples, index)
        by_affirmed[sum("NOT" not in fact for fact in facts)].append(question[-1] == "YES")
    assert [len(own) for own in by_affirmed.values()] == [800] * 3
    for own in by_affirmed.values():
        assert np.mean(own) == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(800))


def test_counts_by_hand():
    task = CountingItem()
    assert task.vocabulary[task.solve(_tokens(task, "B A A C x A"))] == "2"
    assert task.vocabulary[task.solve(_tokens(task, "B A A B x C"))] == "0"
    assert task.solve(_tokens(task, "B A A C x")) == -1


def test_counts_are_uniform_and_lengths_fixed():
    task = CountingItem()
    examples = task.made(np.random.default_rng(2), np.full(3000, 4))
    assert set(examples.lengths.tolist()) == {2 * 4 + 2}
    counts = np.bincount(examples.targets[examples.asked] - 4, minlength=5)
    assert len(counts) == 5
    assert np.abs(counts - 600).max() < 4 * np.sqrt(3000 * 0.2 * 0.8)
    letters = np.bincount(examples.inputs[9], minlength=3)
    assert np.abs(letters - 1000).max() < 4 * np.sqrt(3000 * 2 / 9)
