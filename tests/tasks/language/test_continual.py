from __future__ import annotations

import pickle

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import changed_parameters, parse_assignments, write_assignments
from quickstudy.tasks.language.continual import Chained, Growing
from quickstudy.tasks.language.mixed import Mixed
from quickstudy.tasks.language.periodic import Periodic
from quickstudy.tasks.language.qa import Qa
from quickstudy.tasks.language.symbol_counting import SymbolCounting


def typed(make_task, text, convention="corrected"):
    name, _, assignments = text.partition(":")
    return make_task(name, convention, **parse_assignments(assignments))


def test_a_chain_as_it_is_typed(make_task):
    task = typed(
        make_task,
        "continual/chained:members=periodic:longest=3:length=20/qa/periodic,weights=1/2/1",
    )
    assert [segment.label for segment in task.segments] == [
        "periodic:longest=3:length=20",
        "qa",
        "periodic",
    ]
    assert [segment.share for segment in task.segments] == [0.25, 0.5, 0.25]
    assert task.tasks == (Periodic(longest=3, length=20), Qa(), Periodic())
    assert task.vocabulary == ("0", "1", *Qa().vocabulary)
    assert {segment.task.vocabulary for segment in task.segments} == {task.vocabulary}


def test_a_growing_task_as_it_is_typed(make_task):
    task = typed(make_task, "continual/growing:task=qa:verbs=1,parameter=most,values=2/3/5")
    assert task.tasks == (Qa(verbs=1, most=2), Qa(verbs=1, most=3), Qa(verbs=1, most=5))
    assert [segment.label for segment in task.segments] == ["most=2", "most=3", "most=5"]
    assert typed(make_task, "continual/growing").tasks == tuple(
        SymbolCounting(longest=n) for n in (4, 7, 10)
    )


@pytest.mark.parametrize(
    "text",
    [
        "continual/chained:members=periodic:longest=3:length=20/qa/periodic,weights=1.0/2.0/1.0",
        "continual/growing:task=qa:verbs=1,parameter=most,values=2/3/5",
        "continual/growing:values=2/5,weights=1.0/3.0",
    ],
)
def test_what_is_shown_can_be_typed_again(make_task, text):
    task = typed(make_task, text)
    assert f"{task.id}:{write_assignments(changed_parameters(task))}" == text
    assert pickle.loads(pickle.dumps(task)) == task


def test_members_are_those_of_the_convention(make_task):
    assert make_task("continual/chained", "published", members="periodic/qa").tasks == (
        Periodic(longest=5),
        Qa(fewest=1, most=4, balanced=False),
    )
    assert make_task(
        "continual/growing", "published", task="periodic", parameter="length", values="30/40"
    ).tasks == (
        Periodic(longest=5, length=30),
        Periodic(longest=5, length=40),
    )


def test_a_mixture_takes_parameters_of_its_members_too():
    assert Mixed(("periodic:longest=3", "qa")).tasks == (Periodic(longest=3), Qa())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "continual/chained:members=qa/perodic",
            'no task "language/perodic"; did you mean "language/periodic"?',
        ),
        (
            "continual/chained:members=qa:nmes=3",
            'language/qa: no parameter "nmes"; did you mean "names"?',
        ),
        ("continual/chained:members=qa:names", '"names" is not of the form name=value'),
        ("continual/chained:members=qa/growing", 'no task "language/growing"'),
        (
            "continual/chained:members=qa/mixed,weights=1",
            "there must be one weight for each of 2 tasks, got 1",
        ),
        (
            "continual/chained:weights=1/0/1",
            "weights must be above 0 and finite, got 1.0, 0.0, 1.0",
        ),
        ("continual/growing:task=chained", 'no task "language/chained"'),
        (
            "continual/growing:parameter=longst",
            'language/symbol-counting: no parameter "longst"; did you mean',
        ),
        (
            "continual/growing:values=3/x",
            'language/symbol-counting: longest must be a whole number, got "x"',
        ),
        (
            "continual/growing:task=qa,parameter=most,values=9",
            "language/qa: most must be at most names (5), got 9",
        ),
    ],
)
def test_streams_that_cannot_be(make_task, text, message):
    with pytest.raises(UsageError) as caught:
        typed(make_task, text)
    assert message in str(caught.value)


def test_a_stream_needs_a_task(make_task):
    with pytest.raises(UsageError, match="a stream needs at least 1 task, got none"):
        make_task("continual/chained", members=())
    with pytest.raises(UsageError, match="a stream needs at least 1 task, got none"):
        make_task("continual/growing", values=())


def test_draws_come_from_segments_as_their_shares_say():
    task = Chained(("periodic", "symbol-counting", "qa"), (1.0, 2.0, 3.0))
    examples = task.sample(np.random.default_rng(3), 600)
    counts = [0, 0, 0]
    for index in range(examples.count):
        tokens, mask = examples.sequence(index)
        verdict = task.check(tokens)
        assert verdict.accepts(mask)
        accepted = [segment.task.check(tokens).accepts(mask) for segment in task.segments]
        assert sum(accepted) == 1
        counts[accepted.index(True)] += 1
    assert all(
        abs(count - 600 * share) < 4 * np.sqrt(600 * share * (1 - share))
        for count, share in zip(counts, (1 / 6, 1 / 3, 1 / 2), strict=True)
    )
    assert not task.check("I SEE TOM").well_formed


def test_the_oracle_knows_all_segments(accuracy):
    for task in (
        Chained(("harder-qa", "qa", "symbol-counting", "periodic")),
        Growing(),
        Growing("qa", "most", ("2", "5")),
    ):
        assert accuracy("mixed-oracle", task, task.sample(np.random.default_rng(4), 200)) == 1.0


def test_the_best_rule_is_as_good_as_the_best_control_of_each_member(accuracy):
    """In the published form of qa the polarity of the names says much; in increasing-period, the
    token just read.
    """
    task = Chained(("increasing-period", "qa"), (), "published")
    examples = task.sample(np.random.default_rng(5), 400)
    together = accuracy("best-rule", task, examples)
    separate = 0.0
    for segment in task.segments:
        own = [
            i for i in range(examples.count) if segment.task.check(examples.sequence(i)[0]).right
        ]
        part = examples.take(own)
        best = max(accuracy(name, segment.task, part) for name in segment.task.task.controls)
        separate += best * part.questions / examples.questions
    assert together == pytest.approx(separate, abs=0.01)
    assert (
        together > max(accuracy(name, task, examples) for name in ("majority", "copy-last")) + 0.002
    )


def test_the_best_rule_changes_its_mind(make_control):
    """Of equals the first control; then the one that was right more often."""
    task = Chained(("periodic", "symbol-counting"))
    rule = make_control("best-rule", task)
    alternating = np.array([0, 1] * 20)
    assert (
        rule.predict(alternating).tolist() == [0] * 40
    )  # the most frequent answer, of none so far
    constant = np.array([1] * 40)
    asked = np.where(np.arange(40) > 5, 1, -1)
    rule.learn(constant, asked)  # majority says 0, copy-last is right
    assert rule.predict(alternating).tolist() == alternating.tolist()


def test_words_of_no_member_are_repeated_and_teach_nothing(make_control):
    task = Chained(("periodic", "qa"))
    strange = np.array([1, task.vocabulary.index("I"), 0, task.vocabulary.index("YES")])
    assert make_control("mixed-oracle", task).predict(strange).tolist()[1:] == strange.tolist()[1:]
    rule = make_control("best-rule", task)
    rule.learn(strange, np.array([-1, -1, -1, 1]))
    assert rule.predict(strange).tolist() == [0, *strange.tolist()[1:]]
