from __future__ import annotations

import doctest
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from quickstudy.base.errors import UsageError
from quickstudy.tasks.language import statements
from quickstudy.tasks.language.adjective_qa import AdjectiveQa
from quickstudy.tasks.language.adjective_qa_counting import AdjectiveQaCounting
from quickstudy.tasks.language.qa_rules import skim_questions
from quickstudy.tasks.language.statements import COLOURS, NUMBERS, SIZES, skim_facts

CONVENTIONS = ("published", "written", "corrected")
IDS = ("language/adjective-qa@1", "language/adjective-qa-counting@1")
CONTENT = (
    "BANANA APPLE PEAR PEACH APRICOT CAR PLANE TRAIN SEE HEAR CALL FEEL SMELL TOUCH RED GREEN BLUE"
    " YELLOW"
)
TENTH = Fraction(1, 10)
SURE = "I SEE A BIG CAR AND A TINY RED PEAR BUT I DO NOT SEE A HUGE PLANE AND A BIG PEACH ."


def described(words):
    """The adjectives of a phrase: words between article and noun."""
    return words.split()[1:-1]


def phrase(noun, size, colour):
    words = [word for word in (size, colour, noun) if word]
    return " ".join(["AN" if words[0][0] in "AEIOU" else "A", *words])


def inquiries(stated, counts):
    """Every question with its answer and its probability, from the definition of the form that is
    not balanced.
    """
    found: Counter[str] = Counter()
    candidates = [(verb, name) for verb, yes, _ in stated for name in yes if described(name)]
    yes_no = TENTH if candidates else Fraction(1)
    for verb, yes, no in stated:
        for name in yes + no:
            answer = "YES" if name in yes else "NO"
            found[f"DO I {verb} {name} ? {answer}"] += yes_no / len(stated) / len(yes + no)
        if candidates and counts:
            found[f"HOW MANY THINGS DO I {verb} ? {NUMBERS[len(yes)]}"] += counts / len(stated)
    for verb, name in candidates:
        for adjective in described(name):
            kind = "COLOR" if adjective in COLOURS else "SIZE"
            share = (1 - TENTH - counts) / len(candidates) / len(described(name))
            found[f"WHAT {kind} IS THE {name.split()[-1]} I {verb} ? {adjective}"] += share
    return found


def enumerate_all(spreads, prompts, task) -> Counter[str]:
    nouns, verbs = CONTENT.split()[: task.objects], CONTENT.split()[8 : 8 + task.verbs]
    share = Fraction(6, 10)
    counts = Fraction(45, 100) if isinstance(task, AdjectiveQaCounting) else Fraction(0)
    sizes = [("", 1 - share), *((size, share / task.sizes) for size in SIZES[: task.sizes])]
    colours = [
        ("", 1 - share),
        *((colour, share / task.colours) for colour in COLOURS[: task.colours]),
    ]
    kinds = [(size, colour, a * b) for (size, a), (colour, b) in itertools.product(sizes, colours)]
    weights: Counter[str] = Counter()
    for stated, weight in spreads(nouns, verbs, task.fewest, task.most, 0):
        things = [name for _, yes, no in stated for name in yes + no]
        for looks in itertools.product(kinds, repeat=len(things)):
            called = {
                noun: phrase(noun, size, colour)
                for noun, (size, colour, _) in zip(things, looks, strict=True)
            }
            named = [
                (v, tuple(called[n] for n in yes), tuple(called[n] for n in no))
                for v, yes, no in stated
            ]
            base = weight * np.prod([chance for _, _, chance in looks])
            shown = named
            if task.vanishing:
                shown = [
                    (
                        v,
                        yes,
                        tuple(
                            name
                            for name in no
                            if name.split()[1] not in {n.split()[1] for n in yes}
                        ),
                    )
                    for v, yes, no in named
                ]
            asked: Counter[str] = Counter()
            drawn: Counter[tuple[str, ...]] = Counter({(): Fraction(1)})
            for _ in range(task.most_questions):
                following: Counter[tuple[str, ...]] = Counter()
                for before, a in drawn.items():
                    for inquiry, b in inquiries(named, counts).items():
                        following[before if inquiry in before else (*before, inquiry)] += a * b
                drawn = following
                for sequence, chance in drawn.items():
                    asked[" . ".join(sequence)] += chance / task.most_questions
            for prompt, a in prompts(shown).items():
                for sequence, b in asked.items():
                    weights[prompt + sequence] += base * a * b
    return weights


