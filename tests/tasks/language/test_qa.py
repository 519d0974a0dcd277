from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from quickstudy.base.errors import UsageError
from quickstudy.tasks.language.qa import Qa
from quickstudy.tasks.language.statements import skim_facts

CONVENTIONS = ("published", "written", "corrected")
HALF = Fraction(1, 2)


def text(task, tokens):
    return " ".join(task.vocabulary[token] for token in tokens)


def enumerate_all(names, verbs, fewest, most, balanced) -> dict[str, Fraction]:
    """Every sequence with its probability, from the definition."""
    weights: Counter[str] = Counter()
    for verb in verbs:
        for size in range(fewest, most + 1):
            orders = list(itertools.permutations(names, size))
            numbers = range(1, size) if balanced else range(size + 1)
            for order, number in itertools.product(orders, numbers):
                base = Fraction(1, len(verbs) * (most - fewest + 1) * len(orders) * len(numbers))
                yes, no = order[:number], order[number:]
                clauses = [f"I {verb} {' AND '.join(yes)}"] if yes else []
                clauses += [f"I DO NOT {verb} {' AND '.join(no)}"] if no else []
                prompts = Counter()
                for sides, joint in itertools.product((clauses, clauses[::-1]), (" AND ", " BUT ")):
                    prompts[joint.join(sides)] += base / 4
                for name in order:
                    share = (
                        (HALF / len(yes if name in yes else no)) if balanced else Fraction(1, size)
                    )
                    answer = "YES" if name in yes else "NO"
                    for prompt, weight in prompts.items():
                        weights[f"{prompt} . DO I {verb} {name} ? {answer}"] += weight * share
    assert sum(weights.values()) == 1
    return weights


def test_vocabulary_and_presets(make_task):
    words = "PETER JOHN TOM JAMES PAUL SEE HEAR I DO NOT AND BUT ? . YES NO"
    tasks = [make_task("language/qa@1", convention) for convention in CONVENTIONS]
    assert all(" ".join(task.vocabulary) == words for task in tasks)
    assert [(task.fewest, task.most, task.balanced) for task in tasks] == [
        (1, 4, False),
        (1, 5, False),
        (2, 5, True),
    ]


def test_longer_word_lists_and_ranges():
    harder = Qa(names=11, verbs=5, fewest=1, most=10, balanced=False)
    assert len(harder.vocabulary) == 25
    assert harder.people[5:] == ("MARC", "LUKE", "SIMON", "ANDREW", "BRUNO", "LISA")
    assert harder.actions == ("SEE", "HEAR", "CALL", "FEEL", "SMELL")
    lengths = harder.sample(np.random.default_rng(0), 2000).lengths + 1
    assert (lengths.min(), lengths.max()) == (10, 32)
    assert lengths.mean() == pytest.approx(22.0, abs=4 * 6.5 * np.sqrt(2 / 2000))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fewest": 5, "most": 4}, r"fewest must be at most most \(4\), got 5"),
        ({"most": 6}, r"most must be at most names \(5\), got 6"),
        ({"fewest": 1}, "fewest must be at least 2 when balanced, got 1; or give balanced=no"),
        ({"verbs": 8}, "verbs must be at least 1 and at most 7, got 8"),
    ],
)
def test_parameters_that_do_not_fit(make_task, given, message):
    with pytest.raises(UsageError, match=message):
        make_task("language/qa@1", **given)
    assert make_task("language/qa@1", fewest="1", balanced="no").fewest == 1


@pytest.mark.parametrize("balanced", [False, True])
def test_distribution_of_whole_sequences(balanced):
    names, fewest = ("PETER", "JOHN", "TOM"), 2 if balanced else 1
    weights = enumerate_all(names, ("SEE", "HEAR"), fewest, 3, balanced)
    task = Qa(names=3, verbs=2, fewest=fewest, most=3, balanced=balanced)
    examples = task.sample(np.random.default_rng(7), 30000)
    found = Counter(text(task, examples.sequence(i)[0]) for i in range(examples.count))
    assert set(found) <= set(weights)
    expected = [float(weight) * examples.count for weight in weights.values()]
    assert min(expected) > 5
    assert chisquare([found[key] for key in weights], expected).pvalue > 1e-4


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_choices_are_even(make_task, convention):
    task = make_task("language/qa@1", convention)
    examples = task.sample(np.random.default_rng(8), 12000)
    sizes: Counter[tuple[int, int]] = Counter()
    tables: dict[str, Counter[str]] = {
        key: Counter() for key in ("answer", "verb", "name", "first", "joint")
    }
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        words = text(task, tokens).split()
        assert mask == [len(words) - 1]
        facts = skim_facts(words)
        affirmed = sum(fact.affirmed for fact in facts)
        sizes[len(facts), affirmed] += 1
        tables["answer"][words[-1]] += 1
        tables["verb"][words[-4]] += 1
        tables["name"][words[-3]] += 1
        if 0 < affirmed < len(facts):
            tables["first"]["affirmed" if facts[0].affirmed else "denied"] += 1
            second = [i for i, word in enumerate(words[: words.index(".")]) if word == "I"][1]
            tables["joint"][words[second - 1]] += 1
    assert [len(table) for table in tables.values()] == [2, 2, 5, 2, 2]
    for table in tables.values():
        assert chisquare(list(table.values())).pvalue > 1e-4
    margin = int(task.balanced)
    cells = {
        (size, k): 1 / (task.most - task.fewest + 1) / (size + 1 - 2 * margin)
        for size in range(task.fewest, task.most + 1)
        for k in range(margin, size - margin + 1)
    }
    assert set(sizes) == set(cells)
    assert (
        chisquare(
            [sizes[cell] for cell in cells], [12000 * share for share in cells.values()]
        ).pvalue
        > 1e-4
    )


