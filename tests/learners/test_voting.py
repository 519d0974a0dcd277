"""The vote of experts: what one question teaches, and that it keeps the promises of a learner."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.cores.recall import Codebook, Recall
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.core_with_training import Trained
from quickstudy.learners.expert_mixture import HESITATION, HITS, LEAST, MISSES, PATIENCE, VotingRule
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.voting import Voting, with_shared_symbols

CORE = Recall(lags=2, hops=1, order=2, most=4)
UPDATE = jax.jit(VotingRule.update, static_argnums=0)
SCORES = jax.jit(VotingRule.scores, static_argnums=0)


def book(symbols, numbers, levels, context=0):
    count = symbols + numbers
    return Codebook(symbols, context, levels, np.zeros(count), np.zeros(count, bool))


class Voter:
    """The rule by itself, on rows of codes."""

    def __init__(self, codes, size, training=None, rows=None, targets=None):
        self.training = training or Voting(step=0.0)
        self.rule = VotingRule(codes.symbols, codes.context, self.training.peek)
        self.state = self.training._start(codes, size)
        if rows is not None:
            self.state = self.rule.prepare(
                self.state, *map(jnp.asarray, (rows, targets, np.ones(len(rows), bool)))
            )

    def told(self, row, target):
        self.state = UPDATE(
            self.rule, self.state, jnp.asarray(row, jnp.float32), jnp.asarray(target)
        )
        return self

    def chances(self, *rows):
        return np.exp(np.asarray(SCORES(self.rule, self.state, jnp.asarray(rows, jnp.float32))))


def test_chances_sum_to_one() -> None:
    rng = np.random.default_rng(0)
    voter = Voter(book(3, 2, 6, context=2), 5, Voting())
    for _ in range(30):
        assert voter.chances(*rng.integers(5, size=(4, 5))).sum(axis=1) == pytest.approx(
            1, abs=1e-4
        )
        voter.told(rng.integers(5, size=5), rng.integers(5))


def test_one_question_teaches_to_copy_symbols_never_seen() -> None:
    """Two symbols to copy; the answer was the second. From then on the second, whatever it is."""
    voter = Voter(book(2, 0, 10), 9).told([3, 7], 7)
    assert voter.chances([1, 4], [8, 0], [2, 5]).argmax(axis=1).tolist() == [4, 0, 5]


def test_a_copier_is_as_sure_as_its_record() -> None:
    """One copier and no table that knows its level: after h hits in n tries, (h + HITS) / (n + HITS
    + MISSES).
    """
    voter = Voter(book(1, 0, 10), 9).told([3], 3).told([4], 4).told([5], 0)
    assert voter.chances([6])[0, 6] == pytest.approx((2 + HITS) / (3 + HITS + MISSES), abs=1e-4)


def test_a_table_is_as_sure_as_its_counts() -> None:
    """One number: level 0 answered by 2, 2 and 1. Only answers 1 and 2 have been given, once and
    twice.
    """
    voter = Voter(book(0, 1, 2), 3).told([0], 2).told([0], 2).told([0], 1)
    novel = 0.2 * 3 / 6
    base = np.array([novel, (1 - novel) * 3 / 7, (1 - novel) * 4 / 7])
    expected = (np.array([0, 1, 2]) + 0.3 * base) / 3.3
    assert voter.chances([0])[0] == pytest.approx(expected, abs=1e-4)
    assert voter.chances([1])[0] == pytest.approx(base, abs=1e-4)  # nobody has met level 1


def test_the_table_that_was_right_wins() -> None:
    """Code 0 decides the answer, codes 1 .. 5 are noise; after a dozen questions the noise is not
    listened to.
    """
    rng = np.random.default_rng(3)
    voter = Voter(book(0, 6, 2), 2)
    for _ in range(14):
        row = rng.integers(2, size=6)
        voter.told(row, row[0])
    rows = rng.integers(2, size=(50, 6))
    assert (voter.chances(*rows).argmax(axis=1) == rows[:, 0]).mean() > 0.95


def test_a_gate_lets_another_expert_speak() -> None:
    """The first symbol says which of two further symbols is to be copied: no single expert can
    know.
    """
    rng = np.random.default_rng(5)
    voter = Voter(book(3, 0, 10, context=1), 9)
    for _ in range(30):
        row = [rng.integers(2), *rng.integers(2, 9, size=2)]
        voter.told(row, row[1 + row[0]])
    rows = np.stack([rng.integers(2, size=50), *rng.integers(2, 9, size=(2, 50))], axis=1)
    assert (
        voter.chances(*rows).argmax(axis=1) == rows[np.arange(50), 1 + rows[:, 0]]
    ).mean() > 0.95


def test_who_knows_the_levels_beforehand_speaks_for_the_other_answer() -> None:
    """Two answers, a code that is 0 or 1 equally often: told that 0 means 2, a peeking voter says 1
    for 1.
    """
    rows, targets = np.array([[0.0], [1.0]] * 4), np.array([2, 1] * 4)
    voter = Voter(book(0, 1, 2), 4, Voting(step=0.0, peek=True), rows, targets).told([0], 2)
    assert voter.chances([0], [1]).argmax(axis=1).tolist() == [2, 1]
    blind = Voter(book(0, 1, 2), 4).told([0], 2)
    assert blind.chances([0], [1]).argmax(axis=1).tolist() == [2, 2]


def test_what_a_peeking_table_expects_is_kept_up_to_date() -> None:
    rng = np.random.default_rng(1)
    rows, targets = rng.integers(3, size=(40, 4)), rng.integers(3, size=40)
    voter = Voter(book(2, 2, 4), 3, Voting(peek=True), rows.astype(float), targets)
    for row, target in zip(rows[:20], targets[:20], strict=True):
        voter.told(row, target)
    state, rule = voter.state, voter.rule
    base = rule._base(state)
    shares = state.levels / state.levels.sum(axis=1, keepdims=True)
    expected = jnp.einsum("fw,fwv->fv", shares, rule._chances(state, base, state.tables))
    assert np.allclose(
        state.claimed + state.doubt * state.free[:, None] * base, expected, atol=1e-5
    )


def test_the_correction_learns_what_no_expert_knows() -> None:
    """The answer is 1 when at least two of three codes are 1: each code knows it in part."""
    rng = np.random.default_rng(2)
    voter = Voter(book(0, 3, 2), 2, Voting(step=0.5))
    for _ in range(400):
        row = rng.integers(2, size=3)
        voter.told(row, int(row.sum() >= 2))
    rows = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, -1).T
    assert (
        voter.chances(*rows).argmax(axis=1).tolist() == (rows.sum(axis=1) >= 2).astype(int).tolist()
    )


def plain_scores(rule, state, rows):
    """Row by row, as the vote is described: all experts awake, weights that sum to one, then what
    they say.
    """
    base = rule._base(state)
    chances = rule._balanced(state, base, rule._chances(state, base, state.tables))
    sure = rule._reliability(state.hits, state.tries)
    weights = jax.nn.softmax(state.evidence + rule._heard(state), axis=2)
    trust = jax.nn.softmax(
        state.record - jnp.stack([0.0, HESITATION / (1 + state.answers.sum() / PATIENCE)])
    )

    def single(row):
        row = rule._read(state, row)
        force = (row.gate, row.level)
        awake = weights[force] * row.awake
        total = awake.sum(axis=1, keepdims=True)
        said = rule._said(
            row, base, awake / jnp.maximum(total, LEAST), chances[row.every, row.codes], sure[force]
        )
        vote = jax.nn.softmax(state.gates) @ jnp.where(total > LEAST, said, base)
        final = jax.nn.softmax(rule._pushed(state, row, rule._voted(state, vote)))
        return jnp.log(trust[0] * vote + trust[1] * final + 1e-9)

    return jax.vmap(single)(rows)


PLAIN = jax.jit(plain_scores, static_argnums=0)


@pytest.mark.parametrize("peek", [False, True])
def test_questions_that_share_their_symbols_are_answered_as_if_each_were_alone(peek) -> None:
    """Four kinds of symbols and any numbers: with rows as they are and with rows that share, at
    every stage.
    """
    rng = np.random.default_rng(4)
    kinds = rng.integers(6, size=(4, 5))
    rows = np.concatenate(
        [kinds[rng.integers(4, size=300)], rng.integers(6, size=(300, 3))], axis=1
    ).astype(np.float32)
    targets = (rows[:, 1] + rows[:, 6]).astype(int) % 5
    beforehand = (rows, targets) if peek else ()
    voter = Voter(book(5, 3, 6, context=2), 5, Voting(step=0.2, peek=peek), *beforehand)
    together = with_shared_symbols(rows[None], 5)
    assert together.symbols.shape == (1, 4, 5)
    lane = jax.tree.map(lambda leaf: leaf[0], together)
    for asked in (0, 1, 3, 60):
        for row, target in zip(rows[:asked], targets[:asked], strict=True):
            voter.told(row, target)
        plain = np.asarray(PLAIN(voter.rule, voter.state, rows))
        for shown in (jnp.asarray(rows), lane):
            scores = np.asarray(SCORES(voter.rule, voter.state, shown))
            assert np.allclose(scores, plain, rtol=0, atol=2e-5)
            clear = np.diff(np.sort(plain, axis=1)[:, -2:], axis=1)[:, 0] > 1e-4
            assert (scores.argmax(axis=1) == plain.argmax(axis=1))[clear].all()


def test_sharing_loses_nothing_and_is_left_where_it_does_not_pay() -> None:
    rng = np.random.default_rng(6)
    rows = rng.integers(2, size=(2, 50, 5)).astype(np.float32)
    symbols, which, numbers = (np.asarray(part) for part in with_shared_symbols(rows, 2))
    again = np.concatenate(
        [np.take_along_axis(symbols, which[:, :, None], axis=1), numbers], axis=2
    )
    assert np.array_equal(again, rows)
    assert symbols.shape == (2, 4, 2)
    different = np.arange(40, dtype=np.float32).reshape(1, 10, 4)
    assert with_shared_symbols(different, 2) is different


def lessons(world, lanes):
    examples = [world.examples(12, seed=lane) for lane in range(lanes)]
    return (
        examples,
        world.lesson(*examples),
        Exam([world.examples(6, seed=10 + lane) for lane in range(lanes)]),
    )


def test_lanes_are_what_they_would_be_alone(world) -> None:
    examples, lesson, exam = lessons(world, 2)
    together = Voting(peek=True).begin(CORE, world.brief(examples[0]), world.streams(2))
    together.learn(lesson, 0, lesson.items)
    scores = together.answer(exam)
    for lane in (1,):
        alone = Voting(peek=True).begin(
            CORE, world.brief(examples[0]), world.streams(2)[lane : lane + 1]
        )
        single = Lesson([examples[lane]], lesson.order[lane : lane + 1])
        alone.learn(single, 0, 5)
        alone.learn(single, 5, single.items)
        own = Exam([exam.examples[lane]])
        counted = own.counted[0]
        assert np.allclose(
            alone.answer(own)[0][counted], scores[lane, : len(counted)][counted], atol=1e-4
        )


def test_it_keeps_its_one_pass_and_says_what_it_costs(world) -> None:
    examples, lesson, _ = lessons(world, 1)
    pupil = Voting().begin(CORE, world.brief(examples[0]), world.streams())
    pupil.learn(lesson, 0, lesson.items)
    (cost,) = pupil.cost()
    assert (cost.examples, cost.updates) == (12, examples[0].questions)
    assert cost.trained_parameters > 0
    assert cost.fixed_parameters == 0


def test_it_needs_codes_and_symbols_and_not_too_many(world) -> None:
    with pytest.raises(UsageError, match="needs codes"):
        Voting().check_core(EchoState(units=8))
    other = choose_learner("recall+rls", "corrected")  # which is handed what it can read
    assert (other.label, other.what["parameters"]["reader"]) == ("recall+rls", "one-hot")
    assert "reader" not in choose_learner("recall", "corrected").what["parameters"]
    many = Brief(Tokens(5000), Tokens(5000), "cross-entropy", 5, 5)
    with pytest.raises(NotApplicable, match="so many symbols"):
        Voting().begin(CORE, many, world.streams())
    reals = Brief(Tokens(5), Reals(1), "squared", 5, 5)
    with pytest.raises(NotApplicable, match=r"^voting gives symbols, not real numbers$"):
        Trained(CORE, Voting()).begin(reals, world.streams())
