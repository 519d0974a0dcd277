"""The look-up memory against a plain loop over the past, written from its description."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.cores.quantiser import PRIME, as_symbol, symbols_in
from quickstudy.cores.recall import Recall
from quickstudy.jax_gateway import jax
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting
from quickstudy.testing.cores import check_core

SIZE, LAGS, HOPS, ORDER, MOST = 3, 4, 2, 3, 5
SPEC = Recall(lags=LAGS, hops=HOPS, order=ORDER, most=MOST)


def last_place(past, stop, symbol):
    """The last place before `stop` that holds the symbol, or -1."""
    return max((s for s in range(stop) if past[s] == symbol), default=-1)


def symbol_at(past, place):
    return past[place] if 0 <= place < len(past) else SIZE


def followers(past):
    """What followed the last earlier place that agrees with the last n symbols; and how many such
    places there are.
    """
    found, counts = [], []
    for n in range(1, ORDER + 1):
        places = [
            s
            for s in range(n - 1, len(past) - 1)
            if len(past) >= n and past[s - n + 1 : s + 1] == past[-n:]
        ]
        found.append(past[places[-1] + 1] if places else SIZE)
        counts.append(len(places))
    return found, counts


def rhythms(past):
    """What comes next if the rhythm of R runs ago repeats at the present tempo."""
    runs = []
    for symbol in past:
        if runs and runs[-1][0] == symbol:
            runs[-1][1] += 1
        else:
            runs.append([symbol, 1])
    runs.reverse()
    guesses = []
    for back in range(1, ORDER + 1):
        if back + 1 < len(runs) and runs[back][0] == runs[0][0]:
            due = runs[back][1] * runs[1][1] / runs[back + 1][1]
            guesses.append(runs[0][0] if runs[0][1] < due else runs[back - 1][0])
        else:
            guesses.append(SIZE)
    return guesses


def guesses_after(past):
    return [past[-1], *followers(past)[0], *rhythms(past)]


def guess(past):
    """By the guesser with the best fading record in this sequence; the first of equals."""
    record = np.zeros(1 + 2 * ORDER)
    for stop in range(1, len(past)):
        record = 0.9 * record + (np.array(guesses_after(past[:stop])) == past[stop])
    record = 0.9 * np.float32(record) / 0.9
    now = np.array(guesses_after(past))
    return int(now[np.argmax(np.where(now < SIZE, np.round(record, 5), -1))])


def looked_up(past):
    """The codes after reading `past`."""
    now = len(past) - 1
    recent = [symbol_at(past, now - lag) for lag in range(LAGS)]
    places = [
        last_place(past, now - lag, symbol) if lag <= now else -1
        for lag, symbol in enumerate(recent)
    ]
    second = [
        last_place(past, places[one], recent[two]) if places[one] >= 0 else -1
        for two in range(HOPS)
        for one in range(HOPS)
    ]
    pairs = [
        max(
            (
                s
                for s in range(1, now - lag)
                if past[s - 1 : s + 1] == past[now - lag - 1 : now - lag + 1]
            ),
            default=-1,
        )
        if lag < now
        else -1
        for lag in range(LAGS - 1)
    ]

    def around(found, offsets):
        return [
            symbol_at(past, s + offset) if s >= 0 else SIZE for offset in offsets for s in found
        ]

    def stretch(place):
        return (
            next((s - place for s in range(place + 1, now + 1) if past[s] in recent), 0)
            if place >= 0
            else 0
        )

    after, matches = followers(past)
    numbers = [*matches, *(past.count(symbol) for symbol in recent), *map(stretch, places + pairs)]
    symbols = [
        *recent,
        *around(places, (-2, -1, 1, 2)),
        *around(second, (-1, 1)),
        *after,
        *around(pairs, (-1, 1)),
    ]
    return [*symbols, guess(past), *(min(number, MOST - 1) for number in numbers)]


def codes_of(spec, tokens, size=SIZE):
    """(time, example, code)."""
    core = spec.build(Tokens(size), np.random.default_rng(0))
    steps, batch = tokens.shape
    return np.asarray(
        jax.jit(lambda inputs: core.unroll(core.start(batch, steps), inputs)[1])(tokens)
    ).astype(int)


def test_codes_are_those_of_the_plain_loop() -> None:
    tokens = np.random.default_rng(1).integers(SIZE, size=(17, 6))
    codes = codes_of(SPEC, tokens)
    for column in range(6):
        for time in range(17):
            assert codes[time, column].tolist() == looked_up(tokens[: time + 1, column].tolist()), (
                time,
                column,
            )


def test_the_codebook_describes_the_codes() -> None:
    core = SPEC.build(Tokens(SIZE), np.random.default_rng(0))
    book = core.codebook
    assert core.width == len(book.depth) == len(book.plain) == len(looked_up([0]))
    assert (book.symbols, book.context, book.levels) == (4 + 16 + 8 + 3 + 6 + 1, LAGS, MOST)
    assert book.plain.sum() == LAGS + (core.width - book.symbols)


def test_it_finds_what_was_said_of_a_name_by_two_looks() -> None:
    """I DO NOT SEE TOM BUT I SEE PAUL . DO I SEE TOM ?: what stood before the SEE before TOM is
    NOT.
    """
    words = [
        "I",
        "DO",
        "NOT",
        "SEE",
        "TOM",
        "BUT",
        "I",
        "SEE",
        "PAUL",
        ".",
        "DO",
        "I",
        "SEE",
        "TOM",
        "?",
    ]
    vocabulary = sorted(set(words))
    tokens = np.array([[vocabulary.index(word)] for word in words])
    spec = Recall()
    codes = codes_of(spec, tokens, len(vocabulary))[-1, 0]
    before = (
        spec.lags * 5 + 2 * spec.hops + 1
    )  # the look for lag 2 (SEE) before that for lag 1 (TOM), offset -1
    assert vocabulary[codes[before]] == "NOT"


def test_the_guess_follows_a_rhythm_at_another_tempo() -> None:
    slower = [bit for times in range(1, 8) for bit in (1, 0) for _ in range(times)]
    codes = codes_of(Recall(), np.array(slower)[:, None], 2)[:, 0]
    guess_code = Recall().build(Tokens(2), np.random.default_rng(0)).codebook.symbols - 1
    right = codes[:-1, guess_code] == slower[1:]
    assert right[-26:].mean() > 0.9
    assert (np.array(slower[:-1]) == slower[1:])[-26:].mean() < 0.9


@pytest.mark.parametrize("spec", [Recall(), SPEC])
def test_it_keeps_the_promises_of_a_core(spec) -> None:
    assert [finding for finding in check_core(spec) if not finding.ok] == []


def test_real_numbers_become_symbols() -> None:
    # Levels -0.5, 0 and 0.5: the numbers are the symbols 0, 2, 0, 3, and codes are those of these.
    spec, numbers = Recall(levels=3), np.array([-0.9, 0.1, -0.6, 0.7])
    core = spec.build(Reals(1), np.random.default_rng(0))
    _, codes = core.unroll(core.start(1, 4), numbers[:, None, None])
    assert np.array_equal(np.asarray(codes), codes_of(spec, np.array([0, 2, 0, 3])[:, None], 4))
    assert symbols_in(Reals(1), 3) == 4
    assert symbols_in(Fields({"a": Bits(2), "b": Tokens(3)}), 3) == 12
    assert symbols_in(Reals(9), 3) == PRIME


def test_several_values_are_one_symbol_each_combination_its_own_where_there_is_room() -> None:
    space, levels = Fields({"a": Bits(2), "b": Tokens(3)}), np.array([0.0])
    bits, words = zip(
        *((bits, word) for bits in np.ndindex(2, 2) for word in range(3)), strict=True
    )
    found = as_symbol(space, {"a": np.array(bits, np.float32), "b": np.array(words)}, levels)
    assert sorted(np.asarray(found).tolist()) == list(range(12))
    many = np.random.default_rng(0).uniform(-1, 1, (50, 9))
    assert np.asarray(as_symbol(Reals(9), many, levels)).min() >= 0
    assert np.asarray(as_symbol(Reals(9), many, levels)).max() < symbols_in(Reals(9), 1)


def test_it_is_read_one_hot_by_who_reads_no_codes() -> None:
    core = Recall(lags=2, hops=1, order=2, reader="one-hot").build(
        Tokens(3), np.random.default_rng(0)
    )
    _, features = core.unroll(core.start(1, 3), np.array([[2], [0], [2]]))
    assert features.shape == (3, 1, 5 * 4) == (3, 1, core.width)
    assert (np.asarray(features).reshape(3, 5, 4).sum(axis=-1) == 1).all()
    assert np.asarray(features)[2, 0, :8].tolist() == [
        0,
        0,
        1,
        0,
        1,
        0,
        0,
        0,
    ]  # the last symbol, and the one before


def test_parameters_that_do_not_fit_one_another() -> None:
    with pytest.raises(UsageError, match="hops must be at most lags"):
        Recall(lags=3).build(Tokens(2), np.random.default_rng(0))


def test_it_answers_the_balanced_questions_of_the_first_version() -> None:
    # Those of the second version, where the verb matters as well, it does not: `sieve` is made for
    # them.
    (outcome,) = examine(Setting("language/qa@1", "recall", protocol={"sequences": 200}), [0])
    assert outcome.record.reason == ""
    assert outcome.record.scores["accuracy"]["values"]["final-accuracy"] > 0.95
