from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure
from quickstudy.tasks.language.pattern_counting import PatternCounting

PUBLISHED = PatternCounting(verified=False)


def text(task, tokens):
    return " ".join(task.vocabulary[token] for token in tokens)


def shuffled_starts(letters: str, length: int) -> Counter[str]:
    """The first letters of a shuffled text, with probabilities."""
    starts: Counter[str] = Counter()
    orders = list(itertools.permutations(letters, length))
    for order in orders:
        starts["".join(order)] += Fraction(1, len(orders))
    return starts


def negatives(pattern: str, slack: int) -> Counter[str]:
    """What a query for 0 may look like before it is tested, empty ones included."""
    found: Counter[str] = Counter()
    deltas = range(-slack, slack + 1)
    for delta in deltas:
        kept = len(
            (pattern * 3)[: len(pattern) + delta]
        )  # a slice, as published: a bound of -1 keeps 2 of 3
        for start, weight in shuffled_starts(pattern * 3, kept).items():
            found[start] += weight / len(deltas)
    return found


def enumerate_all(
    prompts: dict[str, Fraction], share: Fraction, slack: int, verified: bool
) -> Counter[str]:
    """Every sequence with its probability, from the definition."""
    weights: Counter[str] = Counter()
    for prompt, base in prompts.items():
        counts = Counter(prompt.split("y"))
        for number in range(1, len(counts) + 1):
            orders = list(itertools.permutations(counts, number))
            for order in orders:
                partial = {("", frozenset()): base / len(counts) / len(orders)}
                for pattern in order:
                    following: Counter[tuple[str, frozenset[str]]] = Counter()
                    for (queries, asked), weight in partial.items():
                        said, known = f"{queries}{pattern}y{counts[pattern]}", asked | {pattern}
                        following[said, known] += weight * (1 - share)
                        for negative, chance in negatives(pattern, slack).items():
                            if verified:
                                kept = negative and negative not in counts and negative not in known
                            else:
                                kept = negative and negative not in pattern
                            if kept:
                                following[f"{said}{negative}y0", known | {negative}] += (
                                    weight * share * chance
                                )
                            else:
                                following[said, known] += weight * share * chance
                    partial = dict(following)
                for (queries, _), weight in partial.items():
                    weights[" ".join(f"{prompt}x{queries}.")] += weight
    assert sum(weights.values()) == 1
    return weights


def small_prompts(tokens: int) -> Counter[str]:
    """Prompts of a given number of tokens out of A, B (one slot each) and y (two slots), the last a
    letter.
    """
    prompts: Counter[str] = Counter()
    for drawn in itertools.product("AByy", repeat=tokens - 1):
        for last in "AB":
            groups = "".join([*drawn, last]).split("y")
            prompts["y".join(filter(None, groups))] += Fraction(1, 4 ** (tokens - 1) * 2)
    return prompts


def test_vocabulary_and_presets(make_task):
    published, written, corrected = (
        make_task("language/pattern-counting", c) for c in ("published", "written", "corrected")
    )
    assert published.vocabulary == corrected.vocabulary == tuple("ABCDExy.0123456789")
    assert written.vocabulary == tuple("ABCxy.0123456789")
    assert published == PUBLISHED
    assert (published.longest, published.stretch, published.separators, published.negatives) == (
        45,
        2.5,
        13,
        0.8,
    )
    assert corrected == PatternCounting()
    assert (written.stretch, written.verified) == (1.0, True)
    assert (published.ceiling, corrected.ceiling) == (0.985, 1.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shortest": 46}, r"shortest must be at most longest \(45\), got 46"),
        ({"negatives": 1.1}, "negatives must be at least 0 and at most 1, got 1.1"),
        ({"stretch": 0.5}, "stretch must be at least 1 and at most 100, got 0.5"),
        ({"letters": 27}, "letters must be at least 1 and at most 26, got 27"),
    ],
)
def test_parameters_that_do_not_fit(make_task, given, message):
    with pytest.raises(UsageError, match=message):
        make_task("language/pattern-counting", **given)


