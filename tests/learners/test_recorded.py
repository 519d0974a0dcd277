"""Recorded answers as a learner: they count as the learner's own would, and what does not fit is
refused.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from quickstudy import run
from quickstudy.base.errors import UsageError
from quickstudy.learners.recorded import Recorded
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.runs.merge import read_results
from quickstudy.runs.record_run import recorded_lines

LAST = """
import numpy as np


class Last:
    def __init__(self, brief, seed):
        self.answer = 0

    def learn(self, inputs, targets):
        self.answer = targets[-1]

    def predict(self, inputs):
        return np.full(len(inputs), self.answer)


class Parrot:
    def __init__(self, brief, seed):
        pass

    def act(self, observation, reward, first, learning=True):
        return observation
"""
FEW = {"sequences": 10}


@pytest.fixture
def host(tmp_path: pathlib.Path) -> str:
    (tmp_path / "hosts.py").write_text(LAST)
    return str(tmp_path / "hosts.py")


def written(path: pathlib.Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"recorded:file={path}"


def records(
    learner: str, tmp_path: pathlib.Path, task: str = "language/qa", **asked: Any
) -> list[Any]:
    asked = {"seeds": 1, "protocol": FEW, "controls": False, **asked}
    results = run(task, learner, out=tmp_path / "out", workers=0, progress=False, **asked)
    assert results.plan is not None
    keys = {cell.key for cell in results.plan.cells}
    return [record for key, record in read_results(tmp_path / "out").records.items() if key in keys]


@pytest.mark.parametrize(
    ("name", "task", "protocol"),
    [
        ("Last", "language/qa", FEW),
        ("Parrot", "curriculum/micro-1", {"steps": 200}),
    ],
)
def test_played_back_it_scores_what_the_learner_itself_does(
    host: str, tmp_path: pathlib.Path, name: str, task: str, protocol: Any
) -> None:
    live = f"{host}:{name}"
    lines = recorded_lines(task, "corrected", 0, 0, protocol, live)
    played = written(tmp_path / "a.jsonl", lines)
    (own,), (again,) = (records(one, tmp_path, task, protocol=protocol) for one in (live, played))
    assert again.status == "ok"
    assert again.scores == own.scores
    assert again.what["learner"]["parameters"] == {
        "content": Recorded(str(tmp_path / "a.jsonl")).content
    }


def test_questions_are_those_that_the_learner_was_asked(host: str, tmp_path: pathlib.Path) -> None:
    open_, answered = (
        recorded_lines("language/qa", "corrected", 0, 0, FEW, learner)
        for learner in ("", f"{host}:Last")
    )
    assert [{**line, "answers": 0} for line in open_] == [
        {**line, "answers": 0} for line in answered
    ]
    (record,) = records(written(tmp_path / "a.jsonl", open_), tmp_path)
    assert record.status == "failed"
    assert record.reason.endswith("a.jsonl, line 3: no answers yet")


def test_another_seed_or_task_is_not_applicable(host: str, tmp_path: pathlib.Path) -> None:
    played = written(
        tmp_path / "a.jsonl", recorded_lines("language/qa", "corrected", 0, 0, FEW, f"{host}:Last")
    )
    found = [
        *records(played, tmp_path, root=1),
        *records(played, tmp_path, "language/periodic"),
        *records(played, tmp_path, seeds=2)[1:],
    ]
    assert {record.status for record in found} == {"not-applicable"}
    assert (
        "has no answers to this run; it has language/qa version 3, root 0, repetitions 0"
        in found[0].reason
    )


def test_another_length_or_other_parameters_fail_where_they_part(
    host: str, tmp_path: pathlib.Path
) -> None:
    lines = recorded_lines("language/qa", "corrected", 0, 0, FEW, f"{host}:Last")
    played = written(tmp_path / "a.jsonl", lines)
    (longer,) = records(played, tmp_path, protocol={"sequences": 12})
    assert longer.status == "failed"
    assert "is not what the run tells: recorded is learn of" in longer.reason
    assert "it was recorded for language/qa version 3, sequences=10" in longer.reason
    (cut,) = records(written(tmp_path / "b.jsonl", lines[:-1]), tmp_path)
    assert "b.jsonl ends where the run goes on: predict of" in cut.reason
    short = [*lines[:-1], {**lines[-1], "answers": lines[-1]["answers"][:-1]}]
    (missing,) = records(written(tmp_path / "c.jsonl", short), tmp_path)
    assert "predict must give one row per input row" in missing.reason


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no run in it"),
        ("[1]\n", "line 1: no JSON object, got '[1]'"),
        ('{"predict": [1]}\n', "line 1: no recording; quickstudy drive TASK --questions"),
        (
            '{"run": {"task": "language/qa"}, "seed": 1}\n',
            "line 1: a run must be as `quickstudy drive` wrote it",
        ),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line(
    tmp_path: pathlib.Path, text: str, said: str
) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(UsageError) as caught:
        records(f"recorded:file={tmp_path / 'a.jsonl'}", tmp_path)
    assert said in str(caught.value)


def test_a_world_has_no_questions_alone() -> None:
    with pytest.raises(UsageError, match="curriculum/micro-1: a file of questions does not act"):
        recorded_lines("curriculum/micro-1", "corrected", 0, 0, {"steps": 100})


def test_what_depends_on_answers_has_no_questions_alone(monkeypatch: Any) -> None:
    """As where a test ends at the first mistake: here it is told the first answer of the last test
    once more.
    """
    examine = LanguageProtocol.examine

    def examined(self: Any, task: Any, learner: Any, streams: Any) -> Any:
        done = examine(self, task, learner, streams)
        host, inputs = done.pupil.host, task.sample(np.random.default_rng(0), 1).inputs[:, 0]
        host.predict(inputs[: 1 + int(np.argmax(host.predict(inputs)[0]))])
        return done

    monkeypatch.setattr(LanguageProtocol, "examine", examined)
    with pytest.raises(UsageError, match="language/qa: what is asked depends on what is answered"):
        recorded_lines("language/qa", "corrected", 0, 0, FEW)


def test_a_task_that_runs_free_has_no_questions_to_write_down():
    task = "dynamics/lorenz-63:training=60,validation=20,test=20,free=9,starts=1"
    with pytest.raises(UsageError, match=r"it runs free, .* give the task free=0"):
        recorded_lines(task, "corrected", 0, 0, {})