def test_doctests():
    result = doctest.testmod(statements)
    assert result.attempted >= 2
    assert result.failed == 0


def test_vocabulary_and_presets(make_task):
    nine = [make_task(IDS[0], convention) for convention in CONVENTIONS]
    ten = [make_task(IDS[1], convention) for convention in CONVENTIONS]
    glue = "I DO NOT AND BUT WHAT A AN COLOR SIZE IS THE"
    assert " ".join(nine[0].vocabulary) == f"{CONTENT} SMALL BIG HUGE TINY {glue} ? . YES NO"
    assert nine[2].vocabulary == nine[0].vocabulary
    assert " ".join(nine[1].vocabulary) == f"{CONTENT} SMALL BIG HUGE TINY NORMAL {glue} ? . YES NO"
    numbers = "HOW MANY THINGS ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT"
    words = f"{CONTENT} SMALL BIG HUGE TINY NORMAL {glue} {numbers} ? . YES NO"
    assert all(" ".join(task.vocabulary) == words for task in ten)
    assert (len(nine[0].vocabulary), len(ten[0].vocabulary)) == (38, 51)

    def presets(tasks):
        return [(t.fewest, t.most, t.most_questions, t.vanishing, t.balanced) for t in tasks]

    assert presets(nine) == [
        (1, 7, 1, True, False),
        (1, 7, 8, False, False),
        (4, 7, 1, False, True),
    ]
    assert presets(ten) == [(1, 7, 7, True, False), (1, 7, 8, False, False), (4, 7, 7, False, True)]
    assert {(task.coloured, task.sized, task.yes_no) for task in (*nine, *ten)} == {(0.6, 0.6, 0.1)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fewest": 7, "most": 6}, r"fewest must be at most most \(6\), got 7"),
        ({"objects": 6}, r"most must be at most objects \(6\), got 7"),
        ({"fewest": 3}, "fewest must be at least 4 when balanced, got 3; or give balanced=no"),
        ({"colours": 1}, "colours and sizes must be at least 2 when balanced, got 1 and"),
        ({"vanishing": True}, "vanishing must be no when balanced, got yes; or give balanced=no"),
        ({"sizes": 6}, "sizes must be at least 1 and at most 5, got 6"),
    ],
)
@pytest.mark.parametrize("id", IDS)
def test_parameters_that_do_not_fit(make_task, id, given, message):
    with pytest.raises(UsageError, match=message):
        make_task(id, **given)


def test_shares_that_do_not_fit(make_task):
    with pytest.raises(
        UsageError, match=r"yes_no and counts must be at most 1 together, got 0.6 and 0.45"
    ):
        make_task(IDS[1], yes_no=0.6)


@pytest.mark.parametrize("vanishing", [False, True])
@pytest.mark.parametrize(
    ("kind", "objects", "verbs", "colours", "questions"),
    [
        (AdjectiveQa, 2, 1, 2, 1),
        (AdjectiveQa, 2, 2, 1, 1),
        (AdjectiveQa, 2, 1, 1, 2),
        (AdjectiveQaCounting, 2, 1, 1, 2),
    ],
)
def test_distribution_of_whole_sequences(
    spreads, prompts, fits, texts, kind, objects, verbs, colours, questions, vanishing
):
    task = kind(
        objects=objects,
        verbs=verbs,
        colours=colours,
        sizes=1,
        fewest=1,
        most=objects,
        most_questions=questions,
        vanishing=vanishing,
        balanced=False,
    )
    weights = enumerate_all(spreads, prompts, task)
    found = Counter(texts(task, task.sample(np.random.default_rng(7), 5000)))
    assert fits(found, weights)
    unseen = [
        words
        for words in map(str.split, found)
        if {question.name for question in skim_questions(words) if question.name}
        - {f.name for f in skim_facts(words)}
    ]
    assert bool(unseen) == vanishing


