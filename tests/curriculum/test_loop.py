"""The loop, by the worked traces of the original environment, by hand, and by its laws."""

from __future__ import annotations

import pytest

from quickstudy.tasks.curriculum.loop import Instance, Question, Stage, always, micro
from quickstudy.tasks.curriculum.recordings import Judge

SIGNS = {"-": -1, "0": 0, "+": 1}


def row(question, expected, feedback="", knowable=True):
    return {"question": question, "expected": expected, "feedback": feedback, "knowable": knowable}


def replayed(member, rows, replies, **rules):
    return Judge(member, **rules).replayed(rows, replies.replace("_", " "))


TRACES = {
    "micro-1": (
        [row(byte, "T" if place < 10 else "X") for place, byte in enumerate("T7IT7TIY2I17c1")],
        "T7IT7TIY2I17c1",
        "TTTTTTTTTTXXXX",
        "0+++++++++++++",
    ),
    "micro-5.1": (
        [
            row(pair[0], pair[1], pair[1])
            for pair in ("07", "78", "92", "56", "07", "40", "81", "23", "19", "40", "19")
        ],
        "0778925607408123194019",
        "z_8_2_6_2_0_8_3ay_0_9_",
        "0-0+0+0+0-0+0-0+--0+0+",
    ),
    "micro-5.5": (
        [row(f"{key}.", f"{value}.", f"{value}.;") for key, value in ("32", "32", "17", "51")],
        "3._2.;3._2.;1._7.;5._1.;",
        "_2.____y.____7.____1._a_",
        "000+00000-00000+00000+0-",
    ),
    "micro-9.1": (
        [row("spell: v.", "v .", "good job! v .;")],
        "spell:_v.__good_job!_v_.;",
        "________v_.______________",
        "00000000000+0000000000000",
    ),
    "mini-1": (
        [
            row("description: O; verify: OVO.", "false.", "nice work."),
            row("description: A; verify: A.", "true."),
        ],
        "description:_O;_verify:_OVO._____nice_work._de",
        "___________________________false.____________",
        "00000000000000000000000000000000000000000000+0",
    ),
}


@pytest.mark.parametrize("member", TRACES)
def test_worked_traces(member):
    rows, environment, replies, rewards = TRACES[member]
    lived = replayed(member, rows, replies)
    assert lived["environment"].replace(" ", "_") == environment
    assert lived["rewards"] == [SIGNS[sign] for sign in rewards]


def test_judged_says_where_the_instance_stands():
    rows, _, replies, _ = TRACES["micro-1"]
    judged = replayed("micro-1", rows, replies)["judged"]
    assert judged[9] == {
        "step": 9,
        "reply": "T",
        "correct": True,
        "asked": 10,
        "run": 10,
        "soft": 51,
        "hard": None,
        "ended": "success",
    }
    assert (judged[10]["asked"], judged[10]["run"]) == (1, 1)  # another instance


@pytest.mark.parametrize(
    ("member", "hard", "last"),
    [("micro-4", 104, 105), ("micro-7.1", 104, 105), ("micro-15", 156, 157)],
)
def test_limits_of_an_always_wrong_learner(member, hard, last):
    text = Judge(member).by_period
    asked = row("q." if text else "q", "a." if text else "a")
    judged = replayed(member, [asked] * 200, ("_" + "." if text else "x") * 400)["judged"]
    ended = next(one for one in judged if one["ended"])
    assert (ended["soft"], ended["hard"], ended["asked"], ended["ended"]) == (
        51,
        hard,
        last,
        "failure",
    )


def test_solved_too_late_is_a_failure():
    judged = replayed("micro-4", [row("q", "a")] * 70, "x" * 45 + "a" * 20)["judged"]
    assert (judged[54]["run"], judged[54]["asked"], judged[54]["ended"]) == (10, 55, "failure")


def test_talking_out_of_turn_clears_the_run_and_silence_does_not():
    rows = [row("q.", "a.", ";")] * 3
    judged = replayed("micro-7.1", rows, "_a._" + "_a._" + "xa._")["judged"]
    assert [one["run"] for one in judged] == [1, 2, 1]


def test_hesitation_ruins_an_answer():
    judged = replayed("micro-7.1", [row("q.", "a.")] * 2, "__a.")["judged"]
    assert judged[0]["reply"] == " a."
    assert not judged[0]["correct"]


def test_the_step_cap_ends_an_instance_without_a_word():
    lived = replayed("micro-7.1", [row("q.", "a.")] * 2, "_" * 10_005)
    assert lived["environment"].rstrip() == "q." + " " * 9_998 + "q."
    assert set(lived["rewards"]) == {0}
    assert lived["judged"] == []


