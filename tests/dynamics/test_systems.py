"""The systems of the dynamics family against worked examples, other solvers and published
figures.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure
from quickstudy.base.registry import split_sheet
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace
from quickstudy.data.locate import find
from quickstudy.tasks.sampling import check_drawn

GENERATED = [
    id
    for id in registries.task.names()
    if id.startswith("dynamics/")
    and hasattr(registries.task.get(id), "drive")
    and not hasattr(registries.task.get(id), "ready")
    and registries.task.get(id).taxonomy["type"] != "property"
]
SHORT = {"washout": 20, "training": 200, "validation": 20, "test": 130}


def make(id, convention="corrected", **given):
    return configure(f"dynamics/{id}", registries.task.get(f"dynamics/{id}"), given, convention)


def drive(task, repetition=0):
    return task.drive(Streams(0, task.id, repetition).numpy("data"))


@pytest.mark.parametrize("id", GENERATED)
def test_every_published_set_can_be_drawn_and_sent(id):
    """Variants differ from what the contract tests check in numbers alone."""
    small = {"free": 100, "transient": 50} if hasattr(registries.task.get(id), "transient") else {}
    fields = {
        **SHORT,
        **{name: value for name, value in small.items() if hasattr(registries.task.get(id), name)},
    }
    task = configure(id, registries.task.get(id), fields)
    assert pickle.loads(pickle.dumps(task)) == task
    assert registries.task.find(id).summary == split_sheet(task.__doc__ or "")[0]
    series = drive(task)
    check_drawn(series, *spaces_of(task))
    assert series.test == 130
    assert series.facts["varies"]
    assert task.taxonomy["type"] in ("imitation", "prediction", "computation")


def by_hand(u, order, alpha, beta, gamma, delta):
    x = [0.0] * order
    for t in range(order - 1, len(u)):
        x.append(
            alpha * x[t]
            + beta * x[t] * sum(x[t - i] for i in range(order))
            + gamma * u[t - order + 1] * u[t]
            + delta
        )
    return x


@pytest.mark.parametrize(
    ("id", "constants"),
    [
        ("narma-5", (5, 0.3, 0.05, 1.5, 0.1)),
        ("narma-10", (10, 0.3, 0.05, 1.5, 0.1)),
        ("narma-30", (30, 0.2, 0.04, 1.5, 0.001)),
        ("narma-30-dale", (30, 0.2, 0.004, 1.5, 0.001)),
    ],
)
def test_narma_is_its_recurrence(id, constants):
    u = np.random.default_rng(1).uniform(0, 0.5, 80)
    found = make(id).response(u[:, None])[:, 0]
    assert found == pytest.approx(by_hand(u.tolist(), *constants)[1:], abs=1e-14)
    assert make(id, lead=0).response(u[:, None])[1:, 0] == pytest.approx(found[:-1])


def test_narma_worked_by_hand():
    """Order 2 of the general form: x(2) = 1.5 u0 u1 + 0.1, x(3) = 0.3 x2 + 0.05 x2 (x2 + x1) + 1.5
    u1 u2 + 0.1.
    """
    u = np.array([[0.2], [0.4], [0.1]])
    found = make("narma-10", order=2).response(u)[:, 0]
    assert found == pytest.approx([0.0, 0.22, 0.3 * 0.22 + 0.05 * 0.22 * 0.22 + 0.06 + 0.1])
    assert make("narma-2").response(u)[:, 0] == pytest.approx(
        [0, 0.6 * 0.4**3 + 0.1, 0.4 * 0.1384 + 0.6 * 0.1**3 + 0.1]
    )


def test_three_sines_drive_the_second_order_system():
    """u = 0.1 (1 + the product of three sines) of 2.11, 3.73 and 4.11 turns in 100 steps, from some
    step on.
    """
    series = drive(make("narma-2-fujii"))
    u, x = series.inputs[:, 0], series.targets[:, 0]
    t = np.arange(12_000)
    turns = [np.sin(2 * np.pi * turn * t / 100) for turn in (2.11, 3.73, 4.11)]
    whole = 0.1 * (np.prod(turns, axis=0) + 1)
    begins = [
        first
        for first in range(10_000)
        if np.allclose(whole[first : first + 50], u[:50], atol=1e-9)
    ]
    assert begins
    assert u == pytest.approx(
        np.resize(whole[:10_000], 20_000)[begins[0] : begins[0] + len(u)], abs=1e-9
    )
    assert x[2:] == pytest.approx(
        0.4 * x[1:-1] + 0.4 * x[1:-1] * x[:-2] + 0.6 * u[2:] ** 3 + 0.1, abs=1e-12
    )
    assert series.facts["input"] == "sines in 0 .. 0.2"
    assert drive(make("narma-10")).facts["input"] == "uniform in 0 .. 0.5"


def test_narma_windows_of_other_programs():
    """One leaves x(t) out of its sum, the other also goes one input further back."""
    u = np.full((5, 1), 0.4)
    stated, charc, other = (
        make("narma-10", order=2, window=w).response(u)[:, 0]
        for w in ("stated", "charc", "reservoirpy")
    )
    first = 1.5 * 0.16 + 0.1
    assert stated[:2] == pytest.approx([0, first])
    assert charc[2] == pytest.approx(0.3 * first + first)
    assert stated[2] == pytest.approx(0.3 * first + 0.05 * first**2 + first)
    assert other[:3] == pytest.approx([0, 0, first])


def test_what_diverges_is_said():
    """Order 15 with inputs up to 0.5 always does; of order 10 nine in a thousand of 2,000 steps."""
    with pytest.raises(UsageError, match="diverges"):
        make("narma-10").response(np.full((200, 1), 0.9))
    with pytest.raises(UsageError, match="all of 100 inputs"):
        drive(make("narma-10", order=15))
    task = make("narma-10")
    u = np.random.default_rng(3).uniform(0, 0.5, (1000, 2000))
    lost = np.mean([np.isnan(task.values(row)).any() for row in u])
    assert 0.002 < lost < 0.025


@pytest.mark.parametrize(
    ("id", "mean", "deviation", "persistence"),
    [
        ("narma-10", 0.3886, 0.1089, 0.877),
        ("narma-20", 0.2028, 0.0936, 0.959),
        ("narma-5-fujii", 0.1753, 0.0144, 1.11),
    ],
)
def test_narma_has_the_known_moments(id, mean, deviation, persistence):
    x = np.concatenate([drive(make(id), repetition).targets[:, 0] for repetition in range(10)])
    assert x.mean() == pytest.approx(mean, rel=0.02)
    assert x.std() == pytest.approx(deviation, rel=0.05)
    assert np.sqrt(np.mean(np.diff(x) ** 2) / x.var()) == pytest.approx(persistence, abs=0.04)


def test_parity_has_n_bits():
    u = np.array([[-1.0], [1], [1], [-1], [1]])
    assert make("parity-3").response(u)[:, 0].tolist() == [-1, 1, -1, -1, -1]
    assert make("parity-3", delay=1).response(u)[:, 0].tolist() == [-1, -1, 1, -1, -1]
    assert make("xor", code="bits").response((u + 1) / 2)[:, 0].tolist() == [0, 1, 0, 1, 1]
    series = drive(make("parity-4"))
    products = np.array([series.inputs[t - 3 : t + 1].prod() for t in range(3, 400)])
    assert (series.targets[3:400, 0] == -products).all()
    assert make("xor-spatial").response(np.array([[1.0, 1], [-1, 1]]))[:, 0].tolist() == [-1, 1]


def test_channel_by_its_formula():
    task = make("channel-rodan", third=0.091)
    series = drive(task)
    d = series.targets[:, 0]  # d(n - 2)
    echoes = dict(
        zip(
            range(2, -8, -1),
            (0.08, -0.12, 1, 0.18, -0.1, 0.091, -0.05, 0.04, 0.03, 0.01),
            strict=True,
        )
    )
    for n in (20, 21, 500):
        q = sum(strength * d[n + 2 + k] for k, strength in echoes.items())
        assert series.inputs[n, 0] == pytest.approx(q + 0.036 * q**2 - 0.011 * q**3 + 30)
    noisy = drive(make("channel-12"))
    assert set(np.unique(noisy.targets)) == {-3, -1, 1, 3}


def test_lorenz_against_another_solver():
    task = make("lorenz-63", start="1/1/1", transient=0, raw=True, **SHORT, free=0)
    values = drive(task).inputs
    assert values[0].tolist() == [1, 1, 1]

    def slope(_, s):
        x, y, z = s
        return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]

    other = solve_ivp(
        slope, (0, 4), [1, 1, 1], "DOP853", 0.02 * np.arange(200), rtol=1e-11, atol=1e-12
    ).y.T
    assert values[:200] == pytest.approx(other, abs=2e-4)
    close = make(
        "lorenz-63", start="1/1/1", transient=0, raw=True, **SHORT, free=0, method="dop853"
    )
    assert drive(close).inputs[:200] == pytest.approx(other, abs=1e-6)
    assert make("lorenz-63").drive(np.random.default_rng(0)).inputs.std(axis=0) == pytest.approx(
        [0.4, 0.45, 0.43], abs=0.06
    )


def test_lorenz_96_against_another_solver():
    start = "/".join(["8.01", *["8"] * 10])
    values = drive(
        make("lorenz-96-canaday", start=start, transient=0, raw=True, **SHORT, free=0)
    ).inputs

    def slope(_, x):
        return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8

    first = np.array([8.01, *[8.0] * 10])
    other = solve_ivp(
        slope, (0, 2), first, "DOP853", 0.05 * np.arange(40), rtol=1e-11, atol=1e-12
    ).y.T
    assert values[:40] == pytest.approx(other, abs=1e-5)


def test_mackey_glass_is_the_published_recurrence():
    values = drive(
        make("mackey-glass-17", start=1.2, transient=0, raw=True, **SHORT, free=0)
    ).inputs[:, 0]
    x = [1.2] * 171
    for _ in range(3700):
        x.append(x[-1] + 0.1 * (0.2 * x[-171] / (1 + x[-171] ** 10) - 0.1 * x[-1]))
    assert values == pytest.approx(x[170 : 170 + 10 * len(values) : 10], abs=1e-12)
    shown = drive(make("mackey-glass-17", start=1.2, transient=0, **SHORT, free=0)).inputs[:, 0]
    assert shown == pytest.approx(np.tanh(values - 1))


def test_mackey_glass_solved_accurately():
    """Two internal steps agree; the Euler series is up to 0.043 away in the first 200 time
    units.
    """
    given = {"start": 1.2, "transient": 0, "raw": True, **SHORT, "free": 0}
    euler, rk4, exact = (
        drive(make("mackey-glass-17", method=m, **given)).inputs[:200, 0]
        for m in ("euler-0.1", "rk4", "exact")
    )
    assert rk4 == pytest.approx(exact, abs=2e-6)
    assert np.abs(euler - exact).max() == pytest.approx(0.043, abs=0.004)
    first = [
        1.2
    ]  # before the delay is over the history is constant: x' = c - 0.1 x has a closed form
    c = 0.2 * 1.2 / (1 + 1.2**10)
    assert exact[:17] == pytest.approx(
        [c / 0.1 + (first[0] - c / 0.1) * np.exp(-0.1 * t) for t in range(17)], abs=1e-9
    )


def test_oscillators_and_the_eight():
    values = drive(make("mso-3")).inputs[:, 0]
    assert values[7] == pytest.approx(np.sin(1.4) + np.sin(7 * 0.311) + np.sin(7 * 0.42))
    eight = drive(make("lazy-eight")).inputs
    assert eight[50] == pytest.approx([1, 0], abs=1e-12)
    assert eight[25] == pytest.approx([np.sqrt(0.5), 0.5])
    warped = np.unwrap(np.arcsin(drive(make("lazy-eight-warped")).inputs[:20, 0]))
    assert np.diff(warped)[0] == pytest.approx(
        2 * np.pi / 200 * (1 + 0.5 * np.sin(2 * np.pi * 0.5 / 1000)), rel=1e-4
    )


def test_kuramoto_sivashinsky_against_a_finer_step():
    """0.008 up to time 10 on a ring of 32 pi with 128 points, as measured elsewhere."""
    given = {"size": 32 * np.pi, "points": 128, "start": "smooth", "transient": 0, "free": 0}
    coarse = drive(make("kuramoto-sivashinsky-22", **given, **SHORT)).inputs[:41]
    fine = drive(
        make("kuramoto-sivashinsky-22", **given, **{**SHORT, "training": 700}, step=0.05)
    ).inputs[:201:5]
    assert np.abs(coarse - fine).max() < 0.01
    place = np.arange(128) * 32 * np.pi / 128
    assert coarse[0] == pytest.approx(np.cos(place / 16) * (1 + np.sin(place / 16)))
    assert coarse.mean(axis=1) == pytest.approx(0, abs=1e-12)  # what flows nowhere is kept


@pytest.fixture
def real_data(monkeypatch):
    import os

    if not os.environ.get("QUICKSTUDY_DATA"):
        pytest.skip("QUICKSTUDY_DATA names no folder of measured series")


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(
    ("id", "error"),
    [("sunspots-zurich", 0.395677), ("santa-fe-laser", 0.968965), ("sunspots-noaa", 0.391235)],
)
def test_published_base_cases(id, error):
    task = make(id)
    find(task.data)
    assert registries.quantity.get("persistence-error")(task) == pytest.approx(error, abs=1e-6)


@pytest.mark.parametrize(
    ("id", "file", "columns", "rows", "learned", "asked"),
    [
        (
            "sleep-apnea",
            "santafe_b_sleep_apnea",
            "heart_rate,respiration,blood_oxygen",
            27_000,
            23_000,
            26_000,
        ),
        ("santa-fe-laser-competition", "santafe_laser", "intensity", 1_100, 200, 1_000),
    ],
)
def test_rows_that_are_asked_for_are_not_learned_from(
    id, file, columns, rows, learned, asked, monkeypatch, tmp_path
):
    cells = np.repeat(np.arange(rows)[:, None], columns.count(",") + 1, axis=1)
    text = columns + "\n" + "\n".join(",".join(map(str, row)) for row in cells.tolist())
    (tmp_path / f"{file}.csv").write_text(text)
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path))
    series = drive(make(id, raw=True))
    answers = series.targets[series.washout :, 0]
    assert answers.tolist() == list(range(learned, rows))
    assert answers[series.training] == asked


def test_data_that_are_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"no ipix\.csv in"):
        make("ipix").ready()
    (tmp_path / "ipix.csv").write_text("I,Q\n" + "\n".join(f"{n},{-n}" for n in range(50)))
    with pytest.raises(UsageError, match="has 50 rows, and 2001 are asked for"):
        drive(make("ipix"))
    scaled = drive(make("ipix", washout=5, training=10, test=10, first=3))
    assert (scaled.inputs[0].tolist(), scaled.inputs[14].tolist()) == ([-1, 1], [1, -1])
    slices = {
        tuple(drive(make("ipix", washout=5, training=10, test=10, first="none"), n).facts["rows"])
        for n in range(5)
    }
    assert len(slices) > 1


def test_a_month_without_a_number_is_no_month_with_less_than_no_sunspots(tmp_path, monkeypatch):
    numbers = np.full(2820, 50.0)
    numbers[1200] = -99
    rows = "\n".join(f"1749,1,{number}" for number in numbers)
    path = tmp_path / "sunspots_zurich_monthly_1749_1983.csv"
    path.write_text(f"year,month,sunspot_number\n{rows}\n", encoding="utf-8")
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path))
    with pytest.raises(
        UsageError, match=r"row 1201: no month has -99 sunspots.*keep only the rows"
    ):
        drive(make("sunspots-zurich"))


def test_how_long_a_drawer_of_eights_stays_on_the_curve():
    """One is a loop behind from the start, and never off the curve; one leaves it for good at step
    250.
    """
    series = drive(make("lazy-eight"))
    right = series.targets[-1000:]
    late = np.roll(right, 30, axis=0)
    off = right.copy()
    off[250:] += 3.0
    facts = dict(series.facts)
    for answer, steps, loop in ((right, 1000, 0.0), (late, 1000, None), (off, 250, 0.0)):
        arrays = {"free_answer": answer[None], "free_target": right[None], "target": right}
        found = registries.measure.get("free-running")(Trace("predictions", arrays, facts))
        assert found["steps-on-curve"] == steps
        if loop is None:
            wrong = (
                np.square(late[:200] - right[:200]).mean()
                / np.square(right - right.mean(axis=0)).mean()
            )
            assert found["loop-nrmse"] == pytest.approx(np.sqrt(wrong))
            assert found["curve-distance"] == pytest.approx(0, abs=1e-9)
        else:
            assert found["loop-nrmse"] == loop
