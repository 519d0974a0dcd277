"""How often intervals hold the truth, and how often a verdict is wrong: simulated, and the page
that says so.

    python benchmarks/coverage.py

Takes a minute on one core. Renews the tables of docs/explanation/intervals.md.
"""

import math
import pathlib
import re
from collections.abc import Callable

import numpy as np

from quickstudy.base.measure import Score
from quickstudy.report.statistics import ABOVE, BELOW, Contrast, advantage, difference, scaled
from quickstudy.stats.intervals import Interval, mean_band, student_quantile

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "explanation" / "intervals.md"
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
RUNS = (3, 6, 10, 20)
TRIES, FEWER, RESAMPLES = 40_000, 4_000, 1_000
CONTROL_RUNS = (6, 200)
HIGHER = Score("score", better="higher")

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
SCORES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, size: rng.normal(size=size), 0.0),
    "accuracy, 240 questions at 0.8": (lambda rng, size: rng.binomial(240, 0.8, size) / 240, 0.8),
    "near the top: beta(9, 1)": (lambda rng, size: rng.beta(9, 1, size), 0.9),
    "near 0: beta(0.5, 4)": (lambda rng, size: rng.beta(0.5, 4, size), 0.5 / 4.5),
    "at both ends: beta(0.5, 0.5)": (lambda rng, size: rng.beta(0.5, 0.5, size), 0.5),
    "exponential": (lambda rng, size: rng.exponential(size=size), 1.0),
    "heavy tails: t of 3 degrees": (lambda rng, size: rng.standard_t(3, size), 0.0),
    "lognormal": (lambda rng, size: rng.lognormal(size=size), math.exp(0.5)),
    "one run in five fails": (
        lambda rng, size: (rng.random(size) < 0.8) + rng.normal(0, 0.01, size),
        0.8,
    ),
}


def main() -> None:
    """Simulate, and put the four tables in the place of those of the page."""
    tables = iter(
        [
            _table(["score", *(f"n = {n}" for n in RUNS), "t", "bootstrap", "width"], _means()),
            _table(["contrast", *(f"n = {n}" for n in RUNS[1:])], [*_differences(), *_scaled()]),
            _table(["controls", "above", "below", "above, before", "below, before"], _verdicts()),
            _table(["controls", *(f"{runs} runs of each" for runs in CONTROL_RUNS)], _power()),
        ]
    )
    PAGE.write_text(_TABLE.sub(lambda _: next(tables), PAGE.read_text("utf-8")), encoding="utf-8")


def _means() -> list[list[str]]:
    rng, rows = np.random.default_rng(1), []
    for name, (draw, mean) in SCORES.items():
        cells = []
        for n in RUNS:
            runs = draw(rng, (n, TRIES))
            low, high = mean_band(runs)
            cells.append(_share((low <= mean) & (mean <= high)))
            if n == 6:
                half = student_quantile(5) * runs.std(axis=0, ddof=1) / math.sqrt(6)
                centre = runs.mean(axis=0)
                student = _share((centre - half <= mean) & (mean <= centre + half))
                low_b, high_b = _bootstrap(rng, runs[:, :FEWER])
                more = [
                    student,
                    _share((low_b <= mean) & (mean <= high_b)),
                    f"{(high - low).mean() / (2 * half).mean():.2f}",
                ]
        rows.append([name, *cells, *more])
    return rows


def _differences() -> list[list[str]]:
    rng, rows = np.random.default_rng(2), []
    for name in ("normal", "near the top: beta(9, 1)", "near 0: beta(0.5, 4)", "exponential"):
        draw, mean = SCORES[name]
        cells = []
        for n in RUNS[1:]:
            one, other = draw(rng, (n, FEWER)), 0.3 * draw(rng, (n, FEWER))
            found = [
                difference(_values(a), _values(b, root=1)).interval
                for a, b in zip(one.T, other.T, strict=True)
            ]
            cells.append(_held(found, 0.7 * mean))
        rows.append([f"unpaired difference, {name}", *cells])
    return rows


def _scaled() -> list[list[str]]:
    rng, rows = np.random.default_rng(3), []
    for name in (
        "accuracy, 240 questions at 0.8",
        "near the top: beta(9, 1)",
        "near 0: beta(0.5, 4)",
    ):
        draw, mean = SCORES[name]
        for pairs in (True, False):
            cells = []
            for n in RUNS[1:]:
                own = 0.3 + 0.5 * draw(rng, (n, FEWER))
                control, oracle = rng.beta(20, 40, (n, FEWER)), 1 - 0.1 * rng.beta(1, 9, (n, FEWER))
                truth = (0.3 + 0.5 * mean - 1 / 3) / (0.99 - 1 / 3)
                roots = (0, 0, 0) if pairs else (0, 1, 2)
                found = [
                    scaled(
                        *(_values(one, root) for one, root in zip(three, roots, strict=True))
                    ).interval
                    for three in zip(own.T, control.T, oracle.T, strict=True)
                ]
                cells.append(_held(found, truth))
            rows.append([f"scaled score{'' if pairs else ', unpaired'}, {name}", *cells])
    return rows


def _verdicts() -> list[list[str]]:
    rng, rows = np.random.default_rng(4), []
    for count in (1, 3, 4):
        said = {"now": [], "before": []}
        for _ in range(FEWER):
            own, *rules = rng.normal(size=(count + 1, 6))
            best = max(range(count), key=lambda place: rules[place].mean())
            controls = {str(place): _values(rule) for place, rule in enumerate(rules)}
            said["now"].append(advantage(_values(own), controls, str(best), HIGHER).standing)
            ends = _bootstrap(rng, (own - rules[best])[:, None])
            said["before"].append(
                Contrast(0.0, Interval(*(float(end[0]) for end in ends)), n=6).standing
            )
        shares = [
            f"{np.mean([one == side for one in said[when]]):.3f}"
            for when in said
            for side in (ABOVE, BELOW)
        ]
        rows.append([str(count), *shares])
    return rows


def _power() -> list[list[str]]:
    """How often six runs, two standard deviations above all controls, are called above them."""
    rng, rows = np.random.default_rng(5), []
    for count in (1, 3, 7):
        cells = []
        for runs in CONTROL_RUNS:
            found = []
            for _ in range(FEWER // 4):
                own, rules = _values(rng.normal(2.0, 1.0, 6)), rng.normal(size=(count, runs))
                best = str(rules.mean(axis=1).argmax())
                controls = {str(place): _values(rule) for place, rule in enumerate(rules)}
                found.append(advantage(own, controls, best, HIGHER).standing == ABOVE)
            cells.append(_share(np.array(found)))
        rows.append([str(count), *cells])
    return rows


def _bootstrap(rng: np.random.Generator, runs: np.ndarray) -> np.ndarray:
    """The percentile interval of every column, from the same resamples of runs."""
    counts = rng.multinomial(len(runs), np.full(len(runs), 1 / len(runs)), size=RESAMPLES) / len(
        runs
    )
    return np.quantile(counts @ runs, (0.025, 0.975), axis=0)


def _values(numbers: np.ndarray, root: int = 0) -> dict[tuple[int, int], float]:
    return {(root, seed): float(number) for seed, number in enumerate(numbers)}


def _held(found: list[Interval | None], truth: float) -> str:
    return _share(np.array([one is not None and one.low <= truth <= one.high for one in found]))


def _share(held: np.ndarray) -> str:
    return f"{held.mean():.3f}"


def _table(heading: list[str], rows: list[list[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