@pytest.mark.parametrize("verified", [False, True])
def test_distribution_of_whole_sequences(verified):
    prompts = small_prompts(2)
    for prompt, weight in small_prompts(4).items():
        prompts[prompt] += weight
    prompts = Counter({prompt: weight / 2 for prompt, weight in prompts.items()})
    short = Counter(
        {
            prompt: weight
            for prompt, weight in prompts.items()
            if max(map(len, prompt.split("y"))) < 3
        }
    )
    whole = sum(short.values())
    weights = enumerate_all({p: w / whole for p, w in short.items()}, Fraction(4, 5), 2, verified)
    task = PatternCounting(2, 1, 2, 2.0, 2, verified=verified)
    examples = task.sample(np.random.default_rng(0), 12000)
    found = Counter(text(task, examples.sequence(i)[0]) for i in range(examples.count))
    # Longer patterns have too many shuffles to list; what is left is as likely as the rest says.
    found = Counter(
        {
            key: n
            for key, n in found.items()
            if max(map(len, key[: key.index("x")].replace(" ", "").split("y"))) < 3
        }
    )
    total = found.total()
    assert total == pytest.approx(12000 * float(whole), abs=4 * np.sqrt(12000 / 4))
    assert set(found) <= set(weights)
    common = [key for key, weight in weights.items() if float(weight) * total > 5]
    rest = 1 - sum(weights[key] for key in common)
    observed = [*(found[key] for key in common), total - sum(found[key] for key in common)]
    assert (
        chisquare(
            observed, [float(w) * total for w in (*(weights[key] for key in common), rest)]
        ).pvalue
        > 1e-4
    )


def test_slices_below_zero():
    # One letter, 3 of it: bounds -1, 0, 1, 2, 3 keep 2, 0, 1, 2, 3; one letter is part of the
    # pattern.
    assert negatives("A", 2) == {
        "AA": Fraction(2, 5),
        "": Fraction(1, 5),
        "A": Fraction(1, 5),
        "AAA": Fraction(1, 5),
    }
    task = PatternCounting(1, 1, 1, 1.0, verified=False, negatives=1.0)
    examples = task.sample(np.random.default_rng(0), 5000)
    found = Counter(text(task, examples.sequence(i)[0]) for i in range(5000))
    expected = {"A x A y 1 .": 2000, "A x A y 1 A A y 0 .": 2000, "A x A y 1 A A A y 0 .": 1000}
    assert set(found) == set(expected)
    assert chisquare([found[key] for key in expected], list(expected.values())).pvalue > 1e-4


def parts(task, tokens):
    """(patterns of the prompt, [(query, answer)])."""
    prompt, _, queries = text(task, tokens).replace(" ", "").removesuffix(".").partition("x")
    pairs = []
    while queries:
        pattern, _, rest = queries.partition("y")
        digits = "".join(itertools.takewhile(str.isdigit, rest))
        pairs.append((pattern, digits))
        queries = rest[len(digits) :]
    return prompt.split("y"), pairs


def test_shares_and_traps_of_the_published_form():
    """The numbers counted in 2000 published sequences; 4 standard errors of theirs, and
    rounding.
    """
    examples = PUBLISHED.sample(np.random.default_rng(1), 6000)
    answers: Counter[str] = Counter()
    lengths: Counter[int] = Counter()
    wrong = noisy = repeated = 0
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        shown, pairs = parts(PUBLISHED, tokens)
        assert [PUBLISHED.vocabulary[tokens[place]] for place in mask] == list(
            "".join(digits for _, digits in pairs)
        )
        lengths.update(map(len, shown))
        answers.update(digits for _, digits in pairs)
        faults = sum(int(digits) != shown.count(pattern) for pattern, digits in pairs)
        wrong, noisy = wrong + faults, noisy + (faults > 0)
        repeated += len({pattern for pattern, _ in pairs}) < len(pairs)
    sizes = examples.lengths + 1
    assert sizes.mean() == pytest.approx(52.7, abs=0.05 + 4 * 28.6 * np.sqrt(1 / 2000 + 1 / 6000))
    assert sizes.std() == pytest.approx(28.6, abs=1.5)
    assert sizes.min() == 6
    assert examples.questions / 6000 == pytest.approx(
        5.74, abs=4 * 4.2 * np.sqrt(1 / 2000 + 1 / 6000)
    )
    total = answers.total()
    for answer, share in zip("01234", (0.32, 0.44, 0.11, 0.07, 0.04), strict=True):
        assert answers[answer] / total == pytest.approx(share, abs=0.005 + 0.012)
    assert wrong / answers["0"] == pytest.approx(0.048, abs=0.012)
    assert wrong / total == pytest.approx(0.015, abs=0.004)
    assert noisy / 6000 == pytest.approx(0.08, abs=0.02)
    assert repeated / 6000 == pytest.approx(0.07, abs=0.02)
    # A group goes on with probability 5/18.
    groups = lengths.total()
    for length in (1, 2, 3):
        share = (5 / 18) ** (length - 1) * 13 / 18
        assert lengths[length] / groups == pytest.approx(share, abs=0.015)


