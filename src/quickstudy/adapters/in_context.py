"""A language model as a learner in its context: examples are put into the prompt, and the weights
do not change.

Symbols are renamed: each repetition draws single letters for them, as people are shown them, so
that what a model knows of words does not count. A sequence is a line of letters; the answer follows
the letter at which it is asked, `a c>b d`. A prompt is `PREAMBLE`, the lines shown so far, and the
line in question up to its `>`:

    a c>b d
    c a>
"""

from __future__ import annotations

import json
import string
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.answer_text import ReadAnswer, scores_of
from quickstudy.adapters.llm_cache import Budget, KeptAnswers, Said, estimated_tokens
from quickstudy.base.canonical import digest
from quickstudy.base.errors import LearnerFault, NotApplicable, Unavailable, UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Cost, Pace, Snapshot
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.host_values import Prefixes

LETTERS = (*string.ascii_lowercase, *string.ascii_uppercase)
"""Names of symbols: each is one token to most models, or the beginning of none of the others."""
PREAMBLE = (
    "Each line is a sequence of symbols. After > stands the answer to what was read so far in its"
    " line.\n"
)
FEWEST_UNDERSTOOD, JUDGED = 0.05, 20
"""A run fails when less than this share of its answers is understood, from so many answers on: the
rest are guesses.
"""


def check_transcript(file: str) -> None:
    """Raise UsageError, before anything runs, for a file that cannot be appended to."""
    if file:
        try:
            open(file, "a", encoding="utf-8").close()
        except OSError as error:
            raise UsageError(
                f"transcript={file} cannot be written: {error.strerror}; name another file"
            ) from error


class LanguageModel(Protocol):
    """A language model, wherever it runs. It may be asked by several threads at once.

    at_once: how many. likely: whether it gives probabilities; known before the first question.
    parameters: the number of parameters, None if unknown.
    """

    at_once: int
    likely: bool
    parameters: int | None

    def request(self, prompt: str, answers: Sequence[str]) -> Any:
        """Everything that an answer depends on apart from the model, as plain JSON types."""

    def say(self, prompt: str, answers: Sequence[str]) -> Said:
        """What follows a prompt; answers: those that count. Raises Unavailable if nothing does."""

    def close(self) -> None:
        """All is over."""


