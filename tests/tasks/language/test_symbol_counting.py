from __future__ import annotations

import itertools
from collections import Counter
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from quickstudy.base.errors import UsageError
from quickstudy.tasks.language.symbol_counting import SymbolCounting

TASK = SymbolCounting()


def text(task, tokens):
    return " ".join(task.vocabulary[token] for token in tokens)


def test_vocabulary_and_presets(make_task):
    assert TASK.vocabulary == tuple("ABCx.0123456789")
    assert all(
        make_task("language/symbol-counting", c) == TASK
        for c in ("published", "written", "corrected")
    )
    assert (TASK.shortest, TASK.longest, TASK.fewest_queries, TASK.most_queries) == (1, 10, 1, 3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shortest": 11}, r"shortest must be at most longest \(10\), got 11"),
        ({"fewest_queries": 4}, r"fewest_queries must be at most most_queries \(3\), got 4"),
        ({"letters": 2}, r"most_queries must be at most letters \(2\), got 3"),
        ({"letters": 27}, "letters must be at least 1 and at most 26, got 27"),
    ],
)
def test_parameters_that_do_not_fit(make_task, given, message):
    with pytest.raises(UsageError, match=message):
        make_task("language/symbol-counting", **given)


def test_distribution_of_whole_sequences():
    """Every sequence of a small form, with its probability from the definition."""
    weights: dict[str, float] = {}
    for n in (1, 2, 3):
        for shown in itertools.product("AB", repeat=n):
            for q in (1, 2):
                for order in itertools.permutations("AB", q):
                    queries = "".join(f" x {letter} {shown.count(letter)}" for letter in order)
                    weights[" ".join(shown) + queries + " ."] = 1 / 3 / 2**n / 2 / 2
    assert sum(weights.values()) == pytest.approx(1)
    task = SymbolCounting(letters=2, longest=3, most_queries=2)
    examples = task.sample(np.random.default_rng(0), 20000)
    found = Counter(text(task, examples.sequence(i)[0]) for i in range(examples.count))
    assert set(found) <= set(weights)
    assert (
        chisquare([found[key] for key in weights], [w * 20000 for w in weights.values()]).pvalue
        > 1e-4
    )


def test_sizes_symbols_orders_and_answers_of_the_default():
    examples = TASK.sample(np.random.default_rng(1), 20000)
    sizes: Counter[tuple[int, int]] = Counter()
    symbols: Counter[str] = Counter()
    orders: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        prompt, *queries = text(TASK, tokens).removesuffix(" .").split(" x ")
        sizes[len(prompt.split()), len(queries)] += 1
        symbols.update(prompt.split())
        orders["".join(query[0] for query in queries)] += 1
        answers.update(query[2:] for query in queries)
        assert [TASK.vocabulary[tokens[place]] for place in mask] == [
            d for q in queries for d in q[2:].split()
        ]
    assert len(sizes) == 30
    assert chisquare(list(sizes.values())).pvalue > 1e-4
    assert chisquare(list(symbols.values())).pvalue > 1e-4
    every = ["".join(order) for q in (1, 2, 3) for order in itertools.permutations("ABC", q)]
    expected = [20000 / 3 / (factorial(3) / factorial(3 - len(order))) for order in every]
    assert chisquare([orders[order] for order in every], expected).pvalue > 1e-4
    shares = [
        sum(comb(n, k) * 2 ** (n - k) / 3**n for n in range(1, 11) if n >= k) / 10
        for k in range(11)
    ]
    # The shares counted in 2000 published sequences, rounded.
    for share, counted in zip(shares, [0.19, 0.27, 0.24, 0.16, 0.09, 0.04], strict=False):
        assert counted == pytest.approx(share, abs=0.005 + 3 * np.sqrt(share / 4000))
    total = answers.total()
    for count, share in enumerate(shares):
        # Answers of one sequence are not independent; 5 standard errors as if each stood for two.
        assert answers[" ".join(str(count))] / total == pytest.approx(
            share, abs=5 * np.sqrt(2 * share / total) + 1e-4
        )


def test_lengths_and_questions():
    examples = TASK.sample(np.random.default_rng(2), 6000)
    lengths = examples.lengths + 1
    # n + 3 q + 1, n of mean 5.5 and variance 99/12, q of mean 2 and variance 2/3; a count of 10
    # adds next to nothing.
    deviation = np.sqrt(99 / 12 + 9 * 2 / 3)
    assert lengths.mean() == pytest.approx(12.5, abs=4 * deviation / np.sqrt(6000))
    assert lengths.std() == pytest.approx(deviation, abs=0.15)
    assert (lengths.min(), lengths.max()) in {(5, 20), (5, 21)}
    assert examples.questions / 6000 == pytest.approx(2.0, abs=4 * np.sqrt(2 / 3 / 6000))


