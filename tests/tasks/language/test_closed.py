"""The second versions of tasks 5 to 10: closed to shallow rules, with every sequence checked by its
definition.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.language.closed_adjectives import ClosedAdjectiveQa, ClosedAdjectiveQaCounting
from quickstudy.tasks.language.closed_qa import (
    ClosedHarderQa,
    ClosedQa,
    ClosedWorldQa,
    ClosedWorldQaCounting,
)
from quickstudy.tasks.language.qa_rules import LastName
from quickstudy.tasks.language.statements import skim_facts

NAMES = (
    "qa",
    "harder-qa",
    "world-qa",
    "world-qa-counting",
    "adjective-qa",
    "adjective-qa-counting",
)
TASKS = (
    ClosedQa(),
    ClosedHarderQa(),
    ClosedWorldQa(most_questions=4),
    ClosedWorldQaCounting(most_questions=3),
    ClosedAdjectiveQa(yes_no=0.4),
    ClosedAdjectiveQaCounting(yes_no=0.3),
    ClosedQa(inside=2, names=10, fewest=10, most=10),
    ClosedWorldQa(inside=1, fewest=6, most_questions=2),
)
PAIRS = (
    "I SEE PAUL AND TOM BUT I DO NOT SEE JOHN AND JAMES AND PETER . "
    "I DO NOT HEAR JOHN AND TOM AND I HEAR PETER AND PAUL AND JAMES . DO I HEAR TOM ?"
)


def words_of(task, examples, index):
    return [task.vocabulary[token] for token in examples.sequence(index)[0]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("convention", ["published", "written"])
def test_published_and_written_are_those_of_the_first_version(make_task, name, convention):
    first, second = (make_task(f"language/{name}@{version}", convention) for version in (1, 2))
    assert first.vocabulary == second.vocabulary
    drawn = [task.sample(np.random.default_rng(3), 40) for task in (first, second)]
    assert np.array_equal(drawn[0].inputs, drawn[1].inputs)
    assert np.array_equal(drawn[0].asked, drawn[1].asked)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(TASKS), st.integers(0, 10**6))
def test_every_draw_checks_out_and_changed_answers_do_not(task, seed):
    rng = np.random.default_rng(seed)
    examples = task.sample(rng, 3)
    for index in range(3):
        tokens, mask = examples.sequence(index)
        assert task.check(tokens).accepts(mask)
        changed = [*tokens]
        changed[mask[0]] = (tokens[mask[0]] + int(rng.integers(1, len(task.vocabulary)))) % len(
            task.vocabulary
        )
        assert not task.check(changed).right
        assert not task.check(tokens[:-1]).right


def test_draws_do_not_depend_on_how_they_are_grouped():
    whole = ClosedWorldQaCounting().sample(np.random.default_rng(5), 6)
    rng = np.random.default_rng(5)
    single = [ClosedWorldQaCounting().sample(rng, 1).sequence(0) for _ in range(6)]
    assert [whole.sequence(index) for index in range(6)] == single


def test_worked_examples():
    assert ClosedQa().check(f"{PAIRS} NO").right
    assert ClosedQa().check(PAIRS.replace("HEAR TOM ?", "SEE TOM ? YES")).right
    assert ClosedQa().check(f"{PAIRS} YES").well_formed
    fault = "the prompt ends here and does not go with its questions"
    first = ClosedQa().check(
        PAIRS.replace("HEAR TOM ?", "HEAR JOHN ? NO")
    )  # stands first in its clause
    alike = ClosedQa().check(
        PAIRS.replace("HEAR TOM ?", "HEAR PAUL ? YES")
    )  # affirmed of both verbs
    assert fault in first.reason
    assert fault in alike.reason
    assert not ClosedQa().check("I SEE TOM BUT I DO NOT SEE PAUL . DO I SEE PAUL ? NO").well_formed


@pytest.mark.parametrize("task", TASKS[:3], ids=NAMES[:3])
def test_rules_that_lack_name_verb_or_not_have_one_half(task):
    """The pairs are drawn so that the other name, and the other verb, have the other answer to the
    same prompt.
    """
    examples = task.sample(np.random.default_rng(1), 2000)
    answers: Counter[tuple[str, bool]] = Counter()
    for index in range(examples.count):
        words = words_of(task, examples, index)
        facts = skim_facts(words)
        end = words.index("?")
        verb, name, answer = [*words[end - 2 : end], words[end + 1]]
        told = [fact for fact in facts if fact.name == name]
        assert {fact.affirmed for fact in told if fact.verb == verb} == {answer == "YES"}
        assert (answer == "NO") in {fact.affirmed for fact in told if fact.verb != verb}
        heads = {words[place + 1] for place in range(end - 3) if words[place] == verb}
        assert name not in heads
        answers["answer", answer == "YES"] += 1
        answers["first clause", words[1] != "DO"] += (words[1] != "DO") == (answer == "YES")
    assert answers["answer", True] == pytest.approx(1000, abs=4 * np.sqrt(500))
    assert answers["first clause", True] + answers["first clause", False] == pytest.approx(
        1000, abs=4 * np.sqrt(500)
    )


@pytest.mark.parametrize(
    ("task", "least", "most"),
    [
        (ClosedQa(), 0.83, 0.91),
        (ClosedHarderQa(), 0.73, 0.85),
        (TASKS[6], 0.44, 0.56),
        (TASKS[7], 0.44, 0.56),
    ],
    ids=["qa", "harder-qa", "qa inside", "world-qa inside"],
)
def test_the_last_name_tells_much_unless_pairs_stand_inside(task, least, most):
    examples = task.sample(np.random.default_rng(7), 600)
    rule = LastName(
        task,
        Brief(Tokens(len(task.vocabulary)), Tokens(len(task.vocabulary)), "cross-entropy", 200, 1),
        0,
    )
    right = []
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        said = rule.predict(np.array(tokens[:-1]))
        right += [said[place - 1] == tokens[place] for place in mask]
    assert least < np.mean(right) < most


def test_a_pair_that_stands_too_near_an_end_is_refused():
    task = ClosedQa(inside=2, names=13, fewest=10, most=10)
    some, others = (
        "PETER AND JOHN AND ANDREW AND TOM AND JAMES",
        "PAUL AND SIMON AND MARC AND LUKE AND BRUNO",
    )
    told = (
        f"I SEE {some} BUT I DO NOT SEE {others} . I DO NOT HEAR {some} AND I HEAR {others} . DO I"
        " SEE ANDREW ? YES"
    )
    assert task.check(told).right
    last = task.check(told.replace("ANDREW AND TOM AND JAMES BUT", "TOM AND ANDREW AND JAMES BUT"))
    assert "less than 2 names inside its clause" in last.reason
    with pytest.raises(ValueError, match="fewest must be at least 10 when balanced, got 5"):
        ClosedQa(inside=2)


def test_counts_are_even_and_statements_equally_long():
    task = ClosedWorldQaCounting(counts=1.0)
    examples = task.sample(np.random.default_rng(2), 2000)
    found = Counter(words_of(task, examples, index)[-1] for index in range(examples.count))
    assert set(found) == {"TWO", "THREE", "FOUR", "FIVE"}
    assert all(abs(count - 500) < 4 * np.sqrt(375) for count in found.values())
    for index in range(50):
        facts = skim_facts(words_of(task, examples, index))
        assert set(Counter(fact.verb for fact in facts).values()) == {7}


def test_all_four_answers_stand_with_the_noun():
    task = ClosedAdjectiveQa(yes_no=0.0)
    examples = task.sample(np.random.default_rng(4), 300)
    for index in range(examples.count):
        words = words_of(task, examples, index)
        answer, noun = words[-1], words[-5]
        facts = [fact for fact in skim_facts(words) if fact.name == noun]
        known = next(kind for kind in (task._known["COLOR"], task._known["SIZE"]) if answer in kind)
        assert Counter(
            word for fact in facts for word in fact.adjectives if word in known
        ) == dict.fromkeys(known, 1)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "qa",
            {"fewest": 3},
            "fewest must be at least 4 when balanced, got 3; or give balanced=no",
        ),
        ("qa", {"verbs": 1}, "verbs must be at least 2 when balanced, got 1; or give balanced=no"),
        (
            "world-qa-counting",
            {"names": 6, "most": 6},
            "names must be at least 7 when balanced and counted, got 6",
        ),
        (
            "adjective-qa",
            {"colours": 3},
            "colours and sizes must be at least 4 when balanced, got 3 and 4",
        ),
    ],
)
def test_parameters_that_do_not_fit(make_task, name, given, message):
    with pytest.raises(UsageError, match=message):
        make_task(f"language/{name}@2", **given)


@pytest.mark.parametrize("name", NAMES)
def test_oracle_is_right_and_shallow_rules_are_not(make_task, accuracy, name):
    task = make_task(f"language/{name}@2")
    examples = task.sample(np.random.default_rng(6), 600)
    assert accuracy("qa-oracle", task, examples) == 1.0
    bound = {"world-qa-counting": 0.46, "adjective-qa": 0.4, "adjective-qa-counting": 0.4}.get(
        name, 0.58
    )
    for rule in {"verbatim", "not-before", "composite"} & set(task.controls):
        assert accuracy(rule, task, examples) < bound


def test_shallow_rules_on_given_words(make_task, make_control):
    task = make_task("language/world-qa-counting", "published")
    ids = {word: id for id, word in enumerate(task.vocabulary)}

    def said(rule, text):
        inputs = np.array([ids[word] for word in text.split()])
        return task.vocabulary[make_control(rule, task).predict(inputs)[-1]]

    prompt = "I SEE TOM AND PAUL BUT I DO NOT SEE LEO . I CALL MARC . DO I"
    assert said("verbatim", f"{prompt} SEE TOM ?") == "YES"
    assert said("verbatim", f"{prompt} SEE PAUL ?") == "NO"
    assert said("verbatim", f"{prompt} SEE LEO ?") == "NO"
    assert said("not-before", f"{prompt} SEE PAUL ?") == "YES"
    assert said("not-before", f"{prompt} CALL MARC ?") == "NO"
    count = prompt.removesuffix("DO I") + "HOW MANY PEOPLE DO I"
    assert said("composite", f"{count} CALL ?") == "ONE"
    assert said("composite", f"{count} SEE ?") == "TWO"


def test_composite_takes_the_nearest_adjective(make_task, make_control):
    task = make_task("language/adjective-qa", "published")
    ids = {word: id for id, word in enumerate(task.vocabulary)}
    text = "I SEE A BIG CAR AND A RED APPLE . WHAT SIZE IS THE APPLE I SEE ?"
    rule = make_control("composite", task)
    assert (
        task.vocabulary[rule.predict(np.array([ids[word] for word in text.split()]))[-1]] == "BIG"
    )
