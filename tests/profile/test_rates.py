"""The share of a grid of learning rates that is nearly as good as the best: by hand, and through
the whole line.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quickstudy as qs
from quickstudy.base.measure import LOG, Score
from quickstudy.base.study import find_study
from quickstudy.pages.profile import rates
from quickstudy.pages.profile.rates import filled, grid_of, names_of, share_near
from quickstudy.pages.study_request import Request
from quickstudy.runs.results import ResultsTable


@pytest.mark.parametrize(
    ("means", "sign", "wanted", "share"),
    [
        ({0.1: 1.0, 0.2: 0.95, 0.3: 0.94}, 1, 3, 2 / 3),
        ({0.1: 1.0, 0.2: 1.05, 0.3: 1.06}, -1, 3, 2 / 3),
        ({0.1: 1.0}, 1, 4, 1 / 4),  # three rates broke
        ({0.1: 0.0, 0.2: 0.0}, 1, 2, None),
        ({0.1: -3.0}, 1, 1, None),
        ({}, 1, 3, None),
        ({0.1: 1.0}, 0, 1, None),
        ({}, 1, 0, None),
    ],
)
def test_by_hand(means: dict[float, float], sign: int, wanted: int, share: float | None) -> None:
    found, why = share_near(means, sign, wanted)
    assert found == (None if share is None else pytest.approx(share))
    assert bool(why) == (share is None)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=8), st.floats(0.5, 20.0))
def test_a_share_does_not_depend_on_the_unit(values: list[float], unit: float) -> None:
    near = [value for value in values if abs(value - 0.95 * max(values)) < 1e-6]
    if near:
        return
    means = dict(enumerate(map(float, values), 1))
    scaled = {rate: unit * value for rate, value in means.items()}
    share = share_near(means, 1, len(values))[0]  # type: ignore[arg-type]
    assert share == share_near(scaled, 1, len(values))[0]  # type: ignore[arg-type]
    assert share is not None
    assert 1 / len(values) <= share <= 1


def test_seeds_are_averaged_as_the_score_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = filled(Request(find_study("profile-rates"), tmp_path, "corrected", 2))[0]
    row = next(row for row in request.rows if row.task.startswith("dynamics/"))
    error = Score("nrmse", better="lower", read=LOG)
    monkeypatch.setattr(Request, "runs", lambda self, row, name: {(0, 0): None, (0, 1): None})
    monkeypatch.setattr(ResultsTable, "score", lambda self, name, runs=(): error)
    monkeypatch.setattr(
        ResultsTable, "values", lambda self, runs, score: {(0, 0): 0.01, (0, 1): 1.0}
    )
    means, sign = rates._means(request, row, "rnn")
    assert sign == -1
    assert [*means.values()] == pytest.approx(
        [0.1] * len(means)
    )  # the geometric mean, as in a report


def test_the_study_has_a_rate_in_every_family(tmp_path: Path) -> None:
    request, learners = filled(Request(find_study("profile-rates"), tmp_path, "corrected", 1))
    for row in request.rows:
        for learner in (learners["rnn"], learners["mingru"]):
            names = names_of(request, row, learner)
            assert [*names] == grid_of(request), (row.task, learner)
            assert all("rate=" in name for name in names.values())


def test_rates_of_spans_are_not_tried_on_the_seeds_of_the_norms(tmp_path: Path) -> None:
    """The same items as on the quick card, all seeds of another root, and what a user asks for goes
    before.
    """
    study = find_study("battery-rates")
    quick = find_study("profile-quick")
    assert [row.task for row in study.rows] == [row.task for row in quick.rows]
    for asked, root in ((0, 7001), (5, 5)):
        request = Request(study, tmp_path, "corrected", 1, asked)
        (stage,) = rates.Rates().stages(request)
        assert {setting.root for setting in stage.settings} == {root}
        learners = filled(request)[1]
        assert len(stage.settings) == len(grid_of(request)) * len(study.rows) * len(learners)


def test_who_has_no_share_has_no_best_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is named once, with all others of a task."""
    monkeypatch.setattr(rates, "_means", lambda request, row, learner: ({0.001: 0.0}, 1))
    made = rates.Rates().blocks(Request(find_study("profile-rates"), tmp_path, "corrected", 2))
    best = next(
        block for block in made.blocks if getattr(block, "name", "").endswith("-best-rates")
    )
    assert {cell.value for line in best.lines for cell in line.cells if hasattr(cell, "value")} == {
        None
    }
    said = made.blocks[-1].text
    assert said.startswith("No share: everybody on periodic: the best is 0")
    assert said.count("everybody") == 6


def test_through_the_whole_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'version = 1\ntitle = "t"\nsource = "ours"\nkind = "rates"\nseeds = 2\n'
        '[learners]\n[[rows]]\ntask = "language/periodic:length=8,longest=2"\n'
        'label = "p"\nprotocol = {sequences = 20}\n[settings]\nrates = [0.001, 0.1]\n'
        '[settings.learners]\nrnn = "rnn:units=4"\n'
    )
    found = qs.reproduce(str(file), out=tmp_path / "out", progress=False, workers=1)
    facts = found.page.facts["rates"]["p"]["rnn"]
    means = {float(rate): value for rate, value in facts["means"].items()}
    assert [*means] == [0.001, 0.1]
    assert facts["share"] == share_near(means, 1, 2)[0]
    file.write_text(file.read_text().replace("rates = [0.001, 0.1]", "rates = [0.1]"))
    with pytest.raises(
        qs.UsageError, match=r"settings need rates = \[0.001, 0.01, ...\], each once, got \[0.1\]"
    ):
        qs.reproduce(str(file), out=tmp_path / "out", progress=False, workers=1)
