"""Searches: the same network for the same seed, wherever they are cut, kept, and compiled or
not.
"""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from quickstudy.base.exchange import Lesson
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.parameters import parameters_of
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.mdl.code_length import Desk, evaluate
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.evaluation_cache import Memory, look_up
from quickstudy.learners.mdl.genes import (
    BIAS,
    BIAS_UNDER,
    EDGES,
    KIND,
    SOURCE,
    TARGET,
    UNITS,
    WEIGHT,
    WEIGHT_UNDER,
    WIDTH,
    Parts,
)
from quickstudy.learners.mdl.learner import GivenNetwork, Mdlrnn
from quickstudy.learners.mdl.mutation import DRAWS, mutate
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.search import Island
from quickstudy.tasks.grammar.languages import EqualTwo

PARTS = Parts(3, np.array([0, 1, 3], np.int32), True)
TREE = Tree.of([([0, *[1] * n, *[2] * n], [*[1] * n, *[2] * n, 0]) for n in (1, 1, 2, 3)], 3)
SMALL = {
    "tempering": Mdlrnn(effort=15),
    "evolution": Mdlrnn(search="evolution", population=30, generations=130, islands=3, exchange=60),
}


def begun(learner, shown=12):
    lesson = EqualTwo().sample(np.random.default_rng(0), shown)
    brief = Brief(Tokens(3), Tokens(3), "cross-entropy", lesson.steps, shown)
    return learner.begin(brief, [Streams(0, "mdl", 0)]), Lesson([lesson], np.arange(shown)[None])


def found(pupil):
    return pupil.host.network


@pytest.mark.parametrize("search", SMALL)
def test_the_same_seed_finds_the_same_network_wherever_a_lesson_is_cut(search):
    networks = []
    for cuts in ((0, 12), (0, 12), (0, 5, 11, 12)):
        pupil, lesson = begun(SMALL[search])
        for start, stop in itertools.pairwise(cuts):
            assert not networks or not found(pupil).edges or stop == 12
            pupil.learn(lesson, start, stop)
        networks.append(found(pupil))
    assert networks[0] == networks[1] == networks[2]
    assert networks[0].edges


@pytest.mark.parametrize("search", SMALL)
def test_a_search_that_is_kept_goes_on_where_it_was(search):
    whole, lesson = begun(SMALL[search])
    whole.learn(lesson, 0, 12)
    kept = []
    pupil, lesson = begun(SMALL[search])
    for place in pupil.learning(lesson, 0, 12):
        kept.append((place, pupil.snapshot()))
    assert len(kept) >= 3
    assert found(pupil) == found(whole)
    assert pupil.cost() == whole.cost()
    for place, snapshot in kept[:-1:2]:
        fresh, lesson = begun(SMALL[search])
        fresh.restore(Snapshot(snapshot.arrays, snapshot.facts))
        assert place == 11
        fresh.learn(lesson, place, 12)
        assert found(fresh) == found(whole)
        assert fresh.cost() == whole.cost()


def test_a_learner_that_is_finished_can_be_kept():
    pupil, lesson = begun(SMALL["tempering"])
    pupil.learn(lesson, 0, 12)
    other, _ = begun(SMALL["tempering"])
    other.restore(pupil.snapshot())
    inputs = np.array([[0], [1], [1]])[None]
    assert np.array_equal(
        other.step(other.start(1, 3), inputs[:, 0])[1],
        pupil.step(pupil.start(1, 3), inputs[:, 0])[1],
    )
    assert found(other) == found(pupil)


def test_a_search_makes_the_strings_shorter():
    pupil, lesson = begun(Mdlrnn(effort=60))
    silent = found(pupil)
    pupil.learn(lesson, 0, 12)
    (examples,) = lesson.examples
    strings = [
        (examples.inputs[:length, n].tolist(), examples.targets[:length, n].tolist())
        for n, length in enumerate(examples.lengths)
    ]
    tree = Tree.of(strings, 3)
    assert sum(found(pupil).all_bits(tree, "abc")) < sum(silent.all_bits(tree, "abc")) - 50
    assert pupil.cost()[0].bits == found(pupil).bits("abc")


def test_bits_are_those_of_each_network_and_the_elite_is_never_lost():
    island = Island.settled(TREE, PARTS, np.random.default_rng(3), 40)
    fewest = np.inf
    for _ in range(20):
        island.evolve(3)
        now = island.bits[island.best, :2].sum()
        assert now <= fewest
        fewest = now
    desk, bits = Desk.of(len(TREE.read)), np.zeros(3)
    for row, own in zip(island.rows, island.bits, strict=True):
        evaluate(row, PARTS, 0.0, TREE, desk, bits, np.inf)
        assert np.array_equal(bits, own)


def test_what_is_remembered_is_what_would_be_evaluated():
    seen = []
    for places in (1 << 16, 4, 1):  # with few places, networks drive one another out all the time
        island = Island.settled(TREE, PARTS, np.random.default_rng(4), 40)
        empty = island.memory
        island.memory = Memory(empty.now, empty.networks[:places], empty.bits[:places])
        island.evolve(30)
        known = [bool(look_up(row, island.memory)[1]) for row in island.rows]
        seen.append(
            (island.bits.tolist(), [Network.of_row(row, 3) for row in island.rows], sum(known))
        )
    assert seen[0][:2] == seen[1][:2] == seen[2][:2]
    assert seen[0][2] > 30 > seen[2][2]