def test_the_byte_of_the_step_cap_is_still_judged():
    lived = replayed("micro-7.1", [row("q.", "a.", "f;")] * 3, "_" * 9_999 + "." + "_" * 9)
    # The wrong answer, its feedback and the question that follows are there; then the next instance
    # begins.
    assert lived["environment"][10_000:] == "f;q.q.    "
    assert lived["rewards"][10_000] == -1


@pytest.mark.parametrize(("expected", "steps"), [("true.", 3034), ("false.", 3035)])
def test_silence_in_a_mini_task(expected, steps):
    wrong = f"Wrong. The right answer is: {expected}"
    rows = [row("d.", expected, wrong)] * 2
    assert replayed("mini-1", rows, "_" * (steps + 1))["environment"][steps:] == "d."


def test_a_period_in_the_middle_of_a_mini_question_fails_it_and_other_bytes_are_forgotten():
    lived = replayed("mini-1", [row("abcd.", "true.", "W.")] * 2, "x.________")
    assert lived["environment"] == "abcd.W. abc"
    assert lived["judged"][0]["ended"] == "failure"
    right = replayed("mini-1", [row("ab.", "true.", "ok.")] * 2, "tr" + "xxtrue.____")
    assert right["judged"][0]["correct"]
    assert right["rewards"] == [0] * 13 + [
        1
    ]  # ab. and six spaces, ok. and a space, then the next question


def test_replays_end_where_rows_or_replies_do():
    rows = [row("q.", "a.", "f;")]
    assert replayed("micro-7.1", rows, "_a.")["environment"] == "q. f"
    assert replayed("micro-7.1", rows, "_a." + "_" * 20)["environment"] == "q. f;"


def test_published_judges_take_a_lone_period_and_ours_do_not():
    asked = (" say: a and b.", "ab.", ".")
    assert Judge("micro-13.1", strict=False).judged(*asked) == {
        "finished": True,
        "correct": True,
        "reward": 1,
    }
    assert Judge("micro-13.1").judged(*asked) == {"finished": True, "correct": False, "reward": -1}


@pytest.mark.parametrize(
    ("question", "reply", "correct"),
    [
        (" say: a or b.", "ba.", True),
        (" say: a or b.", "c.", False),
        (" say: anything and not a.", "zz.", True),
        (" say: anything and not a.", ".", False),
        (" say: anything and not a.", "za.", False),
        (" say: a or b but not b.", "a.", True),
        (" say: a or b but not b.", "ab.", False),
    ],
)
def test_logic(question, reply, correct):
    assert Judge("micro-13.1").judged(question, "x.", reply)["correct"] is correct


def test_replies_that_are_not_finished():
    assert Judge("micro-5.4").judged("3.", "12", "1") == {
        "finished": False,
        "correct": False,
        "reward": 0,
    }
    for reply, right in (
        ("12", True),
        ("123", True),
        ("1 2", False),
        (" 12", False),
    ):  # the first two bytes count
        judged = Judge("micro-5.4").judged("3.", "12", reply)
        assert judged == {"finished": True, "correct": right, "reward": 1 if right else -1}
    assert Judge("micro-6").judged("random_map: key.", "value.", "value.x")["correct"]
    assert Judge("micro-7.1").judged("say: v.", "v.", "v") == {
        "finished": False,
        "correct": False,
        "reward": 0,
    }
    assert Judge("mini-1").judged("", "true.", "false.") == {
        "finished": True,
        "correct": False,
        "reward": 0,
    }
    assert Judge("micro-13.2").judged("say: ab or cd.", "ab.", "xcdx.")["correct"]
    assert Judge("micro-13.2").judged("say: e and or and z.", "eorz.", "eorz.")["correct"]
    assert not Judge("micro-13.2").judged("say: e and or and z.", "eorz.", "e and.")["correct"]


def lived(life, replies):
    found = [next(life)]
    try:
        for reply in replies:
            found.append(life.send(reply))
    except StopIteration as end:
        return found, end.value
    return found, None


def test_limits_in_steps_end_an_instance_in_which_nothing_is_answered():
    question = Question(b"q.", b"a.", b"f;", b"f;")
    instance = Instance(lambda: question, by_period=True, knows=always)
    shown, end = lived(micro(instance, Stage(), 0, in_steps=True), b" " * 2000)
    # 5 steps a question, so the soft limit is 250, the hard one 502, and the 503rd byte is the
    # last.
    assert len(shown) == 503
    assert end.success is False
