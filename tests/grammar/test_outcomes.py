"""Whatever is shared, merged or left out, every string is marked as if it had been read alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from quickstudy.base.exchange import Lesson
from quickstudy.base.learner import Brief, distribution
from quickstudy.base.seeds import Streams
from quickstudy.learners import stepping
from quickstudy.learners.host import Hosted
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.mdl.exact import Automaton
from quickstudy.learners.mdl.network import Network
from quickstudy.protocols import marking as room
from quickstudy.protocols import outcomes as reading
from quickstudy.protocols import states
from quickstudy.protocols.marking import Marking, Stop
from quickstudy.protocols.outcomes import outcomes
from quickstudy.runs.run_spec import make_task
from quickstudy.tasks.grammar.lists import TestList


def taught(task: Any, name: str, passes: int = 0, lanes: tuple[int, ...] = (0,)) -> Any:
    """Most need not learn anything: to compile that takes longer than the whole test."""
    examples = task.released(100, 60)
    order = np.tile(np.arange(examples.count), max(1, passes))[None]
    learner = choose_learner(name, "corrected", task, "strings").make(task)
    brief = Brief(task.inputs, task.outputs, "cross-entropy", examples.steps, order.shape[1])
    pupil: Any = learner.begin(brief, [Streams(0, "testing/outcomes", lane) for lane in lanes])
    if passes:
        pupil.learn(Lesson([examples], order), 0, order.shape[1])
    return pupil


def alone(pupil: Any, string: Any, grammar: Any, marking: Marking) -> dict[str, float]:
    """One string, one symbol at a time, by the definitions."""
    state = pupil.start(1, max(160, len(string)))
    rows = []
    for symbol in string[:-1]:
        state, scores = pupil.step(state, np.full((1, 1), symbol, np.int32))
        rows.append(scores[0, 0])
    targets, truth = string[1:].astype(int), grammar.conditionals(string[:-1])
    if marking.metric == "cat":
        chances = distribution(np.stack(rows), pupil.scale)
        return {
            f"wrong-{margin:g}": sum(
                ((row > margin) != (true > 0)).any()
                for row, true in zip(chances, truth, strict=True)
            )
            for margin in marking.margins
        }
    certain = [time for time in range(1, len(targets)) if truth[time, targets[time]] == 1]
    found: dict[str, float] = {
        "wrong": sum(np.argmax(rows[time]) != targets[time] for time in certain)
    }
    if marking.bits:
        chances = distribution(np.stack(rows), pupil.scale)
        found["bits"] = -np.log2(chances[np.arange(len(targets)), targets]).sum()
        found["optimum"] = -np.log2(truth[np.arange(len(targets)), targets]).sum()
    return found


CASES = [
    ("grammar/an-bn", "lstm:units=6,rate=0.03", 60, Marking("det"), "exhaustive", 0, 45),
    (
        "grammar/an-bn-cn",
        "stack-lstm:units=4,cell=2",
        0,
        Marking("det", bits=True),
        "exhaustive",
        3,
        8,
    ),
    ("grammar/an-bm-cnm", "baby-ntm:units=4,cell=2", 0, Marking("det", bits=True), "grid", 4, 9),
    ("grammar/dyck-2", "gru:units=20", 0, Marking("cat", (0.19, 0.2)), "deep", 4, 40),
]


@pytest.mark.parametrize(("id", "name", "passes", "marking", "mode", "start", "count"), CASES)
def test_every_string_is_marked_as_if_it_were_alone(id, name, passes, marking, mode, start, count):
    task = make_task(id, "corrected")
    pupil, strings = taught(task, name, passes), list(TestList(task, mode, start, count))
    (found,) = outcomes(pupil, iter(strings), task.grammar, marking)
    wanted = [alone(pupil, string, task.grammar, marking) for string in strings]
    for column in wanted[0]:
        np.testing.assert_allclose(found[column], [one[column] for one in wanted], rtol=1e-4)
    varied = "bits" if marking.bits else list(wanted[0])[-1]
    assert len(set(found[varied].tolist())) > 3
    assert found["size"].tolist() == [task.grammar.size(string) for string in strings]


def test_a_state_that_comes_back_is_not_read_again(monkeypatch):
    """A network that has forgotten everything after 40 steps is asked about strings of 4,000."""
    task = make_task("grammar/an-bn", "corrected")
    pupil = taught(task, "rnn:units=3")
    read = []
    judged = type(pupil).judged
    monkeypatch.setattr(
        type(pupil),
        "judged",
        lambda self, state, xs, *more: read.append(xs.size) or judged(self, state, xs, *more),
    )
    strings = list(TestList(task, "exhaustive", 2000, 40))
    (found,) = outcomes(pupil, strings, task.grammar, Marking("det"))
    assert sum(read) < 0.2 * sum(map(len, strings))
    some = [0, 31, 32]
    wanted = [alone(pupil, strings[place], task.grammar, Marking("det"))["wrong"] for place in some]
    assert found["wrong"][some].tolist() == wanted


@pytest.mark.parametrize("name", ["baby-ntm:units=4,cell=2", "baby-ntm:units=4,cell=2,rows=40"])
def test_a_memory_grows_and_shrinks_with_what_is_read_and_changes_no_mark(monkeypatch, name):
    monkeypatch.setattr(stepping, "NEAR", 4)
    monkeypatch.setattr(reading, "ALONE", reading._Size(256, 8, 1 << 22))
    task, rooms = make_task("grammar/an-bn-cn", "corrected"), []
    pupil, strings = taught(task, name), TestList(task, "exhaustive", 8, 12)
    fitted = type(pupil).fitted
    monkeypatch.setattr(
        type(pupil), "fitted", lambda *given: rooms.append(fitted(*given).room) or fitted(*given)
    )
    marking = Marking("det", bits=True)
    (found,) = outcomes(pupil, strings, task.grammar, marking)
    wanted = [alone(pupil, string, task.grammar, marking) for string in strings]
    assert found["wrong"].tolist() == [one["wrong"] for one in wanted]
    np.testing.assert_allclose(found["bits"], [one["bits"] for one in wanted], rtol=1e-5)
    assert rooms[0] < max(rooms) > rooms[-1]


@pytest.mark.parametrize(
    "name",
    ["baby-ntm:units=5,cell=2", "baby-ntm:units=5,cell=2,rows=40", "stack-lstm:units=5,cell=2"],
)
def test_a_large_memory_is_read_in_laps_and_no_mark_changes(monkeypatch, name):
    monkeypatch.setattr(stepping, "NEAR", 4)
    monkeypatch.setattr(stepping, "LAP", 2)
    monkeypatch.setattr(reading, "ALONE", reading._Size(256, 8, 1 << 22))
    task, laps = make_task("grammar/an-bn-cn", "corrected"), []
    pupil, strings = taught(task, name), TestList(task, "exhaustive", 8, 12)
    core = type(pupil._speaker().core)
    caught_up = core.caught_up
    monkeypatch.setattr(
        core, "caught_up", lambda *given: laps.append(given[1][1].shape) or caught_up(*given)
    )
    (found,) = outcomes(pupil, strings, task.grammar, Marking("det"))
    assert found["wrong"].tolist() == [
        alone(pupil, one, task.grammar, Marking("det"))["wrong"] for one in strings
    ]
    assert len(set(found["wrong"].tolist())) > 3
    assert len(set(laps)) > 1  # traced for memories of several sizes


def test_lanes_that_were_asked_enough_do_not_go_along_where_memories_are_large(monkeypatch):
    monkeypatch.setattr(reading, "HEAVY", 1 << 10)
    monkeypatch.setattr(reading, "FIRST_ROWS", (6, 6, 6))
    task, name, read = (
        make_task("grammar/an-bn-cn", "corrected"),
        "baby-ntm:units=4,cell=2,precision=float64",
        [],
    )
    strings, marking = TestList(task, "exhaustive", 20, 18), Marking("det", bits=True)
    call = reading._Steps.__call__
    monkeypatch.setattr(
        reading._Steps,
        "__call__",
        lambda self, rows: read.append(self._pupil.lanes) or call(self, rows),
    )
    enough = 12, 6, 18
    pupil = taught(task, name, lanes=(0, 1, 2))
    found = outcomes(
        pupil,
        strings,
        task.grammar,
        marking,
        lambda lane, so_far: len(so_far["steps"]) >= enough[lane],
    )
    assert read == [3, 3, 1]
    assert [len(lane["steps"]) for lane in found] == [12, 12, 18]
    for lane, own in enumerate(found):
        (wanted,) = outcomes(taught(task, name, lanes=(lane,)), strings, task.grammar, marking)
        assert own["wrong"].tolist() == wanted["wrong"][: len(own["wrong"])].tolist()
        np.testing.assert_allclose(own["bits"], wanted["bits"][: len(own["bits"])], rtol=1e-9)


def test_blocks_that_were_noted_are_not_read_again(monkeypatch):
    monkeypatch.setattr(reading, "FIRST_ROWS", (4, 4, 4, 4))
    task, read, noted = make_task("grammar/an-bn", "corrected"), [], []
    pupil, strings = taught(task, "rnn:units=3"), TestList(task, "exhaustive", 5, 14)
    call = reading._Steps.__call__
    monkeypatch.setattr(
        reading._Steps, "__call__", lambda self, rows: read.append(len(rows)) or call(self, rows)
    )
    (whole,) = outcomes(
        pupil, strings, task.grammar, Marking("det"), note=lambda lanes: noted.append(list(lanes))
    )
    assert read == [4, 4, 4, 2]
    for done, before in enumerate(noted, 1):
        read.clear()
        (again,) = outcomes(pupil, strings, task.grammar, Marking("det"), before=before)
        assert read == [4, 4, 4, 2][done:]
        assert all(np.array_equal(again[name], whole[name]) for name in whole)


BY_STATES = [
    ("grammar/an-bn", "always-b", "exhaustive", 0, 60),
    ("grammar/an-bn-cn-dn", "bigram", "released", 7, 30),
    ("grammar/an-bm-cnm", "trigram", "grid", 4, 25),
    ("grammar/an-bm-cnm", "trigram", "released", 40, 60),
    ("grammar/an-bn", "network:file=bliss-an-bn", "exhaustive", 20, 60),
    ("grammar/an-bn-cn", "network:file=bliss-an-bn-cn-2023", "released", 80, 40),
    ("grammar/an-bn-cn", "network:file=bliss-an-bn-cn,precision=float32", "exhaustive", 5, 40),
    ("grammar/an-bm-cnm", "network:file=bliss-an-bm-cnm", "exhaustive", 3, 80),
]


@pytest.mark.parametrize(("id", "name", "mode", "start", "count"), BY_STATES)
def test_walking_through_states_is_reading_string_by_string(id, name, mode, start, count):
    task = make_task(id, "corrected")
    pupil, strings = taught(task, name, passes=1), TestList(task, mode, start, count)
    found = states.by_states(pupil, strings, task.grammar, Marking("det"))
    wanted = [alone(pupil, string, task.grammar, Marking("det"))["wrong"] for string in strings]
    assert found["wrong"].tolist() == wanted
    assert found["size"].tolist() == [task.grammar.size(string) for string in strings]
    assert found["steps"].tolist() == [
        int((task.grammar.likely(string)[1:] == 1).sum()) for string in strings
    ]
    (read,) = outcomes(
        pupil, list(strings), task.grammar, Marking("det")
    )  # a list of strings is read
    assert all(np.array_equal(found[column], read[column]) for column in found)


def test_a_rule_that_never_learns_steps_a_few_times_for_fifty_million_symbols():
    task = make_task("grammar/an-bn", "corrected")
    pupil, steps = taught(task, "trigram", passes=1), []
    step = pupil.step
    pupil.step = lambda *given: steps.append(1) or step(*given)
    (found,) = outcomes(
        pupil, TestList(task, "exhaustive", 20, 10_000), task.grammar, Marking("det")
    )
    assert found["steps"].sum() == 50_205_000
    assert found["wrong"].sum() == 10_000  # the end of every string
    assert len(steps) < 10


def test_a_network_whose_states_do_not_come_back_is_read(monkeypatch):
    monkeypatch.setattr(states, "ROOM", 30)
    task = make_task("grammar/an-bn-cn", "corrected")
    pupil, strings = (
        taught(task, "network:file=bliss-an-bn-cn-2023"),
        TestList(task, "exhaustive", 99, 8),
    )
    assert states.by_states(pupil, strings, task.grammar, Marking("det")) is None
    (found,) = outcomes(pupil, strings, task.grammar, Marking("det"))
    assert found["wrong"].tolist() == [
        alone(pupil, string, task.grammar, Marking("det"))["wrong"] for string in strings
    ]
    assert found["wrong"].any()


class Counter:
    """Counts up to a bound, and then says b for ever. Without a step of its own."""

    def __init__(self, brief: Any, seed: int, bound: int = 50) -> None:
        self.bound = bound

    def learn(self, inputs: Any, targets: Any) -> None: ...

    def predict(self, inputs: Any) -> Any:
        left = np.minimum(np.cumsum(inputs == 1), self.bound) - np.cumsum(inputs == 2)
        return np.where((left == 0) & (np.cumsum(inputs == 1) <= self.bound), 0, 2)


def hosted(task: Any) -> Any:
    return Hosted(Counter).begin(
        Brief(task.inputs, task.outputs, "cross-entropy", 10, 1), [Streams(0, "x", 0)]
    )


def test_a_host_that_counts_to_fifty_fails_at_fifty_one(monkeypatch):
    monkeypatch.setattr(room, "MOST_TOKENS", 3000)  # several exams
    task = make_task("grammar/an-bn", "corrected")
    (found,) = outcomes(
        hosted(task), TestList(task, "exhaustive", 0, 80), task.grammar, Marking("det")
    )
    assert found["wrong"].tolist() == [0] * 50 + [1] * 30
    assert found["steps"].tolist() == list(range(1, 81))


@pytest.mark.parametrize("step", [True, False])
def test_it_stops_at_the_first_string_that_is_wrong(step):
    task = make_task("grammar/an-bn", "corrected")
    pupil = taught(task, "rnn:units=3") if step else hosted(task)
    (whole,) = outcomes(pupil, TestList(task, "exhaustive", 0, 80), task.grammar, Marking("det"))
    endless = itertools.islice(iter(TestList(task, "exhaustive", 0, 10**9)), 10**6)
    stop = Stop.of("first-wrong", Marking("det"), task.grammar, (), 0)
    (found,) = outcomes(
        pupil, endless, task.grammar, Marking("det"), lambda _, own: stop.cut(own) is not None
    )
    assert stop.cut(found) == stop.cut(whole) == int(np.flatnonzero(whole["wrong"])[0]) + 1
    assert len(found["wrong"]) < 2000


def test_what_has_no_distribution_cannot_be_asked_for_what_may_follow():
    task = make_task("grammar/dyck-1", "corrected")
    with pytest.raises(Exception, match="no distribution"):
        outcomes(hosted(task), TestList(task, "exhaustive", 0, 9), task.grammar, Marking("cat"))


def test_lanes_side_by_side_are_marked_as_if_each_were_alone():
    """Two networks, strings of several blocks."""
    task = make_task("grammar/an-bn-cn", "corrected")
    learner = choose_learner("lstm:units=5", "corrected", task, "strings").make(task)
    brief = Brief(task.inputs, task.outputs, "cross-entropy", 30, 1)
    streams = [Streams(seed, "testing/outcomes", 0) for seed in range(3)]
    strings = list(TestList(task, "exhaustive", 2, 50))
    for marking in (Marking("det"), Marking("det", bits=True)):
        beside = outcomes(learner.begin(brief, streams), strings, task.grammar, marking)
        for stream, found in zip(streams, beside, strict=True):
            (own,) = outcomes(learner.begin(brief, [stream]), strings, task.grammar, marking)
            for name, values in own.items():
                np.testing.assert_allclose(found[name], values, rtol=1e-4)


def test_it_is_decided_where_no_margin_can_be_kept_any_more():
    """Strings of 10 steps, 4 errors allowed in 100 steps in all, 0.04 in each string."""
    task = make_task("grammar/an-bn", "corrected")
    strings = [task.grammar.string([10])] * 10
    stop = Stop.of("decided", Marking("det", (0.0, 0.04)), task.grammar, strings, 3)
    assert stop.allowed == 4

    def cut(*wrong):
        return stop.cut({"wrong": np.array(wrong), "steps": np.full(len(wrong), 10)})

    assert cut(0, 0, 0) is None
    assert cut(1, 1, 1, 1) is None
    assert cut(1, 1, 1, 1, 0, 1, 0) == 6
    assert cut(9, 0) is None
    assert cut(9, 0, 0, 0) == 3
    assert (
        Stop.of("whole", Marking("det"), task.grammar, strings, 0).cut({"wrong": np.ones(4)})
        is None
    )
    both = Stop.of("decided", Marking("cat", (0.0, 0.1)), task.grammar, strings, 0)
    assert (
        both.cut({"wrong-0": np.array([1, 1]), "wrong-0.1": np.array([0, 0]), "steps": np.ones(2)})
        is None
    )
    assert (
        both.cut({"wrong-0": np.array([1, 1]), "wrong-0.1": np.array([0, 2]), "steps": np.ones(2)})
        == 2
    )


def test_who_goes_step_by_step_reads_no_further_than_the_strings():
    """Numbers that are fractions may grow with every step: what nobody asked for would never
    end.
    """
    task = make_task("grammar/an-bn-cn", "corrected")
    pupil, strings = Automaton(Network.read("bliss-an-bn-cn")), TestList(task, "exhaustive", 0, 3)
    read = []
    step = pupil.step
    pupil.step = lambda state, inputs: read.append(inputs.size) or step(state, inputs)
    (found,) = outcomes(pupil, strings, task.grammar, Marking("det"))
    assert found["wrong"].tolist() == [0, 0, 0]
    assert len(read) <= max(map(len, strings))
