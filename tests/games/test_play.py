"""One episode by hand, step by step: who sees what when, what a decision brings, where the words
go.
"""

from __future__ import annotations

import json

import pytest

from quickstudy.base.errors import UsageError

pytest.importorskip("jax")

RENAMED = [0, 3, 1, 2, 6, 4, 5]
FIRST, SECOND, THIRD = [-0.5, 0.5, -0.25], [0.5, 0.5, 0.25], [-0.5, -0.5, 0.25]


def line(**more):
    """Two support games and one of the query; in the second, what the listener sees is a foil."""
    games = [
        {"query": False, "target": [0, 1, 0], "speaker": FIRST, "listener": FIRST, "correct": 0},
        {"query": False, "target": [1, 0, 0], "speaker": THIRD, "listener": FIRST, "correct": 1},
        {"query": True, "target": [1, 1, 1], "speaker": SECOND, "listener": SECOND, "correct": 0},
    ]
    return {"values": [2, 2, 2], "renamed": RENAMED, "games": games, **more}


def played(recording, **parameters):
    from quickstudy.tasks.games.listener import Listener

    return Listener(**parameters).replay(recording)["steps"]


def test_an_episode_by_hand():
    said = [[1, 2, 1], [1, 2, 1], [5, 0, 4], [2, 1, 1], [2, 1, 1], [0, 0, 0], [2, 2, 2], [2, 2, 2]]
    # Right, wrong in the support, wrong in the query. What is decided in other rounds does not
    # count.
    steps = played(line(messages=said, decisions=[1, 0, 1, 1, 0, 0, 1, 1]))
    assert [step["round_idx"] for step in steps] == [0, 1, -1] * 3
    assert [step["reward"] for step in steps] == [0, 0, 1, 0, 0, 0, 0, 0, -2]
    assert [step["done"] for step in steps] == [False] * 8 + [True]
    listener = [step["listener"] for step in steps]
    assert [view["stimulus"] for view in listener] == [FIRST] * 3 + [FIRST, FIRST, THIRD] + [
        SECOND
    ] * 3
    # A step late, renamed; nothing behind the first 0: (5, 0, 4) is heard as (4, 0, 0).
    heard = [
        [0, 0, 0],
        [3, 1, 3],
        [3, 1, 3],
        [4, 0, 0],
        [1, 3, 3],
        [1, 3, 3],
        [0, 0, 0],
        [1, 1, 1],
        [1, 1, 1],
    ]
    assert [view["communication_channel"] for view in listener] == heard
    speaker = [step["speaker"] for step in steps]
    assert [view["stimulus"] for view in speaker] == [FIRST] * 3 + [THIRD] * 3 + [SECOND] * 3
    assert [view["communication_channel"] for view in speaker[1:5]] == [
        [1, 2, 1],
        [1, 2, 1],
        [5, 0, 0],
        [2, 1, 1],
    ]
    # The last decided game, and from the feedback on already the present one.
    for views in (speaker, listener):
        assert [view["mode_id"] for view in views] == [[1, 0]] * 6 + [[0, 1]] * 3
        assert [view["previous_game_reward"] for view in views] == [
            [0],
            [0],
            [1],
            [1],
            [1],
            [0],
            [0],
            [0],
            [-2],
        ]
        results = [[0, 0]] * 2 + [[0, 1]] * 3 + [[1, 0]] * 4
        assert [view["previous_game_result"] for view in views] == results


def test_the_speaker_by_rule_is_silent_at_the_feedback():
    steps = played(line())
    assert [step["speaker"]["communication_channel"] for step in steps[:5]] == [
        [0, 0, 0],
        [1, 2, 1],
        [1, 2, 1],
        [0, 0, 0],
        [2, 1, 1],
    ]
    assert [step["reward"] for step in steps] == [0, 0, 1] * 3


def test_without_feedback_every_decision_is_booked_in_its_own_phase():
    wrong = [1, 1, 0, 0, 1, 1]
    steps = played(line(decisions=wrong), feedback=False)
    assert [step["round_idx"] for step in steps[:-1]] == [0, 1] * 3
    assert [step["reward"] for step in steps] == [0, 0, 0, 0, 0, 0, -2]
    assert [step["done"] for step in steps] == [False] * 6 + [True]
    assert [step["listener"]["mode_id"] for step in steps[:-1]] == [[1, 0]] * 4 + [[0, 1]] * 2


