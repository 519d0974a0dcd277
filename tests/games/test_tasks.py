"""Tasks as they are asked for: refusals with their inequality, sequences, recall, common games."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import changed_parameters, configure, parameters_of
from quickstudy.base.seeds import Streams
from quickstudy.base.task import PureWorldTask

pytest.importorskip("jax")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"words": 4}, "needs words >= most values of a dimension, got 4 < 5"),
        ({"distractors": 9}, "needs distractors + 2 <= meanings of the smallest space, got 11 > 8"),
        ({"length": 2}, "needs length + rounds - 1 >= dimensions, got 2 < 3"),
        (
            {"dimensions": 2, "query": "shots"},
            "needs dimensions >= 3 where shots are counted in the query phase",
        ),
        (
            {"dimensions": 2, "fewest": 2},
            "needs 2 query meanings or more in the smallest space, got 1 < 2",
        ),
        ({"fewest": 5, "most": 4}, "needs fewest <= most, got 5 > 4"),
        ({"tested_most": 3}, "needs tested_most >= most, got 3 < 5"),
        ({"language": "bosdis"}, "needs words >= dimensions x most values, got 6 < 15"),
        (
            {"language": "holistic", "words": 4},
            "needs words^length >= most^dimensions, got 64 < 125",
        ),
        ({"shots": -1}, "shots must be at least 0"),
        (
            {"threshold": 1},
            (
                "needs threshold >= 2 where shots are counted: with 1 no support stimulus has an"
                " odd value"
            ),
        ),
        ({"threshold": 3}, "needs 2 query meanings or more in the smallest space, got 1 < 2"),
        (
            {"threshold": 3, "query": "shots"},
            "needs dimensions >= 4 where shots are counted in the query phase",
        ),
        (
            {"descriptive": False},
            "needs distractors >= 1 where the target is always there, got 0 < 1",
        ),
        (
            {"dimensions": 6, "most": 20, "words": 20, "length": 6},
            "needs most^dimensions <= 16384, got 64000000",
        ),
        (
            {"dimensions": 4, "tested_most": 12, "words": 12, "length": 4},
            "needs tested_most^dimensions <= 16384, got",
        ),
        ({"fewest": 10**6}, "needs fewest <= most, got 1000000 > 5"),
        (
            {"held_out": 0.005},
            "needs 1 <= round(held_out x structures) < structures, got round(0.005 x 64) = 0",
        ),
        (
            {"held_out": 0.9, "fewest": 5},
            "round(held_out x structures) < structures, got round(0.9 x 1) = 1",
        ),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_inequality(given, said):
    with pytest.raises(UsageError) as error:
        configure("games/listener", registries.task.get("games/listener"), given)
    assert said in str(error.value)


def test_structures_that_are_held_out_are_only_tested_on():
    task = configure("games/listener", registries.task.get("games/listener"), {"held_out": 0.3})
    learned, tested = (
        set(map(tuple, np.asarray(task.rules(part).structures).tolist())) for part in (False, True)
    )
    assert not learned & tested
    assert len(learned | tested) == 64
    larger = configure(
        "games/listener", registries.task.get("games/listener"), {"tested_most": 6, "most": 4}
    )
    assert np.asarray(larger.rules(False).structures).max() == 4
    assert (np.asarray(larger.rules(True).structures).max(axis=1) > 4).all()


@pytest.mark.parametrize(
    ("share", "most", "count"),
    [(0.125, 3, 1), (0.5, 3, 4), (0.9, 3, 7), (0.25, 5, 16), (0.3, 5, 19), (0.5, 4, 14)],
)
def test_so_many_structures_are_held_out_as_the_share_says(share, most, count):
    """And those of a smaller share are among those of a larger one, for every seed."""
    whole, less = (
        configure(
            "games/listener", registries.task.get("games/listener"), {"held_out": own, "most": most}
        )
        for own in (share, 0.125)
    )
    held_out = [tuple(one) for one in np.asarray(whole.rules(True).structures).tolist()]
    assert len(set(held_out)) == count
    assert len(np.asarray(whole.rules(False).structures)) == (most - 1) ** 3 - count
    assert {tuple(one) for one in np.asarray(less.rules(True).structures).tolist()} <= set(held_out)


def test_settings_that_give_other_numbers_than_before_have_other_keys():
    """Held-out structures, and messages that are heard window by window; no other run is made a
    stranger.
    """

    def known(id="games/listener", **given):
        task = configure(id, registries.task.get(id), given)
        assert "course" not in changed_parameters(task)
        assert "course" not in task.label
        again = configure(id, registries.task.get(id), parameters_of(task))
        assert again == task
        return parameters_of(task).get("course")

    assert known() is known(rounds=2) is known(length=4) is known("games/pair") is None
    assert known("games/pair", rounds=2, length=2) is None  # its speaker is a player
    assert (
        known(held_out=0.3)
        == known("games/pair", held_out=0.3)
        == known("games/common", held_out=0.3)
        == 2
    )
    assert known(rounds=3, length=2) == known(language="holistic", length=2, words=12) == 2
    assert known(rounds=2, length=2) is None  # the last window was the last there is already
    with pytest.raises(UsageError, match="course is derived"):
        configure("games/listener", registries.task.get("games/listener"), {"course": 2})


@pytest.mark.parametrize("given", [{"dimensions": 4, "most": 10}, {"dimensions": 3, "most": 20}])
def test_large_spaces_are_played(given):
    given = {**given, "words": 20, "length": 4}
    assert configure("games/listener", registries.task.get("games/listener"), given).sizes.games > 0


def test_recall_of_more_than_can_be_kept_is_refused():
    with pytest.raises(UsageError, match=r"needs most\^dimensions <= 16384, got 64000000"):
        configure(
            "games/recall", registries.task.get("games/recall"), {"dimensions": 6, "most": 20}
        )


def test_sequences_are_what_a_world_shows(made, drawn):
    """Rounds 1 and the feedback of every game, and the right decision at the first of the two."""
    task, episodes = made("corrected"), drawn("corrected")
    examples = task.examples(Streams(5, "games", 0).jax("data"), 0, 3)
    sizes = task.sizes
    for number in range(3):
        count = int(episodes.count[number])
        assert examples.lengths[number] == 2 * count
        inputs = examples.inputs[:, number]
        assert np.allclose(
            inputs[0 : 2 * count : 2, :3], episodes.listener[number, :count, 0], atol=1e-6
        )
        assert np.allclose(
            inputs[1 : 2 * count : 2, :3], episodes.speaker[number, :count, 0], atol=1e-6
        )
        heard = inputs[: 2 * count, 3:24].reshape(-1, 3, sizes.words + 1).argmax(axis=-1)
        renamed = episodes.renamed[number, np.arange(3), episodes.message[number, :count]]
        assert (heard[0::2] == renamed).all()
        assert (heard[1::2] == renamed).all()
        assert (
            examples.targets[0 : 2 * count : 2, number] == episodes.correct[number, :count]
        ).all()
        assert examples.asked[:, number].sum() == count
    assert task.steps(examples) == int((3 * episodes.count[:3] - 1).sum())


@pytest.fixture(scope="module")
def recall():
    found = {}
    for convention in ("corrected", "published"):
        task = configure(
            "games/recall", registries.task.get("games/recall"), {"most": 4}, convention
        )
        found[convention] = task, task.exam(Streams(1, "games/recall", 0), 8)
    return found


def test_recall_by_hand(recall):
    """A stimulus, then a one at the place of a dimension; the answer is the rank of the stimulus'
    number there.
    """
    for convention, (task, (examples, known)) in recall.items():
        rule = registries.control.get("recall-rank")(task, None, 0)
        for number in range(8):
            length = examples.lengths[number]
            inputs, targets = (
                examples.inputs[:length, number, :3],
                examples.targets[:length, number],
            )
            shown, asked = inputs[0::2], inputs[1::2]
            assert (np.sort(asked, axis=1) == [0, 0, 1]).all()
            place = asked.argmax(axis=1)
            distinct = [np.unique(shown[:, dimension]) for dimension in range(3)]
            # All of the space in both shots: ranks are the numbers of the values.
            if convention == "corrected":
                ranks = [
                    np.searchsorted(distinct[at], row[at])
                    for at, row in zip(place, shown, strict=True)
                ]
                assert (targets[1::2] == ranks).all()
                total = np.prod([len(one) for one in distinct])
                assert length == 4 * total
                assert len(np.unique(shown[:total], axis=0)) == total
                said = rule.predict(examples.inputs[:length, number])
                assert (said[1::2] == targets[1::2])[total:].all()
        second = known["query"]
        assert abs(second.mean() - 0.5) < 1e-9
    drawn = recall["published"][1][0]
    once = drawn.inputs[0 : drawn.lengths[0] // 2 : 2, 0, :3]
    assert len(np.unique(once, axis=0)) < len(once) or len(once) < 6  # with replacement


@pytest.mark.parametrize("convention", ["corrected", "published"])
def test_recall_in_shots_of_some_games(convention):
    """Spaces of 8 stimuli, and a pool of 4 as published, are shown whole; of larger ones so many in
    either shot.
    """
    given = {"most": 4, "longest": 10}
    task = configure("games/recall", registries.task.get("games/recall"), given, convention)
    assert task.horizon == 40
    examples, known = task.exam(Streams(1, "games/recall", 0), 64)
    assert examples.inputs.shape[0] == 40
    games = examples.lengths // 4
    assert (games.max(), games.min()) == ((10, 8) if convention == "corrected" else (10, 4))
    assert known["query"].sum() == games.sum()
    for number, count in enumerate(games):
        shown = examples.inputs[0 : 4 * count : 2, number, :3]
        once, again = (
            {tuple(row) for row in shot.tolist()} for shot in (shown[:count], shown[count:])
        )
        assert (once == again and len(once) == count) or convention == "published"
        asked = examples.inputs[1 : 4 * count : 2, number, :3]
        assert (asked.sum(axis=1) == 1).all()
    # More room than the largest space has changes nothing.
    plain, roomy = (
        configure(
            "games/recall", registries.task.get("games/recall"), {"most": 4, **own}, convention
        )
        for own in ({}, {"longest": 64})
    )
    of_both = [one.sample(np.random.default_rng(3), 4) for one in (plain, roomy)]
    assert np.array_equal(of_both[0].inputs, of_both[1].inputs)


def test_recall_pays_as_its_convention_says():
    """An episode by hand: the answer to the first question is 2."""
    from quickstudy.jax_gateway import jnp
    from quickstudy.tasks.games.recall import Shown

    shown = Shown(
        jnp.zeros((8, 3)), jnp.array([2, 2, 0, 0, 1, 1, 0, 0]), jnp.int32(8), jnp.int32(4)
    )
    for convention, pay in (("corrected", (1.0, 0.0)), ("published", (0.0, -1.0))):
        task = configure("games/recall", registries.task.get("games/recall"), {}, convention)
        state, turn = task.step(None, (shown, jnp.int32(0), jnp.zeros(2)), 2)
        assert turn.reward == 0
        for answer, paid in ((2, pay[0]), (1, pay[1])):
            turn = task.step(None, state, answer)[1]
            assert turn.reward == paid
            assert turn.observation[-2:].tolist() == [answer != 2, answer == 2]


def test_the_ordinary_game_keeps_query_meanings_for_the_test():
    task = configure("games/common", registries.task.get("games/common"), {"most": 3})
    streams = Streams(0, "games/common", 0)
    lesson, (exam, known) = task.lesson(streams, 0, 256), task.exam(streams, 256)

    def named(examples):
        return examples.inputs[0, :, 3:].reshape(256, 3, 7).argmax(axis=-1) - 1

    assert ((named(lesson) % 2).sum(axis=1) < 2).all()
    assert ((named(exam) % 2).sum(axis=1) >= 2).all()
    assert abs((exam.targets[0] == 1).mean() - 0.5) < 0.15
    assert set(known["foil"]) <= {0, 2}
    # One space: a coordinate has as many floats as its dimension has values.
    assert all(len(np.unique(lesson.inputs[0, :, at])) <= 3 for at in range(3))
    # Nobody acts in it: a world cannot know the space of a run.
    assert not isinstance(task, PureWorldTask)


def test_axes_and_the_threshold(made):
    """Shuffled axes: a coordinate goes with one dimension, in most episodes another than its own.
    Mirrored ones: values run up on some axes and down on others. Threshold 3: query meanings have
    three odd values.
    """
    task = made("corrected", axes="both", threshold=3, fewest=4)
    episodes = task.episodes(Streams(5, "games", 0).jax("data"), 0, 24)
    ways = []
    for number in range(24):
        episode = episodes.alone(number)
        games = np.arange(episode.count)
        odd = (episode.target[games] % 2).sum(axis=1)
        assert ((odd >= 3) == (games >= episode.support)).all()
        seen, means = episode.speaker[games, 0], episode.speaker_means[games, 0]
        ties = np.corrcoef(np.concatenate([seen, means], axis=1).T)[:3, 3:]
        order = np.abs(ties).argmax(axis=1)
        assert sorted(order) == [0, 1, 2]
        assert np.abs(ties)[np.arange(3), order].min() > 0.9
        ways.append((tuple(order), tuple(np.sign(ties[np.arange(3), order]))))
    assert len({order for order, _ in ways}) == 6
    assert len({signs for _, signs in ways}) == 8
    with pytest.raises(NotApplicable, match="token i as coordinate i, and axes are shuffled"):
        registries.control.get("nearest-neighbour")(
            task, Brief(task.inputs, task.outputs, "reward", 1, 0)
        )
