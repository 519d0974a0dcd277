"""The minimal pairs of a corpus: how many bits each sentence has for each learner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import Table, Traced, table
from quickstudy.base.registries import figure
from quickstudy.base.trace import Trace
from quickstudy.measures.sentences import ACCEPTABLE, UNACCEPTABLE, read_sentences

MOST = 30
"""Pairs that are shown; the trace has all."""


@figure("sentence-bits", version=1)
def sentence_bits(task: str, rows: Sequence[Traced]) -> list[Table]:
    """A row for each pair: its sentences, and per learner the bits of both, mean over runs."""
    first = rows[0].traces[0]
    kinds = first.facts["kinds"]
    if not kinds:
        return []
    good, bad = (_texts(first, group) for group in (ACCEPTABLE, UNACCEPTABLE))
    bits = {row.learner: _bits(row.traces) for row in rows}
    lines = [
        [kind, *texts, *(f"{b[place, 0]:.1f} | {b[place, 1]:.1f}" for b in bits.values())]
        for place, (kind, *texts) in enumerate(zip(kinds[:MOST], good, bad, strict=False))
    ]
    data = [
        ["tests", "acceptable", "unacceptable", "learner", "bits acceptable", "bits unacceptable"],
        *(
            [kind, *texts, learner, *values[place].tolist()]
            for learner, values in bits.items()
            for place, (kind, *texts) in enumerate(zip(kinds, good, bad, strict=True))
        ),
    ]
    caption = (
        f"Minimal pairs on {task}: bits of the acceptable | of the unacceptable sentence, mean over"
        f" runs; the first is the smaller one where a learner judges right"
        + (
            f". The first {MOST} of {len(kinds)}; all are in the file."
            if len(kinds) > MOST
            else "."
        )
    )
    heading = ["tests", "acceptable", "unacceptable", *bits]
    return [table("minimal-pairs", caption, heading, lines, data)]


def _texts(trace: Trace, group: int) -> list[str]:
    symbols = trace.facts["symbols"]
    between = " " if any(len(symbol) > 1 for symbol in symbols) else ""
    return [
        between.join(symbols[word] for word in words[:-1])
        for words, _ in read_sentences(trace, group)
    ]


def _bits(traces: Sequence[Trace]) -> NDArray[np.float64]:
    """(pair, 2): bits of both sentences, mean over runs."""
    bits = np.array(
        [
            [
                [bits.sum() for _, bits in read_sentences(trace, group)]
                for group in (ACCEPTABLE, UNACCEPTABLE)
            ]
            for trace in traces
        ]
    )
    return np.asarray(bits.mean(axis=0).T)
