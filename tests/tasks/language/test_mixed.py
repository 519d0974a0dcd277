from __future__ import annotations

import doctest

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.tasks.language import mixed, mixed_rules
from quickstudy.tasks.language.continual import ContinualTask, chained, growing
from quickstudy.tasks.language.mixed import Mixed, Translated, common_vocabulary
from quickstudy.tasks.language.periodic import Periodic
from quickstudy.tasks.language.qa import Qa
from quickstudy.tasks.language.symbol_counting import SymbolCounting

EVERYTHING = (
    *("periodic", "symbol-counting", "pattern-counting", "qa", "harder-qa"),
    *("world-qa", "world-qa-counting", "adjective-qa", "adjective-qa-counting"),
)


def in_words(task, examples):
    return [
        ([task.vocabulary[id] for id in tokens], mask)
        for tokens, mask in map(examples.sequence, range(examples.count))
    ]


@pytest.mark.parametrize("module", [mixed, mixed_rules])
def test_doctests(module):
    result = doctest.testmod(module)
    assert result.attempted >= 1
    assert result.failed == 0


def test_common_vocabulary_keeps_the_order_of_first_appearance():
    assert common_vocabulary([Periodic(), SymbolCounting()]) == ("0", "1", *"ABCx.", *"23456789")
    assert common_vocabulary([SymbolCounting(), Periodic()]) == SymbolCounting().vocabulary


def test_translated_sequences_are_the_same_words():
    task = SymbolCounting()
    translated = Translated(task, common_vocabulary([Periodic(), task]))
    own = task.sample(np.random.default_rng(0), 50)
    other = translated.sample(np.random.default_rng(0), 50)
    assert in_words(task, own) == in_words(translated, other)
    assert other.inputs.dtype == own.inputs.dtype
    padding = np.arange(other.steps)[:, None] >= other.lengths
    assert padding.any()
    assert not other.inputs[padding].any()
    assert not other.targets[padding].any()
    tokens, mask = other.sequence(0)
    assert translated.check(tokens).accepts(mask)
    assert translated.check([0, 0]).reason == "index 0: at least 1 symbols must come first, got 0"
    with pytest.raises(
        UsageError,
        match='"A", a word of language/symbol-counting, is missing in the common vocabulary',
    ):
        Translated(task, ("0", "1"))


def test_chained():
    stream = chained([Periodic(), Qa(), SymbolCounting()], [1, 2, 1])
    assert [segment.share for segment in stream] == [0.25, 0.5, 0.25]
    assert [segment.task.task for segment in stream] == [Periodic(), Qa(), SymbolCounting()]
    assert {segment.task.vocabulary for segment in stream} == {
        common_vocabulary([Periodic(), Qa(), SymbolCounting()])
    }
    assert [segment.share for segment in chained([Periodic(), Qa()])] == [0.5, 0.5]
    for segment in stream:
        tokens, mask = segment.task.sample(np.random.default_rng(1), 1).sequence(0)
        assert segment.task.check(tokens).accepts(mask)


def test_growing():
    stream = growing(Qa(verbs=1), [{"most": 2}, {"most": "3", "names": 4}, {}], [1, 1, 2])
    assert [segment.share for segment in stream] == [0.25, 0.25, 0.5]
    assert [segment.task.task for segment in stream] == [
        Qa(verbs=1, most=2),
        Qa(verbs=1, most=3, names=4),
        Qa(verbs=1),
    ]
    # The first step has all the words; the second, with fewer names, is put in the same ones.
    assert {segment.task.vocabulary for segment in stream} == {Qa(verbs=1).vocabulary}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: chained([]), "a stream needs at least 1 task, got none"),
        (lambda: chained([Qa()], [1, 2]), "one weight for each of 1 tasks, got 2"),
        (
            lambda: chained([Qa(), Periodic()], [1, 0]),
            "weights must be above 0 and finite, got 1, 0",
        ),
        (lambda: chained([Qa()], [float("nan")]), "weights must be above 0 and finite, got nan"),
        (
            lambda: growing(Qa(), [{"mst": 2}]),
            'language/qa: no parameter "mst"; did you mean "most"',
        ),
        (
            lambda: growing(Qa(), [{"most": 9}]),
            r"language/qa: most must be at most names \(5\), got 9",
        ),
    ],
)
def test_streams_that_cannot_be(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_mixed_vocabulary_members_and_conventions(make_task):
    task = make_task("language/mixed", "published", members="periodic/qa")
    assert task.vocabulary == ("0", "1", *Qa().vocabulary)
    assert task.tasks == (Periodic(longest=5), Qa(fewest=1, most=4, balanced=False))
    assert make_task("language/mixed").tasks == (Periodic(), Qa())
    assert make_task("language/mixed") == Mixed(("periodic", "qa"), "corrected")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            "periodic/periodic",
            (
                "language/mixed: members must be different tasks other than mixed, got"
                " periodic/periodic"
            ),
        ),
        ("qa/mixed", "members must be different tasks other than mixed, got qa/mixed"),
        ((), "members must be different tasks other than mixed, got "),
        ("qa/perodic", 'no task "language/perodic"; did you mean "language/periodic"?'),
    ],
)
def test_members_that_do_not_fit(make_task, members, message):
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        make_task("language/mixed", members=members)


