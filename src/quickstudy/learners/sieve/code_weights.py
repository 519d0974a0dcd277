"""The hypotheses of `sieve`: tables of one code, tables of two, and copiers; how they are
judged and heard.

Every hypothesis is right or wrong as a whole, so that one question judges all of them. Their
weights go by how likely each has made the answers, of late; and they have separate weights per
gate: for each of the last symbols read, by what it is, and for nothing at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quickstudy.learners.sieve.codes import HOPS, LAGS, LEVELS, code, layout
from quickstudy.numba_gateway import njit

HITS, MISSES = 1.0, 0.2
"""A copier starts as if it had been right once and wrong a fifth of a time."""
FLAT, NOVEL = 2.0, 0.2
"""Answers so far count as evenly spread over FLAT more of each; part of the chance kept for answers
never given.
"""
FEW_SYMBOLS = 16
"""Up to so many symbols, the numbers of any two together are looked at as well."""
CELLS = 1 << 20
"""Cells of the tables of two codes, all together: which cell a pair of values and an answer has
goes by a hash.
"""
HEARD = 1e-5
"""Hypotheses of less weight are not asked."""
LEAST = 1e-80


class Mind(NamedTuple):
    """All that is learned, for F codes of W levels (S of them symbols), V answers, P pairs, G
    gates, E = F + S + P.

    tables (F, W, V) and seen (F, W): answers by code and level. cells (C,), cell_totals (C,): the
    same of pairs, by hash. hits, tries (G, W, S): of copiers. evidence (G, W, E): logarithms of
    weights; gates (G,): those of the gates. answers (V,): given so far. fitting (lag, V, V): which
    answers have come with which symbols. prior (E,). first, second (P,): the codes of a pair.
    settings: doubt of tables, what is kept of evidence after a question.
    """

    tables: Any
    seen: Any
    cells: Any
    cell_totals: Any
    hits: Any
    tries: Any
    evidence: Any
    gates: Any
    answers: Any
    fitting: Any
    prior: Any
    first: Any
    second: Any
    settings: Any


def fresh(
    size: int, doubt: float, kept: float, nearness: float, copying: float, plain: float
) -> Mind:
    """Nothing learned, of so many symbols, each of which may be an answer."""
    book = layout(size)
    count, levels, gates = book.symbols + book.numbers, max(size + 1, LEVELS), LAGS + 1
    paired = [*range(LAGS), *range(LAGS + 3, LAGS + 3 + 4 * LAGS)]
    paired = [code for code in paired if code < LAGS or (code - LAGS - 3) % 4 in (1, 2)]
    couples = [(a, b) for place, a in enumerate(paired) for b in paired[:place]]
    if size <= FEW_SYMBOLS:
        start = count - 2 - HOPS * (HOPS - 1) // 2 - 2 * size
        counted = range(start, start + 2 * size, 2)
        couples += [(a, b) for a in counted for b in counted if b < a]
    first, second = np.array(couples, dtype=np.int32).T
    single = np.log(nearness) * book.depth + np.where(book.plain, np.log(plain), 0.0)
    double = single[first] + single[second] - np.log(plain)
    prior = np.concatenate([single, single[: book.symbols] + np.log(copying), double])
    return Mind(
        tables=np.zeros((count, levels, size), np.float32),
        seen=np.zeros((count, levels), np.float32),
        cells=np.zeros(CELLS, np.float32),
        cell_totals=np.zeros(CELLS, np.float32),
        hits=np.zeros((gates, levels, book.symbols), np.float32),
        tries=np.zeros((gates, levels, book.symbols), np.float32),
        evidence=np.zeros((gates, levels, len(prior)), np.float32),
        gates=np.zeros(gates),
        answers=np.zeros(size),
        fitting=np.zeros((LAGS, size + 1, size), np.int8),
        prior=prior.astype(np.float32),
        first=first,
        second=second,
        settings=np.array([doubt, kept]),
    )


@njit
def _base(answers: Any) -> Any:
    """(V,) chances of the answers before anything is looked at."""
    kinds, total = 0, 0.0
    for count in answers:
        kinds += count > 0
        total += count
    size = len(answers)
    novel = (
        1.0
        if kinds == 0
        else 0.0
        if kinds == size
        else NOVEL * (kinds + 1.0) / (total + kinds + 1.0)
    )
    inside = total + FLAT * kinds
    chances = np.empty(size)
    for answer in range(size):
        if answers[answer] > 0:
            chances[answer] = (1 - novel) * (answers[answer] + FLAT) / inside + 1e-6
        else:
            chances[answer] = novel / max(size - kinds, 1) + 1e-6
    return chances / chances.sum()


@njit
def _cell(pair: int, left: int, right: int, answer: int) -> Any:
    key = np.uint64(((pair * 1031 + left) * 1031 + right) * 1031 + answer + 1) * np.uint64(
        0x9E3779B97F4A7C15
    )
    return np.int64((key >> np.uint64(40)) % np.uint64(CELLS))


@njit
def _awake(mind: Mind, codes: Any, size: int) -> Any:
    """(E,) who knows anything: tables that have met their level, copiers with something to copy."""
    count, symbols = mind.seen.shape[0], mind.hits.shape[2]
    awake = np.zeros(len(mind.prior), np.bool_)
    for number in range(count):
        awake[number] = mind.seen[number, codes[number]] > 0
    for symbol in range(symbols):
        awake[count + symbol] = codes[symbol] < size
    for pair in range(len(mind.first)):
        cell = _cell(pair, codes[mind.first[pair]], codes[mind.second[pair]], -1)
        awake[count + symbols + pair] = mind.cell_totals[cell] > 0
    return awake


@njit
def _level(codes: Any, gate: int) -> int:
    return codes[gate - 1] if gate else 0


@njit
def _weights(mind: Mind, gate: int, level: int, awake: Any) -> Any:
    """(E,) weights of a gate, of those that are awake; they sum to 1, or to 0 if none is."""
    weights = np.zeros(len(awake))
    top = -1e30
    for number in range(len(awake)):
        if awake[number]:
            top = max(top, mind.evidence[gate, level, number] + mind.prior[number])
    total = 0.0
    for number in range(len(awake)):
        if awake[number]:
            distance = mind.evidence[gate, level, number] + mind.prior[number] - top
            if distance > -25.0:
                weights[number] = np.exp(distance)
                total += weights[number]
    return weights / max(total, LEAST)


@njit
def _gates(mind: Mind) -> Any:
    weights = np.exp(mind.gates - mind.gates.max())
    return weights / weights.sum()


@njit
def learn(mind: Mind, codes: Any, target: int) -> None:
    """One question: every awake hypothesis is scored by it, then counts it."""
    size, symbols, count = len(mind.answers), mind.hits.shape[2], mind.seen.shape[0]
    doubt, kept = mind.settings
    base, awake = _base(mind.answers), _awake(mind, codes, size)
    likely = np.zeros(len(awake))
    for number in range(count):
        level = codes[number]
        likely[number] = (mind.tables[number, level, target] + doubt * base[target]) / (
            mind.seen[number, level] + doubt
        )
    for pair in range(len(mind.first)):
        left, right = codes[mind.first[pair]], codes[mind.second[pair]]
        total = mind.cell_totals[_cell(pair, left, right, -1)]
        met = min(mind.cells[_cell(pair, left, right, target)], total)
        likely[count + symbols + pair] = (met + doubt * base[target]) / (total + doubt)
    for gate in range(len(mind.gates)):
        level = _level(codes, gate)
        for symbol in range(symbols):
            if awake[count + symbol]:
                sure = (mind.hits[gate, level, symbol] + HITS) / (
                    mind.tries[gate, level, symbol] + HITS + MISSES
                )
                if codes[symbol] == target:
                    likely[count + symbol] = sure
                else:
                    likely[count + symbol] = (
                        (1 - sure) * base[target] / max(1 - base[codes[symbol]], 1e-12)
                    )
        weights = _weights(mind, gate, level, awake)
        opinion = (weights * likely).sum() if weights.sum() > 0.5 else base[target]
        opinion = max(opinion, 1e-12)
        mind.gates[gate] = kept * mind.gates[gate] + np.log(opinion)
        for number in range(len(awake)):
            said = max(likely[number], 1e-9) if awake[number] else opinion
            mind.evidence[gate, level, number] = kept * mind.evidence[gate, level, number] + np.log(
                said
            )
        for symbol in range(symbols):
            if awake[count + symbol]:
                mind.tries[gate, level, symbol] += 1
                mind.hits[gate, level, symbol] += codes[symbol] == target
    for number in range(count):
        mind.tables[number, codes[number], target] += 1
        mind.seen[number, codes[number]] += 1
    for pair in range(len(mind.first)):
        left, right = codes[mind.first[pair]], codes[mind.second[pair]]
        mind.cell_totals[_cell(pair, left, right, -1)] += 1
        mind.cells[_cell(pair, left, right, target)] += 1
    mind.answers[target] += 1
    for lag in range(LAGS):
        mind.fitting[lag, codes[lag], target] = 1


@njit
def _prepare(mind: Mind, kept: Any, ready: Any, gate: int, level: int) -> None:
    """Compute the weights of one value of a gate, as long as nothing is learned."""
    if not ready[gate, level]:
        ready[gate, level] = True
        behind = mind.evidence[gate, level] + mind.prior
        kept[gate, level] = np.exp(np.maximum(behind - behind.max(), -200.0))


@njit
def answer(
    mind: Mind, sequence: Any, known: Any, places: Any, codes: Any, kept: Any, ready: Any
) -> Any:
    """(place, V) how likely each answer is after some places of a sequence. kept, ready:
    weights that were computed since something was learned last.
    """
    rows = np.zeros((len(places), len(mind.answers)))
    for row in range(len(places)):
        code(sequence, known, places[row], len(mind.answers), mind.fitting, codes)
        rows[row] = _chances(mind, codes, kept, ready)
    return rows


@njit
def study(mind: Mind, sequence: Any, known: Any, targets: Any, codes: Any) -> None:
    """Learn from every question of a sequence, in order; -1 where nothing is asked."""
    for now in range(len(targets)):
        if targets[now] >= 0:
            code(sequence, known, now, len(mind.answers), mind.fitting, codes)
            learn(mind, codes, targets[now])


@njit
def _chances(mind: Mind, codes: Any, kept: Any, ready: Any) -> Any:
    """(V,) how likely each answer is."""
    size, symbols, count = len(mind.answers), mind.hits.shape[2], mind.seen.shape[0]
    doubt = mind.settings[0]
    base, awake = _base(mind.answers), _awake(mind, codes, size)
    gates = _gates(mind)
    told, copied, flat = np.zeros(size), np.zeros(size), 0.0
    heard = np.zeros(len(awake))
    for gate in range(len(gates)):
        if gates[gate] < 1e-4:
            continue
        level = _level(codes, gate)
        _prepare(mind, kept, ready, gate, level)
        weights = kept[gate, level] * awake
        total = weights.sum()
        if total < LEAST:
            flat += gates[gate]
            continue
        weights /= total
        for symbol in range(symbols):
            weight = gates[gate] * weights[count + symbol]
            if weight > HEARD:
                sure = (mind.hits[gate, level, symbol] + HITS) / (
                    mind.tries[gate, level, symbol] + HITS + MISSES
                )
                rest = weight * (1 - sure) / max(1 - base[codes[symbol]], 1e-12)
                copied[codes[symbol]] += weight * sure - rest * base[codes[symbol]]
                flat += rest
        for number in range(len(awake)):
            if number < count or number >= count + symbols:
                heard[number] += gates[gate] * weights[number]
    for number in range(count):
        if heard[number] > HEARD:
            scale = heard[number] / (mind.seen[number, codes[number]] + doubt)
            flat += scale * doubt
            for one in range(size):
                told[one] += scale * mind.tables[number, codes[number], one]
    for pair in range(len(mind.first)):
        weight = heard[count + symbols + pair]
        if weight > HEARD:
            left, right = codes[mind.first[pair]], codes[mind.second[pair]]
            total = mind.cell_totals[_cell(pair, left, right, -1)]
            scale = weight / (total + doubt)
            flat += scale * doubt
            for one in range(size):
                told[one] += scale * min(mind.cells[_cell(pair, left, right, one)], total)
    return told + copied + flat * base