def test_evolution_ends_when_its_patience_does():
    impatient = Mdlrnn(
        search="evolution", population=6, islands=2, generations=100_000, exchange=100, patience=150
    )
    search, fewest, since = impatient.search_of(TREE, np.random.default_rng(4)), np.inf, 0
    while not search.done:
        search.go_on()
        now = min(island.bits[island.best, :2].sum() for island in search.members)
        fewest, since = (now, search.lived) if now < fewest else (fewest, since)
    assert since + 150 <= search.lived < since + 150 + 100
    assert search.lived < 100_000


def test_migrants_are_received_as_they_were_sent():
    one, other = (Island.settled(TREE, PARTS, np.random.default_rng(seed), 200) for seed in (1, 2))
    one.evolve(20)
    rows, bits = one.send()
    assert 1 <= len(rows) <= 2
    other.receive(rows, bits)
    places = [
        number for number, row in enumerate(other.rows) for sent in rows if (row == sent).all()
    ]
    assert places
    assert all(any((other.bits[place] == own).all() for own in bits) for place in places)


def test_a_network_is_sent_once_whatever_lies_behind_its_row_and_however_its_edges_are_ordered():
    island = Island.settled(TREE, PARTS, np.random.default_rng(5), 300)
    row = Network.read("bliss-an-bn").as_row()
    evaluate(row, PARTS, 0.0, TREE, Desk.of(len(TREE.read)), bits := np.zeros(3), np.inf)
    for number in range(300):  # one network, and what mutations leave of others
        island.rows[number], island.bits[number] = row, bits
        island.rows[number, WEIGHT + row[EDGES] : WEIGHT_UNDER] = number
        island.rows[number, BIAS_UNDER] = 1 + number  # of a unit without a bias
        edges = np.random.default_rng(number).permutation(row[EDGES])
        for place in (SOURCE, TARGET, KIND, WEIGHT, WEIGHT_UNDER):
            island.rows[number, place : place + len(edges)] = row[place + edges]
    rows, _ = island.send()
    assert [Network.of_row(one, 3) for one in rows] == [Network.read("bliss-an-bn")]


def test_the_evolution_has_a_course_of_its_own_and_the_tempering_keeps_its_keys():
    assert parameters_of(Mdlrnn(search="evolution"))["course"] == 2
    assert "course" not in parameters_of(Mdlrnn(search="tempering"))


def test_a_guesser_is_mixed_in_and_the_exact_bits_stay():
    desk, exact, mixed = Desk.of(len(TREE.read)), np.zeros(3), np.zeros(3)
    row = Network.read("bliss-an-bn").as_row()
    evaluate(row, PARTS, 0.0, TREE, desk, exact, np.inf)
    evaluate(row, PARTS, 0.05, TREE, desk, mixed, np.inf)
    assert mixed[2] == exact[2] == exact[1] < mixed[1] < np.inf
    row[BIAS + 4] = 0  # now an a is impossible
    evaluate(row, PARTS, 0.0, TREE, desk, exact, np.inf)
    evaluate(row, PARTS, 0.05, TREE, desk, mixed, np.inf)
    assert exact[1] == exact[2] == mixed[2] == np.inf
    assert np.isfinite(mixed[1])


def test_beyond_a_limit_nothing_is_evaluated_and_below_it_all_is():
    desk, whole, cut = Desk.of(len(TREE.read)), np.zeros(3), np.zeros(3)
    row = Network.read("bliss-an-bn").as_row()
    for floor in (0.0, 0.05):
        evaluate(row, PARTS, floor, TREE, desk, whole, np.inf)
        for limit, kept in (
            (whole[0] + whole[1], True),
            (whole[0] + whole[1] - 1e-9, False),
            (whole[0] - 1, False),
        ):
            evaluate(row, PARTS, floor, TREE, desk, cut, limit)
            assert np.array_equal(cut, whole) if kept else np.isinf(cut[1:]).all()


def numbers():
    """Rows and bits of a little of everything that is compiled."""
    rng = np.random.default_rng(7)
    island = Island.settled(TREE, PARTS, rng, 12)
    island.evolve(6)
    desk, bits, seen = Desk.of(len(TREE.read)), np.zeros(3), []
    row = Network.read("bliss-an-bn").as_row()
    for _ in range(60):
        mutate(row, PARTS, rng.random(DRAWS), 3)
        evaluate(row, PARTS, 0.01, TREE, desk, bits, np.inf)
        seen.append([int(row[:WIDTH].sum()), int(row[UNITS]), *bits.tolist()])
    tempering = Mdlrnn(effort=1).search_of(TREE, rng)
    tempering.go_on()
    return [seen, island.bits.tolist(), island.rows.sum(axis=1).tolist(), tempering.bits.tolist()]


def test_the_same_numbers_without_the_compiler():
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['numbers']())"
    plain = subprocess.run(
        [sys.executable, "-c", code, __file__],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert plain.strip() == str(numbers())


def test_a_given_network_is_known_by_what_it_is(tmp_path):
    text = (Network.read("bliss-dyck-1")).as_facts()

    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text(json.dumps(text, indent=len(name)))
    one, two = (GivenNetwork(str(tmp_path / name)) for name in ("one.json", "two.json"))
    assert one.content == two.content == GivenNetwork("bliss-dyck-1").content
    assert one.content != GivenNetwork("bliss-an-bn").content
    with pytest.raises(ValueError, match="has changed"):
        GivenNetwork(str(tmp_path / "one.json"), content=GivenNetwork("bliss-an-bn").content)
