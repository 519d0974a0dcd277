"""Synthetic records: learning curves from a formula and a seeded generator, scored by the real
measures.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from quickstudy.base.learner import Cost
from quickstudy.base.record import OK, Record
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace
from quickstudy.report.build import build_report
from quickstudy.report.report_data import ReportData
from quickstudy.runs.array_files import inline_trace, load_trace
from quickstudy.runs.journal import Journal
from quickstudy.runs.results import ResultsTable
from quickstudy.runs.run_spec import Setting, identity

MEASURES = ("wade", "wade-above-chance", "accuracy", "steps-to-accuracy", "log-area")
STEPS = np.unique(np.geomspace(1, 960, 40).astype(int))
MakeRecord = Callable[..., Record]


def make_record(
    learner: str = "esn",
    task: str = "language/qa",
    *,
    role: str = "learner",
    convention: str = "corrected",
    repetition: int = 0,
    status: str = OK,
    reason: str = "",
    top: float = 0.8,
    half: float = 60.0,
    curve: tuple[Iterable[float], Iterable[float]] | None = None,
    scores: dict[str, Any] | None = None,
    protocol: dict[str, Any] | None = None,
    started: float = 1.0,
    root: int = 0,
    learner_version: int = 1,
    passes: int = 1,
) -> Record:
    """One record. The curve rises from 0.5 to `top`, half way at `half` sequences, with the
    repetition's noise.
    """
    parameters = {"label": learner, **({"passes": passes} if passes > 1 else {})}
    what: dict[str, Any] = {
        "task": {"id": task.partition(":")[0], "version": 1, "parameters": {"verbs": 2}},
        "learner": {
            "id": learner.partition(":")[0],
            "version": learner_version,
            "parameters": parameters,
        },
        "protocol": {"id": "language", "version": 1, "parameters": protocol or {"sequences": 1200}},
        "convention": convention,
        "root": root,
        "repetition": repetition,
    }
    # All parameters of the real protocol are given where a study must find the run: its identity is
    # then a real one.
    if "schedule" in (protocol or {}):
        setting = Setting(task, learner, convention, root, protocol or {})
        what = identity(setting, setting.resolve(), repetition)
    where = {
        "versions": {"quickstudy": "0.1.0", "python": "3.11.2", "numpy": "2.4.6"},
        "machine": {"host": "bench", "system": "Linux", "processor": "x86_64"},
        "device": "cpu",
        "lanes": 1,
        "started": started,
        "seconds": 2.5,
    }
    labels = {"task": task, "family": task.partition("/")[0], "learner": learner, "role": role}
    if status != OK:
        return Record(what, status, reason, where=where, labels=labels)
    rng = np.random.default_rng(
        [repetition, len(learner), sum(map(ord, learner)), round(1000 * top)]
    )
    steps = STEPS if curve is None else np.asarray(list(curve[0]))
    noise = rng.normal(0, 0.02) + rng.normal(0, 0.012, len(steps))
    made = np.clip(0.5 + (top - 0.5) / (1 + (half / np.maximum(steps, 1)) ** 1.4) + noise, 0, 1)
    values = made if curve is None else np.asarray(list(curve[1]), dtype=float)
    cost = Cost(
        960,
        960,
        3602,
        18_000,
        None,
        0.4 + 0.01 * repetition,
        0.2,
        0.0 if role != "learner" else 1.25,
    )
    facts = {"unit": "sequences", "item": "example", "tokens_per_sequence": 1.0, "constant": 0.5}
    trace = Trace("learning-curve", {"step": steps, "accuracy": values}, facts, cost)
    if scores is None:
        measures = map(measure.get, MEASURES)
        scores = {
            one.id: {"version": one.version, "values": dict(one(trace, convention))}
            for one in measures
        }
    inline = inline_trace(trace) or {}
    return Record(what, OK, "", where, cost.as_facts(), scores, inline, None, labels)


def make_study(
    seeds: int = 6, convention: str = "corrected", task: str = "language/qa", lift: float = 0.0
) -> list[Record]:
    """Three learners, two controls and an oracle on one task."""
    cast = [
        ("lstm", "learner", 0.97 - lift, 9.0),
        ("esn:units=200,leak=0.3", "learner", 0.86, 3.0),
        ("rnn", "learner", 0.84, 3.4),
        ("majority", "control", 0.50, 1.0),
        ("polarity", "control", 0.62, 0.5),
        ("oracle", "oracle", 1.0, 0.01),
    ]
    return [
        make_record(
            name, task, role=role, convention=convention, repetition=seed, top=top, half=half
        )
        for name, role, top, half in cast
        for seed in range(seeds)
    ]


def scored(
    learner: str,
    *values: float,
    role: str = "learner",
    name: str = "wade-above-chance",
    **rest: Any,
) -> list[Record]:
    """Runs with the given values of one score."""
    return [
        make_record(
            learner,
            role=role,
            repetition=index,
            scores={name: {"version": 1, "values": {name: value}}},
            **rest,
        )
        for index, value in enumerate(values)
    ]


def make_report(records: Iterable[Record], command: str | None = None) -> ReportData:
    """The report of records whose traces are inline."""
    return build_report(ResultsTable.of(records, lambda one: load_trace(".", one)), command)


def save(folder: pathlib.Path, records: Iterable[Record]) -> pathlib.Path:
    """A results folder that holds the records."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    with Journal(folder) as journal:
        for record in records:
            journal.write(record)
    return folder


@pytest.fixture(name="make_record")
def _make_record() -> MakeRecord:
    return make_record


@pytest.fixture(name="scored")
def _scored() -> Callable[..., list[Record]]:
    return scored


@pytest.fixture(name="make_study")
def _make_study() -> Callable[..., list[Record]]:
    return make_study


@pytest.fixture(name="make_report")
def _make_report() -> Callable[..., ReportData]:
    return make_report


@pytest.fixture(name="save")
def _save() -> Callable[..., pathlib.Path]:
    return save


@pytest.fixture(scope="session")
def study_report() -> ReportData:
    """Two tasks under two conventions, with a failure, a learner without scores and labels that try
    to break out.
    """
    records = [
        *make_study(),
        *make_study(convention="published", lift=0.1),
        *make_study(task="language/periodic:longest=5"),
    ]
    records += [
        make_record(
            "gru", status="failed", reason="LearnerFault: <loss> is nan & stays so", repetition=seed
        )
        for seed in range(2)
    ]
    records.append(make_record("silent", scores={}))
    records += [
        make_record('<img src=x onerror="alert(1)">', repetition=seed, top=0.7) for seed in range(3)
    ]
    return make_report(records, "quickstudy run language/qa --learner lstm --seeds 5 --out results")
