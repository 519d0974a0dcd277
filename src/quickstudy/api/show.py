"""What there is, with versions, and the spec sheet of one component."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Sequence
from typing import Any

from quickstudy.base import registries
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import (
    all_parameters,
    check_convention,
    configure,
    parse_assignments,
)
from quickstudy.base.registry import include
from quickstudy.base.sheet import sheet_of
from quickstudy.base.study import find_study, study_names

FACTS = (
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


def ls(kind: str, where: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Everything of a kind: id, version, kind and summary of each.

    Parameters
    ----------
    kind:
        tasks, learners, cores, trainings, controls, oracles, measures, protocols, quantities,
        blocks, figures, engines or studies.
    where:
        Only tasks with these entries in their taxonomy, as type=prediction.

    Raises UsageError for a kind that does not exist.

    """
    lists = {
        f"{registry.kind}s": [registry]
        for registry in registries.ALL
        if registry is not registries.quantity
    }
    lists |= {
        "learners": [registries.core, registries.learner, registries.control],
        "quantities": [registries.quantity],
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
            for entry in registries.control.entries()
            if (getattr(registries.control.get(entry.id), "role", "") == "oracle")
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
    return [
        {"id": one.id, "version": one.version, "kind": of, "summary": summary}
        for one, of, summary in found
    ]


def _stands_at(kind: str, id: str, places: Sequence[str]) -> bool:
    """Whether a task's taxonomy has all these entries, each `name=value`. One without a taxonomy
    stands nowhere.
    """
    if kind != "tasks":
        raise UsageError(f"--where is for tasks; {kind} have no taxonomy")
    stands = {
        name: str(value).lower()
        for name, value in getattr(registries.task.get(id), "taxonomy", {}).items()
    }
    wanted = {name: value for place in places for name, value in parse_assignments(place).items()}
    return bool(stands) and all(
        value.lower() in stands.get(name, "").split(" and ") for name, value in wanted.items()
    )


def show(name: str, convention: str | None = None) -> dict[str, Any]:
    """The spec sheet of a component or a study: what is seen, asked and scored; parameters,
    controls, source, departures.

    Parameters
    ----------
    name:
        The id of anything that `ls` lists, a study or its file, or `file.py:Class`.
    convention:
        corrected (default; a study has its own), published or written.

    Raises UsageError for a name that does not exist.

    """
    if name in study_names() or name.endswith(".toml"):
        from quickstudy.runs.scoring import check_scores

        study = find_study(name)
        check_convention(convention or study.convention)
        check_scores(study)
        sheet = f"{study.title}. {study.source}."
        return {**dataclasses.asdict(study), "kind": "study", "sheet": sheet}
    convention = convention or "corrected"
    kind, found = find_component(name)
    facts = {
        "id": getattr(found, "id", name),
        "version": getattr(found, "version", "by its code"),
        "kind": kind,
        "sheet": inspect.cleandoc(found.__doc__ or ""),
        "parameters": parameter_table(found, convention),
        **_declared(found),
    }
    if kind == "file":
        facts.pop("usual", None)  # the table of parameters has it
    if kind == "measure":
        facts["scores"] = {score.name: score.as_facts() for score in found.scores}
    return facts


def _declared(found: Any) -> dict[str, Any]:
    """The description that a class declares. A method or a property that has the name of such a
    fact by chance is none.
    """
    said = {fact: getattr(found, fact, None) for fact in FACTS}
    return {
        fact: value
        for fact, value in said.items()
        if value not in (None, "", (), {})
        and not callable(value)
        and not isinstance(value, property)
    }


def find_component(name: str) -> tuple[str, Any]:
    """The kind of a component and the component itself. Raises UsageError with the nearest name."""
    file, ending, rest = name.partition(".py")
    if ending and (not rest or rest.startswith(":")):
        return _find_in_file(f"{file}.py", rest[1:].partition(":")[0])
    for registry in registries.ALL:
        if name in registry:
            return registry.kind, registry.get(name)
    known = [*(one for registry in registries.ALL for one in registry.names()), *study_names()]
    # `qa` alone is near no id, but it is the whole of what comes after a family.
    inside = [one for one in known if one.rpartition("/")[2] == name]
    hint = f'did you mean "{inside[0]}"?' if inside else nearest(name, known)
    raise UsageError(f'nothing is called "{name}"; {hint}')


def _find_in_file(file: str, name: str) -> tuple[str, Any]:
    """A class or function of a file; without a name the only class that is defined there."""
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


def parameter_table(found: Any, convention: str) -> list[dict[str, Any]]:
    """The parameters of a component with defaults, ranges and descriptions, a row each."""
    check_convention(convention)
    about = sheet_of(found).parameters
    if callable(found) and not dataclasses.is_dataclass(found):
        return [{**row, "about": about.get(row["name"], "")} for row in _host_parameters(found)]
    if not isinstance(found, type):
        return []
    values = all_parameters(configure(found.__name__, found, {}, convention))
    return [
        {
            "name": field.name,
            "value": values[field.name],
            "range": _range(field.metadata),
            "about": about.get(field.name, ""),
        }
        for field in dataclasses.fields(found)
    ]


def _host_parameters(found: Any) -> list[dict[str, Any]]:
    """Of a host class: what can be set in its name, and where the default depends on what is asked,
    all of these.
    """
    from quickstudy.base.task import ASKED  # loads NumPy, which `ls` does without
    from quickstudy.learners.resolved_learner import shown_parameters

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
