"""The checkers accept exactly what the definitions give, and never raise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base import registries
from quickstudy.base.parameters import configure
from quickstudy.tasks.language.adjective_qa import AdjectiveQa
from quickstudy.tasks.language.adjective_qa_counting import AdjectiveQaCounting
from quickstudy.tasks.language.checking import Answer, Verdict
from quickstudy.tasks.language.pattern_counting import PatternCounting
from quickstudy.tasks.language.periodic import IncreasingPeriod, Periodic
from quickstudy.tasks.language.qa import Qa
from quickstudy.tasks.language.symbol_counting import SymbolCounting
from quickstudy.tasks.language.world_qa import WorldQa, WorldQaCounting

LANGUAGE = [id for id in registries.task.names() if id.startswith(("language/", "continual/"))]
SMALL = {
    "periodic": Periodic(longest=3, length=10),
    "symbol-counting": SymbolCounting(letters=2, longest=2, most_queries=2),
    "qa": Qa(names=2, verbs=1, fewest=1, most=2, balanced=False),
    "balanced qa": Qa(names=2, verbs=2, fewest=2, most=2),
    "increasing-period": IncreasingPeriod(longest=2, length=9),
    "turns": IncreasingPeriod(longest=2, length=12, turns=True),
    "pattern-counting": PatternCounting(letters=1, longest=2, stretch=1.0, separators=1),
    "unverified pattern-counting": PatternCounting(
        letters=2, longest=1, stretch=1.0, separators=1, verified=False
    ),
    "world-qa": WorldQa(names=2, verbs=1, fewest=1, most=2, balanced=False),
    "balanced world-qa": WorldQa(names=2, verbs=2, fewest=2, most=2),
    "world-qa-counting": WorldQaCounting(names=2, verbs=1, fewest=1, most=2, balanced=False),
    "adjective-qa": AdjectiveQa(
        2, 1, 1, 1, 2, 2, coloured=0.5, sized=0, vanishing=True, balanced=False, yes_no=0.5
    ),
    "adjective-qa-counting": AdjectiveQaCounting(
        1, 1, 1, 1, 1, 1, most_questions=2, balanced=False
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_right_sequences_are_those_that_can_be_drawn(name):
    """All sequences of a small task, all that differ from one of them in a single token, and all
    cut short.
    """
    task = SMALL[name]
    # The rarest has probability 1/768 in adjective-qa, at least 1/200 in the others.
    examples = task.sample(np.random.default_rng(0), 12000 if name == "adjective-qa" else 3000)
    language = {tuple(examples.sequence(i)[0]) for i in range(examples.count)}
    tried = set()
    for sequence in language:
        tried.add(sequence[:-1])
        for place, token in itertools.product(range(len(sequence)), range(len(task.vocabulary))):
            tried.add((*sequence[:place], token, *sequence[place + 1 :]))
    assert language < tried
    assert {sequence for sequence in tried if task.check(sequence).right} == language


@pytest.mark.parametrize("convention", ["published", "corrected"])
@pytest.mark.parametrize("id", LANGUAGE)
def test_never_raises(id, convention):
    task = configure(id, registries.task.get(id), {}, convention)
    junk = st.one_of(
        st.sampled_from(task.vocabulary),
        st.integers(-2, 20),
        st.text(max_size=3),
        st.none(),
        st.floats(),
        st.binary(),
    )

    @settings(max_examples=150, deadline=None)
    @given(st.one_of(st.lists(junk, max_size=12), st.text(max_size=20), junk))
    def check(tokens):
        verdict = task.check(tokens)
        assert verdict.right or verdict.reason.startswith("index ")

    check()


def test_ids_words_text_and_arrays_are_the_same():
    words = ["A", "x", "A", "1", "."]
    ids = [0, 3, 0, 6, 4]
    verdicts = {
        SymbolCounting().check(form)
        for form in (tuple(words), tuple(ids), "A x A 1 .", ("A", 3, "A", 6, "."))
    }
    assert len(verdicts) == 1
    assert SymbolCounting().check(np.array(ids)) in verdicts
    assert SymbolCounting().check(np.array(words)) in verdicts
    assert not SymbolCounting().check(np.array([ids])).well_formed


def test_supervised_is_common_to_all_masks():
    answers = [Answer((3,), ("a",), ("a",)), Answer((4,), ("b",), ("b",))]
    verdict = Verdict.of(answers, [[3, 4], [4]])
    assert verdict.supervised == (4,)
    assert verdict.accepts([4, 3])
    assert verdict.accepts([4])
    assert not verdict.accepts([3])
    assert Verdict(False, reason="index 0: nothing").supervised == ()
