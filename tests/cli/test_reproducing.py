"""reproduce with a family of one's own in a file: its protocol, its measure, a quantity of its
tasks.
"""

import json
import re
import subprocess
import sys

FAMILY = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import quickstudy as qs
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Answering, face
from quickstudy.protocols.examination import Examination


@qs.task("coin/toss", version=1, controls=["majority"], oracle="not written")
@dataclass(frozen=True)
class Toss:
    """A coin that falls on one side more often."""

    heads: float = 0.7
    vocabulary = ("heads", "tails", "?")
    conventions: ClassVar = {"published": {"heads": 0.5}}

    def sample(self, rng, count):
        return qs.Examples.from_pairs(([2], [int(rng.random() > self.heads)]) for _ in range(count))


@qs.protocol("coin", version=1)
@dataclass(frozen=True)
class Coin:
    """Show some tosses, then ask."""

    tosses: int = qs.parameter(20, at_least=1)
    measures: ClassVar = ("accuracy",)
    headline: ClassVar = "final-accuracy"

    def examine(self, task, learner, streams):
        """A curve of one point."""
        lessons = [task.sample(stream.numpy("data"), self.tosses) for stream in streams]
        brief = qs.Brief(qs.Tokens(3), qs.Tokens(3), "cross-entropy", 1, self.tosses)
        pupil = face(learner.begin(brief, streams), Answering)
        order = np.tile(np.arange(self.tosses), (len(streams), 1))
        lesson, exam = qs.Lesson(lessons, order), qs.Exam(lessons)
        pupil.learn(lesson, 0, self.tosses)
        right = np.asarray(pupil.answer(exam)).argmax(-1) == exam.targets
        arrays = [
            {"step": np.array([self.tosses]), "accuracy": np.array([one.mean()])} for one in right
        ]
        facts = {"unit": "sequences", "constant": 0.5, "tosses": self.tosses}
        pairs = zip(arrays, pupil.cost(), strict=True)
        traces = [qs.Trace("learning-curve", one, facts, cost) for one, cost in pairs]
        return Examination(traces, pupil, brief)


@qs.quantity(
    "entropy", version=3, unit={"bits": "bits", "least": "share"}, equation="-sum p log2 p"
)
def entropy(task):
    """Of one answer."""
    if task.heads == 1:
        raise NotApplicable("the coin never falls otherwise")
    share = np.array([task.heads, 1 - task.heads])
    return {"bits": -(share * np.log2(share)).sum(), "least": share.min()}
'''

TABLE = """
version = 1
title = "Coins"
source = "nowhere"
kind = "table"
score = "final-accuracy"
seeds = 2
[protocol]
tosses = 30
[each]
heads = [0.6, 0.9]
[learners]
most = "majority"
[[rows]]
task = "coin/toss:heads={heads}"
label = "coin {heads}"
"""

OUTSIDE = '''
import quickstudy as qs
from quickstudy import blocks


@qs.block("longest", version=1)
class Longest:
    """The greatest number of every cell, from one run more than the study asks for."""

    def stages(self, request):
        """More runs."""
        yield from ((request.models(), request.seeds), (request.models(), request.seeds + 1))

    def blocks(self, request):
        """One table and its facts."""
        found = {
            row.label: max(request.values(row, "majority", "final-accuracy").values())
            for row in request.rows
        }
        lines = [
            blocks.Line([blocks.Name(label), blocks.Number(value)])
            for label, value in found.items()
        ]
        heading = [blocks.Column("coin", numeric=False), blocks.Column("best run", "higher")]
        title, groups = "The best run <of each>", [blocks.Group(lines)]
        table = blocks.Table(f"{request.name}-longest", title, heading, groups)
        return blocks.Made([table], {"longest": found})