@pytest.mark.parametrize(
    ("id", "mean", "deviation", "asked"), [(IDS[0], 31.4, 12.5, 1.0), (IDS[1], 45.3, 21.0, 2.53)]
)
def test_published_lengths_and_questions(make_task, id, mean, deviation, asked):
    """The numbers counted in 2000 published sequences, with 4 standard errors."""
    task = make_task(id, "published")
    examples = task.sample(np.random.default_rng(9), 8000)
    lengths = examples.lengths + 1
    error = np.sqrt(1 / 2000 + 1 / 8000)
    assert lengths.mean() == pytest.approx(mean, abs=0.05 + 4 * deviation * error)
    assert lengths.std() == pytest.approx(deviation, abs=0.05 + 4 * deviation * error)
    assert lengths.min() == 12
    assert examples.questions / 8000 == pytest.approx(
        asked, abs=4 * 1.3 * error if asked > 1 else 0
    )
    if asked > 1:
        shares = Counter(examples.asked.sum(axis=0).tolist())
        for number, share in zip(
            range(1, 8), (0.28, 0.26, 0.23, 0.15, 0.06, 0.02, 0.002), strict=True
        ):
            assert shares[number] / 8000 == pytest.approx(
                share, abs=0.005 + 4 * np.sqrt(share * error**2)
            )


@pytest.mark.parametrize(
    ("id", "shares"),
    [
        (IDS[0], {"YES": 0.075, "NO": 0.26, **dict.fromkeys((*COLOURS, *SIZES[:4]), 0.083)}),
        (
            IDS[1],
            {"NO": 0.19, "ONE": 0.19, "ZERO": 0.11, "YES": 0.095, "TWO": 0.04, "THREE": 0.013}
            | dict.fromkeys(COLOURS, 0.045)
            | dict.fromkeys(SIZES, 0.034),
        ),
    ],
)
def test_published_answer_shares(make_task, id, shares):
    task = make_task(id, "published")
    examples = task.sample(np.random.default_rng(10), 5000)
    answers = Counter(task.vocabulary[token] for token in examples.targets[examples.asked].tolist())
    total = answers.total()
    for answer, share in shares.items():
        tolerance = 0.005 + 4 * np.sqrt(share * (1 / 2000 + 1 / 5000))
        assert answers[answer] / total == pytest.approx(share, abs=tolerance)


def test_published_things_vanish_as_often_as_counted(make_task, texts):
    task = make_task(IDS[0], "published")
    asked = gone = 0
    for words in map(str.split, texts(task, task.sample(np.random.default_rng(6), 12000))):
        (question,) = skim_questions(words)
        if question.kind == "DO":
            asked += 1
            if question.name not in {fact.name for fact in skim_facts(words)}:
                gone += 1
                assert words[-1] == "NO"
    assert gone / asked == pytest.approx(0.003, abs=0.002)
    assert asked / 12000 == pytest.approx(0.335, abs=0.02)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), seed=st.integers(0, 10**6))
def test_every_draw_checks_out_and_changed_answers_do_not(data, seed):
    balanced = data.draw(st.booleans())
    objects = data.draw(st.integers(4 if balanced else 1, 8))
    most = data.draw(st.integers(4 if balanced else 1, objects))
    kind = data.draw(st.sampled_from([AdjectiveQa, AdjectiveQaCounting]))
    task = kind(
        objects=objects,
        verbs=data.draw(st.integers(1, 6)),
        colours=data.draw(st.integers(2 if balanced else 1, 4)),
        sizes=data.draw(st.integers(2 if balanced else 1, 5)),
        fewest=data.draw(st.integers(4 if balanced else 1, most)),
        most=most,
        most_questions=data.draw(st.integers(1, 8)),
        coloured=data.draw(st.sampled_from([0.0, 0.6, 1.0])),
        yes_no=data.draw(st.sampled_from([0.1, 0.5])),
        vanishing=not balanced and data.draw(st.booleans()),
        balanced=balanced,
    )
    rng = np.random.default_rng(seed)
    examples = task.sample(rng, 4)
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        verdict = task.check(tokens)
        assert verdict.accepts(mask), verdict.reason
        place = int(rng.choice(mask))
        wrong = (tokens[place] + int(rng.integers(1, len(task.vocabulary)))) % len(task.vocabulary)
        changed = task.check([*tokens[:place], wrong, *tokens[place + 1 :]])
        assert not changed.right
        assert changed.reason.startswith(f"index {place}: ")