@pytest.mark.parametrize(
    ("convention", "shortest", "longest"),
    [("published", 10, 20), ("written", 10, 22), ("corrected", 16, 22)],
)
def test_lengths(make_task, convention, shortest, longest):
    task = make_task("language/qa@1", convention)
    lengths = task.sample(np.random.default_rng(9), 6000).lengths + 1
    assert (lengths.min(), lengths.max()) == (shortest, longest)
    if convention == "published":
        assert lengths.mean() == pytest.approx(15.2, abs=0.05 + 4 * 3.3 / np.sqrt(6000))
        assert lengths.std() == pytest.approx(3.3, abs=0.15)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_every_draw_checks_out_and_changed_answers_do_not(data, seed):
    balanced = data.draw(st.booleans())
    names = data.draw(st.integers(2, 13))
    most = data.draw(st.integers(2, names))
    fewest = data.draw(st.integers(2 if balanced else 1, most))
    task = Qa(names, data.draw(st.integers(1, 7)), fewest, most, balanced)
    rng = np.random.default_rng(seed)
    examples = task.sample(rng, 4)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        verdict = task.check(tokens)
        assert verdict.accepts(mask)
        assert task.check(text(task, tokens)) == verdict
        wrong = (tokens[-1] + int(rng.integers(1, len(task.vocabulary)))) % len(task.vocabulary)
        assert not task.check([*tokens[:-1], wrong]).right
        other = {"YES": "NO", "NO": "YES"}[task.vocabulary[tokens[-1]]]
        changed = task.check([*text(task, tokens).split()[:-1], other])
        assert changed.well_formed
        assert not changed.right
        assert changed.reason.startswith(f"index {mask[0]}: the answer is ")


def test_worked_example():
    verdict = Qa().check("I DO NOT HEAR TOM BUT I HEAR PAUL AND JOHN . DO I HEAR JOHN ? YES")
    assert verdict.right
    assert verdict.masks == ((17,),)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", 'index 0: expected "I", but the sequence ends'),
        ("I TOM", 'index 1: expected the verb SEE or HEAR, got "TOM"'),
        ("I DO SEE TOM", 'index 2: expected "NOT", got "SEE"'),
        ("I SEE . DO", 'index 2: expected a name not yet mentioned, got "."'),
        ("I SEE TOM AND TOM", 'index 4: expected a name not yet mentioned, got "TOM"'),
        (
            "I SEE TOM AND I SEE PAUL .",
            "index 4: two clauses of one statement must not be both affirmed or both denied",
        ),
        ("I SEE TOM AND I DO NOT HEAR PAUL .", 'index 7: expected the verb SEE, got "HEAR"'),
        (
            "I SEE TOM BUT I DO NOT SEE TOM .",
            'index 8: expected a name not yet mentioned, got "TOM"',
        ),
        ("I SEE TOM BUT PAUL", 'index 4: expected "I", got "PAUL"'),
        (
            "I SEE TOM BUT I DO NOT SEE PAUL AND I SEE JOHN",
            'index 9: expected ".", got "AND"',
        ),
        ("I SEE TOM . DO I HEAR TOM ? YES", 'index 6: expected "SEE", got "HEAR"'),
        (
            "I SEE TOM . DO I SEE PAUL ? NO",
            'index 7: expected a name of the statement, got "PAUL"',
        ),
        ("I SEE TOM . DO I SEE TOM ?", "index 9: expected YES or NO, but the sequence ends"),
        ("I SEE TOM . DO I SEE TOM ? YES .", 'index 10: expected the end of the sequence, got "."'),
        ("I SEE MARC . DO I SEE MARC ? YES", 'index 2: "MARC" is not in the vocabulary'),
        (
            "I SEE TOM AND PAUL AND JOHN AND PETER AND JAMES . DO I SEE TOM ? YES",
            "index 11: the statement ends here with 5 names, not 1 to 4 names",
        ),
    ],
)
def test_malformed_published(make_task, words, reason):
    verdict = make_task("language/qa@1", "published").check(words)
    assert not verdict.well_formed
    assert verdict.reason.startswith(reason)


