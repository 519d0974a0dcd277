"""Every property of a memory against a second program, written from its definition in plain NumPy
and nothing else.
"""

from __future__ import annotations

import json
import math
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.learners.learner_spec import choose_learner

SIZE, WASHOUT, STEPS = 6, 40, 1200


def reservoir(inputs, seed=5, radius=0.8, bias=0.3, size=SIZE):
    """States (time, size) of a tanh reservoir from rest, one loop."""
    rng = np.random.default_rng(seed)
    inside = rng.normal(size=(size, size))
    inside *= radius / np.abs(np.linalg.eigvals(inside)).max()
    inward, shift = rng.uniform(-1, 1, size), rng.uniform(-bias, bias, size)
    state, found = np.zeros(size), []
    for value in inputs:
        state = np.tanh(inside @ state + inward * value + shift)
        found.append(state)
    return np.array(found)


def capacity(states, target):
    """1 - least squared error over the variance, by the normal equations of centred states."""
    x, z = states - states.mean(axis=0), target - target.mean()
    weights = np.linalg.solve(x.T @ x, x.T @ z)
    return 1 - np.square(z - x @ weights).mean() / np.square(z).mean()


def legendre(degree, u):
    """By the formula of Rodrigues, written out."""
    return {
        1: u * math.sqrt(3),
        2: (3 * u**2 - 1) / 2 * math.sqrt(5),
        3: (5 * u**3 - 3 * u) / 2 * math.sqrt(7),
        4: (35 * u**4 - 30 * u**2 + 3) / 8 * 3,
    }[degree]


def hermite(degree, u):
    return {1: u, 2: (u**2 - 1) / math.sqrt(2), 3: (u**3 - 3 * u) / math.sqrt(6)}[degree]


def trigonometric(degree, u):
    return math.sqrt(2) * np.cos(degree * math.pi * (u + 1) / 2)


def walsh(degree, u):
    return u if degree == 1 else None


BASES = {
    "legendre": (legendre, lambda rng, count: rng.uniform(-1, 1, count)),
    "hermite": (hermite, lambda rng, count: rng.normal(size=count)),
    "trigonometric": (trigonometric, lambda rng, count: rng.uniform(-1, 1, count)),
    "walsh": (walsh, lambda rng, count: rng.choice([-1.0, 1.0], count)),
}


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    from quickstudy.cli.main import main

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("basis", list(BASES))
def test_what_the_command_says_of_states_is_what_the_definitions_say(command, tmp_path, basis):
    polynomial, drawn = BASES[basis]
    inputs = drawn(np.random.default_rng(8), WASHOUT + STEPS)
    everything = reservoir(inputs)
    states = everything[WASHOUT:]
    np.save("states.npy", everything)
    (tmp_path / "u.csv").write_text(
        "drive\n" + "\n".join(map(repr, inputs.tolist())), encoding="utf-8"
    )
    largest = [12, 5, 3]
    _, out, _ = command(
        "score",
        "capacity",
        "states.npy",
        "--inputs",
        "u.csv",
        "--washout",
        WASHOUT,
        "--delays",
        "12,5,3",
        "--train",
        "700",
        "--basis",
        basis,
        "--json",
    )
    found = json.loads(out)

    def late(delay):
        return inputs[WASHOUT - delay : WASHOUT - delay + STEPS]

    # The upper 1e-4 quantile of chi-squared with 6 degrees of freedom is 27.8563.
    assert found["threshold"] == pytest.approx(2 * 27.85634 / STEPS, rel=1e-6)
    assert found["memory_in_sample"] == pytest.approx(
        [capacity(states, late(k)) for k in range(13)], abs=1e-10
    )
    rows = np.column_stack([states, np.ones(STEPS)])
    split = []
    for delay in range(13):
        weights = np.linalg.lstsq(rows[:700], late(delay)[:700], rcond=None)[0]
        split.append(np.corrcoef(rows[700:] @ weights, late(delay)[700:])[0, 1] ** 2)
    assert found["memory_split"] == pytest.approx(split, abs=1e-6)
    crossed = 0.0
    for degree, most in enumerate(largest, 1):
        values = []
        for term in combinations_with_replacement(range(most + 1), degree):
            factors = [polynomial(term.count(delay), late(delay)) for delay in set(term)]
            if any(factor is None for factor in factors):  # a sign has no second degree
                continue
            values.append(capacity(states, np.prod(factors, axis=0)))
            if degree == 2 and len(set(term)) == 2 and values[-1] >= found["threshold"]:
                crossed += values[-1]
        assert found["ipc"][str(degree)]["terms"] == len(values)
        counted = sum(value for value in values if value >= found["threshold"])
        assert found["ipc"][str(degree)]["total"] == pytest.approx(counted, abs=1e-9)
    assert found["cross_memory"] == pytest.approx(crossed, abs=1e-9)
    eigenvalues = np.linalg.eigvalsh(states.T @ states)[::-1]
    values = np.sqrt(eigenvalues)
    assert found["singular_values"] == pytest.approx(values.tolist(), rel=1e-6)
    shares = values / values.sum()
    assert found["effective_rank"] == pytest.approx(np.prod(shares**-shares), rel=1e-6)
    wanted = {
        str(h): sum(value > h * values[0] for value in values) for h in (0.1, 0.01, 0.001, 1e-6)
    }
    wanted["charc"] = next(
        count for count in range(1, 7) if values[:count].sum() >= 0.99 * values.sum()
    )
    assert found["rank"] == wanted


