"""Items that are learned within a sequence: what is asked, by hand, and that shallow rules fail."""

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.registries import typed_task
from quickstudy.base.seeds import Streams
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.span import span_scores
from quickstudy.protocols.span import SpanProtocol

SMALL = SpanProtocol(sequences=300, tests=24, checkpoints=1)
GAPS = "span/recall-gaps"


def span_of(name, learner):
    task = typed_task(name)
    made = choose_learner(learner, "corrected", task).make(task)
    return span_scores(SMALL.examine(task, made, [Streams(0, task.id, 0)]).traces[0])["span"]


def words(task, examples, index):
    length = examples.lengths[index]
    tokens = [*examples.inputs[:length, index], examples.targets[length - 1, index]]
    return [task.vocabulary[token] for token in tokens]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("variant", ["plain", "forgetting", "compositional", "noisy"])
def test_every_question_of_a_variant_is_solved_and_nothing_else_is_one(variant):
    task = typed_task(f"{GAPS}:variant={variant},longest=8")
    examples = task.sample(rng(), 60)
    for index in range(examples.count):
        tokens = examples.inputs[: examples.lengths[index], index].tolist()
        for place in range(len(tokens)):
            found = task.solve(tokens[: place + 1])
            if examples.asked[place, index]:
                assert found == examples.targets[place, index]
            elif variant != "forgetting":  # a second value follows a key that was shown
                assert found < 0 or place < len(tokens) // 3


def test_gaps_follow_the_power_law():
    near, even = (typed_task(f"{GAPS}:power={power},spread=8") for power in (0.01, 1))
    first = [np.mean([one._places(4, n) for n in range(200)]) for one in (near, even)]
    assert first[0] < 0.6 * first[1]
    assert first[1] == pytest.approx(15.5, abs=1.5)


def test_forgetting_asks_for_the_last_value_and_neither_part_of_a_compound_key_is_enough():
    task = typed_task(f"{GAPS}:variant=forgetting")
    v, k = 32, 0
    assert task.solve([k, v + 1, k + 2, v + 3, k, v + 5, 9, v + 9, k]) == v + 5
    task = typed_task(f"{GAPS}:variant=compositional")
    m = 64
    shown = [1, m + 1, v + 1, 1, m + 2, v + 2, 3, m + 1, v + 3]
    assert task.solve([*shown, 1, m + 2]) == v + 2
    assert task.solve([*shown, 3, m + 1]) == v + 3
    assert task.solve([*shown, 3, m + 2]) == -1


def test_a_chain_by_hand():
    task = typed_task("span/hops")
    letters = "abcdefghijklm"
    shown = [
        letters.index(one) for pair in zip(letters, letters[1:] + "a", strict=True) for one in pair
    ]
    assert task.solve([*shown, 13, 13, 0]) == letters.index("c")
    assert task.solve([*shown, *[13] * 5, 12]) == letters.index("e")
    assert task.solve(shown) == -1


def test_weights_by_hand():
    task = typed_task("span/regression")
    zero, base = 1, 3 + task.longest  # the tokens of 0 and of the sum 0
    rows = [(1, 0, -1), (0, 1, 1), (1, 1, 0), (-1, 0, 1), (0, 0, 0), (1, -1, -2)]
    shown = [token for a, b, s in rows for token in (zero + a, zero + b, base + s)]
    assert task.solve([*shown, zero + 1, zero + 1]) == base
    assert task.solve([*shown, zero - 1, zero + 1]) == base + 2
    assert task.solve(shown) == -1


def test_answers_of_a_regression_are_uniform():
    task = typed_task("span/regression")
    examples = task.draw(rng(), np.full(1500, 1))
    counts = np.unique(examples.targets[examples.asked], return_counts=True)[1]
    assert len(counts) == 5
    assert counts.min() > 220


def test_a_language_by_hand():
    task = typed_task("span/regular:strings=2,letters_each=4,letters=8")
    bar = 8
    shown = [0, 1, 2, 3, bar, 0, 1, 4, 3, bar]
    assert task.solve([*shown, 0]) == 1
    assert task.solve([*shown, 0, 1]) == -1, "two letters followed"
    assert task.solve([*shown, 0, 1, 2]) == 3
    assert task.solve([*shown, 0, 5]) == -1, "never seen"
    assert task.solve(shown) == -1


def test_automata_have_all_their_states():
    task = typed_task("span/regular")
    for size in (2, 5, 12):
        ways, seen, found = task._automaton(rng(size), size), {0}, [0]
        for state in found:
            for _, after in ways[state]:
                if after not in seen:
                    seen.add(after)
                    found.append(after)
        assert seen == set(range(size))


@pytest.mark.parametrize("name", [GAPS, "span/hops", "span/regression"])
@pytest.mark.parametrize("rule", ["by-last", "by-bag", "by-bigram", "by-length", "rote"])
def test_no_shallow_rule_goes_far(name, rule):
    assert span_of(name, rule) < 2, (name, rule)


def test_rules_of_the_item_itself_are_marked():
    assert span_of(GAPS, "among-shown") == pytest.approx(1.4, abs=0.4)
    marks = type(typed_task("span/regular")).marks()
    assert span_of("span/regular", "follows-last") == pytest.approx(marks["follows-last"], abs=1.2)


def test_a_length_makes_select_sparse_and_too_many_pairs_are_refused():
    task = typed_task("span/select:length=64")
    examples = task.draw(rng(), np.full(4, 3))
    assert set(examples.lengths.tolist()) == {64 + 4}
    with pytest.raises(UsageError, match="at most half"):
        typed_task(f"{GAPS}:longest=20")
