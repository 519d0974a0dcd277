"""`quickstudy score checklist`: is everything stated that numbers need to be compared with others?"""

from __future__ import annotations

import json as json_module
import pathlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import INCLUDE, JSON, include_files, print_json, say

if TYPE_CHECKING:
    from quickstudy.base.record import Record


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command("checklist")(checklist)


def checklist(
    file: pathlib.Path = typer.Argument(..., help="JSON that states an experiment, by name; or a results folder."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Say what is not stated of an experiment from elsewhere, or of the runs in a folder.

    Status 1 where something is missing: its numbers are not comparable.
    """
    from quickstudy.measures.checklist import missing, one_sided, verdict

    include_files(include)
    experiments, kinds = _of_folder(file) if file.is_dir() else ({str(file): _of_file(file)}, [])
    found = {name: missing(stated) for name, stated in experiments.items()}
    if json:
        print_json({"missing": found, "comparable": not any(found.values()), "one_sided": one_sided(kinds)})
    else:
        for name, stated in experiments.items():
            say(f"{name}  {verdict(stated)}")
            for part, words in found[name].items():
                say(f"  {part}: {words}")
        if one_sided(kinds):
            say(one_sided(kinds))
    raise typer.Exit(int(any(found.values())))


def _of_file(path: pathlib.Path) -> dict[str, Any]:
    from quickstudy.data.tables import read_content
    from quickstudy.measures.checklist import WANTED

    try:
        stated = json_module.loads(read_content(path).decode("utf-8"))
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON") from None
    if not isinstance(stated, dict):
        names = ", ".join(name for part in WANTED.values() for name in part)
        raise UsageError(f"{path} must be a JSON object with what is stated, by name: {names}")
    return stated


def _of_folder(folder: pathlib.Path) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """What the records of every task and learner state, and the kinds of the tasks."""
    from quickstudy.base.record import OK
    from quickstudy.runs.reader import read_results

    records = [record for record in read_results(folder, expected=True).records.values() if record.status == OK]
    if not records:
        raise UsageError(f"{folder} has no finished run to look at")
    grouped: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        grouped.setdefault((record.labels.get("task", "?"), record.labels.get("learner", "?")), []).append(record)
    beside = {task: {learner for other, learner in grouped if other == task} for task, _ in grouped}
    named = {" ".join(pair): _stated(runs, beside[pair[0]]) for pair, runs in grouped.items() if not _is_rule(pair[1])}
    return named, [str(kind) for record in records if (kind := _facts(record).get("type"))]


def _stated(runs: list[Record], learners: Iterable[str]) -> dict[str, Any]:
    """Of runs of one learner on one task. What a file of the user's does inside, nobody but its author can state."""
    from quickstudy.base import catalogue

    first = runs[0]
    task, learner, facts = first.part("task"), first.part("learner"), _facts(first)
    id = str(task.get("id"))
    spec = catalogue.task.get(id).__doc__ if id in catalogue.task else None
    ours = "code" not in learner and ".py:" not in str(learner.get("id"))
    parameters = first.parameters("learner")
    steps = {name: facts.get(f"{name}_steps", facts.get(name)) for name in ("washout", "training", "test")}
    return {
        **steps,
        **({"training": facts.get("steps"), "test": facts.get("tested_steps")} if "tested_steps" in facts else {}),
        "source": f"{id} version {task.get('version')}",
        "variant": first.parameters("task") or spec,
        **dict.fromkeys(("distribution", "scaling"), spec),
        "seed": first.what.get("root"),
        "size": facts.get("size") or parameters.get("units") or first.cost.get("trained_parameters"),
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
    from quickstudy.base import catalogue

    return learner in catalogue.control


def _facts(record: Record) -> Mapping[str, Any]:
    facts = record.trace.get("facts")
    return facts if isinstance(facts, Mapping) else {}