@pytest.mark.parametrize("convention", ["published", "corrected"])
def test_mixed_sequences_come_from_all_members_alike(make_task, convention):
    task = make_task("language/mixed", convention, members="periodic/symbol-counting/qa")
    examples = task.sample(np.random.default_rng(3), 600)
    counts = [0, 0, 0]
    for index, (words, mask) in enumerate(in_words(task, examples)):
        accepted = [member.check(words).accepts(mask) for member in task.tasks]
        assert sum(accepted) == 1
        counts[accepted.index(True)] += 1
        if index < 100:
            verdict = task.check(examples.sequence(index)[0])
            assert verdict.accepts(mask)
            wrong = [
                *words[: mask[-1]],
                "YES" if words[mask[-1]] != "YES" else "NO",
                *words[mask[-1] + 1 :],
            ]
            assert not task.check(wrong).right
    assert all(abs(count - 200) < 4 * np.sqrt(600 * 2 / 9) for count in counts)


def test_verdicts_of_a_mixture():
    task = Mixed(("symbol-counting", "pattern-counting"))
    assert task.check("A x A 1 .").masks == ((3,),)
    assert task.check("A x A y 1 .").masks == ((4,),)
    assert task.check("A x A y 2 .").reason == 'index 4: the answer is "2", right is "1"'
    assert task.check("A .").reason == 'index 1: expected "x", got "."'
    # A constant sequence may be of either, and asked from wherever either asks.
    both = Mixed(("periodic", "increasing-period"))
    starts = {mask[0] for mask in both.check([0] * 100).masks}
    assert {2, 4, 6, 3, 9} <= starts


def test_mixed_oracle(make_task, accuracy):
    task = make_task("language/mixed", members=EVERYTHING)
    assert accuracy("mixed-oracle", task, task.sample(np.random.default_rng(4), 600)) == 1.0
    turned = make_task("language/mixed", members=EVERYTHING[::-1])
    assert accuracy("mixed-oracle", turned, turned.sample(np.random.default_rng(4), 600)) == 1.0


def test_mixed_oracle_tells_rhythms_apart(make_task, accuracy):
    task = make_task("language/mixed", members="periodic/increasing-period")
    assert accuracy("mixed-oracle", task, task.sample(np.random.default_rng(5), 400)) > 0.998


class Before:
    """What was read two tokens before: no answer is the next token."""

    id, vocabulary = "mine/before", ("a", "b", "c", "x")

    def sample(self, rng, count):
        inputs = rng.integers(4, size=(6, count))
        asked = np.broadcast_to(np.arange(6)[:, None] >= 2, inputs.shape)
        return Examples(inputs, np.roll(inputs, 2, axis=0), asked, np.full(count, 6))


class Joint(ContinualTask):
    segments = chained([Before(), Periodic()])


def test_answers_that_are_not_the_next_token_go_through_a_stream_unchanged():
    drawn = Joint().sample(np.random.default_rng(0), 40)
    own = Joint().vocabulary.index
    found = 0
    for index in range(drawn.count):
        one = drawn.take([index])
        if int(one.lengths[0]) == 6 and not set(one.inputs[:, 0]) & {own("0"), own("1")}:
            found += 1
            assert one.targets[2:, 0].tolist() == one.inputs[:-2, 0].tolist()
        else:
            assert one.sequential
    assert 10 < found < 30


def test_what_has_no_words_cannot_be_chained():
    class Numbers:
        id = "mine/numbers"

    with pytest.raises(
        UsageError, match="mine/numbers has no vocabulary; only tasks that read and answer words"
    ):
        chained([Periodic(), Numbers()])
