"""The commands as they are typed: replies judged, sessions replayed and written, a person at play."""

from __future__ import annotations

import io
import json

import pytest

from quickstudy.base import catalogue
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.cli.main import main
from quickstudy.tasks.curriculum.recordings import Judge, Recorder


@pytest.fixture
def typed(capsys, monkeypatch):
    def run(*arguments, stdin=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as end:
            main(list(map(str, arguments)))
        said = capsys.readouterr()
        return end.value.code, said.out, said.err

    return run


def lines(path, *objects):
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in objects))
    return path


REPLY = {"task": "micro-13.1", "question": " say: a and b.", "expected": "ab.", "reply": "."}


def test_replies_are_judged(typed, tmp_path):
    file = lines(tmp_path / "replies.jsonl", REPLY, {**REPLY, "reply": "ab."}, {**REPLY, "task": "13.1", "reply": "a"})
    status, out, _ = typed("score", "replies", file, "--json", "--convention", "published")
    judged = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert judged == [
        {"finished": True, "correct": True, "reward": 1},
        {"finished": True, "correct": True, "reward": 1},
        {"finished": False, "correct": False, "reward": 0},
    ]
    assert json.loads(typed("score", "replies", file, "--json")[1].splitlines()[0])["reward"] == -1
    assert "'ab.'" in typed("score", "replies", file)[1]


SESSION = {
    "task": "micro-5.5",
    "rows": [
        {"question": "3.", "expected": "2.", "feedback": "2.;"},
        {"question": "1.", "expected": "7.", "feedback": "7.;"},
    ],
    "replies": " 2.    y.   ",
}


def test_sessions_are_replayed(typed, tmp_path):
    status, out, _ = typed("replay", lines(tmp_path / "sessions.jsonl", SESSION), "--json")
    found = json.loads(out)
    assert status == 0
    assert set(found) == {"environment", "rewards", "judged"}
    assert found["environment"] == "3. 2.;1. 7.;"
    assert set(found["judged"][0]) == {"step", "reply", "correct", "asked", "run", "soft", "hard", "ended"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({**SESSION, "rows": None}, "rows must be a list of objects"),
        ({key: value for key, value in SESSION.items() if key != "replies"}, "the field replies is missing"),
        ({**SESSION, "rows": [{"question": "3.", "expected": "2."}]}, "rows[0]: the field feedback is missing"),
        ({**SESSION, "replies": "ŧ"}, "which is no byte"),
        ({**SESSION, "task": "micro-77"}, 'no task "micro-77" in the curriculum'),
        ({key: value for key, value in SESSION.items() if key != "task"}, "the field task is missing"),
        ("{", "no JSON"),
        ("3", "must be an object"),
    ],
)
def test_a_recording_that_is_none_is_told_by_line_and_reason(typed, tmp_path, line, reason):
    status, _, err = typed("replay", lines(tmp_path / "sessions.jsonl", SESSION, line))
    assert status == 2
    assert "line 2: " in err
    assert reason in err
    assert "Traceback" not in err


def test_what_a_world_asked_is_replayed_byte_for_byte():
    made = configure(
        "chain", catalogue.task.get("curriculum/chain"), {"members": "micro-3/micro-5.6/micro-8/micro-13.1/mini-3"}
    )
    world = made.open(Streams(1, made.id, 0))
    recorder = world.recorder = Recorder()
    told = catalogue.learner.get("program")(_brief(), 0)
    life = world.live(lambda byte, reward: told.act(byte, reward, False), 30_000)
    ends = [step for step, _ in life.events]
    start = 0
    for session in recorder.sessions(bytes(life.actions), ends):
        lived = Judge(session["task"]).replayed(session["rows"], session["replies"])
        shown = bytes(life.observations[start : start + len(session["replies"])])
        assert lived["environment"].encode("latin-1")[: len(shown)] == shown
        rewards = list(life.rewards[start : start + len(lived["rewards"]) - 1])
        assert lived["rewards"][1:] == rewards
        start += len(session["replies"])
    assert start == len(life.actions)


def _brief():
    from quickstudy.base.learner import Brief
    from quickstudy.base.spaces import Tokens

    return Brief(Tokens(256), Tokens(256), "reward", 10_000, 1000)


def test_a_run_is_written_as_recordings(typed, tmp_path):
    out = tmp_path / "results"
    asked = ("--seeds", 1, "--out", out, "--set", "steps=400", "--set", "replies=true", "--quiet", "--no-controls")
    typed("run", "curriculum/micro-4", "--learner", "table", *asked)
    status, said, _ = typed("replay", out, "--write", tmp_path / "sessions.jsonl")
    assert status == 0
    assert "1 recordings" in said
    assert json.loads(typed("replay", tmp_path / "sessions.jsonl")[1])["judged"][-1]["ended"] == "success"
    assert typed("replay", out)[0] == 2


def test_a_person_plays_and_the_session_is_a_trace(typed, tmp_path):
    record = tmp_path / "session.jsonl"
    status, out, _ = typed("play", "curriculum/micro-7.1", "--record", record, stdin="b.\n\n")
    assert status == 0
    assert "environment say: " in out
    session = json.loads(record.read_text())
    assert session["replies"].startswith("      b.")
    assert json.loads(typed("replay", record)[1])["judged"][0]["reply"] == "b."


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("play", "language/qa"), "is not played byte by byte"),
        (("play", "curriculum/micro-1", "--ask", "never"), "--ask must be one of"),
        (("run", "curriculum/file", "--learner", "search"), "path must be given"),
        (("run", "curriculum/chain:members=micro-1/micro-99", "--learner", "search"), 'no task "micro-99"'),
    ],
)
def test_wrong_usage(typed, arguments, reason):
    status, _, err = typed(*arguments)
    assert status == 2
    assert reason in err
