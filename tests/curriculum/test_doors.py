"""The commands as they are typed: replies judged, sessions replayed and written, a person at
play.
"""

from __future__ import annotations

import io
import json

import pytest

from quickstudy.base import registries
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
    path.write_text(
        "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in objects)
    )
    return path


REPLY = {"task": "micro-13.1", "question": " say: a and b.", "expected": "ab.", "reply": "."}


def test_replies_are_judged(typed, tmp_path):
    file = lines(
        tmp_path / "replies.jsonl",
        REPLY,
        {**REPLY, "reply": "ab."},
        {**REPLY, "task": "13.1", "reply": "a"},
    )
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


def test_a_byte_that_ends_a_line_elsewhere_is_a_byte(typed, tmp_path):
    file = tmp_path / "replies.jsonl"
    said = json.dumps({**REPLY, "expected": "\x85b.", "reply": "\x85b."}, ensure_ascii=False)
    file.write_text(said + "\n", encoding="utf-8")
    status, out, _ = typed("score", "replies", file, "--json")
    assert status == 0
    assert json.loads(out)["correct"]


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
    assert set(found["judged"][0]) == {
        "step",
        "reply",
        "correct",
        "asked",
        "run",
        "soft",
        "hard",
        "ended",
    }
    marked = tmp_path / "marked.jsonl"  # with a byte order mark, and every byte an entry of its own
    marked.write_text(
        json.dumps({**SESSION, "replies": list(SESSION["replies"])}), encoding="utf-8-sig"
    )
    assert typed("replay", marked, "--json") == (0, out, "")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({**SESSION, "rows": None}, "rows must be a list of objects"),
        (
            {key: value for key, value in SESSION.items() if key != "replies"},
            "the field replies is missing",
        ),
        (
            {**SESSION, "rows": [{"question": "3.", "expected": "2."}]},
            "rows[0]: the field feedback is missing",
        ),
        ({**SESSION, "replies": "ŧ"}, "which is not a byte"),
        ({**SESSION, "replies": ["ŧ"]}, "which is not a byte"),
        ({**SESSION, "replies": [" ", "2."]}, "replies[1] must be one character, got '2.'"),
        ({**SESSION, "task": "micro-77"}, 'no task "micro-77" in the curriculum'),
        (
            {key: value for key, value in SESSION.items() if key != "task"},
            "the field task is missing",
        ),
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("3", "must be an object"),
    ],
)
def test_a_recording_that_is_none_is_told_by_line_and_reason(typed, tmp_path, line, reason):
    status, _, err = typed("replay", lines(tmp_path / "sessions.jsonl", SESSION, line))
    assert status == 2
    assert "line 2: " in err
    assert reason in err
    assert "Traceback" not in err


def test_every_instance_of_a_recording_is_known_by_its_own_rows():
    row = {"question": "a.", "expected": "b.", "feedback": ""}
    rows = [{**row, "knowable": place not in (10, 11)} for place in range(14)]
    judged = Judge("micro-9.1").replayed(rows, " b." * 14)["judged"]
    assert [one["soft"] for one in judged] == [51] * 9 + [51, None, None, 53, 53]
    assert judged[9]["ended"] == "success"


def test_what_a_world_asked_is_replayed_byte_for_byte():
    made = configure(
        "chain",
        registries.task.get("curriculum/chain"),
        {"members": "micro-3/micro-5.6/micro-8/micro-13.1/mini-3"},
    )
    world = made.open(Streams(1, made.id, 0))
    recorder = world.recorder = Recorder()
    told = registries.learner.get("program")(_brief(), 0)
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