def examined(name, **given):
    """The one trace of a learner by `properties`, its scores and the protocol."""
    task = configure("dynamics/memory", registries.task.get("dynamics/memory"), {"washout": "60"})
    kind = registries.protocol.get("properties")
    asked = {"steps": "600", "budget": "60", "length": "12", "shared": "4", **given}
    protocol = configure("properties", kind, asked)
    learner = choose_learner(name, "corrected", task, "reals").make(task)
    (trace,) = protocol.examine(task, learner, [Streams(0, task.id, 0)]).traces
    scores: dict[str, float] = {}
    for id in protocol.measures:
        scores |= registries.measure.get(id)(trace)
    return task, trace, scores


NAME = "esn:units=14,terms=5,radius=0.9,input_scale=0.4,precision=float64"


@pytest.fixture(scope="module")
def twin():
    """The reservoir that the name stands for, as a loop in NumPy, and what the program found of
    it.
    """
    from quickstudy.base.spaces import Reals
    from quickstudy.jax_gateway import double

    task, trace, scores = examined(NAME)
    made = configure(
        "esn",
        registries.core.get("esn"),
        {
            "units": "14",
            "terms": "5",
            "radius": "0.9",
            "input_scale": "0.4",
            "precision": "float64",
        },
        "corrected",
    )
    with double():
        core = made.build(Reals(1), Streams(0, task.id, 0).for_learner().numpy("core"))
        inside, inward, shift = (
            np.asarray(part) for part in (core.matrix(), core.inputs.weights[0], core.bias)
        )

    def run(inputs, state=None):
        state, found = np.zeros(14) if state is None else state, []
        for value in inputs:
            state = np.tanh(inside @ state + inward * value + shift)
            found.append(state)
        return np.array(found)

    return task, trace, scores, run, inside


def test_ranks_by_both_algorithms_are_those_of_a_plain_loop(twin):
    task, _, scores, run, _ = twin
    streams, count = Streams(0, task.id, 0), 28
    rng = streams.numpy("streams")
    before, own = task.signal(rng, (60, 1))[:, 0], task.signal(rng, (12, 2 * count))
    washed = run(before)[-1]
    separate = np.array([run(own[:, place], washed)[-1] for place in range(count)])
    alike = []
    for place in range(count, 2 * count):
        stream = own[:, place].copy()
        stream[-4:] = own[-4:, 0]
        alike.append(run(stream, washed)[-1])
    # All states of one stream, in the whole range and in a tenth of it.
    wide = run(task.signal(streams.numpy("drive"), (60 + 2 * 600, 1))[:, 0])[60 : 60 + count]
    narrow = run(0.1 * task.signal(streams.numpy("generalisation"), (60 + count, 1))[:, 0])[60:]
    matrices = {
        "kernel-rank": separate,
        "generalisation-rank": np.array(alike),
        "kernel-rank-stream": wide,
        "generalisation-rank-stream": narrow,
    }
    for name, rows in matrices.items():
        values = np.linalg.svd(rows, compute_uv=False)
        for threshold in (0.1, 0.01, 0.001, 1e-6):
            assert scores[f"{name}-at-{threshold:g}"] == (values > threshold * values[0]).sum(), (
                name,
                threshold,
            )
        share = np.flatnonzero(np.cumsum(values) >= 0.99 * values.sum())[0] + 1
        assert scores[f"{name}-at-charc"] == share
    assert scores["kernel-rank"] == scores["kernel-rank-at-0.01"]


def test_memory_from_delay_one_on_counts_above_its_threshold(twin):
    task, _, scores, run, _ = twin
    drive = task.signal(Streams(0, task.id, 0).numpy("drive"), (60 + 1200, 1))[:, 0]
    states = np.column_stack([run(drive)[60:], np.ones(1200)])
    total = raw = 0.0
    for delay in range(1, 29):
        target = drive[60 - delay : 1260 - delay]
        given = states[600:] @ np.linalg.lstsq(states[:600], target[:600], rcond=None)[0]
        share = np.corrcoef(given, target[600:])[0, 1] ** 2
        raw += share
        total += (
            share if share >= 2 * 15.13671 / 600 else 0.0
        )  # chi-squared of one degree of freedom at 1e-4
    assert scores["memory-capacity-raw"] == pytest.approx(raw, abs=1e-5)
    assert scores["memory-capacity"] == pytest.approx(total, abs=1e-5)
    assert scores["capacity-over-size"] == pytest.approx(total / 14, abs=1e-6)