def test_balanced_needs_both_clauses():
    assert Qa().check("I SEE TOM BUT I DO NOT SEE PAUL . DO I SEE PAUL ? NO").right
    reason = "index 5: the statement ends here without both an affirmed and a denied name"
    assert Qa().check("I SEE TOM AND PAUL . DO I SEE PAUL ? YES").reason == reason
    assert Qa().check("I SEE TOM . DO I SEE TOM ? YES").reason == (
        "index 3: the statement ends here with 1 names, not 2 to 5 names"
    )


def shortcut_accuracies(weights: dict[str, Fraction]) -> dict[str, Fraction]:
    """Exact accuracy of rules that do not solve the task; a coin counts one half."""
    totals: Counter[str] = Counter()
    bags: dict[tuple[str, ...], Counter[str]] = {}
    for sequence, weight in weights.items():
        *words, answer = sequence.split()
        facts = skim_facts(words)
        affirmed = sum(fact.affirmed for fact in facts)
        denied = len(facts) - affirmed
        queried = next(place for place, fact in enumerate(facts) if fact.name == words[-2])
        leanings = {
            "majority": 1,
            "polarity": (affirmed > 0) - (denied > 0),
            "polarity-count": affirmed - denied,
            "polarity-minority": denied - affirmed,
            "first clause": 1 if facts[0].affirmed else -1,
            "last clause": 1 if facts[-1].affirmed else -1,
            "queried first": 1 if queried == 0 else -1,
            "queried last": 1 if queried == len(facts) - 1 else -1,
        }
        for rule, leaning in leanings.items():
            totals[rule] += weight * (HALF if leaning == 0 else (leaning > 0) == (answer == "YES"))
        # The best that any learner can do who sees the words without their order, and the queried
        # name.
        bags.setdefault((words[-2], *sorted(words)), Counter())[answer] += weight
    totals["bag of words"] = sum((max(bag.values()) for bag in bags.values()), Fraction(0))
    return totals


def test_balanced_form_closes_the_shortcuts_exactly():
    weights = enumerate_all(("PETER", "JOHN", "TOM", "JAMES", "PAUL"), ("SEE",), 2, 5, True)
    accuracies = shortcut_accuracies(weights)
    assert len(accuracies) == 9
    assert set(accuracies.values()) == {HALF}


def test_shortcuts_of_the_published_form_exactly():
    accuracies = shortcut_accuracies(
        enumerate_all(("PETER", "JOHN", "TOM", "JAMES", "PAUL"), ("SEE",), 1, 4, False)
    )
    assert accuracies["majority"] == HALF
    # All names alike with probability 2 / (s + 1), s = 1..4; else a coin.
    assert accuracies["polarity"] == HALF + Fraction(1, 8) * (
        1 + Fraction(2, 3) + HALF + Fraction(2, 5)
    )
    # The mean of max(k, s - k) / s over k = 0..s, for s = 1..4.
    assert accuracies["polarity-count"] == Fraction(1, 4) * (
        1 + Fraction(5, 6) + Fraction(5, 6) + Fraction(4, 5)
    )


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_oracle_reaches_the_ceiling(make_task, accuracy, convention):
    task = make_task("language/qa@1", convention)
    assert accuracy("qa-oracle", task, task.sample(np.random.default_rng(3), 2000)) == 1.0


def test_polarity_rules_on_given_statements(make_control):
    task = Qa()
    ids = {word: id for id, word in enumerate(task.vocabulary)}

    def said(name, words):
        inputs = np.array([ids[word] for word in words.split()])
        return {
            task.vocabulary[make_control(name, task, seed).predict(inputs)[-1]]
            for seed in range(20)
        }

    assert said("polarity", "I SEE TOM AND PAUL . DO I SEE TOM ?") == {"YES"}
    assert said("polarity", "I DO NOT SEE TOM AND PAUL . DO I SEE TOM ?") == {"NO"}
    mixed = "I SEE TOM AND PAUL BUT I DO NOT SEE JOHN . DO I SEE JOHN ?"
    assert said("polarity", mixed) == {"YES", "NO"}
    assert said("polarity-count", mixed) == {"YES"}
    assert said("polarity-count", "I DO NOT SEE TOM AND PAUL BUT I SEE JOHN . DO I SEE JOHN ?") == {
        "NO"
    }
    assert said("polarity-count", "I DO NOT SEE TOM BUT I SEE JOHN . DO I SEE JOHN ?") == {
        "YES",
        "NO",
    }
