"""The pages of studies, stored as text: the facts and tables that programs read, and what people
read.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from expected import Expected, page_text, summary
from quickstudy.base.learner import Cost
from quickstudy.base.record import OK, Record
from quickstudy.base.study import Published, Study, StudyRow
from quickstudy.base.trace import Trace
from quickstudy.pages.page import page_of, screen_page
from quickstudy.pages.study_request import Request
from quickstudy.render.terminal import as_text
from quickstudy.render.write_page import page_files
from quickstudy.runs.array_files import inline_trace
from quickstudy.runs.run_spec import Setting, identity, labels

RULES = ("reca:rule=0", "reca:rule=90", "reca:rule=110")
CLAIM = {"text": "A above B", "score": "wade", "better": ["A"], "than": ["B"]}
KINDS: dict[str, dict[str, Any]] = {
    "table": {"claims": [CLAIM]},
    "curves": {},
    "illustration": {},
    "grid": {},
    "audit": {
        "claims": [CLAIM],
        "leaking": "transformer:causal=false",
        "causal": "transformer:causal=true",
        "closer": {"task": "language/periodic", "parameter": "longest", "values": [5]},
    },
    "atlas": {
        "choosing_seeds": 6,
        "criterion": "maximum-accuracy",
        "published": {"language/qa": [90, 110]},
    },
    "streams": {},
}


@pytest.mark.parametrize("kind", KINDS)
def test_study_pages(
    kind: str, tmp_path: pathlib.Path, save: Callable[..., pathlib.Path], expected: Expected
) -> None:
    tasks = ("continual/chained",) if kind == "streams" else ("language/periodic", "language/qa")
    models = (
        {str(name.rpartition("=")[2]): name for name in RULES}
        if kind == "atlas"
        else {"A": "esn", "B": "lstm"}
    )
    rows = tuple(
        StudyRow(
            task, f"{number} {task}", models, {"A": Published(0.3, 0.05)} if kind == "table" else {}
        )
        for number, task in enumerate(tasks, start=1)
    )
    scores = (
        ("average-accuracy", "forgetting") if kind == "streams" else ("wade", "maximum-accuracy")
    )
    study = Study(
        "mini",
        1,
        "A page",
        "nowhere",
        kind,
        scores,
        6,
        tuple(models),
        rows,
        "",
        "mini",
        KINDS[kind],
    )
    beside = [] if kind in ("atlas", "streams") else ["majority", "copy-last", "oracle"]
    names = [
        *models.values(),
        *(KINDS[kind][name] for name in ("leaking", "causal") if name in KINDS[kind]),
        *beside,
    ]
    records = [
        run_of(task, learner, convention, root, seed, measured_by(study))
        for task in tasks
        for learner in names
        if (task, learner) != ("language/qa", "copy-last")
        for convention in ("published", "corrected")
        for root in ((0, 1) if kind == "atlas" else (0,))
        for seed in range(6)
    ]
    folder = save(tmp_path / "runs", records)
    for convention in ("published", "corrected"):
        page = page_of(
            Request(study, folder, convention, 6, controls=kind == "table"),
            "quickstudy reproduce mini",
        )
        files = page_files(page, "page")
        data = {name: text for name, text in sorted(files.items()) if name.endswith(".csv")}
        name = f"{kind} {convention}"
        facts = json.dumps(summary(page.facts), sort_keys=True, indent=1)
        tables = "\n".join(f"== {file}\n{text}" for file, text in data.items())
        expected.text(f"{name} facts.txt", facts)
        expected.text(f"{name} tables.txt", tables)
        expected.text(f"{name} page.txt", page_text(files["page.html"]))
        expected.text(f"{name} terminal.txt", as_text(screen_page(page)))


def measured_by(study: Study) -> tuple[str, ...]:
    continual = (
        "average-accuracy",
        "learned-accuracy",
        "forgetting",
        "forward-transfer",
        "wade-within",
    )
    return continual if study.kind == "streams" else ("wade", "accuracy")


def run_of(
    task: str, learner: str, convention: str, root: int, seed: int, measures: tuple[str, ...]
) -> Record:
    """A run of a real setting with a made-up curve, scored by the real measures."""
    from quickstudy.base.registries import measure

    setting = Setting(task, learner, convention, root)
    parts = setting.resolve()
    rng = np.random.default_rng([root, seed, *map(ord, task + learner + convention)])
    steps = np.unique(np.geomspace(1, 320, 16).astype(int))
    top = rng.uniform(0.6, 1.0)
    cost = Cost(320, 320, 40, 4)
    facts: dict[str, Any] = {
        "unit": "sequences",
        "item": "example",
        "tokens_per_sequence": 1.0,
        "constant": 0.5,
    }
    facts |= {"training_sequences": 320, "test_sequences": 80, "test_questions": 80}
    if "continual" in task:
        steps = np.unique([*steps, 160])
        accuracy = np.stack(
            [np.where(steps > 160, top - 0.1, top), np.where(steps > 160, 0.9, 0.4)], axis=1
        )
        facts |= {
            "segments": ["one", "other"],
            "constants": [0.5, 0.5],
            "training_sequences": [160, 160],
        }
        arrays = {"step": steps, "accuracy": accuracy, "boundary": np.array([0, 160, 320])}
        trace = Trace("continual-curve", arrays, facts, cost)
    else:
        accuracy = np.clip(
            0.5 + (top - 0.5) * np.log(steps) / np.log(320) + rng.normal(0, 0.02, len(steps)), 0, 1
        )
        trace = Trace("learning-curve", {"step": steps, "accuracy": accuracy}, facts, cost)
    scores = {
        one.id: {"version": one.version, "values": dict(one(trace, convention))}
        for one in map(measure.get, measures)
    }
    what = identity(setting, parts, seed)
    return Record(
        what,
        OK,
        "",
        {},
        cost.as_facts(),
        scores,
        inline_trace(trace) or {},
        None,
        labels(setting, parts),
    )