def test_more_rounds_and_a_short_message_show_a_window():
    """L = 2, N = 2: tokens 1 and 2 at round 0, tokens 2 and 3 from round 1 on."""
    steps = played(line(), rounds=2, length=2)
    assert [step["round_idx"] for step in steps] == [0, 1, 2, -1] * 3
    said = [step["speaker"]["communication_channel"] for step in steps[:5]]
    assert said == [[0, 0], [1, 2], [2, 1], [2, 1], [0, 0]]
    assert [step["listener"]["communication_channel"] for step in steps[1:3]] == [[3, 1], [1, 3]]
    assert [step["reward"] for step in steps[:5]] == [0, 0, 0, 1, 0]


def test_a_window_begins_at_the_token_of_its_round():
    """L = 2, N = 3: tokens 1 and 2, 2 and 3, then 3 alone, which is said again at the decision; N =
    5: at last none.
    """
    steps = played(line(), rounds=3, length=2)
    said = [step["speaker"]["communication_channel"] for step in steps[:6]]
    assert said == [[0, 0], [1, 2], [2, 1], [1, 0], [1, 0], [0, 0]]
    assert [step["listener"]["communication_channel"] for step in steps[1:5]] == [
        [3, 1],
        [1, 3],
        [3, 0],
        [3, 0],
    ]
    said = [
        step["speaker"]["communication_channel"] for step in played(line(), rounds=5, length=2)[:7]
    ]
    assert said == [[0, 0], [1, 2], [2, 1], [1, 0], [0, 0], [0, 0], [0, 0]]
    whole = played(line(), rounds=3, length=4)
    assert [step["speaker"]["communication_channel"] for step in whole[1:5]] == [[1, 2, 1, 0]] * 4


def test_a_name_that_fits_is_said_whole():
    """A language of whole names needs no window, however many dimensions there are."""
    from quickstudy.base.seeds import Streams
    from quickstudy.jax_gateway import jnp
    from quickstudy.tasks.games.listener import Listener
    from quickstudy.tasks.games.play import begin, spoken

    task = Listener(language="holistic", length=2, words=12, most=3)
    episode = task.episodes(Streams(0, "games", 0).jax("data"), 0, 1).alone(0)
    for turn in (0, 1):
        said = spoken(task.sizes, episode, begin(task.sizes)._replace(turn=jnp.int32(turn)))
        assert said.tolist() == episode.message[0, :2].tolist()
        assert said[1] != 0


def test_what_the_listener_says_goes_back_through_both_permutations():
    from quickstudy.tasks.games.pair import Pair

    replies = [[3, 1, 2], [0, 5, 5], *[[0, 0, 0]] * 6]
    steps = Pair(queries=True).replay(line(replies=replies))["steps"]
    assert [step["speaker"]["communication_channel"] for step in steps[1:3]] == [
        [1, 2, 3],
        [0, 0, 0],
    ]


def test_a_listener_of_whom_nothing_is_recorded_is_silent():
    """The speaker reads the listener's messages, and never its own in their place."""
    from quickstudy.tasks.games.pair import Pair

    steps = Pair(queries=True).replay(line(messages=[[1, 2, 3]] * 8))["steps"]
    assert [step["speaker"]["communication_channel"] for step in steps] == [[0, 0, 0]] * 9
    assert steps[1]["listener"]["communication_channel"] == [3, 1, 2]
    own = Pair().replay(line(messages=[[1, 2, 3]] * 8))["steps"]
    assert [step["speaker"]["communication_channel"] for step in own[1:]] == [[1, 2, 3]] * 8
    for play in (Pair().replay, played):
        with pytest.raises(
            UsageError,
            match="replies is for a speaker that reads them, as in games/pair:queries=True",
        ):
            play(line(replies=[[0, 0, 0]] * 8))