def test_a_count_of_ten_is_two_tokens_both_asked(accuracy):
    task = SymbolCounting(letters=1, shortest=10, longest=12, most_queries=1)
    examples = task.sample(np.random.default_rng(0), 20)
    seen = {text(task, examples.sequence(i)[0]): examples.sequence(i)[1] for i in range(20)}
    assert seen["A A A A A A A A A A x A 1 0 ."] == [12, 13]
    assert accuracy("symbol-counting-oracle", task, examples) == 1.0


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_every_draw_checks_out_and_changed_answers_do_not(data, seed):
    letters = data.draw(st.integers(1, 6))
    longest = data.draw(st.integers(1, 15))
    most = data.draw(st.integers(1, letters))
    task = SymbolCounting(
        letters, data.draw(st.integers(1, longest)), longest, data.draw(st.integers(1, most)), most
    )
    rng = np.random.default_rng(seed)
    examples = task.sample(rng, 4)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        verdict = task.check(tokens)
        assert verdict.accepts(mask)
        assert verdict.supervised == tuple(mask)
        assert task.check(text(task, tokens)) == verdict
        place = int(rng.choice(mask))
        wrong = (tokens[place] + int(rng.integers(1, len(task.vocabulary)))) % len(task.vocabulary)
        changed = task.check([*tokens[:place], wrong, *tokens[place + 1 :]])
        assert not changed.right
        assert changed.reason.startswith("index ")


def test_worked_example():
    verdict = TASK.check("B A A C x A 2 x B 1 .")
    assert verdict.right
    assert verdict.masks == ((6, 9),)
    wrong = TASK.check("B A A C x A 2 x B 3 .")
    assert wrong.well_formed
    assert not wrong.right
    assert [answer.right for answer in wrong.answers] == [True, False]
    assert wrong.reason == 'index 9: the answer is "3", right is "1"'
    assert wrong.masks == ((6, 9),)
    assert TASK.check("A x A 0 1 .").reason == 'index 3: the answer is "0 1", right is "1"'


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ("", "index 0: at least 1 symbols must come first, got 0"),
        ("x A 0 .", "index 0: at least 1 symbols must come first, got 0"),
        ("A " * 11 + "x A 1 1 .", "index 10: symbol 11 found, but at most 10 are allowed"),
        ("A B", 'index 2: expected "x", but the sequence ends'),
        ("A B .", 'index 2: expected "x", got "."'),
        ("A x A 1", 'index 4: expected ".", but the sequence ends'),
        ("A x A 1 x A 1 .", 'index 5: expected a symbol not yet asked for, got "A"'),
        ("A x A .", 'index 3: expected a digit, got "."'),
        ("A x A 1 . .", 'index 5: expected the end of the sequence, got "."'),
        ("A x A 1 B .", 'index 4: expected ".", got "B"'),
        ("A x D 1 .", 'index 2: "D" is not in the vocabulary: A B C x . 0 1 2 3 4 5 6 7 8 9'),
        ([0, 3, 0, 15, 4], "index 3: id 15 is not in 0..14"),
    ],
)
def test_malformed(tokens, reason):
    verdict = TASK.check(tokens)
    assert not verdict.well_formed
    assert verdict.reason == reason


def test_limits_of_queries():
    task = SymbolCounting(fewest_queries=2, most_queries=2)
    assert task.check("A x A 1 x B 0 .").right
    assert task.check("A x A 1 .").reason == "index 4: at least 2 queries must be made, got 1"
    assert (
        task.check("A x A 1 x B 0 x C 0 .").reason
        == "index 8: query 3 found, but at most 2 are allowed"
    )


def test_what_the_remaining_share_says(make_control):
    rule = make_control("remaining-share", TASK)
    ids = {word: id for id, word in enumerate(TASK.vocabulary)}
    # 8 symbols: mode of binomial (8, 1/3) is 3; then 8 - 5 = 3 left for two symbols: 2; then 3 - 2
    # = 1 is left.
    words = ["A", "A", "A", "A", "A", "B", "B", "C", "x", "A", "5", "x", "B", "2", "x", "C", "1"]
    answers = rule.predict(np.array([ids[word] for word in words]))
    asked = {index: TASK.vocabulary[answers[index]] for index in (9, 12, 15)}
    assert asked == {9: "3", 12: "2", 15: "1"}


def test_ceiling_and_controls(accuracy):
    examples = TASK.sample(np.random.default_rng(4), 3000)
    assert accuracy("symbol-counting-oracle", TASK, examples) == 1.0
    assert accuracy("copy-last", TASK, examples) == 0.0
