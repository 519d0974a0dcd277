"""A family from outside the package: how far does a learner count? Strings a^n b^n, tested beyond
what was shown.
"""

from dataclasses import dataclass

import numpy as np

import quickstudy as qs


@qs.task("counts/equal", version=1, controls=["majority", "constant-b"], oracle="counter")
@dataclass(frozen=True)
class Equal:
    """As many b as there were a, then the end.

    Sees: `#`, some a, then as many b. Answers: the next letter, from the second b to the closing
    `#`. Scored: the longest string up to which all are right. Chance 0. Ceiling: the longest string
    of the test. Source: ours.
    """

    vocabulary = ("#", "a", "b")
    stop: float = qs.parameter(0.3, above=0, at_most=1)

    def sample(self, rng, count):
        return self.strings(rng.geometric(self.stop, count))

    def strings(self, counts):
        """The strings of these n; asked are the letters that are certain."""
        return qs.Examples.from_sequences(
            [[0] + [1] * n + [2] * n + [0] for n in counts],
            [range(n + 2, 2 * n + 2) for n in counts],
        )


@qs.control("constant-b", version=1, role="control")
class AlwaysB:
    """Says b, whatever it has read."""

    learns = False

    def __init__(self, task, brief, seed):
        pass

    def learn(self, inputs, targets):
        pass

    def predict(self, inputs):
        return np.full(len(inputs), 2)


@qs.control("counter", version=1, role="oracle")
class Counter(AlwaysB):
    """Counts: always right."""

    def predict(self, inputs):
        return np.where(np.cumsum(inputs == 2) < np.cumsum(inputs == 1), 2, 0)


@qs.protocol("counts", version=1)
@dataclass(frozen=True)
class CountsProtocol:
    """Learn from strings, each once, then answer those of n = 1, 2, 3 ...

    strings: how many are shown. longest: the largest n of the test.
    """

    strings: int = qs.parameter(40, at_least=1)
    longest: int = qs.parameter(12, at_least=1)

    measures = ("count",)
    headline = "reach"
    second = "accuracy"
    columns = ("reach", "accuracy")
    question = "How far does it count?"
    exact = {"longest": 20}
    replay_apart = False

    def examine(self, task, learner, streams, unfinished=None):
        shown = [task.sample(stream.numpy("data"), self.strings) for stream in streams]
        passes = learner.pace.passes
        order = np.tile(np.arange(self.strings), (len(streams), passes))
        lesson, exam = (
            qs.Lesson(shown, order),
            qs.Exam([task.strings(range(1, self.longest + 1))] * len(streams)),
        )
        brief = qs.Brief(
            *qs.spaces_of(task), "cross-entropy", max(lane.steps for lane in shown), lesson.items
        )
        done = qs.sit(
            learner,
            brief,
            streams,
            lesson,
            [lesson.items],
            exam,
            lambda scores: qs.right_answers(scores, exam),
            unfinished,
        )
        sizes = exam.positions[0, :, 1] + 1
        traces = [
            qs.Trace(
                "count-outcomes",
                {"right": done.marks[-1, lane], "n": sizes},
                {"passes": passes},
                cost,
            )
            for lane, cost in enumerate(done.costs)
        ]
        return qs.Examination(traces, done.pupil, brief, done.last)


@qs.measure(
    "count",
    version=1,
    kinds=("count-outcomes",),
    equation=(
        "max {n: all letters of a^m b^m are right for m = 1 .. n}; share of letters that are right"
    ),
    chance="0",
    scores=(
        qs.Score("accuracy", unit="share of letters", better="higher", range=(0, 1)),
        qs.Score(
            "reach",
            "largest n right",
            "letters",
            "higher",
            (0, np.inf),
            least=1,
            words={"<1": "<1"},
        ),
    ),
)
def count(trace, convention):
    """The largest n up to which every string is right, and the share of letters."""
    wrong = trace.arrays["n"][~trace.arrays["right"]]
    return {
        "reach": float(wrong.min() - 1 if len(wrong) else trace.arrays["n"].max()),
        "accuracy": float(trace.arrays["right"].mean()),
    }


@qs.measure(
    "halves",
    version=1,
    kinds=("count-outcomes",),
    equation="share of letters right among the longer half of the strings",
    chance="0.5",
    scores=(qs.Score("longer-half", unit="share of letters", better="higher", range=(0, 1)),),
)
def halves(trace, convention):
    """Accuracy on the longer strings: of no protocol, only where it is asked for."""
    sizes = trace.arrays["n"]
    return {"longer-half": float(trace.arrays["right"][sizes > sizes.max() / 2].mean())}