def test_positions_may_have_permutations_of_their_own():
    tables = [RENAMED, [0, 1, 2, 3, 4, 5, 6], [0, 6, 5, 4, 3, 2, 1]]
    steps = played(line(renamed=tables, messages=[[1, 1, 1]] * 8))
    assert steps[1]["listener"]["communication_channel"] == [3, 1, 6]


def test_entries_may_stand_at_every_observation_and_nothing_where_nothing_is_decided():
    """Nine observations, eight steps: what is done behind the last is heard by nobody."""
    decided = [0, 0, 0, 0, 1, 0, 0, 0]
    whole = played(line(decisions=decided))
    assert whole[-1]["done"]
    assert played(line(decisions=[*decided, 1])) == whole
    assert played(line(decisions=[None, 0, None, None, 1, None, None, 0, None])) == whole
    assert not played(line(decisions=[*decided[:-1], 1]))[-1]["reward"] > 0  # the last step decides


@pytest.mark.parametrize(("feedback", "steps"), [(True, 8), (False, 6)])
def test_a_recording_that_breaks_off_is_played_as_far_as_it_goes(feedback, steps):
    whole = played(line(decisions=[0] * steps), feedback=feedback)
    assert [step["done"] for step in whole] == [False] * steps + [True]
    for count in (1, steps - 1):
        assert played(line(decisions=[0] * count), feedback=feedback) == whole[: count + 1]
    for count in (0, steps + 1 + feedback):
        with pytest.raises(
            UsageError, match=f"decisions must have an entry for each of {steps} steps, got {count}"
        ):
            played(line(decisions=[0] * count), feedback=feedback)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": [2, 2]}, "values must be 3 whole numbers, got [2, 2]"),
        ({"values": [2, 2, 9]}, "values must lie in 1..5"),
        ({"renamed": [0, 1, 2, 3, 4, 5, 5]}, "renamed must have each of 0..6 once"),
        ({"renamed": [1, 0, 2, 3, 4, 5, 6]}, "0 first"),
        ({"games": []}, "games must be a list of objects"),
        ({"games": [{"query": False}]}, "games[0] has no target"),
        ({"decisions": [0, 2]}, "decisions[1] must lie in 0..1, got 2"),
        ({"decisions": [0] * 10}, "decisions must have an entry for each of 8 steps, got 10"),
        (
            {"decisions": [None] * 8},
            "decisions[1] must be a whole number, since the listener decides there, got null",
        ),
        ({"messages": [[1, 2]]}, "messages[0] must be 3 whole numbers, got [1, 2]"),
        ({"messages": [[1, 2, 7]]}, "messages[0] must lie in 0..6"),
        ({"messages": [[1, 2, 0.5]]}, "messages[0] must be 3 whole numbers"),
        ({"messages": "aloud"}, "messages must have an entry for each of 8 steps"),
        ({"messages": [[1, 1, 1]], "decisions": [0, 0]}, "unequally long"),
        ({"desicions": [0]}, 'no field "desicions"; did you mean "decisions"?'),
    ],
)
def test_a_recording_that_does_not_fit_names_the_field(change, said):
    with pytest.raises(UsageError) as error:
        played(line(**change))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("query", 1, "games[1].query must be true or false, got 1"),
        ("target", [0, 0, 2], "games[1].target must be below values [2, 2, 2]"),
        ("listener", [0.0, 1.0], "games[1].listener must be 3 finite numbers, got 2"),
        ("speaker", [0.0, 1.0, float("nan")], "games[1].speaker must be 3 finite numbers, got nan"),
        ("correct", 5, "games[1].correct must lie in 0..1, got 5"),
        ("correct", [0], "games[1].correct must be a whole number, got [0]"),
    ],
)
def test_a_game_that_does_not_fit_names_the_field(field, value, said):
    recording = json.loads(json.dumps(line()))
    recording["games"][1][field] = value
    with pytest.raises(UsageError) as error:
        played(recording)
    assert said in str(error.value)


def test_what_else_a_line_says_is_its_own_affair():
    assert played({**line(), "written": "on a Tuesday"}) == played(line())


def test_another_language_is_not_replayed_without_its_messages():
    with pytest.raises(UsageError, match="messages is missing"):
        played(line(), language="holistic")
