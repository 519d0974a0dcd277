"""Published beside measured: the numbers, the marks and the sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quickstudy.base.parameters import configure, parameters_of
from quickstudy.base.study import Published, Study, StudyRow
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.report.reproduce import reproduce, settings_of, summary
from quickstudy.report.reproduce_text import marks, reproduction_rows

Make = Callable[..., Any]


def study(score: str = "wade") -> Study:
    row = StudyRow(
        "language/qa",
        "5 qa",
        {"Same": "majority", "Other": "polarity"},
        {"Same": Published(0.30, 0.05), "Other": Published(0.9, 0.05), "human": Published(0.15)},
    )
    return Study("mini", 1, "Two cells", "nowhere", "table", (score,), 100, ("Same", "Other", "human"), (row,))


def protocol(convention: str) -> dict[str, Any]:
    return parameters_of(configure("language", LanguageProtocol, {}, convention))


def scored(make_record: Make, learner: str, values: list[float], convention: str) -> list[Any]:
    scores = [{"wade": {"version": 1, "values": {"wade": value}}} for value in values]
    more = {"role": "control", "convention": convention, "protocol": protocol(convention)}
    return [make_record(learner, repetition=seed, scores=score, **more) for seed, score in enumerate(scores)]


@pytest.fixture
def folder(make_record: Make, save: Make, tmp_path: Path) -> Path:
    records = []
    for convention, shift in (("published", 0.0), ("corrected", -0.3)):
        records += scored(make_record, "majority", [value - shift for value in (0.28, 0.32, 0.33) * 2], convention)
        records += scored(make_record, "polarity", [0.50, 0.52, 0.54] * 2, convention)
    save(tmp_path, records)
    return tmp_path


def test_cells_have_both_numbers_and_a_mark(folder: Path) -> None:
    found = reproduce(study(), folder, "published")
    same, other, human = (found.cells["5 qa"][column] for column in ("Same", "Other", "human"))
    assert same.measured == pytest.approx(0.31)
    assert same.spread == pytest.approx(np.std([0.28, 0.32, 0.33] * 2, ddof=1))
    assert (same.within, other.within, human.within) == (True, False, None)
    assert same.distance == pytest.approx(0.01 / np.hypot(same.spread / np.sqrt(6), 0.005))
    assert human.measured is None
    assert reproduction_rows(found)[1][0] == "5 qa"
    assert reproduction_rows(found)[1][1].startswith("0.300 | 0.310 ±")
    assert reproduction_rows(found)[1][2].endswith("≠")
    assert reproduction_rows(found)[1][3] == "0.150"


def test_sentences_say_what_agrees_and_what_the_correction_changed(folder: Path) -> None:
    published, corrected = (reproduce(study(), folder, convention) for convention in ("published", "corrected"))
    lines = summary(published, corrected)
    assert lines[0] == "1 of 2 cells are within the published spread (published)."
    assert lines[1] == "Outside: 5 qa Other."
    assert (
        "1 of 2 cells change by more than 2 standard errors; the model with the best mean changes on 1 of 1 task."
        in lines[2]
    )
    assert lines[3].strip() == "5 qa: Other before, Same after."


def test_the_maximum_of_the_mean_curve_is_not_the_mean_of_the_maxima(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    curves = [([1, 2, 3], [0.1, 0.9, 0.2]), ([1, 2, 3], [0.5, 0.3, 0.4])]
    records = [
        make_record(
            "majority",
            repetition=seed,
            curve=curve,
            convention="published",
            role="control",
            protocol=protocol("published"),
        )
        for seed, curve in enumerate(curves)
    ]
    cell = reproduce(study("maximum-of-mean-curve"), save(tmp_path, records), "published").cells["5 qa"]["Same"]
    assert cell.measured == pytest.approx(0.6)
    assert cell.spread == pytest.approx(np.std([0.2, 0.4], ddof=1))


def test_the_runs_of_a_study_are_its_grid() -> None:
    assert [(setting.task, setting.learner) for setting in settings_of(study(), "published")] == [
        ("language/qa", "majority"),
        ("language/qa", "polarity"),
    ]


def test_runs_of_another_root_seed_are_others(make_record: Make, save: Make, tmp_path: Path) -> None:
    score = {"wade": {"version": 1, "values": {"wade": 0.5}}}
    more = {"role": "control", "convention": "published", "protocol": protocol("published"), "scores": score}
    save(tmp_path, [make_record("majority", root=root, repetition=0, **more) for root in (0, 1)])
    assert reproduce(study(), tmp_path, "published").cells["5 qa"]["Same"].n == 1
    assert reproduce(study(), tmp_path, "published", root=2).cells["5 qa"]["Same"].n == 0


LEGEND = {
    "scores": {
        "m": {
            "error": {"better": "lower", "read": "log"},
            "steps": {"better": "lower", "shown": "median", "words": {"inf": "never"}},
            "depth": {},
        }
    }
}


def measured(make_record: Make, learner: str, name: str, values: list[float]) -> list[Any]:
    """Runs that carry how their score is read, of a measure that is not installed."""
    more = {"role": "control", "convention": "published", "protocol": protocol("published")}
    scores = [{"m": {"version": 1, "values": {name: value}}} for value in values]
    made = [make_record(learner, repetition=seed, scores=score, **more) for seed, score in enumerate(scores)]
    return [replace(record, legend=LEGEND) for record in made]


def test_the_best_is_the_lowest_where_lower_is_better(make_record: Make, save: Make, tmp_path: Path) -> None:
    records = measured(make_record, "majority", "error", [1e-9, 4e-9]) + measured(
        make_record, "polarity", "error", [1e-3, 1e-3]
    )
    found = reproduce(study("error"), save(tmp_path, records), "published")
    assert found.best("5 qa") == "Same"
    assert found.cells["5 qa"]["Same"].measured == pytest.approx(2e-9)
    row = reproduction_rows(found)[1]
    assert row[1].startswith("0.3 | 2e-9 ×÷2")
    # Of the controls the lowest is the best one too.
    assert row[4].startswith("majority 2e-9")
    assert "lower is better" in marks(found)


def test_never_has_a_median_and_a_word(make_record: Make, save: Make, tmp_path: Path) -> None:
    never = float("inf")
    records = measured(make_record, "majority", "steps", [3.0, 5.0, never])
    records += measured(make_record, "polarity", "steps", [never] * 3)
    found = reproduce(study("steps"), save(tmp_path, records), "published")
    assert found.best("5 qa") == "Same"
    assert [cell.split("| ")[-1] for cell in reproduction_rows(found)[1][1:3]] == ["5 ≠", "never ≠"]


def test_without_a_direction_nothing_is_the_best(make_record: Make, save: Make, tmp_path: Path) -> None:
    records = measured(make_record, "majority", "depth", [1.0] * 2) + measured(make_record, "polarity", "depth", [2.0])
    found = reproduce(study("depth"), save(tmp_path, records), "published")
    assert found.best("5 qa") is None
    assert reproduction_rows(found)[1][4] == "–"
    assert "direction unknown" in marks(found)
