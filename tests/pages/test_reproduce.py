"""Published beside measured: the numbers, the marks and the sentences."""

from __future__ import annotations

import csv
import dataclasses
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.blocks import Table, every
from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.base.parameters import configure, parameters_of
from quickstudy.base.study import Published, Study, StudyRow
from quickstudy.pages.page import page_of
from quickstudy.pages.published_table import as_table, best_of, data_of, marks, summary
from quickstudy.pages.reproduction import Best, Reproduced, Reproduction, reproduction
from quickstudy.pages.study_request import Request, by_protocol
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.render.numbers import spoken
from quickstudy.render.write_page import write_page
from quickstudy.runs.results import ResultsTable

Make = Callable[..., Any]


def reproduce(study: Study, folder: Path, convention: str, root: int = 0) -> Reproduction:
    return reproduction(Request(study, folder, convention, 6, root))


def rows_of(found: Reproduction) -> list[tuple[str, ...]]:
    """The table as it is read, the heading first."""
    table = as_table(found, "name")
    return [
        tuple(column.title for column in table.columns),
        *(tuple(map(spoken, line.cells)) for line in table.lines),
    ]


def study(score: str = "wade") -> Study:
    row = StudyRow(
        "language/qa",
        "5 qa",
        {"Same": "majority", "Other": "polarity"},
        {"Same": Published(0.30, 0.05), "Other": Published(0.9, 0.05), "human": Published(0.15)},
    )
    return Study(
        "mini",
        1,
        "Two cells",
        "nowhere",
        "table",
        (score,),
        100,
        ("Same", "Other", "human"),
        (row,),
    )


def protocol(convention: str) -> dict[str, Any]:
    return parameters_of(configure("language", LanguageProtocol, {}, convention))


def scored(make_record: Make, learner: str, values: list[float], convention: str) -> list[Any]:
    scores = [{"wade": {"version": 1, "values": {"wade": value}}} for value in values]
    more = {"role": "control", "convention": convention, "protocol": protocol(convention)}
    return [
        make_record(learner, repetition=seed, scores=score, **more)
        for seed, score in enumerate(scores)
    ]


@pytest.fixture
def folder(make_record: Make, save: Make, tmp_path: Path) -> Path:
    records = []
    for convention, shift in (("published", 0.0), ("corrected", -0.3)):
        records += scored(
            make_record, "majority", [value - shift for value in (0.28, 0.32, 0.33) * 2], convention
        )
        records += scored(make_record, "polarity", [0.50, 0.52, 0.54] * 2, convention)
    save(tmp_path, records)
    return tmp_path


def test_cells_have_both_numbers_and_a_mark(folder: Path) -> None:
    found = reproduce(study(), folder, "published")
    same, other, human = (found.cells["5 qa"][column] for column in ("Same", "Other", "human"))
    assert same.measured == pytest.approx(0.31)
    assert same.spread == pytest.approx(np.std([0.28, 0.32, 0.33] * 2, ddof=1))
    assert (same.within, other.within, human.within) == (True, False, None)
    # 100 published runs of spread 0.05; numbers that were printed with two decimals.
    rounding = 0.005 / np.sqrt(3)
    assert same.distance == pytest.approx(
        0.01 / np.hypot(np.hypot(same.spread / np.sqrt(6), 0.005), rounding)
    )
    assert human.measured is None
    assert rows_of(found)[1][0] == "5 qa"
    assert rows_of(found)[1][1].startswith("0.300 | 0.310 [0.265, 0.335]")
    assert rows_of(found)[1][2].endswith("≠")
    assert rows_of(found)[1][3] == "0.150"


def test_sentences_say_what_agrees_and_what_the_correction_changed(folder: Path) -> None:
    published, corrected = (
        reproduce(study(), folder, convention) for convention in ("published", "corrected")
    )
    lines = summary(published, corrected)
    assert lines[0] == "1 of 2 cells agree with the published ones (published)."
    assert lines[1] == "They differ: 5 qa Other."
    assert lines[2:] == [
        "From published to corrected, 1 of 2 cells change by more than 2 standard errors; the model"
        " with the best mean changes on 1 of 1 task: 5 qa (Other, then Same)."
    ]