'''

COMPUTED = """
version = 1
title = "Coins"
source = "nowhere"
kind = "quantities"
[quantities]
H = "entropy.bits"
least = "entropy.least"
[each]
heads = [0.25, 1.0]
[[rows]]
task = "coin/toss:heads={heads}"
label = "coin {heads}"
[rows.published."coin 0.25"]
H = [0.81, 0.01]
least = ">0.3"
[[rows]]
task = "coin/toss"
label = "plain"
"""


def test_a_family_of_ones_own_with_a_protocol_of_its_own_is_reproduced(quickstudy, tmp_path):
    (tmp_path / "coin.py").write_text(FAMILY)
    (tmp_path / "coins.toml").write_text(TABLE)
    common = ("reproduce", "coins.toml", "--include", "coin.py", "--seeds", 2, "--workers", 0)
    made = quickstudy(*common, "--convention", "published")
    assert made.status == 0, made.err
    assert re.search(r"coin 0\.9 +0\.\d{3} \[0\.\d{3}, 1\.000\]", made.out)
    hint = (
        "To see what the corrections change: quickstudy reproduce coins.toml --include coin.py"
        " --seeds 2"
    )
    assert f"{hint} --workers 0 --convention corrected" in made.out
    again = quickstudy(*common, "--quiet", "--limit", 60)
    assert (again.status, again.err) == (0, "")
    assert (
        again.out
        == "All runs: results/coins/report.html\nReport: results/coins/coins-published.html\n"
    )
    other = quickstudy(*common, "--set", "tosses=40", "--only", "coin 0.9", "--dry-run", "--json")
    assert json.loads(other.out)["to_do"] == 2
    found = quickstudy(*common, "--set", "tosses=30", "--exact", "--dry-run", "--json")
    assert json.loads(found.out) | {"seconds": 0} == {
        "cells": 4,
        "found": 4,
        "to_do": 0,
        "programs": 0,
        "seconds": 0,
        "measured": 0,
        "questions": 0,
        "tokens": 0,
        "prompt": "",
    }


def test_a_study_is_computed_from_its_tasks_alone(quickstudy, tmp_path):
    (tmp_path / "coin.py").write_text(FAMILY)
    (tmp_path / "computed.toml").write_text(COMPUTED)
    common = ("reproduce", "computed.toml", "--include", "coin.py")
    made = quickstudy(*common)
    assert made.status == 0, made.err
    lines = [" ".join(line.split()) for line in made.out.splitlines()]
    assert "coin 0.25 0.810 | 0.811 = >0.3 | 0.250 ≠" in lines
    assert "coin 1.0 – –" in lines
    assert "plain 1.000 0.500" in lines
    assert "coin 1.0, H: the coin never falls otherwise." in made.out
    assert "H: entropy.bits, version 3; bits; -sum p log2 p." in made.out
    assert "least: entropy.least, version 3; share; -sum p log2 p." in made.out
    corrected = quickstudy(*common, "--convention", "corrected", "--json")
    assert round(json.loads(corrected.out)["rows"]["plain"]["H"]["measured"], 4) == 0.8813
    lines = (tmp_path / "results" / "computed" / "computed-published.csv").read_text().splitlines()
    assert lines[2] == "coin 0.25,least,>0.3,,0.25"
    assert not (tmp_path / "results" / "computed" / "report.html").exists()
    for before, after, words in (
        (
            "entropy.bits",
            "entropy.bit",
            'quantity "entropy" gives no "entropy.bit"; did you mean "entropy.bits"?',
        ),
        ("entropy.bits", "entrpy.bits", 'no quantity "entrpy"; did you mean "entropy"?'),
        ('"coin/toss"', '"coin/tos"', 'no task "coin/tos"; did you mean "coin/toss"?'),
        ('"quantities"', '"table"', 'is of the kind "quantities", got "table"'),
    ):
        (tmp_path / "computed.toml").write_text(COMPUTED.replace(before, after))
        refused = quickstudy(*common)
        assert refused.status == 2
        assert words in refused.err.splitlines()[-1]
        assert "Traceback" not in refused.err


def test_a_block_from_a_file_of_ones_own_says_what_it_needs_and_makes_its_part_of_the_page(
    quickstudy, tmp_path
):
    (tmp_path / "coin.py").write_text(FAMILY)
    (tmp_path / "outside.py").write_text(OUTSIDE)
    (tmp_path / "coins.toml").write_text(TABLE.replace('"table"', '"table + longest"'))
    common = (
        "reproduce",
        "coins.toml",
        "--include",
        "coin.py",
        "--include",
        "outside.py",
        "--seeds",
        2,
        "--workers",
        0,
    )
    made = quickstudy(*common, "--json")
    assert made.status == 0, made.err
    facts = json.loads(made.out)
    assert set(facts) == {"final-accuracy", "longest", "report"}
    # The table shows all runs that are there, with those that the block has asked for.
    assert facts["final-accuracy"]["rows"]["coin 0.9"]["most"]["n"] == 3
    folder = tmp_path / "results" / "coins"
    lines = (folder / "coins-published-longest.csv").read_text().splitlines()
    assert lines[0] == "coin,best run"
    assert float(lines[1].split(",")[1]) == facts["longest"]["coin 0.6"]
    page = (folder / "coins-published.html").read_text()
    assert "The best run &lt;of each&gt;" in page
    refused = quickstudy("reproduce", "coins.toml", "--include", "coin.py")
    assert refused.status == 2
    assert 'coins: no kind of study "longest"' in refused.err


def test_python_reproduces_what_the_command_does(quickstudy, tmp_path, monkeypatch):
    (tmp_path / "coin.py").write_text(FAMILY)
    (tmp_path / "coins.toml").write_text(TABLE)
    common = ("reproduce", "coins.toml", "--include", "coin.py", "--seeds", 2, "--workers", 0)
    typed = json.loads(quickstudy(*common, "--json").out)
    script = (
        "import json, quickstudy as qs; qs.include('coin.py');"
        "made = qs.reproduce('coins.toml', seeds=2, workers=0, progress=False);"
        "shown = '<table' in made._repr_html_();"
        "print(json.dumps([made.facts, str(made.path), made.execution.ok, made.page.title, shown]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    facts, path, ran, title, shown = json.loads(done.stdout)
    assert {**facts, "report": path} == typed
    assert (ran, title, shown) == (0, "Coins", True)


def test_a_study_of_rates_shows_what_it_would_run(quickstudy):
    """Its learners are in the settings, so the study has no columns."""
    plan = quickstudy("reproduce", "battery-rates", "--seeds", 2, "--only", "copy", "--dry-run")
    assert plan.out.startswith("130 runs: 0 found, 130 to do")