@pytest.mark.parametrize("limits", ["questions", "steps"])
def test_who_is_recorded_lives_the_same_life(limits):
    """Of a learner that never answers: its instances end by the limits alone."""
    made = configure(
        "chain",
        registries.task.get("curriculum/chain"),
        {"members": "micro-8/micro-9.1", "limits": limits},
    )
    lives = []
    for recorder in (None, Recorder()):
        world = made.open(Streams(1, made.id, 0))
        if recorder is not None:
            world.recorder = recorder
        lives.append(world.live(lambda byte, reward: 32, 30_000))
    assert lives[0].events == lives[1].events
    sessions = recorder.sessions(bytes(lives[1].actions), [step for step, _ in lives[1].events])
    (session,) = sessions
    lived = Judge(session["task"], in_steps=limits == "steps").replayed(
        session["rows"], session["replies"]
    )
    assert (
        lived["environment"].encode("latin-1")[:30_000]
        == bytes(lives[0].observations)[: len(lived["environment"])]
    )
    if limits == "steps":
        assert len(lives[0].events) > 5
        assert [one["step"] for one in lived["judged"]] == [step for step, _ in lives[0].events]
        assert {one["ended"] for one in lived["judged"]} == {"failure"}


def test_where_no_replies_were_kept_nothing_is_written(typed, tmp_path):
    """Not even an empty file, and what stands there already stays."""
    out, target = tmp_path / "runs", tmp_path / "sessions.jsonl"
    assert (
        typed(
            "run",
            "curriculum/micro-1",
            "--learner",
            "oracle",
            "--seeds",
            1,
            "-o",
            out,
            "-q",
            "-j",
            0,
        )[0]
        == 0
    )
    for before in (None, "kept"):
        if before:
            target.write_text(before, encoding="utf-8")
        status, _, err = typed("replay", out, "--write", target)
        assert status == 2
        assert "has kept its replies; run it with --set replies=true" in err
        assert (target.read_text(encoding="utf-8") if target.exists() else None) == before


@pytest.mark.parametrize(("last", "asked"), [("x", 0), (".", 1)])
def test_a_session_that_runs_out_of_steps_says_so(typed, tmp_path, last, asked):
    """A perfect learner needs three steps for the question `a.` and its answer `b.`. 50 times as
    many are the soft limit, and one more, doubled, the hard one: 302 steps. Whether the answer is
    still under way by then or ends with the last step, the instance is over there.
    """
    row = {"question": "a.", "expected": "b.", "feedback": "", "knowable": True}
    session = {"task": "micro-9.1", "rows": [row, row], "replies": " " + "x" * 301 + last + "x" * 5}
    status, out, _ = typed(
        "replay", lines(tmp_path / "sessions.jsonl", session), "--convention", "written", "--json"
    )
    assert status == 0
    (judged,) = json.loads(out)["judged"]
    assert judged["ended"] == "failure"
    assert (judged["step"], judged["asked"], judged["correct"]) == (302, asked, False)
    assert judged["reply"] == "x" * 301 + last


def test_a_run_is_written_as_recordings(typed, tmp_path):
    out = tmp_path / "results"
    asked = (
        "--seeds",
        1,
        "--out",
        out,
        "--set",
        "steps=400",
        "--set",
        "replies=true",
        "--quiet",
        "--no-controls",
    )
    typed("run", "curriculum/micro-4", "--learner", "table", *asked)
    status, said, _ = typed("replay", out, "--write", tmp_path / "sessions.jsonl")
    assert status == 0
    assert "1 recordings" in said
    written = json.loads((tmp_path / "sessions.jsonl").read_text())
    assert (written["learner"], written["repetition"]) == ("table", 0)
    assert (
        json.loads(typed("replay", tmp_path / "sessions.jsonl")[1])["judged"][-1]["ended"]
        == "success"
    )
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
        (("play", "dynamics/narma-10"), "there is no seat for that; play a task of language"),
        (("play", "curriculum/micro-1", "--ask", "never"), "--ask must be one of"),
        (("run", "curriculum/file", "--learner", "search"), "path must be given"),
        (
            ("run", "curriculum/chain:members=micro-1/micro-99", "--learner", "search"),
            'no task "micro-99"',
        ),
    ],
)
def test_wrong_usage(typed, arguments, reason):
    status, _, err = typed(*arguments)
    assert status == 2
    assert reason in err