def test_rows_that_differ_are_told_apart_though_their_labels_hold_commas(folder: Path) -> None:
    found = reproduce(study(), folder, "published")
    same, other = (found.cells["5 qa"][column] for column in ("Same", "Other"))
    only = replace(found.study, columns=("Other",), together={})
    cells = {"qa, LSTM": {"Other": other}, "qa, RNN": {"Other": other}, "qa, both": {"Other": same}}
    assert summary(replace(found, study=only, cells=cells))[1] == "They differ: qa, LSTM; qa, RNN."
    del cells["qa, both"]
    lines = summary(replace(found, study=only, cells=cells))
    assert lines[0] == "0 of 2 cells agree with the published ones (published)."
    assert not any(line.startswith("They differ") for line in lines)


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
    cell = reproduce(study("maximum-of-mean-curve"), save(tmp_path, records), "published").cells[
        "5 qa"
    ]["Same"]
    assert cell.measured == pytest.approx(0.6)
    assert cell.spread == pytest.approx(np.std([0.2, 0.4], ddof=1))


def test_a_column_is_judged_by_its_distances_together(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    numbers = {"language/qa": 0.30, "language/harder-qa": 0.40}
    rows = tuple(
        StudyRow(task, task, {"a": "majority"}, {"a": Published(value, 0.06)})
        for task, value in numbers.items()
    )
    mini = Study(
        "mini", 1, "Two rows", "nowhere", "table", ("wade",), 100, ("a",), rows, runs="mini"
    )
    more = {"role": "control", "convention": "published", "protocol": protocol("published")}
    # Six runs, half of them 0.03 above their mean and half below; 100 published ones, printed with
    # two decimals.
    records = [
        make_record(
            "majority",
            task,
            repetition=seed,
            scores={"wade": {"version": 1, "values": {"wade": value}}},
            **more,
        )
        for task, middle in (("language/qa", 0.31), ("language/harder-qa", 0.31))
        for seed, value in enumerate([middle - 0.03, middle + 0.03] * 3)
    ]
    found = reproduce(mini, save(tmp_path, records), "published")
    error = math.sqrt(0.03**2 / 5 + 0.006**2 + 0.005**2 / 3)
    distances = [cells["a"].distance for cells in found.cells.values()]
    assert distances == pytest.approx([0.01 / error, -0.09 / error])
    assert [cells["a"].agrees for cells in found.cells.values()] == [True, False]
    square = (0.01**2 + 0.09**2) / error**2
    agreement = found.agreement()["a"]
    assert (agreement.square, agreement.freedom) == (pytest.approx(square), 2)
    # Of two degrees, the chance of more is exp(-x / 2).
    assert agreement.p == pytest.approx(math.exp(-square / 2))
    said = f"Chi-square of the distances, by column: a {square:.1f} on 2 (p {agreement.p:.2g})."
    assert said in summary(found)


def test_the_runs_of_a_study_are_its_grid() -> None:
    models = Request(study(), Path("nowhere"), "published", 1).models()
    assert [(setting.task, setting.learner) for setting in models] == [
        ("language/qa", "majority"),
        ("language/qa", "polarity"),
    ]


def test_runs_of_another_root_seed_are_others(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    score = {"wade": {"version": 1, "values": {"wade": 0.5}}}
    more = {
        "role": "control",
        "convention": "published",
        "protocol": protocol("published"),
        "scores": score,
    }
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
    made = [
        make_record(learner, repetition=seed, scores=score, **more)
        for seed, score in enumerate(scores)
    ]
    return [replace(record, legend=LEGEND) for record in made]


def test_the_best_is_the_lowest_where_lower_is_better(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = measured(make_record, "majority", "error", [1e-9, 4e-9]) + measured(
        make_record, "polarity", "error", [1e-3, 1e-3]
    )
    found = reproduce(study("error"), save(tmp_path, records), "published")
    assert found.best("5 qa") == "Same"
    assert found.cells["5 qa"]["Same"].measured == pytest.approx(2e-9)
    row = rows_of(found)[1]
    assert row[1].startswith("0.3 | 2e-9 ×÷6,683")
    # Of the controls the lowest is the best one too.
    assert row[4].startswith("majority 2e-9")
    assert "lower is better" in marks(found)


def test_one_name_of_two_protocols_is_read_by_row(make_record: Make) -> None:
    def runs(protocol: str, **read: str) -> list[Any]:
        legend = {"scores": {protocol: {"error": read}}}
        made = [make_record(repetition=seed) for seed in range(2)]
        own = {"protocol": {"id": protocol, "version": 1, "parameters": {}}}
        return [replace(record, what={**record.what, **own}, legend=legend) for record in made]

    fine, coarse = (
        runs("fine", better="lower", read="log"),
        runs("coarse", better="higher", read="linear"),
    )
    found = ResultsTable(dict(enumerate([*fine, *coarse])))
    assert [found.score("error", some).read for some in (fine, coarse)] == ["log", "linear"]
    cells = {
        "1 fine": {"Same": Reproduced(None, 2, 2e-9)},
        "2 coarse": {"Same": Reproduced(None, 2, 2e-9)},
    }
    reads = {
        row: found.score("error", some) for row, some in zip(cells, (fine, coarse), strict=True)
    }
    rules = {row: {"a": Reproduced(None, 2, 1.0), "b": Reproduced(None, 2, 5.0)} for row in cells}
    columns = replace(study("error"), columns=("Same",))
    both = Reproduction(columns, "published", "error", cells, rules, {}, reads["1 fine"], reads)
    assert rows_of(both)[1:] == [("1 fine", "2e-9", "a 1"), ("2 coarse", "0.000", "b 5.000")]
    assert (
        marks(both) == "error (lower is better) or error (higher is better): "
        "mean ×÷ the factor to either end of the 95 % interval or mean ± half the 95 % interval,"
        " or its ends"
    )


def test_never_has_a_median_and_a_word(make_record: Make, save: Make, tmp_path: Path) -> None:
    never = float("inf")
    records = measured(make_record, "majority", "steps", [3.0, 5.0, never])
    records += measured(make_record, "polarity", "steps", [never] * 3)
    found = reproduce(study("steps"), save(tmp_path, records), "published")
    assert found.best("5 qa") == "Same"
    assert [cell.split("| ")[-1] for cell in rows_of(found)[1][1:3]] == ["5", "never"]


def test_without_a_direction_nothing_is_the_best(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = measured(make_record, "majority", "depth", [1.0] * 2) + measured(
        make_record, "polarity", "depth", [2.0]
    )
    found = reproduce(study("depth"), save(tmp_path, records), "published")
    assert found.best("5 qa") is None
    assert rows_of(found)[1][4] == "–"
    assert "direction unknown" in marks(found)


def test_fewer_than_six_runs_give_no_verdict(make_record: Make, save: Make, tmp_path: Path) -> None:
    made = {runs: scored(make_record, "majority", [0.3] * runs, "published") for runs in (5, 6)}
    few, enough = (
        reproduce(study(), save(tmp_path / str(runs), made[runs]), "published") for runs in made
    )
    assert [len(found.judged()) for found in (few, enough)] == [0, 1]
    # The number is there all the same, and whether it is within what was published, for who asks
    # for the facts.
    cell = few.cells["5 qa"]["Same"]
    assert (cell.measured, cell.within, cell.distance) == (pytest.approx(0.3), True, None)
    assert rows_of(few)[1][1] == "0.300 | 0.300"
    assert rows_of(enough)[1][1] == "0.300 | 0.300 ="
    assert summary(few) == []
    assert "=" not in marks(few)


def together(score: str = "wade", published: Published | None = None) -> Study:
    row = StudyRow(
        "language/qa",
        "5 qa",
        {"a": "majority", "b": "polarity"},
        {"AB": published} if published else {},
    )
    columns = ("a", "b", "AB")
    return Study(
        "mini",
        1,
        "A model",
        "nowhere",
        "table",
        (score,),
        5,
        columns,
        (row,),
        runs="mini",
        together={"AB": ["a", "b"]},
    )


def runs_of(make_record: Make, name: str, values: dict[str, list[float]]) -> list[Any]:
    more = {"role": "control", "convention": "published", "protocol": protocol("published")}
    return [
        make_record(
            learner,
            repetition=seed,
            scores={"any": {"version": 1, "values": {name: value}}},
            **more,
        )
        for learner, several in values.items()
        for seed, value in enumerate(several)
    ]


@pytest.mark.parametrize(
    ("score", "best", "word"),
    [
        ("wade", ("b", 1, 0.7), "highest"),
        ("forgetting", ("a", 2, -0.1), "lowest"),
        ("steps-to-0.9", ("a", 2, -0.1), "lowest"),
    ],
)
def test_a_model_of_several_columns_is_the_best_of_all_their_runs(
    make_record: Make,
    save: Make,
    tmp_path: Path,
    score: str,
    best: tuple[str, int, float],
    word: str,
) -> None:
    values = {"majority": [0.3, 0.5, -0.1], "polarity": [0.2, 0.7]}
    found = reproduce(
        together(score), save(tmp_path, runs_of(make_record, score, values)), "published"
    )
    cell = found.cells["5 qa"]["AB"]
    assert isinstance(cell, Best)
    assert (cell.column, cell.repetition, cell.measured) == best
    assert (cell.n, cell.low, cell.error) == (5, None, None)
    assert rows_of(found)[0][1:2] == ("AB",)
    assert rows_of(found)[1][1].endswith("(best of 5)")
    (line,) = best_of(found)
    assert line.startswith(f"AB is the {word} of all runs of 2 columns, not a mean")
    assert line.endswith(f"({best[0]}, repetition {best[1]}, of 5 runs).")
    heading, *lines = data_of(found)
    model = next(dict(zip(heading, one, strict=True)) for one in lines if one[1] == "AB")
    assert (model["best_column"], int(model["best_repetition"]), float(model["mean"])) == best
    assert {"a", "b"} < {one[1] for one in lines}


def test_the_best_of_a_score_of_unknown_direction_is_not_told(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    folder = save(tmp_path, runs_of(make_record, "odd", {"majority": [0.3], "polarity": [0.2]}))
    found = reproduce(together("odd", Published(0.3, 0.1)), folder, "published")
    assert (found.cells["5 qa"]["AB"].measured, found.cells["5 qa"]["AB"].n) == (None, 2)
    assert best_of(found) == ["AB has no best run: which way odd is better is not known."]
    assert rows_of(found)[1][1] == "0.300"


def test_cells_that_are_no_model_have_the_keys_they_had(folder: Path) -> None:
    cell = reproduce(study(), folder, "published").as_facts()["rows"]["5 qa"]["Same"]
    assert list(cell) == [
        "published",
        "n",
        "measured",
        "low",
        "high",
        "spread",
        "error",
        "within",
        "distance",
    ]


@pytest.mark.parametrize(
    ("words", "values", "within", "text"),
    [
        ("<1", [0.5, 0.7] * 3, True, "<1 | 0.600 ±0.115 ="),
        ("<1", [1.5] * 6, False, "<1 | 1.500 ≠"),
        ("chance", [0.5] * 6, None, "chance | 0.500"),
        ("never", [0.5, *[math.inf] * 5], True, "never | ∞ ="),
    ],
)
def test_words_in_the_place_of_a_published_number(
    make_record: Make,
    save: Make,
    tmp_path: Path,
    words: str,
    values: list[float],
    within: bool | None,
    text: str,
) -> None:
    row = StudyRow("language/qa", "5 qa", {"a": "majority"}, {"a": Published(words)})
    mini = Study("mini", 1, "Words", "nowhere", "table", ("wade",), 5, ("a",), (row,), runs="mini")
    folder = save(tmp_path, runs_of(make_record, "wade", {"majority": values}))
    found = reproduce(mini, folder, "published")
    assert found.cells["5 qa"]["a"].within is within
    assert rows_of(found)[1][1] == text
    page = page_of(Request(mini, folder, "published", 2))
    write_page(page, folder, "page")
    assert (
        "or bound" in next(one for one in every(page.blocks) if isinstance(one, Table)).caption
    ) is (within is not None)
    with (folder / "mini-published-wade.csv").open() as file:
        assert next(csv.DictReader(file))["published"] == words


def test_steps_that_may_never_be_enough_have_a_median(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    folder = save(
        tmp_path,
        runs_of(
            make_record, "steps-to-0.9", {"majority": [5, math.inf, 8], "polarity": [math.inf]}
        ),
    )
    found = reproduce(study("steps-to-0.9"), folder, "published")
    assert rows_of(found)[1][1:3] == ("0.3 | 8", "0.9 | never")


def test_a_measure_that_the_study_names_is_applied_to_stored_traces(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    about: dict[str, Any] = {"chance": "none", "equation": "a[0]", "kinds": ("learning-curve",)}

    @registries.measure(
        "first", version=1, scores=(Score("first-accuracy", better="lower"),), **about
    )
    def first(trace: Any, convention: str) -> dict[str, float]:
        """The first accuracy."""
        return {"first-accuracy": float(trace.arrays["accuracy"][0])}

    try:
        more = {"convention": "published", "role": "control", "protocol": protocol("published")}
        curves = [([1, 2], [0.1, 0.9]), ([1, 2], [0.5, 0.3])]
        records = [
            make_record("majority", repetition=seed, curve=one, **more)
            for seed, one in enumerate(curves)
        ]
        folder = save(tmp_path, records)
        named = dataclasses.replace(study("first-accuracy"), measures=("first",))
        assert reproduce(named, folder, "published").cells["5 qa"][
            "Same"
        ].measured == pytest.approx(0.3)
        unnamed = reproduce(study("first-accuracy"), folder, "published").cells["5 qa"]["Same"]
        assert (unnamed.n, unnamed.measured) == (2, None)
    finally:
        registries.measure._entries.pop(("first", 1))


def test_parameters_of_the_protocol_have_their_order() -> None:
    one = StudyRow(
        "language/qa", "5 qa", {"a": "majority"}, {}, protocol={"schedule": "every", "share": 0.5}
    )
    other = StudyRow("continual/chained", "chain", {"a": "majority"}, {})
    mini = Study(
        "mini",
        1,
        "Two protocols",
        "nowhere",
        "table",
        ("wade",),
        5,
        ("a",),
        (one, other),
        runs="mini",
    )

    def chosen(given: dict[str, Any], exact: bool = False) -> list[dict[str, Any]]:
        return [dict(row.protocol) for row in by_protocol(mini, "published", given, exact).rows]

    assert chosen({}) == [{"schedule": "every", "share": 0.5}, {"schedule": "thinned"}]
    assert chosen({}, exact=True) == [{"schedule": "every", "share": 0.5}, {"schedule": "every"}]
    # `order` is a parameter of the first protocol alone.
    assert chosen({"order": "sequences", "schedule": "thinned"}, exact=True) == [
        {"schedule": "thinned", "share": 0.5, "order": "sequences"},
        {"schedule": "thinned"},
    ]
    with pytest.raises(
        UsageError, match='mini: no protocol of it has a parameter "ordr"; did you mean "order"'
    ):
        chosen({"ordr": "sequences"})
    wrong = dataclasses.replace(mini, rows=(dataclasses.replace(one, protocol={"shar": 0.5}),))
    with pytest.raises(
        UsageError, match='mini: row "5 qa": language: no parameter "shar"; did you mean "share"'
    ):
        by_protocol(wrong, "published", {})
