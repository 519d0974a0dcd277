"""The protocol `properties` on learners whose memory is known, and the search for memories."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.lookahead_check import Watched
from quickstudy.measures.charc import covered
from quickstudy.measures.memory import significance
from quickstudy.protocols.properties import PropertiesProtocol

SMALL = {"steps": "600", "budget": "300", "length": "12", "shared": "4"}


def examined(name, task_id="dynamics/memory", lanes=1, convention="corrected", **given):
    """The traces of a learner, and their scores."""
    task = configure(
        task_id, registries.task.get(task_id), {"washout": "60", "delays": "6"}, convention
    )
    kind = registries.protocol.get(task.protocol)
    protocol = configure(
        kind.id, kind, {**(SMALL if task.protocol == "properties" else {}), **given}, convention
    )
    learner = choose_learner(name, convention, task, "reals").make(task)
    streams = [Streams(0, task.id, repetition) for repetition in range(lanes)]
    found = protocol.examine(task, learner, streams)
    scores = [
        {
            name: value
            for id in protocol.measures
            for name, value in registries.measure.get(id)(trace).items()
        }
        for trace in found.traces
    ]
    return found, scores


def test_a_delay_line_is_all_memory():
    _, (scores,) = examined("delay-line")
    assert scores["capacity-over-size"] == pytest.approx(1, abs=1e-6)
    assert scores["processing-degree-1"] == pytest.approx(6, abs=1e-6)
    assert scores["kernel-rank"] == 6
    assert scores["echo-index"] == 1
    # Four last inputs are shared, and the latest is no state: three states are one dimension, three
    # are one each.
    assert scores["generalisation-rank-at-1e-06"] == 4


def test_no_memory_has_none():
    _, (scores,) = examined("no-memory")
    assert scores["capacity-over-size"] == 0
    assert scores["processing-capacity"] == pytest.approx(1)
    assert scores["kernel-rank"] == scores["generalisation-rank"] == 1
    assert "lyapunov-exponent" not in scores


def test_a_reservoir_is_the_same_alone_and_beside_others():
    name = "esn:units=20,precision=float64"
    (first,), (alone,) = examined(name)[0].traces, examined(name)[1]
    beside = examined(name, lanes=3)[1]
    for score, value in alone.items():
        assert beside[0][score] == pytest.approx(value, rel=1e-6), score
    assert beside[1]["memory-capacity"] != beside[0]["memory-capacity"]
    assert 2 < alone["memory-capacity"] < alone["processing-capacity"] <= 20.001
    assert first.facts["size"] == 20
    assert alone["lyapunov-exponent"] < 0


@pytest.mark.parametrize("radius", [0.5, 0.9])
def test_the_exponent_of_a_linear_reservoir_is_that_of_its_radius(radius):
    """Without bias and with tiny inputs the units are linear: differences shrink by the radius."""
    name = f"esn:units=20,radius={radius},input_scale=1e-4,bias_scale=0.0,precision=float64"
    _, (scores,) = examined(name)
    assert scores["lyapunov-exponent"] == pytest.approx(np.log(radius), abs=0.02)


def test_a_chaotic_reservoir_forgets_nothing():
    _, (scores,) = examined("esn:units=40,radius=3.0,input_scale=0.001,bias_scale=0.0")
    assert scores["echo-index"] > 1
    assert scores["lyapunov-exponent"] > 0


def test_a_network_is_looked_at_before_and_after_it_has_learned():
    (before,), (after,) = (
        examined("lstm:units=8,passes=3", **given)[1]
        for given in ({}, {"after": "dynamics/memory:training=400,test=50"})
    )
    assert before["memory-capacity"] != after["memory-capacity"]
    _, (line,) = examined("delay-line", after="dynamics/narma-10:training=100,test=50")
    assert line["capacity-over-size"] == pytest.approx(1, abs=1e-6)


def test_a_search_finds_memories_and_counts_them():
    found, scores = examined(
        "esn:units=10",
        "dynamics/charc",
        lanes=2,
        population="8",
        generations="30",
        steps="100",
        neighbours="3",
    )
    alone, again = examined(
        "esn:units=10",
        "dynamics/charc",
        population="8",
        generations="30",
        steps="100",
        neighbours="3",
    )
    for trace, score in zip(found.traces, scores, strict=True):
        behaviour = trace.arrays["behaviour"]
        assert behaviour.shape == trace.arrays["at_random"].shape == (38, 3)
        # The first population is drawn as a random search draws it.
        np.testing.assert_array_equal(behaviour[:8], trace.arrays["at_random"][:8])
        assert (behaviour >= 0).all()
        assert (behaviour <= 10.01).all()
        assert score["voxels"] == len({tuple(row) for row in np.round(behaviour)})
        assert score["voxels-after-9"] <= score["voxels-after-19"] <= score["voxels"]
    np.testing.assert_allclose(
        alone.traces[0].arrays["behaviour"], found.traces[0].arrays["behaviour"], atol=1e-3
    )
    assert again[0]["voxels"] == scores[0]["voxels"]


def test_only_what_is_trained_is_somewhere_else_afterwards():
    """A reservoir has nothing to show beside the search; a network that learned a task has."""
    given = {"population": "4", "generations": "2", "steps": "60", "neighbours": "2"}
    after = {**given, "after": "dynamics/narma-10:training=100,validation=0,test=10"}
    (trace,) = examined("esn:units=6", "dynamics/charc", **after)[0].traces
    assert "trained" not in trace.arrays
    assert "after" not in trace.facts
    (trace,) = examined("rnn+adam:units=6", "dynamics/charc", **after)[0].traces
    assert trace.arrays["trained"].shape == (1, 3)


def test_what_is_one_memory_is_one_voxel():
    found, (scores,) = examined("no-memory", "dynamics/charc")
    assert scores["voxels"] == scores["voxels-at-random"] == 1
    assert "remarks" not in found.traces[0].facts
    kind = registries.protocol.get("charc")
    task = configure("dynamics/charc", registries.task.get("dynamics/charc"), {})
    hosted = Hosted(lambda brief, seed: Leaky(brief, seed), Leaky)
    (trace,) = configure("charc", kind, {}).examine(task, hosted, [Streams(0, task.id, 0)]).traces
    assert "no parameters to search" in trace.facts["remarks"][0]


def test_voxels_are_counted_when_they_are_new():
    assert covered(np.array([[1.0, 1, 1], [1.2, 1, 1], [3, 1, 1], [1, 1, 1]]), 1.0).tolist() == [
        1,
        1,
        2,
        2,
    ]


def test_what_was_found_is_drawn_and_tasks_have_a_place_in_it():
    from quickstudy.base.blocks import Mark, Table, Traced

    parts = "washout=50,training=200,validation=50,test=60"
    tasks = f"dynamics/narma-10:{parts} + dynamics/memory:delays=1,washout=50,training=250,test=60"
    given = {"population": "8", "generations": "30", "steps": "100", "tasks": tasks}
    (found, (scores,)) = examined("esn:units=10", "dynamics/charc", **given)
    searched = found.traces
    count = int(scores["voxels"])
    assert searched[0].arrays["errors"].shape == (count, 2)
    assert searched[0].arrays["placed"].shape == (count, 3)
    # Every reservoir remembers the last input; none of ten units follows NARMA as well.
    remembered, followed = (min(searched[0].arrays["errors"][:, place]) for place in (1, 0))
    assert remembered < 0.2 < followed < 1
    assert scores[f"best-nrmse-{tasks.partition(' + ')[0]}"] == followed
    _, *pairs, coverage, table, placed, text = registries.figure.get("behaviours")(
        "task", [Traced("esn", "learner", Mark(), searched)]
    )
    assert isinstance(table, Table)
    names = [task.strip().removeprefix("dynamics/") for task in tasks.split("+")]
    assert [one.label for one in placed.panels[0].series] == names
    assert "dynamics/memory" in text.text
    assert [len(pair.panels[0].series[1].x) for pair in pairs] == [38] * 3
    assert coverage.panels[0].series[0].y[-1] == covered(searched[0].arrays["behaviour"], 1.0)[-1]
    held, _ = examined("delay-line")
    memory, processing = registries.figure.get("properties")(
        "task", [Traced("line", "oracle", Mark(), held.traces)]
    )
    assert memory.panels[0].series[0].y[:6] == pytest.approx([1] * 6)
    assert processing.panels[0].series[0].y == pytest.approx([6, 0, 0], abs=1e-6)


def test_states_that_never_change_are_no_memory_to_measure():
    """A bag of symbols has soon seen them all: it cannot, which is no failure."""
    with pytest.raises(NotApplicable, match="its states never change"):
        examined("bag")


class Leaky:
    """One leaky state, read with noise where there is any."""

    def __init__(self, brief, seed, noise=0.0):
        self._rng, self._noise = np.random.default_rng(seed), noise

    def learn(self, inputs, targets):
        """Nothing."""

    def predict(self, inputs):
        return np.zeros((len(inputs), 20))

    def states(self, inputs):
        held = np.zeros((len(inputs), 1))
        for step, value in enumerate(inputs[:, 0]):
            held[step] = (0.8 * held[step - 1] if step else 0.0) + value
        return held + self._noise * self._rng.normal(size=held.shape)


class Checked:
    """A learner as a run begins it: its pupil is watched."""

    def __init__(self, learner):
        self._learner, self.pace = learner, learner.pace

    def begin(self, brief, streams):
        return Watched(self._learner.begin(brief, streams), brief, np.random.default_rng(0))


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_noisy_device_has_no_echo_index_and_no_exponent(noise):
    task = configure("dynamics/memory", registries.task.get("dynamics/memory"), {})
    learner = Checked(Hosted(lambda brief, seed: Leaky(brief, seed, noise), Leaky))
    (trace,) = PropertiesProtocol(steps=300).examine(task, learner, [Streams(0, task.id, 0)]).traces
    found = registries.measure.get("stability")(trace)
    if noise:
        assert found == {}
        assert any(
            "it answers differently to the same input (deviation 0.01" in one
            for one in trace.facts["remarks"]
        )
    else:
        assert found == {
            "echo-index": 1.0,
            "lyapunov-exponent": pytest.approx(np.log(0.8), rel=1e-3),
        }
        curve, counts = trace.arrays["memory"], significance(1, 300)
        assert len(curve) > 2
        assert (curve[-2:] < counts).all()
        assert not any("still held" in one for one in trace.facts.get("remarks", ()))


def test_a_memory_longer_than_twice_the_states_is_summed_to_its_end():
    task = configure("dynamics/memory", registries.task.get("dynamics/memory"), {})
    given = [
        PropertiesProtocol(steps=2000, budget=50, delays=delays)
        .examine(
            task, Hosted(lambda brief, seed: Leaky(brief, seed), Leaky), [Streams(0, task.id, 0)]
        )
        .traces[0]
        for delays in (None, 2)
    ]
    whole, cut = (registries.measure.get("memory-capacity")(trace) for trace in given)
    np.testing.assert_array_equal(given[0].arrays["memory"][:2], given[1].arrays["memory"])
    assert whole["memory-capacity"] > 1.3 * cut["memory-capacity"]
    assert any("up to delay 2, which is still held" in one for one in given[1].facts["remarks"])


def test_too_few_steps_for_the_states_are_refused():
    with pytest.raises(
        NotApplicable, match="200 steps are too few for 40 states: capacities need about 820"
    ):
        examined("esn:units=40", steps="100")
