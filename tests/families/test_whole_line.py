"""Two families from outside the package go through the whole line, and are read back where their
files are not there.

One counts, and higher is better; its headline is not first by the alphabet. The other is the family
of the tutorial: an error, lower is better, down to 1e-10.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

HERE = pathlib.Path(__file__).parent
TUTORIAL = HERE.parent.parent / "docs" / "tutorials" / "write-a-family.md"

STUDY = """
version = 1
title = "{task}, published beside measured"
source = "ours"
kind = "table"
score = {scores}
seeds = 6

[learners]
good = "learners.py:{good}"
poor = "{poor}"

[protocol]
{protocol}

[[rows]]
task = "{task}"
label = "1"
published = {{ good = {published}, poor = "{word}" }}
"""


@dataclass(frozen=True)
class Family:
    """A miniature family, where it is, and what is known of it beforehand.

    good, poor: two learners; the first is better. control: the best one. score: the headline.
    other: a score of the same measure that comes first by the alphabet.
    """

    name: str
    task: str
    good: str
    poor: str
    control: str
    score: str
    other: str
    lower: bool
    protocol: str
    published: float
    word: str


FAMILIES = {
    "strings": Family(
        "strings",
        "counts/equal",
        "Counter",
        "majority",
        "constant-b",
        "reach",
        "accuracy",
        False,
        "longest = 12",
        9,
        "<1",
    ),
    "echo": Family(
        "echo",
        "echo/delay",
        "Taps",
        "esn",
        "silence",
        "nrmse",
        "largest-error",
        True,
        "window = 20",
        5e-10,
        "<1",
    ),
}


class Place:
    """A folder with a family's file, its learners and its results; and the command, as a user types
    it there.
    """

    def __init__(self, folder: pathlib.Path, family: Family) -> None:
        self.folder, self.family = folder, family

    def __call__(self, *arguments: Any, include: bool = True, status: int = 0) -> str:
        given = ["--include", f"{self.family.name}.py"] if include else []
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "quickstudy", *map(str, arguments), *given],
            cwd=self.folder,
            env={**os.environ, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def json(self, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self(*arguments, "--json", **options).splitlines()]


@pytest.fixture(scope="module", params=FAMILIES)
def place(request: Any, tmp_path_factory: Any) -> Place:
    """Everything of a family, after `quickstudy run`."""
    family = FAMILIES[request.param]
    folder = tmp_path_factory.mktemp(family.name)
    shutil.copy(HERE / "learners.py", folder)
    if family.name == "strings":
        shutil.copy(HERE / "strings.py", folder)
    else:
        code = re.search(
            r"```python file=echo.py\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL
        )
        assert code is not None
        (folder / "echo.py").write_text(code[1], encoding="utf-8")
    found = Place(folder, family)
    printed = found(
        "run", family.task, "-l", f"learners.py:{family.good}", "-l", family.poor, "-o", "results"
    )
    assert f"Above the best control, {family.control}" in printed
    assert f"learners.py:{family.good} by" in printed
    return found


def report(place: Place, **options: Any) -> dict[str, Any]:
    (found,) = place.json("report", "results", **options)
    return dict(found["tasks"][0])


@pytest.mark.parametrize("include", [True, False])
def test_the_report_goes_by_the_headline_and_its_direction(place, include):
    """With the family's file, and without it: the records carry how they are read."""
    family = place.family
    table = report(place, include=include)
    assert table["headline"] == family.score
    assert table["best_control"] == family.control
    ends = {row["learner"]: row["scores"][family.score]["mean"] for row in table["learners"]}
    good, control = ends[f"learners.py:{family.good}"], ends[family.control]
    assert good < control if family.lower else good > control
    assert table["learners"][0]["learner"] == f"learners.py:{family.good}"
    scaled = {row["learner"]: row["scaled"]["value"] for row in table["learners"]}
    assert scaled[family.control] == 0
    assert 0 < scaled[f"learners.py:{family.good}"] <= 1


def test_the_words_of_the_report_are_the_same_without_the_file(place):
    asked = ("report", "results", "--format", "text")
    assert place(*asked) == place(*asked, include=False)


def test_the_page_shows_small_numbers_as_they_are(place):
    place("report", "results", "-o", "page.html", include=False)
    page = (place.folder / "page.html").read_text(encoding="utf-8")
    assert place.family.name == "strings" or "e-10" in page
    assert place.family.task in page


