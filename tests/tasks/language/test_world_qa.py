from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.tasks.language.statements import NUMBERS, skim_facts
from quickstudy.tasks.language.world_qa import WorldQa, WorldQaCounting

CONVENTIONS = ("published", "written", "corrected")
NAMES = "PETER JOHN TOM JAMES PAUL MARC LUKE SIMON ANDREW BRUNO LISA HENRI LEO"
VERBS = "SEE HEAR CALL FEEL SMELL UNDERSTAND TOUCH"
HALF = Fraction(1, 2)


def inquiries(stated, balanced, counts):
    """Every question with its answer and its probability, from the definition."""
    found: Counter[str] = Counter()
    for verb, affirmed, _ in stated:
        if counts:
            key = f"HOW MANY PEOPLE DO I {verb} ? {NUMBERS[len(affirmed)]}"
            found[key] += counts / len(stated)
    asked = [(verb, yes, no) for verb, yes, no in stated if (yes and no) or not balanced]
    for verb, yes, no in asked:
        for name in yes + no:
            share = (
                HALF / len(yes if name in yes else no) if balanced else Fraction(1, len(yes + no))
            )
            found[f"DO I {verb} {name} ? {'YES' if name in yes else 'NO'}"] += (
                (1 - counts) * share / len(asked)
            )
    return found


def enumerate_all(
    spreads, prompts, things, verbs, fewest, most, balanced, counts=Fraction(0), questions=1
):
    weights: Counter[str] = Counter()
    for stated, weight in spreads(things, verbs, fewest, most, int(balanced)):
        drawn: Counter[tuple[str, ...]] = Counter({(): Fraction(1)})
        asked: Counter[tuple[str, ...]] = Counter()
        for _ in range(questions):
            following: Counter[tuple[str, ...]] = Counter()
            for before, a in drawn.items():
                for inquiry, b in inquiries(stated, balanced, counts).items():
                    following[before if inquiry in before else (*before, inquiry)] += a * b
            drawn = following
            for sequence, share in drawn.items():
                asked[sequence] += share / questions
        for prompt, a in prompts(stated).items():
            for sequence, b in asked.items():
                weights[prompt + " . ".join(sequence)] += weight * a * b
    return weights


def test_vocabulary_and_presets(make_task):
    worlds = [make_task("language/world-qa@1", convention) for convention in CONVENTIONS]
    assert all(
        " ".join(task.vocabulary) == f"{NAMES} {VERBS} I DO NOT AND BUT ? . YES NO"
        for task in worlds
    )
    expected = [(1, 12, 1, False), (1, 12, 8, False), (2, 12, 1, True)]
    assert [(t.fewest, t.most, t.most_questions, t.balanced) for t in worlds] == expected
    counting = [make_task("language/world-qa-counting@1", convention) for convention in CONVENTIONS]
    numbers = "ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN ELEVEN TWELVE HOW MANY PEOPLE"
    assert all(
        " ".join(task.vocabulary) == f"{' '.join(worlds[0].vocabulary)} {numbers}"
        for task in counting
    )
    assert [(t.fewest, t.most, t.most_questions, t.balanced) for t in counting] == expected
    assert (len(worlds[0].vocabulary), len(counting[0].vocabulary)) == (29, 45)
    assert {task.counts for task in counting} == {0.5}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fewest": 5, "most": 4}, r"fewest must be at most most \(4\), got 5"),
        ({"names": 11}, r"most must be at most names \(11\), got 12"),
        ({"fewest": 1}, "fewest must be at least 2 when balanced, got 1; or give balanced=no"),
        ({"most_questions": 0}, "most_questions must be at least 1, got 0"),
    ],
)
@pytest.mark.parametrize("id", ["language/world-qa@1", "language/world-qa-counting@1"])
def test_parameters_that_do_not_fit(make_task, id, given, message):
    with pytest.raises(UsageError, match=message):
        make_task(id, **given)


@pytest.mark.parametrize(
    "task",
    [
        WorldQa(2, 2, 1, 2, balanced=False),
        WorldQa(3, 2, 1, 3, balanced=False),
        WorldQa(3, 2, 2, 3, balanced=True),
        WorldQa(2, 2, 1, 2, 3, balanced=False),
        WorldQa(3, 1, 2, 3, 2, balanced=True),
        WorldQaCounting(2, 2, 1, 2, balanced=False),
        WorldQaCounting(3, 2, 2, 3, balanced=True, counts=0.25),
        WorldQaCounting(2, 2, 1, 2, 2, balanced=False),
    ],
    ids=str,
)
def test_distribution_of_whole_sequences(spreads, prompts, fits, texts, task):
    counts = Fraction(getattr(task, "counts", 0))
    parts = (
        task.people,
        task.actions,
        task.fewest,
        task.most,
        task.balanced,
        counts,
        task.most_questions,
    )
    weights = enumerate_all(spreads, prompts, *parts)
    assert fits(Counter(texts(task, task.sample(np.random.default_rng(7), 6000))), weights)


