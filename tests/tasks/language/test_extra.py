"""Tasks outside the published ten: worked examples, and every draw checks out."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.tasks.language.extra import KINDS

WORKED = {
    "lookup": "c 4 a 9 f 1 ? a 9",
    "far-lookup": "c 4 a 9 f 1 ? c - - - - - - - - - - = 4",
    "inverse": "c 4 a 9 f 1 ? 1 f",
    "two-hops": "b c ; a b ; c d ; ? a c",
    "copy": "a b a | a b a",
    "reverse": "a b c | c b a",
    "first": "d a b ? d",
    "order": "a b c ? c b b",
    "most": "a b a ? a",
    "times": "a b a c ? a 2",
    "parity": "1 0 1 1 ? 1",
    "switch": "on - off - - ? off",
    "walk": "left left right ? 4",
    "sum": "1 2 3 ; 7 + 5 = 2",
    "named-sum": "a 3 b 4 c 0 d 1 ? a + b 2",
    "image": "a b c ? a d",
    "brackets": "( [ ] { ? }",
    "least": "d b g | b",
    "since": "a - c - e f ? e",
    "machine": "1 2 2 1 2 ? 3",
}


def test_every_kind_has_a_worked_example():
    assert set(WORKED) == set(KINDS)


@pytest.mark.parametrize("kind", WORKED)
def test_worked_examples(make_task, kind):
    task = make_task(f"language/extra-{kind}")
    words = WORKED[kind].split()
    assert task.check(WORKED[kind]).right
    other = next(word for word in task.vocabulary if word != words[-1])
    assert not task.check([*words[:-1], other]).right
    assert not task.check(words[:-1]).right


@pytest.mark.parametrize("kind", WORKED)
def test_draws_check_out_and_the_oracle_is_right(make_task, accuracy, kind):
    task = make_task(f"language/extra-{kind}")
    examples = task.sample(np.random.default_rng(5), 60)
    assert all(
        task.check(examples.sequence(index)[0]).accepts(examples.sequence(index)[1])
        for index in range(60)
    )
    assert accuracy("extra-oracle", task, examples) == 1.0
    assert accuracy("majority", task, examples) < 0.75