@dataclass(frozen=True)
class Alphabet:
    """Letters for the symbols of inputs and answers. shared: they are the same symbols, where there
    are as many.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @classmethod
    def drawn(cls, brief: Brief, shared: bool, rng: np.random.Generator) -> Alphabet:
        """At random. Raises NotApplicable if there are more symbols than letters."""
        if not isinstance(brief.inputs, Tokens) or not isinstance(brief.outputs, Tokens):
            raise NotApplicable("a language model reads and gives symbols here, nothing else")
        same = shared and brief.inputs.size == brief.outputs.size
        wanted = brief.inputs.size + (0 if same else brief.outputs.size)
        if wanted > len(LETTERS):
            raise NotApplicable(
                f"symbols are named by {len(LETTERS)} letters, and {wanted} are needed"
            )
        names = tuple(LETTERS[place] for place in rng.permutation(len(LETTERS))[:wanted])
        return cls(names[: brief.inputs.size], names if same else names[brief.inputs.size :])

    def line(self, inputs: Sequence[int], answers: Mapping[int, int]) -> str:
        """A sequence as text, each answer after the symbol that asks for it."""
        places = (
            self.inputs[symbol] + (f">{self.outputs[answers[place]]}" if place in answers else "")
            for place, symbol in enumerate(inputs)
        )
        return " ".join(places)


class ContextPupil:
    """One lane. window: number of last examples in the context; 0: all. spend: tokens that
    this process may spend on it, 0: any number. kept: what the model has answered before, and will
    not be asked again. transcript: a file that every prompt and its answer are appended to, as a
    line of JSON; empty: none.
    """

    lanes = 1
    by_prediction = True  # every step is a question: only those that count are to be asked

    def __init__(
        self,
        speaker: LanguageModel,
        brief: Brief,
        streams: Streams,
        shared: bool,
        window: int,
        spend: int,
        kept: KeptAnswers | None,
        transcript: str = "",
    ) -> None:
        self._speaker, self._window, self._budget, self._kept = speaker, window, Budget(spend), kept
        self._transcript = transcript
        self._alphabet = Alphabet.drawn(brief, shared, streams.numpy("noise"))
        self._lines: list[str] = []
        self._shown = self._tokens = 0
        self._answers = self._understood = 0
        self._stepper = Prefixes(
            lambda read: self._answered([([int(x) for x in one], {}) for one in read])[:, None]
        )

    @property
    def scale(self) -> str:
        """Probabilities where the model gives some, else only its answer counts."""
        return "probabilities" if self._speaker.likely else "order"

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """Put examples into the context."""
        examples = lesson.examples[0]
        if lesson.item != "example":
            raise NotApplicable("a language model is shown whole sequences, not single questions")
        for index in lesson.order[0, start:stop]:
            asked = np.flatnonzero(examples.asked[:, index])
            self._shown += 1
            if len(asked):
                answers = {int(place): int(examples.targets[place, index]) for place in asked}
                self._lines.append(
                    self._alphabet.line(examples.inputs[: asked[-1] + 1, index].tolist(), answers)
                )

    def answer(self, exam: Exam) -> NDArray[np.float64]:
        """Each question by itself; right answers to those before it in its sequence are not
        shown.
        """
        examples = exam.examples[0]
        wanted = [examples.inputs[: time + 1, index].tolist() for time, index in exam.found[0]]
        scores = np.zeros((1, exam.positions.shape[1], len(self._alphabet.outputs)))
        if wanted:
            scores[0, : len(wanted)] = self._answered([(inputs, {}) for inputs in wanted])
        return scores

    def start(self, rows: int, capacity: int) -> Any:
        """Nothing read in any row."""
        return self._stepper.start(rows, capacity)

    def step(self, state: Any, inputs: Any) -> tuple[Any, NDArray[np.float64]]:
        """A question after every step."""
        state, scores = self._stepper.step(state, np.asarray(inputs)[0])
        return state, scores[None]

    def rows(self, state: Any, numbers: NDArray[Any]) -> Any:
        """What these rows have read."""
        return self._stepper.rows(state, numbers)

    def snapshot(self) -> Snapshot:
        """The lines of the context, and the letters."""
        kept = [*self._lines[-self._window :]] if self._window else self._lines
        names = [*self._alphabet.inputs, *self._alphabet.outputs]
        arrays = {"lines": np.array([kept], dtype=str), "letters": np.array([names], dtype=str)}
        counts = {"answers": self._answers, "understood": self._understood}
        facts = {"shown": self._shown, "tokens": self._tokens, "inputs": len(self._alphabet.inputs)}
        return Snapshot(arrays, {**facts, **counts})

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        names, inputs = (
            [str(name) for name in snapshot.arrays["letters"][0]],
            int(snapshot.facts["inputs"]),
        )
        self._alphabet = Alphabet(tuple(names[:inputs]), tuple(names[inputs:]))
        self._lines = [str(line) for line in snapshot.arrays["lines"][0]]
        self._shown, self._tokens = int(snapshot.facts["shown"]), int(snapshot.facts["tokens"])
        self._answers, self._understood = (
            int(snapshot.facts.get(one, 0)) for one in ("answers", "understood")
        )

    def cost(self) -> list[Cost]:
        """Examples in context; no weight was changed. How many a model has, few servers say."""
        fixed = self._speaker.parameters
        size = {"trained_parameters": None if fixed is None else 0, "fixed_parameters": fixed or 0}
        counts = {"tokens": self._tokens, "answers": self._answers, "understood": self._understood}
        return [Cost(self._shown, **size, **counts)]  # type: ignore[arg-type]

    def close(self) -> None:
        """Let the model go."""
        self._speaker.close()

    def _answered(
        self, asked: Sequence[tuple[Sequence[int], Mapping[int, int]]]
    ) -> NDArray[np.float64]:
        """(question, answer) scores. A question that comes twice is asked once."""
        shown = "\n".join([*(self._lines[-self._window :] if self._window else self._lines), ""])
        prompts = [f"{PREAMBLE}{shown}{self._alphabet.line(*each)}>" for each in asked]
        said = self._said(list(dict.fromkeys(prompts)))
        readings = [scores_of(said[prompt], prompt, self._alphabet.outputs) for prompt in prompts]
        if self._transcript:
            self._write_down(dict(zip(prompts, readings, strict=True)), said)
        if self._lines:  # without an example the model cannot know what an answer looks like
            self._answers += len(readings)
            self._understood += sum(reading.understood for reading in readings)
            self._check_understood(said[prompts[-1]])
        return np.stack([reading.scores for reading in readings])

    def _write_down(self, readings: Mapping[str, ReadAnswer], said: Mapping[str, Said]) -> None:
        names = self._alphabet.outputs
        with open(self._transcript, "a", encoding="utf-8") as file:
            for prompt, reading in readings.items():
                answer = {
                    "answer": names[int(reading.scores.argmax())],
                    "understood": reading.understood,
                }
                file.write(
                    json.dumps({"prompt": prompt, **said[prompt]._asdict(), **answer}) + "\n"
                )

    def _check_understood(self, last: Said) -> None:
        """Raise LearnerFault when nearly all answers are guesses: their score would say nothing
        about the model.
        """
        if self._answers >= JUDGED and self._understood < FEWEST_UNDERSTOOD * self._answers:
            likely = last.likely and max(last.likely, key=last.likely.__getitem__)
            remedy = "; logprobs=false reads its answer as text" if last.likely else ""
            raise LearnerFault(
                f"{self._understood} of {self._answers} answers were understood; the last began"
                f" with {(likely or last.text)[:40]!r} where one of"
                f" {' '.join(self._alphabet.outputs)} was asked for{remedy}"
            )

    def _said(self, prompts: Sequence[str]) -> dict[str, Said]:
        """The prompt for each. Nothing more is asked, and paid for, once a question has failed."""
        said: dict[str, Said] = {}
        asked: dict[str, Future[Said]] = {}
        failed = threading.Event()
        with ThreadPoolExecutor(max(1, self._speaker.at_once)) as pool:
            for prompt in prompts:
                if failed.is_set():
                    break
                if (before := self._before(prompt)) is not None:
                    said[prompt] = before
                    continue
                try:
                    reserved = self._budget.begin(prompt)
                except Unavailable:
                    failed.set()
                    raise
                asked[prompt] = pool.submit(self._asked, prompt, reserved, failed)
        said |= {
            prompt: answer.result() for prompt, answer in asked.items()
        }  # the first failure gives the reason
        self._tokens += sum(one.tokens for one in said.values())
        return said

    def _before(self, prompt: str) -> Said | None:
        """Cached answers cost nothing again."""
        return None if self._kept is None else self._kept.get(self._name(prompt))

    def _name(self, prompt: str) -> str:
        return digest(self._speaker.request(prompt, self._alphabet.outputs))

    def _asked(self, prompt: str, reserved: int, failed: threading.Event) -> Said:
        tokens = 0
        try:
            if failed.is_set():
                raise Unavailable("another question has failed")
            said = self._speaker.say(prompt, self._alphabet.outputs)
            tokens = said.tokens
            if self._kept is not None:
                self._kept.put(self._name(prompt), said)
            return said
        except BaseException:
            failed.set()
            raise
        finally:
            self._budget.end(prompt, reserved, tokens)


def begin_in_context(
    speaker: Callable[[], LanguageModel],
    brief: Brief,
    streams: Sequence[Streams],
    shared: bool,
    window: int,
    spend: int = 0,
    kept: KeptAnswers | None = None,
    transcript: str = "",
) -> ContextPupil:
    """A pupil of one lane. The model is opened only for what it can be asked."""
    if len(streams) != 1:
        raise UsageError(f"a language model has one lane, not {len(streams)}")
    Alphabet.drawn(brief, shared, np.random.default_rng(0))  # states what it is not for
    return ContextPupil(speaker(), brief, streams[0], shared, window, spend, kept, transcript)


class Counter:
    """A learner in the place of a language model: it is asked what the model would be asked, and
    only counts.

    requests, tokens: so far, tokens by estimate. A question that comes twice in one test counts
    once. first: the first prompt.
    """

    pace: ClassVar[Pace] = Pace()
    at_once, likely = 1, True
    parameters: int | None = None

    def __init__(self, shared: bool, window: int) -> None:
        self._shared, self._window = shared, window
        self.requests = self.tokens = 0
        self.first = ""

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> ContextPupil:
        """A pupil whose model is this object."""
        return begin_in_context(lambda: self, brief, streams, self._shared, self._window)

    def request(self, prompt: str, answers: Sequence[str]) -> Any:
        """Not used: nothing is kept."""
        return prompt

    def say(self, prompt: str, answers: Sequence[str]) -> Said:
        """All answers are equally likely."""
        self.requests += 1
        self.first = self.first or prompt
        self.tokens += estimated_tokens(prompt) + 1
        return Said(dict.fromkeys(answers, -1.0), "", 1)

    def close(self) -> None:
        """Nothing is open."""
