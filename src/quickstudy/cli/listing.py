"""`quickstudy ls`: what there is. Imports no implementation."""

from __future__ import annotations

from typing import Any

import typer

from quickstudy.cli.output import INCLUDE, JSON, include_files, print_lines, print_table


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("ls")(ls)


def ls(
    kind: str = typer.Argument(
        ..., help="tasks, learners, cores, trainings, controls, oracles, measures, protocols, quantities or studies."
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """List what there is, with versions."""
    from quickstudy.base import catalogue
    from quickstudy.base.errors import UsageError, nearest
    from quickstudy.base.study import find_study, study_names

    include_files(include)
    registries: dict[str, list[Any]] = {
        "tasks": [catalogue.task],
        "learners": [catalogue.core, catalogue.learner, catalogue.control],
        "cores": [catalogue.core],
        "trainings": [catalogue.training],
        "measures": [catalogue.measure],
        "protocols": [catalogue.protocol],
        "quantities": [catalogue.quantity],
    }
    rows: list[dict[str, Any]]
    if kind == "studies":
        rows = [
            {"id": found.id, "version": found.version, "kind": found.kind, "summary": f"{found.title}. {found.source}."}
            for found in map(find_study, study_names())
        ]
    elif kind in ("controls", "oracles"):
        # Whether a rule is an oracle is not in its first line: here the rules are imported.
        role = kind.removesuffix("s")
        rows = [
            {"id": entry.id, "version": entry.version, "kind": role, "summary": entry.summary}
            for entry in catalogue.control.entries()
            if (getattr(catalogue.control.get(entry.id), "role", "") == "oracle") == (role == "oracle")
        ]
    elif kind not in registries:
        raise UsageError(f'cannot list "{kind}"; {nearest(kind, [*registries, "controls", "oracles", "studies"])}')
    else:
        rows = [
            {"id": entry.id, "version": entry.version, "kind": registry.kind, "summary": entry.summary}
            for registry in registries[kind]
            for entry in registry.entries()
        ]
    if json:
        print_lines(rows)
    else:
        print_table([(row["id"], f"v{row['version']}", row["kind"], row["summary"]) for row in rows])
