"""How sentences are examined: learn from some of a corpus, then give the others bits, word by
word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, distribution, finite, pace_of
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.measures.sentences import ACCEPTABLE, HELD, UNACCEPTABLE
from quickstudy.protocols.examination import Examination, sit
from quickstudy.tasks.grammar.sentences import Sentences

LEAST = 2.0**-20
"""A probability below this counts as this much, so that one impossible word has 20 bits."""


@protocol("sentences", version=1)
@dataclass(frozen=True)
class SentencesProtocol:
    """Learn from sentences of a corpus, then give every word of other sentences its surprisal.

    Surprisal is -log2 of the learner's probability of a word given all words before it; a
    probability below 2^-20 counts as 2^-20. A sentence includes the `#` at its end.

    Parameters
    ----------
    sequences:
        Training sentences, sampled with replacement by their frequency.
    held:
        Share of the different sentences that is held out, sampled in every repetition. Sentences of
        minimal pairs are never trained on.
    asked:
        Most held-out sentences in the test.
    """

    sequences: int = parameter(2000, at_least=1)
    held: float = parameter(0.2, above=0, at_most=0.9)
    asked: int = parameter(500, at_least=1)

    measures: ClassVar[tuple[str, ...]] = ("surprisal", "minimal-pairs")
    family: ClassVar[str] = "grammar"
    question: ClassVar[str] = "How well does it predict sentences that it was not shown?"
    headline: ClassVar[str] = "bits-per-word"
    columns: ClassVar[tuple[str, ...]] = (
        "bits-per-word",
        "perplexity",
        "word-accuracy",
        "pairs-right",
        "critical-bits",
    )
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def unfit(self, task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        return "" if isinstance(task, Sentences) else f"{task.id} has no sentences"

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `sentence-bits`."""
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        pace = pace_of(learner)
        lanes = [self._split(task, stream) for stream in streams]
        lesson = Lesson(
            [task.examples(shown) for shown, _ in lanes],
            np.stack([stream.order(self.sequences, pace.passes) for stream in streams]),
        )
        exam = Exam([task.examples([one for _, one in asked]) for _, asked in lanes])
        steps = max(shown.steps for shown in (*lesson.examples, *exam.examples))
        brief = Brief(*spaces_of(task), "cross-entropy", steps, lesson.items)
        point = lesson.items // pace.stride * pace.stride
        if not point:
            raise UsageError(
                f"nothing can be learned from {lesson.items} sentences, fewer than one update of"
                " the learner takes; give more sequences or passes, or a smaller batch"
            )
        sitting = sit(
            learner,
            brief,
            streams,
            lesson,
            [point],
            exam,
            lambda scores: finite("the learner's scores", np.asarray(scores, np.float64)),
            unfinished,
        )
        chances = distribution(sitting.marks[-1], sitting.pupil.scale)
        facts = {
            "passes": pace.passes,
            "batch": pace.stride,
            "training_sequences": self.sequences,
            "symbols": list(task.vocabulary),
            "kinds": [pair.kind for pair in task.material.pairs],
        }
        traces = [
            Trace("sentence-bits", _by_word(exam, chances, lane, asked), facts, cost)
            for lane, ((_, asked), cost) in enumerate(zip(lanes, sitting.costs, strict=True))
        ]
        return Examination(traces, sitting.pupil, brief, sitting.last)

    def _split(
        self, task: Sentences, stream: Streams
    ) -> tuple[list[NDArray[np.int32]], list[tuple[int, NDArray[np.int32]]]]:
        """Sentences to learn from; sentences to be asked about, with what each is."""
        found = task.material
        order = stream.numpy("split").permutation(found.free).tolist()
        count = min(self.asked, max(1, round(self.held * len(order))), len(order) - 1)
        shown = task.draw(stream.numpy("data"), self.sequences, order[count:])
        asked = [(HELD, found.sentences[number]) for number in order[:count]]
        asked += [(ACCEPTABLE, pair.acceptable) for pair in found.pairs]
        asked += [(UNACCEPTABLE, pair.unacceptable) for pair in found.pairs]
        return shown, asked


def _by_word(
    exam: Exam,
    chances: NDArray[np.float64],
    lane: int,
    asked: Sequence[tuple[int, NDArray[np.int32]]],
) -> dict[str, NDArray[Any]]:
    """A row for each word of the test: its sentence, what that is, position, word, bits, and
    whether it was the likeliest.
    """
    times, columns = exam.found[lane].T
    targets = exam.targets[lane, : len(times)]
    rows = chances[lane, : len(times)]
    own = rows[np.arange(len(times)), targets]
    order = np.lexsort((times, columns))
    arrays = {
        "sentence": columns,
        "group": np.array([group for group, _ in asked])[columns],
        "position": times,
        "word": targets,
        "bits": np.log2(1 / np.clip(own, LEAST, 1)),
        "likeliest": rows.argmax(axis=-1) == targets,
    }
    return {name: np.asarray(values)[order] for name, values in arrays.items()}