@pytest.mark.parametrize("id", ["language/world-qa@1", "language/world-qa-counting@1"])
def test_shape_of_the_published_prompts(make_task, texts, fits, id):
    """s, v and the names left out, at the published size: cuts are v of s places, all alike."""
    from math import comb

    task = make_task(id, "published")
    sequences = texts(task, task.sample(np.random.default_rng(8), 4000))
    found: Counter[str] = Counter()
    for words in map(str.split, sequences):
        facts = skim_facts(words)
        found[f"{len({fact.verb for fact in facts})} {len(facts)}"] += 1
    weights: Counter[str] = Counter()
    for size in range(1, 13):
        for number in range(1, min(7, size) + 1):
            for first in range(size - number + 1):
                ways = Fraction(comb(size - first - 1, number - 1), comb(size, number))
                weights[f"{number} {size - first}"] += ways / 12 / min(7, size)
    assert fits(found, weights)


@pytest.mark.parametrize(
    ("id", "mean", "deviation"),
    [("language/world-qa@1", 27.9, 12.4), ("language/world-qa-counting@1", 28.8, 12.2)],
)
def test_published_lengths(make_task, id, mean, deviation):
    task = make_task(id, "published")
    examples = task.sample(np.random.default_rng(9), 6000)
    lengths = examples.lengths + 1
    assert lengths.mean() == pytest.approx(
        mean, abs=0.05 + 4 * deviation * np.sqrt(1 / 2000 + 1 / 6000)
    )
    assert lengths.std() == pytest.approx(deviation, abs=0.6)
    assert lengths.min() == 10
    assert examples.questions == 6000
    assert all(examples.sequence(i)[1] == [lengths[i] - 1] for i in range(100))


def test_published_answer_shares(make_task, texts):
    task = make_task("language/world-qa-counting@1", "published")
    answers = Counter(
        text.split()[-1] for text in texts(task, task.sample(np.random.default_rng(10), 8000))
    )
    shares = {"YES": 0.25, "NO": 0.25, "ZERO": 0.20, "ONE": 0.19, "TWO": 0.05, "THREE": 0.02}
    for answer, share in shares.items():
        tolerance = 0.005 + 4 * np.sqrt(share * (1 - share) * (1 / 2000 + 1 / 8000))
        assert answers[answer] / 8000 == pytest.approx(share, abs=tolerance)


@settings(max_examples=80, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_every_draw_checks_out_and_changed_answers_do_not(data, seed):
    balanced = data.draw(st.booleans())
    names = data.draw(st.integers(2, 13))
    most = data.draw(st.integers(2, names))
    fewest = data.draw(st.integers(2 if balanced else 1, most))
    kind = data.draw(st.sampled_from([WorldQa, WorldQaCounting]))
    task = kind(
        names, data.draw(st.integers(1, 7)), fewest, most, data.draw(st.integers(1, 9)), balanced
    )
    rng = np.random.default_rng(seed)
    examples = task.sample(rng, 4)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        verdict = task.check(tokens)
        assert verdict.accepts(mask), verdict.reason
        assert verdict.supervised == tuple(mask)
        place = int(rng.choice(mask))
        wrong = (tokens[place] + int(rng.integers(1, len(task.vocabulary)))) % len(task.vocabulary)
        assert not task.check([*tokens[:place], wrong, *tokens[place + 1 :]]).right
        if task.vocabulary[tokens[place]] in ("YES", "NO"):
            other = {"YES": "NO", "NO": "YES"}[task.vocabulary[tokens[place]]]
            changed = task.check([*tokens[:place], other, *tokens[place + 1 :]])
            assert changed.well_formed
            assert changed.reason.startswith(f"index {place}: the answer is ")


def test_worked_examples(make_task):
    verdict = make_task("language/world-qa@1", "published").check(
        "I SEE LEO . I DO NOT CALL LISA AND MARC . DO I CALL LISA ? NO"
    )
    assert verdict.right
    assert verdict.masks == ((17,),)
    verdict = make_task("language/world-qa-counting@1", "published").check(
        "I SMELL TOM AND LUKE . HOW MANY PEOPLE DO I SMELL ? TWO"
    )
    assert verdict.right
    assert verdict.masks == ((13,),)
    assert (
        WorldQa()
        .check("I SEE LEO . I CALL MARC BUT I DO NOT CALL LISA . DO I CALL LISA ? NO")
        .right
    )
    assert (
        WorldQaCounting()
        .check("I SMELL TOM AND LUKE BUT I DO NOT SMELL LEO . HOW MANY PEOPLE DO I SMELL ? TWO")
        .right
    )
    several = make_task("language/world-qa-counting@1", "written").check(
        "I SMELL TOM . HOW MANY PEOPLE DO I SMELL ? ONE . DO I SMELL TOM ? NO"
    )
    assert several.masks == ((11, 18),)
    assert several.reason == 'index 18: the answer is "NO", right is "YES"'


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("I SEE TOM", 'index 3: expected ".", but the sequence ends'),
        (
            "I SEE TOM . I SEE PAUL .",
            "index 5: expected the verb HEAR or CALL or FEEL or SMELL or UNDERSTAND or TOUCH",
        ),
        (
            "I SEE TOM . I HEAR TOM .",
            'index 6: expected a name not yet mentioned, got "TOM"',
        ),
        (
            "I SEE TOM . DO I HEAR TOM ? NO",
            'index 6: expected a verb of the prompt, got "HEAR"',
        ),
        (
            "I SEE TOM . I HEAR PAUL . DO I HEAR TOM ? NO",
            "index 11: expected a name that goes with the verb",
        ),
        ("I SEE TOM . HOW MANY PEOPLE DO I SEE ? YES", "index 11: expected ZERO or ONE"),
        ("I SEE TOM . DO I SEE TOM ? ONE", 'index 9: expected YES or NO, got "ONE"'),
        (
            "I SEE TOM . DO I SEE TOM ? YES . DO I SEE TOM ? YES",
            "index 11: question 2 found, but at most 1 are",
        ),
        ("I SEE TOM . DO I SEE TOM ? YES .", "index 11: question 2 found"),
        ("I SEE TOM . DO I SEE TOM ? YES YES", 'index 10: expected ".", got "YES"'),
        (
            f"I SEE {' AND '.join(NAMES.split())} . DO",
            "index 27: the statement ends here with 13 things in all, at most",
        ),
    ],
)
def test_malformed_published(make_task, words, reason):
    verdict = make_task("language/world-qa-counting@1", "published").check(words)
    assert not verdict.well_formed
    assert verdict.reason.startswith(reason)