@pytest.mark.parametrize("convention", ["written", "corrected"])
def test_verified_answers_are_counts_and_no_query_comes_twice(make_task, convention):
    task = make_task("language/pattern-counting", convention)
    examples = task.sample(np.random.default_rng(2), 3000)
    zeros = 0
    for index in range(examples.count):
        shown, pairs = parts(task, examples.sequence(index)[0])
        assert all(int(digits) == shown.count(pattern) for pattern, digits in pairs)
        assert len({pattern for pattern, _ in pairs}) == len(pairs)
        zeros += sum(digits == "0" for _, digits in pairs)
    assert zeros / examples.questions == pytest.approx(0.32, abs=0.02)
    if convention == "written":
        assert (
            max(len("y".join(parts(task, examples.sequence(i)[0])[0])) for i in range(3000)) <= 45
        )


def test_counts_of_two_digits(accuracy):
    task = PatternCounting(letters=1, shortest=30, longest=30, separators=1, negatives=0.0)
    examples = task.sample(np.random.default_rng(0), 200)
    answers = [parts(task, examples.sequence(i)[0])[1] for i in range(200)]
    assert any(len(digits) == 2 for pairs in answers for _, digits in pairs)
    assert accuracy("pattern-counting-oracle", task, examples) == 1.0
    assert all(
        task.check(examples.sequence(i)[0]).accepts(examples.sequence(i)[1]) for i in range(200)
    )


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_every_draw_checks_out_and_changed_answers_do_not(data, seed):
    longest = data.draw(st.integers(1, 20))
    task = PatternCounting(
        data.draw(st.integers(1, 6)),
        data.draw(st.integers(1, longest)),
        longest,
        data.draw(st.sampled_from([1.0, 1.7, 2.5])),
        data.draw(st.integers(1, 13)),
        data.draw(st.sampled_from([0.0, 0.8, 1.0])),
        data.draw(st.integers(0, 3)),
        data.draw(st.booleans()),
    )
    rng = np.random.default_rng(seed)
    examples = task.sample(rng, 4)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        verdict = task.check(tokens)
        assert verdict.accepts(mask), verdict.reason
        assert task.check(text(task, tokens)) == verdict
        if task.verified:
            place = int(rng.choice(mask))
            wrong = (tokens[place] + int(rng.integers(1, len(task.vocabulary)))) % len(
                task.vocabulary
            )
            assert not task.check([*tokens[:place], wrong, *tokens[place + 1 :]]).right


def test_worked_example():
    verdict = PatternCounting().check("A y B B y A x A y 2 B B y 1 B y 0 .")
    assert verdict.right
    assert verdict.masks == ((9, 13, 16),)
    wrong = PatternCounting().check("A y B B y A x A y 2 B B y 1 B y 1 .")
    assert wrong.well_formed
    assert wrong.reason == 'index 16: the answer is "1", right is "0"'
    # As coded, nothing that is part of the pattern itself is asked for as a 0.
    assert not PUBLISHED.check("A y B B y A x A y 2 B B y 1 B y 0 .").well_formed


def test_the_example_of_the_spec_sheet_is_right_in_every_form():
    for task in (PatternCounting(), PUBLISHED, PatternCounting(letters=3, stretch=1.0)):
        verdict = task.check("A y B B y A x A y 2 B B y 1 B B B y 0 .")
        assert verdict.right
        assert (9, 13, 18) in verdict.masks


@pytest.mark.parametrize("stretch", [math.inf, 1e12, math.nan])
def test_no_absurd_stretch(stretch):
    with pytest.raises(UsageError, match="stretch"):
        configure("language/pattern-counting", PatternCounting, {"stretch": stretch})


