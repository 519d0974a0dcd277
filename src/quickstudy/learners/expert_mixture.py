"""The experts of `voting`: tables and copiers, how they are judged, and the correction on top
of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from quickstudy.jax_gateway import jax, jnp, lax
from quickstudy.learners.readout import Rule

HITS, MISSES = 1.0, 0.2
"""A copier starts as if it had been right once and wrong a fifth of a time: bold, so that one
question unmasks it.
"""
FLAT, NOVEL = 2.0, 0.2
"""Answers so far count as evenly spread over FLAT more of each; part of the chance kept for answers
never given.
"""
EVEN, SETTLED = 4.0, 8.0
"""If the possible answers are known beforehand, they have equal prior counts, EVEN in all, and
observed counts have half the weight after SETTLED questions.
"""
HESITATION, PATIENCE, KEPT = 12.0, 8.0, 0.98
"""The correction starts with weight e**-HESITATION relative to the vote, half of it after PATIENCE
questions; records fade by KEPT.
"""
SCALE_STEP, SCALE_RANGE = 0.02, (0.1, 2.0)
"""Step and bounds of the weight that the vote has within the correction."""
ROWS_TOGETHER = 128
"""Rows that are answered at once: enough to be fast, few enough to stay in the cache."""
LEAST = 1e-30
"""Weights that sum to no more than this are none."""


class Shared(NamedTuple):
    """Rows of codes that have their symbols in common with others: numbers (R, F-S) of each, and
    which (R,) of the symbols (D, S) are theirs.
    """

    symbols: Any
    which: Any
    numbers: Any


class VotingState(NamedTuple):
    """F codes with W levels, of which S are symbols and may be copied; G gates; V answers.

    tables: (F, W, V) questions so far, by code, level and answer. levels: (F, W) how often each
    level was read. claimed: (F, V) the share of each answer, over all levels, that a table has
    counted; free: (F,) what is left to doubt. answers: (V,) given so far. known: (V,) may be
    answers. hits, tries: (G, W, S) of the copiers, by gate and its level. prior: (F+S,) and
    evidence: (G, W, F+S), logarithms of the experts' weights, and gates: (G,) those of the gates.
    direct: (F, W, V) and copied: (G, W, S), the correction, with the sums of their squared
    gradients. scale: of the vote within the correction. record: (2,) how likely vote and correction
    have made the answers. doubt, step: settings.
    """

    tables: Any
    levels: Any
    claimed: Any
    free: Any
    answers: Any
    known: Any
    hits: Any
    tries: Any
    prior: Any
    evidence: Any
    gates: Any
    direct: Any
    direct_squares: Any
    copied: Any
    copied_squares: Any
    scale: Any
    record: Any
    doubt: Any
    step: Any


class _Row(NamedTuple):
    """One row of codes, read: codes (F,); every = 0 .. F-1; gate and level: which of the gates'
    entries are in force; where: (S,) symbols that would be copied; there: whether they can be
    answers; awake: (F+S,) who knows anything.
    """

    codes: Any
    every: Any
    gate: Any
    level: Any
    where: Any
    there: Any
    awake: Any


@dataclass(frozen=True)
class VotingRule(Rule):
    """Experts are tables (the answer depends on this code) and copiers (the answer is this symbol).

    p(answer) = sum over gates and experts of weight x p(answer | expert), weights by Bayes' rule. A
    gate is one of the last symbols read (or nothing): experts have weights of their own for each
    symbol there. A table that has never met its level is silent; a copier with nothing to copy is,
    too, and is neither blamed nor praised (Freund et al. 1997). On top of it a correction:
    softmax(scale log p + a weight for every code and answer + weights for copies), learned by
    gradient (Duchi et al. 2011). It is heard when it has been better than the vote.
    """

    symbols: int
    context: int
    peek: bool = False

    scale = "logits"

    def prepare(self, state: VotingState, rows: Any, targets: Any, counted: Any) -> VotingState:
        """As the published programs: which answers there are, and how the features are
        distributed.
        """
        width = state.levels.shape[1]
        levels = jax.vmap(lambda codes: jnp.zeros(width).at[codes].add(counted))(
            rows.astype(jnp.int32).T
        )
        known = jnp.zeros_like(state.known).at[targets].max(counted)
        return state._replace(
            levels=levels, known=known, free=jnp.full_like(state.free, 1.0 / state.doubt)
        )

    def _base(self, state: VotingState) -> Any:
        """(V,) chances of the answers before anything is looked at."""
        if self.peek:
            asked = state.answers.sum()
            even, settled = EVEN / state.known.sum(), asked**2 / (asked**2 + SETTLED**2)
            chances = jnp.where(state.known, even + settled * state.answers, 1e-6)
            return chances / chances.sum()
        given = state.answers > 0
        kinds, size = given.sum(), len(given)
        novel = NOVEL * (kinds + 1.0) / (state.answers.sum() + kinds + 1.0)
        novel = jnp.where(kinds == 0, 1.0, jnp.where(kinds == size, 0.0, novel))
        inside = jnp.where(given, state.answers + FLAT, 0.0)
        outside = jnp.where(given, 0.0, 1.0) / jnp.maximum(size - kinds, 1)
        chances = (1 - novel) * inside / jnp.maximum(inside.sum(), 1e-9) + novel * outside + 1e-6
        return chances / chances.sum()

    def _chances(self, state: VotingState, base: Any, counts: Any) -> Any:
        """(F, ..., V) answers by the tables' counts (F, ..., V)."""
        return (counts + state.doubt * base) / (counts.sum(axis=-1, keepdims=True) + state.doubt)

    def _balanced(self, state: VotingState, base: Any, chances: Any) -> Any:
        """(F, ..., V) the same, when it is known how often each level comes: a table that would
        give one answer too often over all levels must give it less, so that a level that differs
        from the one seen speaks for another.
        """
        if not self.peek:
            return chances
        margin = state.claimed + state.doubt * state.free[:, None] * base
        ratio = base / jnp.maximum(margin, 1e-6)
        chances = chances * ratio.reshape(len(ratio), *[1] * (chances.ndim - 2), -1)
        return chances / chances.sum(axis=-1, keepdims=True)

    def _read(self, state: VotingState, row: Any) -> _Row:
        codes = row.astype(jnp.int32)
        every, size = jnp.arange(len(codes)), len(state.known)
        level = jnp.concatenate([jnp.zeros(1, jnp.int32), codes[: self.context]])
        where = jnp.minimum(codes[: self.symbols], size - 1)
        there = codes[: self.symbols] < size
        if self.peek:
            there, met = there & state.known[where], jnp.ones(len(codes), bool)
        else:
            met = state.tables[every, codes].sum(axis=1) > 0
        return _Row(
            codes,
            every,
            jnp.arange(self.context + 1),
            level,
            where,
            there,
            jnp.concatenate([met, there]),
        )

    def _heard(self, state: VotingState) -> Any:
        """(F+S,) logarithms of the weights before any evidence. The more a code varies, the more
        its table counts.
        """
        # As if one more level had been read once, so that no expert is silenced before anything
        # could vary.
        shares = state.levels / (state.levels.sum(axis=1, keepdims=True) + 1.0)
        variety = 1.0 - (shares**2).sum(axis=1)
        return state.prior + jnp.concatenate([jnp.log(variety), jnp.zeros(self.symbols)])

    def _said(self, row: _Row, base: Any, weights: Any, chances: Any, sure: Any) -> Any:
        """(G, V) the mixture of each gate, by weights (G, F+S), chances (F, V) and
        reliabilities (G, S).
        """
        tables, copiers = weights[:, : len(row.codes)], weights[:, len(row.codes) :]
        other = copiers * (1 - sure) / (1 - base[row.where])
        copies = (copiers * sure - other * base[row.where]) @ jax.nn.one_hot(row.where, len(base))
        return tables @ chances + copies + base * other.sum(axis=1, keepdims=True)

    def _pushed(self, state: VotingState, row: _Row, logits: Any) -> Any:
        """(V,) logits with the weights of the correction added."""
        copied = jnp.where(row.there, state.copied[row.gate, row.level].sum(axis=0), 0.0)
        direct = state.direct[row.every, row.codes].sum(axis=0)
        return logits + direct + jnp.zeros_like(logits).at[row.where].add(copied)

    def _voted(self, state: VotingState, vote: Any) -> Any:
        """(V,) logits of the correction as the vote leaves them."""
        return state.scale * jnp.log(vote + 1e-7)

    def _reliability(self, hits: Any, tries: Any) -> Any:
        return (hits + HITS) / (tries + HITS + MISSES)

    def update(self, state: VotingState, row: Any, target: Any) -> VotingState:
        """One question: every expert that is awake is judged by it."""
        row, base = self._read(state, row), self._base(state)
        force, cell = (row.gate, row.level), (row.every, row.codes)
        chances = self._balanced(state, base, self._chances(state, base, state.tables[cell]))
        sure = self._reliability(state.hits[force], state.tries[force])
        weights = jax.nn.softmax(state.evidence[force] + self._heard(state), axis=1)
        weights = weights * row.awake
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / jnp.maximum(total, LEAST)
        opinions = jnp.where(total > LEAST, self._said(row, base, weights, chances, sure), base)
        vote = jax.nn.softmax(state.gates) @ opinions
        final = jax.nn.softmax(self._pushed(state, row, self._voted(state, vote)))

        # Counts are written after everything has been read, or they would be copied for every
        # question: so the one that is counted comes out of the last thing computed.
        one = jnp.where(final[target] < 0, 0.0, 1.0)
        right = row.there & (row.where == target)
        copying = jnp.where(right, sure, (1 - sure) * base[target] / (1 - base[row.where]))
        copying = jnp.where(row.there, copying, opinions[:, target][:, None])
        telling = jnp.broadcast_to(chances[:, target], (len(sure), len(row.codes)))
        likely = jnp.concatenate([telling, copying], axis=1)

        error = jnp.zeros_like(base).at[target].set(1.0) - final
        push = jnp.broadcast_to(jnp.where(row.there, error[row.where], 0.0), sure.shape)
        direct_squares = state.direct_squares.at[cell].add(error**2)
        copied_squares = state.copied_squares.at[force].add(push**2)
        scale = state.scale + SCALE_STEP * (error * jnp.maximum(jnp.log(vote + 1e-7), -8.0)).sum()

        tables = state.tables.at[row.every, row.codes, target].add(one)
        levels, claimed, free = state.levels.at[cell].add(one), state.claimed, state.free
        if self.peek:
            levels = state.levels
            share = levels[cell] / jnp.maximum(levels.sum(axis=1), 1.0)
            old, new = state.tables[cell], tables[cell]
            below, above = (1.0 / (counts.sum(axis=1) + state.doubt) for counts in (old, new))
            claimed = claimed + share[:, None] * (new * above[:, None] - old * below[:, None])
            free = free + share * (above - below)
        return state._replace(
            tables=tables,
            levels=levels,
            claimed=claimed,
            free=free,
            answers=state.answers.at[target].add(one),
            hits=state.hits.at[force].add(jnp.broadcast_to(right * one, sure.shape)),
            tries=state.tries.at[force].add(jnp.broadcast_to(row.there * one, sure.shape)),
            evidence=state.evidence.at[force].add(jnp.log(likely)),
            gates=state.gates + jnp.log(opinions[:, target]),
            direct=state.direct.at[cell].add(
                state.step * error / jnp.sqrt(1 + direct_squares[cell])
            ),
            direct_squares=direct_squares,
            copied=state.copied.at[force].add(
                state.step * push / jnp.sqrt(1 + copied_squares[force])
            ),
            copied_squares=copied_squares,
            scale=jnp.clip(scale, *SCALE_RANGE),
            record=KEPT * state.record + jnp.log(jnp.stack([vote[target], final[target]]) + 1e-3),
        )

    def scores(self, state: VotingState, rows: Any) -> Any:
        """Logarithms of the chances of the answers to rows, or to rows that share their symbols.

        What symbols say does not depend on the numbers next to them: it is found once for all rows
        that share them. Weights are made to sum to one at the end, when the numbers have spoken,
        too.
        """
        base, first, last = self._base(state), self.symbols, len(state.free)
        chances = self._balanced(state, base, self._chances(state, base, state.tables))
        sure = self._reliability(state.hits, state.tries)
        weights = jax.nn.softmax(state.evidence + self._heard(state), axis=2)
        of_symbols = jnp.concatenate([weights[:, :, :first], weights[:, :, last:]], axis=2)
        of_numbers = weights[:, :, first:last]
        # A table without a prediction has no weight: the first column.
        told = jnp.concatenate([jnp.ones_like(chances[..., :1]), chances], axis=2)[first:]
        if not self.peek:
            told = jnp.where(state.tables[first:].sum(axis=2, keepdims=True) > 0, told, 0.0)
        gates = jax.nn.softmax(state.gates)
        behind = HESITATION / (1 + state.answers.sum() / PATIENCE)
        trust = jax.nn.softmax(state.record - jnp.stack([0.0, behind]))

        def by_symbols(symbols: Any) -> tuple[Any, Any, Any]:
            row = self._read(state, symbols)
            force = (row.gate, row.level)
            heard = of_symbols[force] * row.awake
            said = self._said(row, base, heard, chances[row.every, row.codes], sure[force])
            said = jnp.concatenate([heard.sum(axis=1, keepdims=True), said], axis=1)
            return of_numbers[force], said, self._pushed(state, row, jnp.zeros_like(base))

        def by_all(numbers: Any, weights: Any, said: Any, pushed: Any) -> Any:
            cell = (jnp.arange(last - first), numbers.astype(jnp.int32))
            said = said + weights @ told[cell]
            total = said[:, :1]
            vote = gates @ jnp.where(total > LEAST, said[:, 1:] / jnp.maximum(total, LEAST), base)
            final = jax.nn.softmax(
                self._voted(state, vote) + pushed + state.direct[first:][cell].sum(axis=0)
            )
            return jnp.log(trust[0] * vote + trust[1] * final + 1e-9)

        if isinstance(rows, Shared):
            known = _in_batches(by_symbols, rows.symbols)
            return _in_batches(
                lambda row: by_all(row[0], *(part[row[1]] for part in known)),
                (rows.numbers, rows.which),
            )
        return _in_batches(lambda row: by_all(row[first:], *by_symbols(row[:first])), rows)

    def trained(self, state: VotingState) -> int:
        """All that answers rest on: counts of the tables and copiers, weights of experts, gates and
        correction.
        """
        parts = (
            state.tables,
            state.hits,
            state.tries,
            state.evidence,
            state.gates,
            state.direct,
            state.copied,
        )
        return sum(int(part.size) for part in parts)


def _in_batches(function: Any, rows: Any) -> Any:
    return lax.map(function, rows, batch_size=min(ROWS_TOGETHER, len(jax.tree.leaves(rows)[0])))