def test_more_ways_to_be_malformed(make_task):
    written = make_task("language/world-qa@1", "written")
    twice = "I SEE TOM . DO I SEE TOM ? YES . DO I SEE TOM ? YES"
    assert written.check(twice).reason == "index 11: this question was asked before"
    balanced = WorldQa()
    reason = "index 3: the prompt ends here without a statement that affirms and denies"
    assert balanced.check("I SEE TOM . DO I SEE TOM ? YES").reason == reason
    single = "I SEE TOM . I HEAR PAUL BUT I DO NOT HEAR MARC . DO I"
    assert balanced.check(f"{single} HEAR PAUL ? YES").right
    assert balanced.check(f"{single} SEE TOM ? YES").reason.startswith(
        "index 16: expected a verb of the prompt"
    )


def shortcut_accuracies(weights: dict[str, Fraction]) -> dict[str, Fraction]:
    """Exact accuracy of rules that do not look the name up; a coin counts one half."""
    totals: Counter[str] = Counter()
    tables: dict[str, dict[object, Counter[str]]] = {
        "without the name": {},
        "without the order": {},
    }
    for sequence, weight in weights.items():
        *words, answer = sequence.split()
        facts = [fact for fact in skim_facts(words) if fact.verb == words[-3]]
        affirmed = sum(fact.affirmed for fact in facts)
        denied = len(facts) - affirmed
        for rule, leaning in {
            "polarity": (affirmed > 0) - (denied > 0),
            "polarity-count": affirmed - denied,
        }.items():
            totals[rule] += weight * (HALF if leaning == 0 else (leaning > 0) == (answer == "YES"))
        # The best that anyone can do who sees the words so far: all but the name, or the bag of
        # words and the question.
        tables["without the name"].setdefault(tuple(words[:-2]), Counter())[answer] += weight
        tables["without the order"].setdefault((*sorted(words), *words[-3:]), Counter())[
            answer
        ] += weight
    for rule, table in tables.items():
        totals[rule] = sum((max(cell.values()) for cell in table.values()), Fraction(0))
    return totals


def test_balanced_form_closes_the_shortcuts_exactly(spreads, prompts):
    weights = enumerate_all(
        spreads, prompts, ("PETER", "JOHN", "TOM", "PAUL"), ("SEE", "HEAR"), 2, 4, True
    )
    assert set(shortcut_accuracies(weights).values()) == {HALF}
    weights = enumerate_all(
        spreads, prompts, ("PETER", "JOHN", "TOM", "PAUL"), ("SEE", "HEAR"), 1, 4, False
    )
    open_ones = shortcut_accuracies(weights)
    assert (
        open_ones["without the name"]
        == open_ones["polarity-count"]
        > open_ones["polarity"]
        > Fraction(4, 5)
    )


@pytest.mark.parametrize("id", ["language/world-qa@1", "language/world-qa-counting@1"])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_oracle_reaches_the_ceiling(make_task, accuracy, id, convention):
    task = make_task(id, convention)
    assert accuracy("qa-oracle", task, task.sample(np.random.default_rng(3), 1000)) == 1.0
