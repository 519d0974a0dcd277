"""Networks of integers that evolve towards a short description of themselves and of what they have
been shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Cost
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens

HIDDEN = 1
# Rows: hidden unit, `#`, a, b; columns: from `#`, a, b, from the hidden unit, bias.
MARKOV = [[0, 0, 0, 0, 0], [0, -7, 0, 0, 0], [7, 1, -7, 0, 0], [0, 0, 1, 0, 0]]
COUNTER = [[0, 1, -1, 1, 0], [0, 0, 0, -15, 0], [7, 1, -15, 0, 0], [0, 0, -7, 0, 0]]


@dataclass(frozen=True)
class Evolution:
    """A graph of linear units with integer connections; a mutant stays if network and data together
    take fewer bits.
    """

    mutants: int = 15

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> EvolvingPupil:
        return EvolvingPupil(self, brief, streams)


class EvolvingPupil:
    def __init__(self, learner: Evolution, brief: Brief, streams: Sequence[Streams]) -> None:
        self.lanes = len(streams)
        self._learner, self._size = learner, brief.outputs.width
        self._rngs = [stream.numpy("noise") for stream in streams]
        genes = (HIDDEN + self._size) * (self._size + HIDDEN + 1)
        self.genomes = [np.zeros(genes, dtype=np.int64) for _ in streams]
        self._shown = 0

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """A number of mutants for every item, so that the schedule of an examination changes
        nothing.
        """
        for lane, examples in enumerate(lesson.examples):
            for shown in range(start, stop):
                known = examples.take(lesson.order[lane, : shown + 1])
                best = self.bits(self.genomes[lane], known)
                for _ in range(self._learner.mutants):
                    mutant = self._mutated(self.genomes[lane], self._rngs[lane])
                    bits = self.bits(mutant, known)
                    if bits <= best:
                        self.genomes[lane], best = mutant, bits
        self._shown += stop - start

    def answer(self, exam: Exam) -> NDArray[np.float64]:
        lanes = zip(self.genomes, exam.examples, exam.positions, strict=True)
        return np.stack(
            [self._scores(genome, e.inputs)[at[:, 0], at[:, 1]] for genome, e, at in lanes]
        )

    def cost(self) -> list[Cost]:
        """Bits of the first lane's network."""
        mutants = self._shown * self._learner.mutants
        return [
            Cost(
                self._shown,
                mutants,
                int(np.count_nonzero(self.genomes[0])),
                bits=description(self.genomes[0]),
            )
        ]

    def _mutated(self, genome: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        mutant = genome.copy()
        for place in rng.integers(len(genome), size=rng.integers(1, 4)):
            mutant[place] = 0 if rng.random() < 0.2 else mutant[place] + rng.choice([-1, 1])
        return mutant

    def _scores(self, genome: NDArray[np.int64], inputs: NDArray[Any]) -> NDArray[np.float64]:
        """(time, example, output) logarithms of probabilities, in bits."""
        table = genome.reshape(HIDDEN + self._size, self._size + HIDDEN + 1)
        tokens, recurrent, bias = np.split(table.T, [self._size, self._size + HIDDEN])
        hidden = np.zeros((inputs.shape[1], HIDDEN))
        rows = []
        for now in tokens[inputs]:
            hidden = np.clip(
                hidden @ recurrent[:, :HIDDEN] + now[:, :HIDDEN] + bias[0, :HIDDEN], -1e3, 1e3
            )
            rows.append(hidden @ recurrent[:, HIDDEN:] + now[:, HIDDEN:] + bias[0, HIDDEN:])
        scores = np.stack(rows)
        return np.asarray(scores - np.logaddexp2.reduce(scores, axis=-1, keepdims=True))

    def bits(self, genome: NDArray[np.int64], known: Examples) -> float:
        """Of the network, and of the answers given the network."""
        chosen = np.take_along_axis(
            self._scores(genome, known.inputs), known.targets[..., None].astype(int), -1
        )
        return description(genome) - float(chosen[..., 0][known.asked].sum())


def description(genome: NDArray[np.int64]) -> float:
    """One bit for no connection; else a sign and Elias's gamma code of the weight."""
    sizes = np.abs(genome[genome != 0])
    return float((genome == 0).sum() + (3 + 2 * np.floor(np.log2(sizes))).sum())


def test_a_weight_costs_what_its_code_is_long() -> None:
    assert description(np.array([0, 0, 1, -1, 4])) == 2 + 3 + 3 + 7


def test_evolution_shortens_the_description_and_the_search_does_not_hang_on_the_schedule(
    counting: Any, streams: Streams
) -> None:
    examples, near = (
        counting.sample(streams.numpy("data"), 100),
        Exam([counting.beyond(range(1, 11))]),
    )
    lesson, brief = (
        Lesson([examples], np.arange(100)[None]),
        Brief(Tokens(3), Tokens(3), "cross-entropy", 50, 100),
    )
    pupil, in_two, blank = (Evolution().begin(brief, [streams]) for _ in range(3))
    pupil.learn(lesson, 0, 100)
    in_two.learn(lesson, 0, 33)
    in_two.learn(lesson, 33, 100)
    assert np.array_equal(pupil.genomes, in_two.genomes)
    assert pupil.cost()[0].bits == in_two.cost()[0].bits == description(pupil.genomes[0])
    assert pupil.cost()[0].updates == 1500
    assert pupil.bits(pupil.genomes[0], examples) < 0.7 * pupil.bits(blank.genomes[0], examples)
    assert (pupil.answer(near).argmax(axis=-1) == near.targets).mean() > 0.8


def test_a_counter_built_by_hand_is_the_shorter_description(
    counting: Any, streams: Streams
) -> None:
    pupil = Evolution().begin(Brief(Tokens(3), Tokens(3), "cross-entropy", 50, 100), [streams])
    markov, counter = (np.array(rows).ravel() for rows in (MARKOV, COUNTER))
    pupil.genomes, far = [counter], Exam([counting.beyond(range(100, 110))])
    examples = counting.sample(streams.numpy("data"), 100)
    assert (pupil.answer(far).argmax(axis=-1) == far.targets).all()
    assert pupil.cost()[0].bits == description(counter) > description(markov)
    assert pupil.bits(counter, examples) < pupil.bits(markov, examples)
