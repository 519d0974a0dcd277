"""Whether everything is stated that numbers need to be compared with others."""

from __future__ import annotations

import json
import pathlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.record import FAILED, OK, Record
from quickstudy.data.tables import read_content
from quickstudy.measures.checklist import WANTED, missing, one_sided, verdict
from quickstudy.runs.merge import read_results
from quickstudy.stats.intervals import summarise


def checklist(file: pathlib.Path) -> dict[str, Any]:
    """List what an experiment (JSON) or the runs in a folder do not state; for runs also the spread
    of their scores and the number of failures. `verdicts` is the same in words.
    """
    experiments, kinds, spreads = (
        _of_folder(file)
        if file.is_dir()
        else (dict[str, dict[str, Any]]({str(file): _of_file(file)}), list[str](), {})
    )
    found = {name: missing(stated) for name, stated in experiments.items()}
    return {
        "missing": found,
        "comparable": not any(found.values()),
        "one_sided": one_sided(kinds),
        "spread": spreads,
        "verdicts": {name: verdict(stated) for name, stated in experiments.items()},
    }


def _of_file(path: pathlib.Path) -> dict[str, Any]:
    try:
        stated = json.loads(read_content(path).decode("utf-8"))
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON") from None
    if not isinstance(stated, dict):
        names = ", ".join(name for part in WANTED.values() for name in part)
        raise UsageError(f"{path} must be a JSON object with what is stated, by name: {names}")
    return stated


def _of_folder(folder: pathlib.Path) -> tuple[dict[str, dict[str, Any]], list[str], dict[str, Any]]:
    """What the records of every task and learner state, the kinds of the tasks, and the spread of
    the scores.
    """
    everything = list(read_results(folder, expected=True).records.values())
    records = [record for record in everything if record.status == OK]
    failed = Counter(_named(record) for record in everything if record.status == FAILED)
    if not records:
        raise UsageError(f"{folder} has no finished run to look at")
    grouped: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        grouped.setdefault(_named(record), []).append(record)
    beside = {task: {learner for other, learner in grouped if other == task} for task, _ in grouped}
    named = {
        " ".join(pair): _stated(runs, beside[pair[0]])
        for pair, runs in grouped.items()
        if not _is_rule(pair[1])
    }
    spreads = {
        " ".join(pair): _spread(runs, failed[pair])
        for pair, runs in grouped.items()
        if not _is_rule(pair[1])
    }
    return named, [str(kind) for record in records if (kind := _facts(record).get("type"))], spreads


def _named(record: Record) -> tuple[str, str]:
    return record.labels.get("task", "?"), record.labels.get("learner", "?")


def _spread(runs: list[Record], failed: int) -> dict[str, Any]:
    """Of the headline of runs of one learner on one task: every value, mean and deviation, median
    and quartiles.
    """
    headline = str(runs[0].legend.get("headline", ""))
    entries = [part["values"] for run in runs for part in run.scores.values()]
    numbers = [float(values[headline]) for values in entries if headline in values]
    found = {"score": headline, "values": numbers, "runs": len(runs), "failed": failed}
    return {**found, **asdict(summarise(numbers))} if numbers else found


def _stated(runs: list[Record], learners: Iterable[str]) -> dict[str, Any]:
    """Of runs of one learner on one task. Only its author can state what a user's file does."""
    first = runs[0]
    task, learner, facts = first.part("task"), first.part("learner"), _facts(first)
    id = str(task.get("id"))
    spec = registries.task.get(id).__doc__ if id in registries.task else None
    ours = "code" not in learner and ".py:" not in str(learner.get("id"))
    parameters = first.parameters("learner")
    steps = {
        name: facts.get(f"{name}_steps", facts.get(name))
        for name in ("washout", "training", "test")
    }
    return {
        **steps,
        **(
            {"training": facts.get("steps"), "test": facts.get("tested_steps")}
            if "tested_steps" in facts
            else {}
        ),
        "source": f"{id} version {task.get('version')}",
        "variant": first.parameters("task") or spec,
        **dict.fromkeys(("distribution", "scaling"), spec),
        "seed": first.what.get("root"),
        "size": (
            facts.get("size") or parameters.get("units") or first.cost.get("trained_parameters")
        ),
        "configuration": parameters,
        "encoding": learner.get("id") if ours else None,
        "noise": parameters.get("noise", "none" if ours else None),
        "precision": parameters.get("precision", "float32" if ours else None),
        "regularisation": "as in the sheet of the learner" if ours else parameters.get("strength"),
        "runs": len(runs),
        "varies": facts.get("varies", "inputs and weights"),
        "metric": first.legend,
        "controls": [name for name in learners if _is_rule(name)],
    }


def _is_rule(learner: str) -> bool:
    return learner in registries.control


def _facts(record: Record) -> Mapping[str, Any]:
    facts = record.trace.get("facts")
    return facts if isinstance(facts, Mapping) else {}