def test_unverified_queries_may_have_two_right_answers():
    # A A is a pattern of the prompt, and can be made from the letters of A three times over.
    prompt = "A y A A x A y 1 A A y"
    assert PUBLISHED.check(f"{prompt} 1 .").right
    assert PUBLISHED.check(f"{prompt} 0 .").right
    assert not PUBLISHED.check(f"{prompt} 2 .").right
    assert (
        PatternCounting().check(f"{prompt} 0 .").reason
        == 'index 11: the answer is "0", right is "1"'
    )
    # Asked as a 0 it may still be asked as a pattern, and the other way round.
    assert PUBLISHED.check(f"{prompt} 0 A A y 1 .").right
    assert PUBLISHED.check("A y A A x A A y 1 A y 1 A A y 0 .").right
    # Twice the same 0.
    assert PUBLISHED.check("A B y B A x A B y 1 A A y 0 B A y 1 A A y 0 .").right
    assert not PatternCounting().check("A B y B A x A B y 1 A A y 0 B A y 1 A A y 0 .").well_formed


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ("", "index 0: expected a letter, but the sequence ends"),
        ("y A x A y 1 .", 'index 0: expected a letter, got "y"'),
        ("A y y A x A y 2 .", 'index 2: expected a letter, got "y"'),
        ("A y x A y 1 .", 'index 2: expected a letter, got "x"'),
        ("A .", 'index 1: expected "x", got "."'),
        ("A x .", 'index 2: expected a letter, got "."'),
        ("A x A 1 .", 'index 3: expected "y", got "1"'),
        ("A x A y .", 'index 4: expected a digit, got "."'),
        ("A x A y 1", 'index 5: expected ".", but the sequence ends'),
        ("A x A y 1 . .", 'index 6: expected the end of the sequence, got "."'),
        (
            "A x A y 1 A y 1 .",
            "index 5: expected a pattern of the prompt not yet asked for, or one for 0",
        ),
        (
            "A x B y 0 .",
            "index 2: expected a pattern of the prompt not yet asked for, or one for 0",
        ),
        (
            "A x A y 1 B y 0 .",
            "index 5: expected a pattern of the prompt not yet asked for, or one for 0",
        ),
        (
            "A x A y 1 A A A A y 0 .",
            "index 5: expected a pattern of the prompt not yet asked for, or one for 0",
        ),
        (
            "A x A y 1 A A y 0 A A A y 0 .",
            "index 9: expected a pattern of the prompt not yet asked for, or one for 0",
        ),
        ("A y " * 56 + "A x A y 5 7 .", "index 112: at most 112 tokens may come before x"),
        ("A x A y 1 F y 0 .", 'index 5: "F" is not in the vocabulary'),
    ],
)
def test_malformed(tokens, reason):
    verdict = PatternCounting().check(tokens)
    assert not verdict.well_formed
    assert verdict.reason.startswith(reason)


def test_what_the_rules_say(make_control):
    task = PatternCounting()
    ids = {word: id for id, word in enumerate(task.vocabulary)}
    words = list("AyByAyABxABy1BAy0Ay2AAy0By1")
    asked = [index for index, word in enumerate(words) if word == "y" and index > words.index("x")]

    def said(name):
        answers = make_control(name, task).predict(np.array([ids[word] for word in words]))
        return [task.vocabulary[answers[index]] for index in asked]

    assert said("pattern-counting-oracle") == ["1", "0", "2", "0", "1"]
    assert said("seen-or-not") == ["1", "0", "1", "0", "1"]
    assert said("query-only") == ["1", "0", "1", "0", "1"]
    # A query of letters of the one before is taken for a 0, unless that was one itself.
    words = list("AyABxABy1Ay1")
    asked = [7, 10]
    assert said("query-only") == ["1", "0"]


def test_ceiling(make_task, accuracy):
    task = make_task("language/pattern-counting")
    assert (
        accuracy("pattern-counting-oracle", task, task.sample(np.random.default_rng(4), 1500))
        == 1.0
    )
    examples = PUBLISHED.sample(np.random.default_rng(4), 3000)
    assert accuracy("pattern-counting-oracle", PUBLISHED, examples) == pytest.approx(
        PUBLISHED.ceiling, abs=0.005
    )
    assert accuracy("copy-last", PUBLISHED, examples) == 0.0
