"""The third versions of tasks 5 to 10: where the asked thing stands tells as little as can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.runs.run_spec import Setting, component, identity
from quickstudy.tasks.language.inner_adjectives import InnerAdjectiveQa, InnerAdjectiveQaCounting
from quickstudy.tasks.language.inner_qa import (
    InnerHarderQa,
    InnerQa,
    InnerWorldQa,
    InnerWorldQaCounting,
)
from quickstudy.tasks.language.qa_rules import skim_questions
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
    InnerQa(),
    InnerHarderQa(fewest=6),
    InnerWorldQa(most_questions=4),
    InnerWorldQaCounting(most_questions=3),
    InnerAdjectiveQa(yes_no=0.4),
    InnerAdjectiveQaCounting(yes_no=0.3),
)
SHORT = (
    "I SEE PAUL AND TOM AND LISA BUT I DO NOT SEE JOHN AND JAMES AND PETER . "
    "I DO NOT HEAR JOHN AND TOM AND LISA AND I HEAR PETER AND JAMES AND PAUL . DO I HEAR TOM ?"
)


def one_place(task, back, count, seed=3):
    """How often a rule is right that looks at one name alone, so many from the end, as `last-name`
    does.
    """
    examples = task.sample(np.random.default_rng(seed), count)
    right = []
    for index in range(count):
        words = [task.vocabulary[token] for token in examples.sequence(index)[0]]
        asked = skim_questions(words)[0]
        seen = [fact for fact in skim_facts(words) if fact.place < asked.place][-back]
        other = (seen.name != asked.name) != (seen.verb != asked.verb)
        right.append(("YES" if seen.affirmed != other else "NO") == words[asked.place + 1])
    return float(np.mean(right))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("convention", ["published", "written"])
def test_published_and_written_are_the_second_version_to_the_key(make_task, name, convention):
    second, third = (make_task(f"language/{name}@{version}", convention) for version in (2, 3))
    assert second.vocabulary == third.vocabulary
    drawn = [task.sample(np.random.default_rng(3), 40) for task in (second, third)]
    assert np.array_equal(drawn[0].inputs, drawn[1].inputs)
    assert np.array_equal(drawn[0].asked, drawn[1].asked)
    assert component(second) == component(third)
    settings = [Setting(f"language/{name}@{version}", "esn", convention) for version in (2, 3)]
    assert len({str(identity(setting, setting.resolve(), 0)) for setting in settings}) == 1
    assert make_task(f"language/{name}").version == 3


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


def test_worked_example():
    task = InnerQa(fewest=6)
    assert task.check(f"{SHORT} NO").right
    assert task.check(SHORT.replace("HEAR TOM ?", "SEE TOM ? YES")).right
    last = task.check(SHORT.replace("HEAR TOM ?", "HEAR LISA ? NO"))
    assert "less than 1 names inside its clause" in last.reason
    uneven = SHORT.replace("AND LISA BUT I DO NOT SEE", "BUT I DO NOT SEE LISA AND")
    assert "clauses are not equally long" in task.check(f"{uneven} NO").reason


# The second version with two names inside, ten in all, has one place for the pair in every clause:
# the third from the end is right always. Here every place inside is as likely as the others: 1/2 +
# 1 / (s - 4).
@pytest.mark.parametrize("back", [2, 3, 5, 7])
def test_no_place_tells_more_than_another(make_task, back):
    crowded = make_task("language/qa@2", inside=2, names=10, fewest=10, most=10)
    assert one_place(crowded, 3, 50) == 1.0
    assert one_place(InnerQa(), back, 1500) == pytest.approx(
        0.5 + 1 / 12, abs=4 * np.sqrt(0.25 / 1500)
    )


@pytest.mark.parametrize("back", [1, 8])
def test_the_ends_of_clauses_tell_nothing(back):
    assert one_place(InnerQa(), back, 1500) == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 1500))


@pytest.mark.parametrize("name", NAMES)
def test_oracle_is_right_and_all_controls_are_near_chance(make_task, accuracy, name):
    task = make_task(f"language/{name}")
    examples = task.sample(np.random.default_rng(6), 600)
    assert accuracy("qa-oracle", task, examples) == 1.0
    usual = {"world-qa-counting": 0.375, "adjective-qa": 0.275, "adjective-qa-counting": 0.28}.get(
        name, 0.5
    )
    for rule in set(task.controls) - {"majority"}:
        # 1/12 at most for one name that is read, and four standard errors
        bound = (
            usual
            + (0.084 if rule == "inner-name" else 0.01)
            + 4 * np.sqrt(usual * (1 - usual) / 600)
        )
        assert accuracy(rule, task, examples) < bound, rule


def test_four_nouns_have_all_answers_in_every_clause():
    task = InnerAdjectiveQa(yes_no=0.0)
    examples = task.sample(np.random.default_rng(4), 100)
    for index in range(examples.count):
        words = [task.vocabulary[token] for token in examples.sequence(index)[0]]
        answer, noun, verb = words[-1], words[-5], words[-3]
        known = next(kind for kind in task._known.values() if answer in kind)
        facts = [fact for fact in skim_facts(words) if set(fact.adjectives) & set(known)]
        with_noun = [fact for fact in facts if fact.name == noun]
        assert {word for fact in with_noun for word in fact.adjectives} >= set(known)
        in_clause = [fact for fact in facts if fact.verb == verb and fact.affirmed]
        assert {word for fact in in_clause for word in fact.adjectives} >= set(known)


def test_one_colour_or_size_is_asked_for_at_most():
    task = InnerAdjectiveQaCounting(counts=0.0, yes_no=0.0)
    examples = task.sample(np.random.default_rng(4), 40)
    assert all(len(examples.sequence(index)[1]) == 1 for index in range(40))


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "qa",
            {"fewest": 5},
            "fewest must be at least 6 when balanced, got 5; or give balanced=no",
        ),
        ("qa", {"names": 12}, r"most must be at most names \(12\), got 16"),
        (
            "adjective-qa",
            {"fewest": 5},
            "fewest must be at least 6 when balanced, got 5; or give balanced=no",
        ),
    ],
)
def test_parameters_that_do_not_fit(make_task, name, given, message):
    with pytest.raises(UsageError, match=message):
        make_task(f"language/{name}", **given)
