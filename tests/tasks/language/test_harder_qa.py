"""What differs from `language/qa`; the rest is the same class."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.tasks.language.qa import HarderQa, Qa

CONVENTIONS = ("published", "written", "corrected")


def test_vocabulary_and_presets(make_task):
    words = "PETER JOHN TOM JAMES PAUL MARC LUKE SIMON ANDREW BRUNO LISA SEE HEAR CALL FEEL SMELL"
    tasks = [make_task("language/harder-qa@1", convention) for convention in CONVENTIONS]
    assert all(
        " ".join(task.vocabulary) == f"{words} I DO NOT AND BUT ? . YES NO" for task in tasks
    )
    assert [(t.fewest, t.most, t.balanced) for t in tasks] == [
        (1, 10, False),
        (1, 5, False),
        (2, 10, True),
    ]
    assert isinstance(tasks[0], HarderQa)
    assert (tasks[0].id, Qa().id) == ("language/harder-qa", "language/qa")


def test_parameters_that_do_not_fit(make_task):
    with pytest.raises(
        UsageError, match=r"language/harder-qa@1: most must be at most names \(11\), got 12"
    ):
        make_task("language/harder-qa@1", most=12)
    with pytest.raises(UsageError, match="fewest must be at least 2 when balanced"):
        make_task("language/harder-qa@1", fewest=1)


@pytest.mark.parametrize(
    ("convention", "shortest", "longest"),
    [("published", 10, 32), ("written", 10, 22), ("corrected", 16, 32)],
)
def test_lengths_answers_and_words(make_task, texts, convention, shortest, longest):
    task = make_task("language/harder-qa@1", convention)
    examples = task.sample(np.random.default_rng(0), 4000)
    lengths = examples.lengths + 1
    assert (lengths.min(), lengths.max()) == (shortest, longest)
    if convention == "published":
        assert lengths.mean() == pytest.approx(
            22.0, abs=0.05 + 4 * 6.5 * np.sqrt(1 / 2000 + 1 / 4000)
        )
        assert lengths.std() == pytest.approx(6.5, abs=0.2)
    sequences = texts(task, examples)
    assert sum(text.endswith("YES") for text in sequences) / 4000 == pytest.approx(
        0.5, abs=4 * np.sqrt(0.25 / 4000)
    )
    assert {text.split()[-4] for text in sequences} == set(task.actions)
    assert {text.split()[-3] for text in sequences} == set(task.people)
    assert all(task.check(text).right for text in sequences[:500])


def test_worked_example():
    assert (
        HarderQa().check("I DO NOT CALL LUKE AND LISA BUT I CALL MARC . DO I CALL LISA ? NO").right
    )


def test_shortcuts_of_the_published_form(make_task, accuracy):
    task = make_task("language/harder-qa@1", "published")
    examples = task.sample(np.random.default_rng(1), 4000)
    alike = sum(Fraction(2, s + 1) for s in range(1, 11)) / 10
    larger = (
        sum(Fraction(max(k, s - k), s * (s + 1)) for s in range(1, 11) for k in range(s + 1)) / 10
    )
    assert accuracy("polarity", task, examples) == pytest.approx(
        float((1 + alike) / 2), abs=4 * np.sqrt(0.21 / 4000)
    )
    assert accuracy("polarity-count", task, examples) == pytest.approx(
        float(larger), abs=4 * np.sqrt(0.16 / 4000)
    )


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_oracle_reaches_the_ceiling(make_task, accuracy, convention):
    task = make_task("language/harder-qa@1", convention)
    assert accuracy("qa-oracle", task, task.sample(np.random.default_rng(3), 1000)) == 1.0