def test_worked_examples(make_task):
    verdict = make_task(IDS[0], "published").check(
        "I TOUCH A HUGE TRAIN BUT I DO NOT TOUCH AN APPLE . WHAT SIZE IS THE TRAIN I TOUCH ? HUGE"
    )
    assert verdict.right
    assert verdict.masks == ((21,),)
    several = make_task(IDS[1], "published").check(
        "I SEE A BIG CAR . HOW MANY THINGS DO I SEE ? ONE . WHAT SIZE IS THE CAR I SEE ? SMALL"
    )
    assert several.masks == ((13, 23),)
    assert several.reason == 'index 23: the answer is "SMALL", right is "BIG"'
    assert AdjectiveQa().check(f"{SURE} WHAT SIZE IS THE PEAR I SEE ? TINY").right
    assert AdjectiveQa().check(f"{SURE} DO I SEE A HUGE PLANE ? NO").right
    prompt = "I SEE A BIG CAR AND A TINY PEAR BUT I DO NOT SEE A BIG PLANE AND A HUGE PEACH ."
    assert AdjectiveQa().check(f"{prompt} DO I SEE A BIG CAR ? YES").right
    # There is but one colour to tell.
    assert (
        AdjectiveQa()
        .check(f"{SURE} WHAT COLOR IS THE PEAR I SEE ? RED")
        .reason.startswith(
            "index 27: expected the noun of an affirmed thing with a COLOR that can be asked for"
        )
    )


def test_vanished_things_may_be_asked_about_once_they_fit(make_task):
    task = make_task(IDS[1], "published", most=3)
    prompt = "I SEE A BIG PEAR AND A CAR ."
    assert task.check(f"{prompt} DO I SEE A BIG RED TRAIN ? NO").right
    assert (
        task.check(f"{prompt} DO I SEE A BIG RED TRAIN ? YES").reason
        == 'index 17: the answer is "YES", right is "NO"'
    )
    wrong = "expected a thing that goes with the verb"
    for name in ("A SMALL TRAIN", "A TRAIN", "A BIG CAR", "A RED PEAR"):
        assert wrong in task.check(f"{prompt} DO I SEE {name} ? NO").reason
    # A fourth thing would be too many, and the same thing has one look only.
    for name in ("A BIG PLANE", "A BIG TRAIN"):
        assert (
            wrong
            in task.check(f"{prompt} DO I SEE A BIG RED TRAIN ? NO . DO I SEE {name} ? NO").reason
        )
    assert (
        wrong
        in make_task(IDS[1], "written").check(f"{prompt} DO I SEE A BIG RED TRAIN ? NO").reason
    )
    shown = "I SEE A BIG PEAR BUT I DO NOT SEE A BIG CAR . DO I SEE A BIG CAR ? NO"
    assert (
        task.check(shown).reason
        == "index 13: a denied thing of SEE should have vanished from the prompt"
    )
    assert make_task(IDS[1], "written").check(shown).right


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("I SEE CAR", 'index 2: expected A or AN, got "CAR"'),
        ("I SEE AN CAR", 'index 2: "A" must come before "CAR", not "AN"'),
        ("I SEE A APPLE", 'index 2: "AN" must come before "APPLE", not "A"'),
        ("I SEE A RED BIG CAR", 'index 4: expected a noun not yet mentioned, got "BIG"'),
        (
            "I SEE A CAR AND A RED CAR",
            'index 7: expected a noun not yet mentioned, got "CAR"',
        ),
        (
            "I SEE A RED CAR . WHAT SIZE IS THE CAR I SEE ? BIG",
            "index 10: expected the noun of an affirmed thing with a SIZE",
        ),
        (
            "I DO NOT SEE A RED CAR . WHAT COLOR IS THE CAR",
            "index 12: expected the noun of an affirmed thing with a COLOR",
        ),
        (
            "I SEE A RED CAR . WHAT COLOR IS THE CAR I HEAR ? RED",
            'index 12: expected "SEE", got "HEAR"',
        ),
        (
            "I SEE A RED CAR . WHAT COLOR IS THE CAR I SEE ? BIG",
            "index 14: expected RED or GREEN or BLUE or YELLOW",
        ),
        (
            "I SEE A CAR . HOW MANY THINGS DO I SEE ? ONE",
            "index 5: expected DO: no affirmed thing has an",
        ),
    ],
)
def test_malformed_published(make_task, words, reason):
    verdict = make_task(IDS[1], "published").check(words)
    assert not verdict.well_formed
    assert verdict.reason.startswith(reason)


