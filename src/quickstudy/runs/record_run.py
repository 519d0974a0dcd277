"""A run as the lines of a recording, which `quickstudy.learners.recorded` plays back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.learner import Brief, name_of, pace_of
from quickstudy.base.parameters import configure, recorded_id, write_assignments
from quickstudy.base.seeds import Streams
from quickstudy.base.task import asked_of
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.recorded import as_json
from quickstudy.protocols.dynamics import drawn
from quickstudy.runs.run_spec import make_task, protocol_of


def recorded_lines(
    name: str,
    convention: str,
    root: int,
    repetition: int,
    protocol: Mapping[str, Any],
    learner: str = "",
) -> list[dict[str, Any]]:
    """A run of a task as the lines of a recording; without answers if no learner is named.

    Raises UsageError where the questions depend on the answers of a learner: a world, a test that
    ends at the first mistake, a system that reads its own answers.
    """
    task = make_task(name, convention)
    examiner = configure(
        protocol_of(task), registries.protocol.get(protocol_of(task)), protocol, convention
    )
    inner: Any = None
    if learner:
        inner = choose_learner(learner, convention, task, asked_of(task, examiner)).make(task)
        if not isinstance(inner, Hosted):
            raise UsageError(
                f"{learner} is compiled; recorded are learners in plain Python, as file.py:Class"
            )
    declared = (inner.declared or inner.make) if inner else None
    streams = Streams(root, recorded_id(task), repetition)
    if inner is None and runs_free(task, streams):
        without = "give the task free=0, or " if getattr(task, "free", 0) else ""
        raise UsageError(
            f"{name}: it runs free, and what is asked then depends on what is answered; {without}"
            "name a --learner that answers"
        )

    def told_to(host: Any, filled: float = 0.0) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        rule = host is not inner
        noted = partial(_noted, host.make if host else None, filled, rule, lines)
        examiner.examine(task, Hosted(noted, declared, rule), [streams])
        return lines

    try:
        begun, *rest = told_to(inner)
        if inner is None:
            # A learner that is always wrong, with any answer, and one that knows all answers must
            # get the same input.
            right = oracle_of(task, convention)
            others = [told_to(None, 1.0), *([told_to(right)] if right else [])]
            if any(
                [_question(line) for line in other[1:]] != [_question(line) for line in rest]
                for other in others
            ):
                raise NotApplicable(
                    "what is asked depends on what is answered; record a learner that answers"
                )
    except (NotApplicable, LearnerFault) as error:
        raise UsageError(f"{name}: {error}") from error
    run = {
        "task": name,
        "version": task.version,
        "protocol": write_assignments(protocol),
        "convention": convention,
        "root": root,
        "repetition": repetition,
        "pace": asdict(pace_of(declared)),
        **begun.pop("host"),
    }
    return [{"run": run, **begun}, *rest]


def runs_free(task: Any, streams: Streams) -> bool:
    """Whether a test of a task has runs on its learner's own answers."""
    return hasattr(task, "free_run") and task.free_run(drawn(task, streams)) is not None


def oracle_of(task: Any, convention: str) -> Hosted | None:
    """The rule that knows all answers, where there is one in plain Python."""
    oracle = str(getattr(task, "oracle", None))
    made: Any = (
        choose_learner(oracle, convention, task).make(task)
        if oracle in registries.control
        else None
    )
    return made if isinstance(made, Hosted) else None


def _question(line: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "answers"}


def _noted(
    make: Any, filled: float, told: bool, lines: list[dict[str, Any]], brief: Brief, seed: int
) -> _Noted:
    inner = None if make is None else make(brief, seed)
    said = {name: getattr(inner, name) for name in ("scale", "learns") if hasattr(inner, name)}
    lines.append({"seed": seed, "host": said})

    def filler(call: str, inputs: Any) -> Any:
        if call == "states":  # that hold something: of constant ones nothing is measured
            return np.stack(
                [np.ravel(inputs)[: len(inputs)], np.arange(len(inputs)) * (1.0 + filled)], axis=1
            )
        width = brief.outputs.width
        return np.full((len(inputs), width), filled) * np.arange(1, width + 1)

    noted = _Noted(inner, filler, lines)
    if told:
        noted.learns = True  # a rule that is asked like one who learns
    return noted


class _Noted:
    """A host that records its input; `inner` answers, or `filler` if there is no inner learner."""

    def __init__(
        self, inner: Any, filler: Callable[[str, Any], Any], lines: list[dict[str, Any]]
    ) -> None:
        self._inner, self._filler, self._lines = inner, filler, lines
        self.called = "a file of questions" if inner is None else name_of(inner)
        self.learns: bool
        for name in ("parameters", "scale", "learns", "bits", "told", "watch"):
            if hasattr(inner, name):
                setattr(self, name, getattr(inner, name))
        if inner is None or hasattr(inner, "states"):
            self.states = lambda inputs: self._answered("states", inputs)
        if hasattr(inner, "act"):
            self.act = self._act

    def learn(self, inputs: Any, targets: Any) -> None:
        self._lines.append({"learn": as_json(inputs), "targets": as_json(targets)})
        if self._inner is not None:
            self._inner.learn(inputs, targets)

    def predict(self, inputs: Any) -> Any:
        return self._answered("predict", inputs)

    def _act(self, observation: Any, reward: float, first: bool, **learning: Any) -> Any:
        done = self._inner.act(observation, reward, first, **learning)
        told = {"act": as_json(observation), "reward": as_json(reward), "first": bool(first)}
        self._lines.append({**told, "answers": as_json(done)})
        return done

    def _answered(self, call: str, inputs: Any) -> Any:
        if self._inner is None:
            self._lines.append({call: as_json(inputs), "answers": None})
            return self._filler(call, inputs)
        answers = getattr(self._inner, call)(inputs)
        self._lines.append({call: as_json(inputs), "answers": as_json(answers)})
        return answers
