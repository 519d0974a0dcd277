"""What the rules of the question-answering tasks say about given sentences."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.tasks.language.adjective_qa_counting import AdjectiveQaCounting
from quickstudy.tasks.language.qa_rules import Question, skim_questions
from quickstudy.tasks.language.world_qa import WorldQa

TASK = AdjectiveQaCounting(fewest=1, balanced=False)
PROMPT = (
    "I SEE A BIG RED CAR AND A BLUE PEAR BUT I DO NOT SEE A TINY PLANE . I DO NOT HEAR A GREEN"
    " PEACH ."
)


@pytest.fixture
def say(make_control):
    """The answers of a rule to the last question of a prompt, over seeds, after some lessons of
    (words, answer).
    """

    def answers(name, words, lessons=(), task=TASK):
        ids = {word: id for id, word in enumerate(task.vocabulary)}
        said = set()
        for seed in range(12):
            rule = make_control(name, task, seed)
            for lesson, answer in lessons:
                inputs = np.array([ids[word] for word in lesson.split()])
                targets = np.full(len(inputs), -1)
                targets[-1] = ids[answer]
                rule.learn(inputs, targets)
            said.add(
                task.vocabulary[rule.predict(np.array([ids[word] for word in words.split()]))[-1]]
            )
        return said

    return answers


def test_questions_are_found():
    words = (
        f"{PROMPT} WHAT COLOR IS THE CAR I SEE ? RED . HOW MANY THINGS DO I HEAR ? ZERO . DO I SEE"
        " A BIG RED CAR ?"
    )
    places = [index for index, word in enumerate(words.split()) if word == "?"]
    assert skim_questions(words.split()) == [
        Question(places[0], "COLOR", "SEE", "CAR"),
        Question(places[1], "HOW", "HEAR", ""),
        Question(places[2], "DO", "SEE", "CAR"),
    ]
    assert skim_questions(["?", "WHAT", "?"]) == [
        Question(0, "DO", "", ""),
        Question(2, "DO", "", ""),
    ]


@pytest.mark.parametrize(
    ("question", "oracle", "verb_only", "latest"),
    [
        ("WHAT COLOR IS THE CAR I SEE ?", "RED", "BLUE", "BLUE"),
        ("WHAT COLOR IS THE PEAR I SEE ?", "BLUE", "BLUE", "BLUE"),
        ("WHAT SIZE IS THE CAR I SEE ?", "BIG", "BIG", "BIG"),
        ("DO I SEE A TINY PLANE ?", "NO", "YES", "NO"),
        ("DO I SEE A BLUE PEAR ?", "YES", "YES", "NO"),
        ("DO I HEAR A GREEN PEACH ?", "NO", "NO", "NO"),
        ("HOW MANY THINGS DO I SEE ?", "TWO", "THREE", "THREE"),
        ("HOW MANY THINGS DO I HEAR ?", "ZERO", "ZERO", "THREE"),
    ],
)
def test_given_sentences(say, question, oracle, verb_only, latest):
    lessons = [("I SEE A CAR . HOW MANY THINGS DO I SEE ?", "THREE")]
    assert say("qa-oracle", f"{PROMPT} {question}") == {oracle}
    assert say("verb-only", f"{PROMPT} {question}", lessons) == {verb_only}
    assert say("latest-adjective", f"{PROMPT} {question}", lessons) == {latest}


def test_verb_only_throws_a_coin_between_equals(say):
    assert say("verb-only", "I SEE A CAR BUT I DO NOT SEE A PEAR . DO I SEE A CAR ?") == {
        "YES",
        "NO",
    }


def test_question_majority_learns_each_kind_by_itself(say):
    yes, how, what = (
        "DO I SEE A CAR ?",
        "HOW MANY THINGS DO I SEE ?",
        "WHAT SIZE IS THE CAR I SEE ?",
    )
    lessons = [
        (yes, "YES"),
        (how, "TWO"),
        (how, "ONE"),
        (how, "ONE"),
        (what, "BIG"),
        (yes, "NO"),
        (yes, "YES"),
    ]
    assert say("question-majority", yes, lessons) == {"YES"}
    assert say("question-majority", how, lessons) == {"ONE"}
    assert say("question-majority", what, lessons) == {"BIG"}
    assert say("question-majority", "WHAT COLOR IS THE CAR I SEE ?", lessons) == {"NO"}


def test_polarity_looks_at_the_queried_verb(say):
    prompt = "I SEE TOM AND PAUL . I DO NOT HEAR MARC AND LEO BUT I HEAR LUKE ."
    assert say("polarity", f"{prompt} DO I SEE TOM ?", task=WorldQa()) == {"YES"}
    assert say("polarity", f"{prompt} DO I HEAR MARC ?", task=WorldQa()) == {"YES", "NO"}
    assert say("polarity-count", f"{prompt} DO I HEAR LUKE ?", task=WorldQa()) == {"NO"}
    assert say("qa-oracle", f"{prompt} DO I HEAR LUKE ?", task=WorldQa()) == {"YES"}


def test_words_of_other_tasks_become_no(make_control):
    """Seven things are affirmed, the vocabulary of a smaller task ends at three."""
    task = AdjectiveQaCounting(objects=3, fewest=1, most=3, balanced=False)
    words = "I SEE " + " AND ".join(["A PEAR"] * 7) + " . HOW MANY THINGS DO I SEE ?"
    ids = {word: id for id, word in enumerate(task.vocabulary)}
    answers = make_control("qa-oracle", task).predict(
        np.array([ids[word] for word in words.split()])
    )
    assert task.vocabulary[answers[-1]] == "NO"
