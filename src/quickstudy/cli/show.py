"""`quickstudy ls` and `show`: what there is, and the spec sheet of one component."""

from __future__ import annotations

import dataclasses
import inspect
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from quickstudy.base.errors import UsageError, nearest
from quickstudy.cli.output import (
    INCLUDE,
    JSON,
    check_target,
    include_files,
    print_json,
    print_lines,
    print_page,
    print_table,
    say,
    write_text,
)

if TYPE_CHECKING:
    from quickstudy.base.study import Study


def ls(
    kind: str = typer.Argument(
        ...,
        help=(
            "tasks, learners, cores, trainings, controls, oracles, measures, protocols, quantities,"
            " blocks, figures or studies."
        ),
    ),
    where: list[str] = typer.Option(
        [],
        "--where",
        help=(
            "Only tasks of such a place in a taxonomy, as type=prediction; may be given several"
            " times."
        ),
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """List what there is, with versions."""
    from quickstudy.base import catalogue
    from quickstudy.base.study import find_study, study_names

    include_files(include)
    lists = {
        f"{registry.kind}s": [registry]
        for registry in catalogue.ALL
        if registry is not catalogue.quantity
    }
    lists |= {
        "learners": [catalogue.core, catalogue.learner, catalogue.control],
        "quantities": [catalogue.quantity],
    }
    found: list[tuple[Any, str, str]]
    if kind == "studies":
        found = [
            (study, study.kind, f"{study.title}. {study.source}.")
            for study in map(find_study, study_names())
        ]
    elif kind in ("controls", "oracles"):
        # Whether a rule is an oracle is not in its first line: here the rules are imported.
        found = [
            (entry, kind.removesuffix("s"), entry.summary)
            for entry in catalogue.control.entries()
            if (getattr(catalogue.control.get(entry.id), "role", "") == "oracle")
            == (kind == "oracles")
        ]
    elif kind not in lists:
        raise UsageError(f'cannot list "{kind}"; {nearest(kind, [*lists, "oracles", "studies"])}')
    else:
        found = [
            (entry, registry.kind, entry.summary)
            for registry in lists[kind]
            for entry in registry.entries()
        ]
    if where:
        found = [one for one in found if _stands_at(kind, one[0].id, where)]
        if not found:
            raise UsageError(
                f"no task has {' and '.join(where)} in its taxonomy; quickstudy show TASK prints it"
            )
    if json:
        print_lines(
            {"id": one.id, "version": one.version, "kind": of, "summary": said}
            for one, of, said in found
        )
    else:
        print_table([(one.id, f"v{one.version}", of, said) for one, of, said in found])


def _stands_at(kind: str, id: str, places: list[str]) -> bool:
    """Whether a task's taxonomy has all these entries, each `name=value`. One without a taxonomy
    stands nowhere.
    """
    from quickstudy.base import catalogue
    from quickstudy.base.parameters import parse_assignments

    if kind != "tasks":
        raise UsageError(f"--where is for tasks; {kind} have no taxonomy")
    stands = {
        name: str(value).lower()
        for name, value in getattr(catalogue.task.get(id), "taxonomy", {}).items()
    }
    wanted = {name: value for place in places for name, value in parse_assignments(place).items()}
    return bool(stands) and all(
        value.lower() in stands.get(name, "").split(" and ") for name, value in wanted.items()
    )


def show(
    name: str = typer.Argument(
        ...,
        help=(
            "The id of a task, core, training, learner, control, measure, protocol, quantity,"
            " block, figure or study, or its file."
        ),
    ),
    convention: str | None = typer.Option(
        None, "--convention", help="corrected (default; a study has its own), published or written."
    ),
    machine: bool = typer.Option(
        False,
        "--machine",
        help="Of a finite task, with its parameters: its smallest transducer and its complexity.",
    ),
    svg: pathlib.Path | None = typer.Option(
        None, "--svg", help="With --machine: draw it into this file."
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """The spec sheet: what is seen, asked and scored; parameters, controls, source, departures."""
    from quickstudy.base.parameters import check_convention
    from quickstudy.base.study import find_study, study_names

    include_files(include)
    if svg is not None and not machine:
        raise UsageError("--svg draws a machine: give --machine too")
    if machine:
        check_target(svg)
        _show_machine(name, convention or "corrected", svg, json)
        return
    if name in study_names() or name.endswith(".toml"):
        from quickstudy.runs.scoring import check_scores

        study = find_study(name)
        check_convention(convention or study.convention)
        check_scores(study)
        _show_study(study, convention or study.convention, json)
        return
    convention = convention or "corrected"
    kind, found = _find(name)
    facts = {
        "id": getattr(found, "id", name),
        "version": getattr(found, "version", "by its code"),
        "kind": kind,
        "sheet": inspect.cleandoc(found.__doc__ or ""),
        "parameters": _parameters(found, convention),
        **_declared(found),
    }
    if kind == "file":
        facts.pop("usual", None)  # the table of parameters has it
    if kind == "measure":
        facts["scores"] = {score.name: score.as_facts() for score in found.scores}
    if json:
        print_json(facts)
        return
    say(f"{facts['id']}  version {facts['version']}  ({kind})\n\n{facts['sheet']}\n")
    if facts["parameters"]:
        say(f"Parameters ({convention}):")
        rows = [(row["name"], str(row["value"]), row["range"]) for row in facts["parameters"]]
        print_table(rows, indent="  ")
    for fact in _FACTS:
        if fact in facts:
            value = facts[fact]
            say(
                f"{fact.capitalize()}:"
                f" {', '.join(map(str, value)) if isinstance(value, list | tuple) else value}"
            )
    if kind == "measure":
        from quickstudy.report.words import described

        say(f"Scores: {'; '.join(map(described, found.scores))}")


def _show_machine(name: str, convention: str, svg: pathlib.Path | None, json: bool) -> None:
    from quickstudy.base.blocks import Graph
    from quickstudy.base.errors import NotApplicable
    from quickstudy.figures.machines import machine_page
    from quickstudy.machines.finite import machine_of
    from quickstudy.render.svg import svg_file
    from quickstudy.runs.setting import make_task

    task = make_task(name, convention)
    try:
        page = machine_page(name, machine_of(task), getattr(task, "cut_down", ""))
    except NotApplicable as error:
        raise UsageError(str(error)) from error
    if svg is not None:
        picture = next((block for block in page.blocks if isinstance(block, Graph)), None)
        if picture is None:
            raise UsageError(
                f"{name}: {page.facts['states']:,} states are too many to draw; reduce the task"
            )
        write_text(svg, svg_file(picture))
    if json:
        print_json(page.facts)
    else:
        print_page(page)


_MOST_NAMED = 12
_FACTS = (
    "controls",
    "oracle",
    "taxonomy",
    "role",
    "unit",
    "direction",
    "range",
    "chance",
    "equation",
    "question",
    "measures",
    "headline",
    "second",
    "columns",
    "exact",
    "usual",
)


def _declared(found: Any) -> dict[str, Any]:
    """What a class says of itself. A method or a property that has the name of such a fact by
    chance is none.
    """
    said = {fact: getattr(found, fact, None) for fact in _FACTS}
    return {
        fact: value
        for fact, value in said.items()
        if value not in (None, "", (), {})
        and not callable(value)
        and not isinstance(value, property)
    }


def _find(name: str) -> tuple[str, Any]:
    from quickstudy.base import catalogue
    from quickstudy.base.study import study_names

    file, ending, rest = name.partition(".py")
    if ending and (not rest or rest.startswith(":")):
        return _find_in_file(f"{file}.py", rest[1:].partition(":")[0])
    for registry in catalogue.ALL:
        if name in registry:
            return registry.kind, registry.get(name)
    known = [*(one for registry in catalogue.ALL for one in registry.names()), *study_names()]
    # `qa` alone is near no id, but it is the whole of what comes after a family.
    inside = [one for one in known if one.rpartition("/")[2] == name]
    hint = f'did you mean "{inside[0]}"?' if inside else nearest(name, known)
    raise UsageError(f'nothing is called "{name}"; {hint}')


def _find_in_file(file: str, name: str) -> tuple[str, Any]:
    """A class or function of a file; without a name the only class that is defined there."""
    from quickstudy.base.registry import include

    module = include(file)
    classes = {
        key: one
        for key, one in vars(module).items()
        if getattr(one, "__module__", "") == module.__name__
    }
    if not name:
        made = [key for key, one in classes.items() if isinstance(one, type)]
        if len(made) != 1:
            raise UsageError(
                f"{file} has {len(made)} classes: {', '.join(made)}; type {file}:NAME"
                if made
                else f"{file} defines no class"
            )
        name = made[0]
    if name not in classes:
        raise UsageError(f'nothing is called "{name}" in {file}; {nearest(name, classes)}')
    return "file", classes[name]


def _show_study(study: Study, convention: str, json: bool) -> None:
    if json:
        facts = dataclasses.asdict(study)
        print_json({**facts, "kind": "study", "sheet": f"{study.title}. {study.source}."})
        return
    notes = "\n".join(
        str(one).strip() for one in (study.notes, study.settings.get("limits")) if one
    )
    say(
        f"{study.id}  version {study.version}  (study)\n\n{study.title}. {study.source}.\n{notes}\n"
    )
    published = any(row.published or row.also for row in study.rows)
    if study.quantities:
        computed = ", ".join(
            f"{column} ({quantity})" for column, quantity in study.quantities.items()
        )
        say(f"Computed from the tasks alone: {computed}")
    elif study.scores:
        behind = (
            f"{study.seeds} runs behind each published number"
            if published
            else "no numbers were published"
        )
        say(f"Score: {', '.join(study.scores)}; {behind}")
    seconds = study.settings.get("limit_seconds")
    limit = f"; time limit of a run: {seconds:,} s" if seconds else ""
    say(f"Default seeds: {study.seeds}{limit}")
    say(f"Convention unless another is asked for: {study.convention}")
    rows = [
        (row.label, row.task, _listed([row.learner(one, convention) for one in row.learners]))
        for row in study.rows
    ]
    print_table(rows, indent="  ")


def _listed(learners: Sequence[str | None]) -> str:
    """Some learners by name; of very many, the first and the last."""
    names = list(dict.fromkeys(filter(None, learners)))
    return (
        ", ".join(names)
        if len(names) <= _MOST_NAMED
        else f"{names[0]} ... {names[-1]} ({len(names)})"
    )


def _parameters(found: Any, convention: str) -> list[dict[str, Any]]:
    from quickstudy.base.parameters import all_parameters, check_convention, configure

    check_convention(convention)
    if callable(found) and not dataclasses.is_dataclass(found):
        return _host_parameters(found)
    if not isinstance(found, type):
        return []
    values = all_parameters(configure(found.__name__, found, {}, convention))
    return [
        {"name": field.name, "value": values[field.name], "range": _range(field.metadata)}
        for field in dataclasses.fields(found)
    ]


def _host_parameters(found: Any) -> list[dict[str, Any]]:
    """Of a host class: what can be set in its name, and where the default depends on what is asked,
    all of these.
    """
    from quickstudy.base.task import ASKED
    from quickstudy.learners.choice import shown_parameters

    by_kind = {asked: shown_parameters(found, asked) for asked in ASKED}
    rows = []
    for name, value in by_kind["symbols"].items():
        others = {asked: own[name] for asked, own in by_kind.items() if own[name] != value}
        rows.append(
            {
                "name": name,
                "value": value,
                "range": ", ".join(f"{a}: {v}" for a, v in others.items()),
            }
        )
    return rows


def _range(bounds: Any) -> str:
    if "choices" in bounds:
        return "one of " + ", ".join(map(str, bounds["choices"]))
    words = {"at_least": "at least", "above": "above", "at_most": "at most"}
    return ", ".join(f"{words[bound]} {bounds[bound]}" for bound in words if bound in bounds)