@pytest.mark.parametrize("include", [True, False])
def test_compare_says_who_is_better(place, include):
    family = place.family
    good = f"learners.py:{family.good}"
    for pair in ((good, family.poor), (family.poor, good)):
        (found,) = place.json("compare", *pair, "-o", "results", include=include)
        assert found["score"] == family.score
        assert found["better"] == good
        assert found["pairs"] == 6


def test_reproduce_runs_a_study_of_it(place):
    family = place.family
    scores = json.dumps([family.score, family.other])
    words = {**vars(family), "scores": scores}
    (place.folder / "mine.toml").write_text(STUDY.format(**words), encoding="utf-8")
    more = ("-o", "study", "--convention", "corrected", "--trust")
    (found,) = place.json("reproduce", "mine.toml", *more)
    cells = found[family.score]["rows"]["1"]
    assert cells["good"]["published"][0] == family.published
    assert cells["good"]["measured"] == pytest.approx(family.published, rel=0.3)
    assert cells["poor"]["published"][0] == family.word
    assert cells["poor"]["within"]
    assert set(found) == {family.score, family.other, "report"}


def test_stored_traces_are_scored_again_by_a_measure_from_outside(place):
    if place.family.name == "strings":
        measure, score = "halves", "longer-half"
    else:
        measure, score = "mean-error", "mean-error"
        (place.folder / "more.py").write_text(MEASURE, encoding="utf-8")
    more = ("--include", "more.py") if measure == "mean-error" else ()
    shutil.copytree(place.folder / "results", place.folder / "again")
    (said,) = place.json("score", "again", "--measure", measure, *more)
    assert said["scored"] == 6 * len(report(place)["learners"])
    query = f"select learner, avg(value) as mean from scores where name = '{score}' group by 1"
    rows = place.json("query", "again", query)
    means = {row["learner"]: row["mean"] for row in rows}
    good, control = means[f"learners.py:{place.family.good}"], means[place.family.control]
    assert good < control if place.family.lower else good > control


MEASURE = '''
import numpy as np

import quickstudy as qs


@qs.measure(
    "mean-error",
    version=1,
    kinds=("predictions",),
    equation="mean |y - t|",
    chance="0.5",
    scores=(
        qs.Score("mean-error", unit="as the target", better="lower", range=(0, np.inf), read="log"),
    ),
)
def mean_error(trace, convention):
    """The mean of the absolute errors."""
    return {"mean-error": float(np.abs(trace.arrays["answer"] - trace.arrays["target"]).mean())}
'''


def test_sample_shows_what_is_read_and_asked(place):
    shown = place("sample", place.family.task, "-n", 4)
    rows = place.json("sample", place.family.task, "-n", 4)
    assert rows == place.json("sample", place.family.task, "-n", 4)
    if place.family.name == "strings":
        assert re.search(r"^# a.* b .*\[#\]$", shown, re.MULTILINE)
    else:
        assert "washout" in shown
        assert "->" in shown
        (place.folder / "inputs.csv").write_text("0.5\n0.25\n1\n0\n", encoding="utf-8")
        driven = place("sample", place.family.task, "--inputs", "inputs.csv").splitlines()
        assert [line.split()[-1] for line in driven[1:]] == ["0", "0", "0.5", "0.25"]


def test_check_examines_its_task_and_rules(place):
    findings = place.json("check", f"{place.family.name}.py", include=False)
    assert all(finding["ok"] for finding in findings)
    assert {finding["what"].partition(":")[0] for finding in findings} > {
        place.family.task,
        place.family.control,
    }


@pytest.mark.parametrize("include", [True, False])
def test_sql_has_its_scores_and_its_traces(place, include):
    family = place.family
    query = f"select learner, count(*) as runs from scores where name = '{family.score}' group by 1"
    counts = {
        row["learner"]: row["runs"]
        for row in place.json("query", "results", query, include=include)
    }
    assert counts[f"learners.py:{family.good}"] == 6
    arrays = place.json(
        "query", "results", "select distinct name from traces order by 1", include=include
    )
    wanted = ["n", "right"] if family.name == "strings" else ["answer", "target"]
    assert [row["name"] for row in arrays] == wanted


def test_the_same_again_does_nothing(place):
    family = place.family
    again = place.json(
        "run", family.task, "-l", f"learners.py:{family.good}", "-l", family.poor, "-o", "results"
    )
    assert again[0]["ok"] == 0
    assert sum(again[0]["found"].values()) == 6 * len(report(place)["learners"])