def test_balanced_prompts_need_their_sure_statement():
    reason = (
        "the prompt ends here without a statement with two adjectives of a kind both affirmed and"
        " denied"
    )
    prompt = "I SEE A BIG CAR AND A TINY PEAR BUT I DO NOT SEE A HUGE PLANE AND A HUGE PEACH ."
    assert reason in AdjectiveQa().check(f"{prompt} WHAT SIZE IS THE PEAR I SEE ? TINY").reason
    # Only a statement with both clauses is asked about by yes or no.
    assert (
        AdjectiveQa()
        .check(f"{SURE[:-1]}. I HEAR A TRAIN . DO I HEAR A TRAIN ? YES")
        .reason.startswith("index 30: expected a verb")
    )


@pytest.mark.parametrize("id", IDS)
def test_balanced_choices(make_task, texts, id):
    """Kinds do not depend on the prompt; answers by yes or no are a coin; left-over adjectives are
    equally likely.
    """
    task = make_task(id, yes_no=0.3, most_questions=1)
    tables: dict[str, Counter[str]] = {
        key: Counter() for key in ("answer", "polarity", "described", "place", "colour")
    }
    kinds: Counter[str] = Counter()
    for words in map(str.split, texts(task, task.sample(np.random.default_rng(11), 7000))):
        (question,) = skim_questions(words)
        kinds[question.kind] += 1
        facts = [fact for fact in skim_facts(words) if fact.verb == question.verb]
        if question.kind == "DO":
            side = [fact for fact in facts if fact.affirmed]
            tables["answer"][words[-1]] += 1
            if 2 * len(side) != len(facts):
                tables["polarity"][str((2 * len(side) > len(facts)) == (words[-1] == "YES"))] += 1
            (asked,) = [fact for fact in facts if fact.name == question.name]
            if asked.adjectives:
                tables["described"][words[-1]] += 1
        elif question.kind != "HOW":
            known = COLOURS if question.kind == "COLOR" else SIZES
            values = [
                word for fact in facts if fact.affirmed for word in fact.adjectives if word in known
            ]
            assert len(set(values)) >= 2
            if len(set(values)) == len(values) == 2:
                tables["place"][str(values.index(words[-1]))] += 1
            if question.kind == "COLOR":
                tables["colour"][words[-1]] += 1
    assert [len(table) for table in tables.values()] == [2, 2, 2, 2, 4]
    for table in tables.values():
        assert chisquare(list(table.values())).pvalue > 1e-4
    total = kinds.total()
    assert kinds["DO"] / total == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / total))
    assert kinds["HOW"] / total == pytest.approx(
        getattr(task, "counts", 0), abs=4 * np.sqrt(0.25 / total)
    )


@pytest.mark.parametrize("id", IDS)
def test_things_have_adjectives_as_often_as_they_should(make_task, texts, id):
    task = make_task(id, "written")
    looks: Counter[tuple[bool, bool]] = Counter()
    words_used: Counter[str] = Counter()
    for words in map(str.split, texts(task, task.sample(np.random.default_rng(12), 4000))):
        for fact in skim_facts(words):
            looks[
                any(a in COLOURS for a in fact.adjectives), any(a in SIZES for a in fact.adjectives)
            ] += 1
            words_used.update(fact.adjectives)
    expected = {(True, True): 0.36, (True, False): 0.24, (False, True): 0.24, (False, False): 0.16}
    assert (
        chisquare(
            [looks[key] for key in expected], [s * looks.total() for s in expected.values()]
        ).pvalue
        > 1e-4
    )
    for known in (COLOURS, SIZES):
        assert chisquare([words_used[word] for word in known]).pvalue > 1e-4


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_oracle_reaches_the_ceiling(make_task, accuracy, id, convention):
    task = make_task(id, convention)
    assert accuracy("qa-oracle", task, task.sample(np.random.default_rng(3), 800)) == 1.0
