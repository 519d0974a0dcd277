"""One scale for all tasks, worked by hand; several learners over several tasks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.base.parameters import alternatives, parse_assignments, write_assignments
from quickstudy.learners.learner_spec import choose_learner, fitted
from quickstudy.report.statistics import scaled, scaled_mean
from quickstudy.stats.ranks import improvement, performance_profile, ranking

UP = Score("a", better="higher")


def runs(*values: float) -> dict[tuple[int, int], float]:
    return {(0, seed): value for seed, value in enumerate(values)}


def test_the_number_of_a_family_is_the_mean_of_its_tasks() -> None:
    one = runs(0.5, 0.7), runs(0.2, 0.2), runs(1.0, 1.0), UP  # 0.6 between 0.2 and 1: 0.5
    other = runs(3.0, 1.0), runs(0.0, 0.0), runs(10.0, 10.0), UP  # 2 between 0 and 10: 0.2
    assert scaled(*one).value == pytest.approx(0.5)
    found = scaled_mean([one, other])
    assert found.value == pytest.approx(0.35)
    # By seed: (0.375 + 0.3) / 2 and (0.625 + 0.1) / 2, so that luck on one task makes up for the
    # other.
    assert found.interval is not None
    assert np.mean(found.interval) == pytest.approx(0.35)
    half = (0.3625 - 0.3375) / 2 * 12.7062
    assert found.interval.high - 0.35 == pytest.approx(half, rel=1e-4)
    assert found.n == 2


def test_tasks_without_a_scale_are_counted() -> None:
    good = runs(0.5, 0.7), runs(0.2, 0.2), runs(1.0, 1.0), UP
    close = runs(0.5, 0.7), runs(0.99, 0.99), runs(1.0, 1.0), UP
    found = scaled_mean([good, close])
    assert found.value == pytest.approx(0.5)
    assert found.reason == "1 of 2 tasks have no scale"
    assert scaled_mean([close]).value is None
    assert scaled_mean([]).value is None


def test_a_task_alone_has_the_interval_that_the_report_prints() -> None:
    task = runs(0.5, 0.7, 0.9), runs(0.2, 0.3, 0.1), runs(1.0, 1.0, 0.9), UP
    assert scaled_mean([task]).interval == pytest.approx(scaled(*task).interval)


def test_only_seeds_that_all_have_are_in_the_interval() -> None:
    one = runs(0.5, 0.7, 0.9), runs(0.2, 0.2, 0.2), runs(1.0, 1.0, 1.0), UP
    other = runs(0.4), runs(0.2), runs(1.0), UP
    found = scaled_mean([one, other])
    assert (found.n, found.interval) == (1, None)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("folder=models/my-7b", {"folder": "models/my-7b"}),
        ("url=http://here:80/v1,model=x", {"url": "http://here:80/v1", "model": "x"}),
        ('url="http://here/?a=1,b=2"', {"url": "http://here/?a=1,b=2"}),
        ('said="a ""word"""', {"said": 'a "word"'}),
        ("", {}),
    ],
)
def test_names_that_are_addresses(text: str, meant: dict[str, str]) -> None:
    assert parse_assignments(text) == meant
    assert parse_assignments(write_assignments(meant)) == meant


def test_only_values_stand_for_several() -> None:
    assert alternatives("esn:units=100|200,leak=0.3|1")[1] == "esn:units=100,leak=1"
    assert alternatives('x:p="a|b",units=1|2') == ['x:p="a|b",units=1', 'x:p="a|b",units=2']
    assert alternatives("a|b.py:X") == ["a|b.py:X"]


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3), st.text('ab,="|:/ ', min_size=1).map(str.strip)
    )
)
def test_what_is_written_is_read_back(values: dict[str, str]) -> None:
    values = {name: value for name, value in values.items() if value}
    assert parse_assignments(write_assignments(values)) == values
    assert alternatives(f"x:{write_assignments(values)}") == [f"x:{write_assignments(values)}"]


@pytest.mark.parametrize(
    ("text", "said"), [('a="b', "has no end"), ('a=b"c"', "around the whole value")]
)
def test_quotes_that_make_no_sense(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_assignments(text)


def test_one_name_five_trainings() -> None:
    name = "lstm:units=64,rate=0.003,batch=4,passes=2"
    assert fitted(name, "corrected", "symbols") == (name, ())
    assert fitted(name, "corrected", "reward") == ("lstm:units=64,rate=0.003", ("batch", "passes"))
    for asked in ("symbols", "reals", "strings", "reward", "episodes"):
        choice = choose_learner(fitted(name, "corrected", asked).name, "corrected", asked=asked)
        assert choice.what["parameters"]["rate"] == 0.003
    assert fitted("esn+rls:nothing=1", "corrected", "reals").name == "esn+rls:nothing=1"


def test_ranks_worked_by_hand() -> None:
    # Ranks 1 2 3; 1 3 2; 1.5 1.5 3: means 7/6, 13/6, 8/3.
    found = ranking([[3, 2, 1], [3, 1, 2], [5, 5, 1]])
    assert found.ranks == pytest.approx([7 / 6, 13 / 6, 8 / 3])
    assert found.critical == pytest.approx(
        2.343 * math.sqrt(3 * 4 / (6 * 3)), abs=2e-3
    )  # Demsar's Table 5
    from scipy.stats import friedmanchisquare

    assert found.p == pytest.approx(friedmanchisquare([3, 3, 5], [2, 1, 5], [1, 2, 1]).pvalue)
    assert ranking([[1, 1], [2, 2]]).p == 1.0
    with pytest.raises(UsageError, match="every learner on every task"):
        ranking([[1, math.nan]])


def test_the_chance_of_an_improvement_and_the_performance_profile() -> None:
    rng = np.random.default_rng(0)
    value, low, high = improvement([([3, 4], [1, 2]), ([1, 2], [1, 2])], rng, 200)
    assert value == 0.75
    assert low <= value <= high
    assert performance_profile({"a": [0.2, 0.8], "b": [1.0]}, [0.5]).tolist() == [0.75]
