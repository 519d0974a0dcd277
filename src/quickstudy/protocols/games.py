"""How the games family examines: fresh episodes to learn from, others to be tested on, by answers
or by reward.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson, Rehearsal, Transcript
from quickstudy.base.learner import (
    Acting,
    Answering,
    Brief,
    Pace,
    Pupil,
    Rehearsing,
    face,
    pace_of,
)
from quickstudy.base.offers import (
    CountingSteps,
    Examining,
    ExaminingMany,
    HasWorld,
    Lessons,
    Payoffs,
    Performing,
    Reconstructing,
    offers,
)
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Fields
from quickstudy.base.stated import PupilFacts, TaskFacts, stated
from quickstudy.base.task import ExampleTask, PureWorldTask, spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import Examination, LastTest, right_answers
from quickstudy.protocols.session import Session

KNOWN = ("episode", "game", "query", "foil")
"""The fields recorded for every decision of the last test, besides whether it was right."""


@protocol("games", version=1)
@dataclass(frozen=True)
class GamesProtocol:
    """Learn from fresh episodes, each shown as often as the learner's passes; tested greedily on
    others.

    Baselines are tested by playing; they see and do the same in all forms of teaching.

    Source: Denamganaï, Missaoui and Walker 2022. The published runs have 500,000 observations
        (Table 1), 5 million (Table 2) and 10 million (Table 4).

    Parameters
    ----------
    teaching:
        `answers`: an episode is a sequence with a question at every decision, and the correct
        answer is shown. `reward`: episodes are played, and only the reward is shown. `payoff`: the
        same for whole episodes at once, where decisions change nothing that is seen.
    observations:
        Training steps in the world; as many episodes of the mean length are used.
    tests:
        Number of tests, the last at the end, each before at half the observations of the next.
    episodes:
        Episodes per test.
    lesson:
        Episodes handed over at once.
    acquired:
        Where players make a language: episodes of the last test from which a new listener learns it
        (ease of acquisition); 0 for none.
    """

    teaching: str = parameter("answers", choices=("answers", "reward", "payoff"))
    observations: int = parameter(100_000, at_least=1)
    tests: int = parameter(5, at_least=1, at_most=20)
    episodes: int = parameter(200, at_least=1)
    lesson: int = parameter(2048, at_least=1)
    acquired: int = parameter(0, at_least=0, added=True)

    measures: ClassVar[tuple[str, ...]] = (
        "zero-shot-accuracy",
        "learning-in-games",
        "reconstruction",
        "spoken-language",
        "ease-of-acquisition",
    )
    question: ClassVar[str] = "Does it recombine what it has just seen?"
    programs: ClassVar[int] = 2  # to draw episodes, and to write them as sequences
    headline: ClassVar[str] = "zero-shot-accuracy"
    second: ClassVar[str] = "support-accuracy"
    columns: ClassVar[tuple[str, ...]] = (
        "zero-shot-accuracy",
        "exploratory-accuracy",
        "support-accuracy",
        "foil-support",
        "foil-query",
        "topsim",
    )
    once: ClassVar[str] = "every episode once"
    again: ClassVar[str] = "shown the same episodes again"
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @property
    def asks(self) -> str | None:
        """By reward, whole episodes; else the outputs of the task."""
        return "episodes" if self.teaching == "reward" else None

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        has = {"world": offers(task, HasWorld), "sizes": stated(task, TaskFacts).sizes is not None}
        missing = [name for name, there in has.items() if not there]
        if not missing or offers(task, Examining):
            return ""
        return (
            f"games asks for episodes, and {task.id} has no {missing[0]}; give it another protocol"
        )

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `games`: observations, correct, asked (test,), the last three
        of the query phase; of the last test, (decision,): right, episode, game, query, foil; with
        two players, the messages with their targets, and `acquired`, whether fresh listeners were
        right; of a learner that reconstructs its input, `rebuilt` (decision, number), the error of
        each number.
        """
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        pace = pace_of(learner)
        played = self.teaching == "reward" or not isinstance(task, ExampleTask)
        length = mean_steps(task, len(streams))
        total = max(1, round(self.observations / length / pace.stride)) * pace.stride
        points = sorted(
            {max(1, math.ceil(total / 2**n / pace.stride)) * pace.stride for n in range(self.tests)}
        )
        inputs, outputs = spaces_of(task)
        capacity = task.horizon if played else _longest(task)
        by_payoff = self.teaching == "payoff"
        if played and not isinstance(task, PureWorldTask):
            raise NotApplicable(f"{task.id} is not a world to act in: give teaching=answers")
        if by_payoff and not offers(task, Payoffs):
            raise NotApplicable(
                f"teaching=payoff is for decisions that change nothing, not for {task.id}: give"
                " reward"
            )
        loss = "reward" if played else "payoff" if by_payoff else "cross-entropy"
        brief = Brief(inputs, outputs, loss, capacity, total * pace.passes)
        shown, marks = 0, list[NDArray[Any]]()
        none = np.zeros((0, len(streams), 2), np.int64)
        session = Session(
            learner,
            brief,
            streams,
            unfinished,
            lambda: ({"marks": np.stack(marks) if marks else none}, {"shown": shown}),
        )
        clock, pupil, found = session.clock, session.pupil, session.found
        if found is not None:
            shown, marks = int(found.facts["shown"]), list(found.arrays["marks"])
        rule = _is_rule(pupil)
        side = (
            _Played(task, pupil, streams)
            if played or rule
            else _Asked(task, pupil, streams, pace, by_payoff)
        )
        last: list[dict[str, NDArray[Any]]] = []
        stride = max(1, self.lesson // pace.stride) * pace.stride
        points = points[-1:] if rule else points
        for number, point in enumerate(points):
            while shown < point and not rule:
                stop = min(point, shown + stride)
                with clock.timing("learn"):
                    side.learn(shown, stop)
                shown = stop
                session.hand_in()
            if number >= len(marks):
                with clock.timing("answer"):
                    last = side.test(self.episodes)
                marks.append(
                    np.array(
                        [[(one["right"] & one["query"]).sum(), one["query"].sum()] for one in last]
                    )
                )
        if self.acquired and last and "utterances" in last[0]:
            from quickstudy.learners.acquisition_probe import acquired

            with clock.timing("answer"):
                taught = acquired(task, streams, last, min(self.acquired, self.episodes))
            last = [{**own, "acquired": right} for own, right in zip(last, taught, strict=True)]
        facts = {
            "passes": pace.passes,
            "teaching": self.teaching,
            "decisions": _decisions(outputs),
            "episodes": total,
            "steps_per_episode": length,
            "test_episodes": self.episodes,
        }
        curve = np.stack(marks)
        traces = [
            Trace(
                "games",
                {
                    "observations": np.array(points) * length,
                    "correct": curve[:, lane, 0],
                    "asked": curve[:, lane, 1],
                    **last[lane],
                },
                facts,
                cost,
            )
            for lane, cost in enumerate(clock.charge(pupil.cost()))
        ]
        return Examination(traces, pupil, brief, side.last)


class _Asked:
    """Episodes as sequences with questions."""

    def __init__(
        self, task: Any, pupil: Pupil, streams: Sequence[Streams], pace: Pace, by_payoff: bool
    ) -> None:
        self._task, self._pupil, self._streams = task, face(pupil, Answering), streams
        self._passes, self._batch, self._by_payoff = pace.passes, pace.stride, by_payoff
        self._exam: tuple[Exam, list[dict[str, Any]]] | None = None
        self._longest = _longest(task)
        self.last: LastTest | None = None

    def learn(self, start: int, stop: int) -> None:
        """Learn from episodes start .. stop-1, in batches of about equal length, then again in
        every further pass, shuffled.
        """
        examples, orders = lessons_of(self._task, self._streams, start, stop - start), []
        # All lanes have short batches and long ones at the same time, so that none waits for
        # another.
        shuffled = Streams(0, f"{self._task.id}, lengths", 0).numpy(f"order-{start}")
        batches = shuffled.permutation((stop - start) // self._batch)
        for stream, lane in zip(self._streams, examples, strict=True):
            rng, first = stream.numpy(f"order-{start}"), np.arange(stop - start)
            if self._batch > 1:
                by_length = np.argsort(lane.lengths + rng.random(len(first)))
                first = (
                    by_length[: batches.size * self._batch]
                    .reshape(-1, self._batch)[batches]
                    .ravel()
                )
            orders.append(
                np.concatenate([first, *(rng.permutation(first) for _ in range(self._passes - 1))])
            )
        if self._by_payoff:
            examples = [self._task.payoffs(lane) for lane in examples]
        if not stated(self._pupil, PupilFacts).reads_streams:
            examples = self._on_host(examples)
        lesson = Lesson(examples, np.stack(orders), stream=True)
        self._pupil.learn(lesson, 0, lesson.items)

    def _on_host(self, examples: Sequence[Examples]) -> list[Examples]:
        """In NumPy, in few lengths, so that lessons share programs."""
        part = -(-self._longest // 4)
        longest = max(int(lane.lengths.max()) for lane in examples)
        steps = min(-(-longest // part) * part, self._longest)
        here = (replace(lane, inputs=np.asarray(lane.inputs)) for lane in examples)
        return [lane.take(np.arange(lane.count)).padded(steps) for lane in here]

    def test(self, episodes: int) -> list[dict[str, NDArray[Any]]]:
        """By lane, what is known of every decision, and whether it was right."""
        if self._exam is None:
            if offers(self._task, ExaminingMany):
                drawn = self._task.exams(self._streams, episodes)
            else:
                drawn = [self._task.exam(stream, episodes) for stream in self._streams]
            self._exam = Exam([examples for examples, _ in drawn]), [known for _, known in drawn]
        exam, marks = self._exam
        scores = self._pupil.answer(exam)
        self.last, right = LastTest(self._pupil, exam, scores), right_answers(scores, exam)
        found = [
            {
                "right": right[lane, : len(known["game"])],
                **{name: np.asarray(known[name]) for name in KNOWN},
            }
            for lane, known in enumerate(marks)
        ]
        pupil = self._pupil
        if offers(pupil, Reconstructing) and (given := pupil.rebuilt(exam)) is not None:
            for own, lane, examples in zip(found, given, exam.examples, strict=True):
                read = np.swapaxes(np.asarray(examples.inputs), 0, 1)[examples.asked.T][
                    :, : lane.shape[-1]
                ]
                own["rebuilt"] = np.abs(lane[: len(read)] - read)
        return found


class _Played:
    """Episodes that are played."""

    last: LastTest | None = None

    def __init__(self, task: Any, pupil: Pupil, streams: Sequence[Streams]) -> None:
        from quickstudy.jax_gateway import jnp
        from quickstudy.protocols.acted_episodes import ActedEpisodes

        acts = offers(pupil, Acting) and not offers(pupil, Rehearsing)
        self._pupil: Any = (
            ActedEpisodes(pupil, task.world(False)) if acts else face(pupil, Rehearsing)
        )
        self._shown, self._held_back = (
            Rehearsal(task.world(tested), jnp.stack([stream.jax(purpose) for stream in streams]))
            for tested, purpose in ((False, "data"), (True, "test"))
        )

    def learn(self, start: int, stop: int) -> None:
        """Play episodes start .. stop-1 and learn from them."""
        self._pupil.rehearse(self._shown, start, stop)

    def test(self, episodes: int) -> list[dict[str, NDArray[Any]]]:
        """By lane, what is known of every decision, and whether it was right."""
        return logged(self._pupil.perform(self._held_back, 0, episodes))


def logged(played: Transcript) -> list[dict[str, NDArray[Any]]]:
    """By lane, of every decision in some episodes: right, episode, game, query, foil; and the
    messages of a speaker with their targets, if there is one.
    """
    done = np.asarray(played.done)
    before = np.cumsum(done, axis=-1) - done == 0
    info = {name: np.asarray(values) for name, values in played.info.items()}
    found = []
    for lane in range(len(done)):
        episode, step = np.nonzero(info["decided"][lane] & before[lane])
        own = {"right": info["right"][lane, episode, step], "episode": episode}
        known = [*KNOWN[1:], *(["rebuilt"] if "rebuilt" in info else [])]
        own |= {name: info[name][lane, episode, step] for name in known}
        if isinstance(played.actions, Mapping):
            speaker, time = np.nonzero(info["talks"][lane] & before[lane])
            own |= {"speaks_in": speaker, "meanings": info["target"][lane, speaker, time]}
            own |= {"utterances": info["message"][lane, speaker, time]}
        found.append(own)
    return found


def lessons_of(task: Any, streams: Sequence[Streams], first: int, count: int) -> list[Examples]:
    """Episodes to learn from, of every lane: drawn together where the task can."""
    if offers(task, Lessons):
        return list(task.lessons(streams, first, count))
    return [task.lesson(stream, first, count) for stream in streams]


@lru_cache(maxsize=64)
def mean_steps(task: Any, lanes: int = 1) -> float:
    """Of an episode of the task, from 256 that are the same in all runs; drawn by the program of so
    many lanes.
    """
    streams = Streams(0, f"{task.id}, mean length", 0)
    if offers(task, CountingSteps):
        return float(task.steps(lessons_of(task, [streams] * lanes, 0, 256)[0]) / 256)
    sizes = task.sizes
    return float(
        (sizes.turns * task.episodes(streams.jax("data"), 0, 256).count - sizes.feedback).mean()
    )


def _longest(task: Any) -> int:
    """Steps of the longest sequence there can be."""
    if task.horizon == 1 or stated(task, TaskFacts).sizes is None:
        return int(task.horizon)
    return int(task.sizes.games * (task.sizes.rounds + task.sizes.feedback))


def _is_rule(pupil: Any) -> bool:
    """Whether it plays and declares that it never learns: a control, tested once and taught
    nothing.
    """
    return offers(pupil, Performing) and stated(pupil, PupilFacts).learns is False


def _decisions(outputs: Any) -> int:
    """How many there are to choose from."""
    one: Any = dict(outputs.parts)["decision"] if isinstance(outputs, Fields) else outputs
    return int(one.size)