def test_the_exponent_is_that_of_products_of_jacobians(twin):
    """The mean growth of a small difference along the driven path, by its linear equation."""
    task, _, scores, run, inside = twin
    path = run(task.signal(np.random.default_rng(0), (4000, 1))[:, 0])
    away, total = np.ones(14), 0.0
    for state in path[200:]:
        away = (1 - state**2) * (inside @ away)
        total += math.log(np.linalg.norm(away))
        away /= np.linalg.norm(away)
    assert scores["lyapunov-exponent"] == pytest.approx(total / 3800, abs=0.02)
    assert scores["echo-index"] == 1


def test_two_states_of_rest_are_two_echoes():
    """One unit that holds whichever side the past has pushed it to; the same future does not bring
    both together.
    """

    from quickstudy.measures.memory_scores import MET, groups

    def end(inputs):
        state = 0.0
        for step, value in enumerate(inputs):
            state = np.tanh(3 * state + (1.0 if step < 5 else 0.01) * value)
        return state

    rng = np.random.default_rng(1)
    tail = rng.uniform(-1, 1, 200)
    ends = np.array([end([*rng.uniform(-1, 1, 60), *tail]) for _ in range(8)])
    assert groups(np.abs(ends[:, None] - ends), MET) == 2


def test_behaviours_of_charc_are_those_of_a_plain_loop():
    from quickstudy.cores.esn import EchoState
    from quickstudy.jax_gateway import double
    from quickstudy.learners.reservoir_population import Substrate

    task = configure("dynamics/charc", registries.task.get("dynamics/charc"), {"washout": "50"})
    streams = Streams(0, task.id, 0)
    substrate = Substrate(
        EchoState(units=10, radius=0.9, precision="float64"), task, [streams], "charc", 150, False
    )
    with double():
        genome = substrate.draw(np.random.default_rng(3))
        (found,) = substrate.behave([[genome, genome]])
        core = substrate._frame.filled(substrate._arrays(genome))
        parts = (core.matrix(), core.inputs.weights[0], core.bias, core.leak)
        inside, inward, shift, leak = (np.asarray(part, np.float64) for part in parts)

    def run(inputs):
        state, states = np.zeros(10), []
        for value in inputs:
            state = (1 - leak) * state + leak * np.tanh(inside @ state + inward * value + shift)
            states.append(state)
        return np.array(states)[50:]

    wide, narrow = (drive[:, 0, 0] for drive in substrate.drives[0])
    assert len(narrow) - 50 == 15  # 1.5 times as many as states
    states, close = run(wide), run(narrow)
    wanted = []
    for rows in (states[:15], close):
        values = np.linalg.svd(rows, compute_uv=False)
        wanted.append(np.flatnonzero(np.cumsum(values) >= 0.99 * values.sum())[0] + 1)
    shown, total = states[:150] - states[:150].mean(axis=0), 0.0
    squares = shown.T @ shown
    squares += 1e-9 * np.trace(squares) / 10 * np.eye(10)
    for delay in range(1, 11):
        target = wide[50 - delay : 350 - delay]
        given = states[150:] @ np.linalg.solve(
            squares, shown.T @ (target[:150] - target[:150].mean())
        )
        share = np.corrcoef(given, target[150:])[0, 1] ** 2
        total += share if share > 2 * 15.13671 / 150 else 0.0
    assert found[0][:2].tolist() == wanted
    assert found[0][2] == pytest.approx(total, abs=1e-6)
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("order", [2, 5])
def test_terms_of_different_delays_hold_no_square(order):
    """Cross memory counts every pair once: a system that holds all products of two of its last
    inputs has them all.
    """
    from quickstudy.measures.memory import Harvest
    from quickstudy.measures.memory_terms import processing_capacity

    inputs = np.random.default_rng(2).uniform(-1, 1, 3000)
    pairs = list(combinations(range(order), 2))
    late = [np.roll(inputs, delay)[10:] for delay in range(order)]
    harvest = Harvest(
        np.column_stack([late[one] * late[other] for one, other in pairs] + [late[0]])
    )
    found = processing_capacity(harvest, inputs, harvest.threshold(), [order, order])
    assert found.total(2, window=2) == pytest.approx(len(pairs), abs=0.02)
    assert found.total(2, window=1) == 0
