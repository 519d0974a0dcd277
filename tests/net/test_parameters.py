"""The usual parameters of every component, by convention and by what is asked of a learner: the
small runs of the net are given sizes of their own, so that another default does not show in them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from first_draws import OF_A_FILE
from quickstudy.base import registries
from quickstudy.base.parameters import CONVENTIONS, all_parameters, configure
from quickstudy.base.task import ASKED
from tiny_runs import ids

KINDS = ("task", "core", "training", "learner", "control", "protocol")
COMPONENTS = [f"{kind} {id}" for kind in KINDS for id in ids(kind)]


def usual(component: Any) -> dict[str, Any]:
    """The parameters under the first convention, and those that differ under another one, or where
    something else is asked. What has no default, and what says where something is found, is left
    out.
    """
    if not dataclasses.is_dataclass(component):
        return {}
    typed = [field for field in dataclasses.fields(component) if field.init]
    missing = {
        field.name
        for field in typed
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    places = {field.name for field in typed if field.metadata.get("place")}
    if missing:
        return {field.name: field.default for field in typed if field.name not in missing | places}

    def parameters(convention: str, asked: str) -> dict[str, Any]:
        given = OF_A_FILE.get(component.id, {})
        made = all_parameters(configure(component.id, component, given, convention, asked))
        return {name: value for name, value in made.items() if name not in places}

    def other(now: dict[str, Any], than: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in now.items() if than.get(name) != value}

    presets = [asked for asked in ASKED if asked in getattr(component, "usual", {})]
    first = parameters(CONVENTIONS[0], ASKED[0])
    found = {CONVENTIONS[0]: first}
    for convention in CONVENTIONS:
        usually = parameters(convention, ASKED[0])
        found.setdefault(convention, other(usually, first))
        for asked in presets:
            found[f"{convention}, {asked}"] = other(parameters(convention, asked), usually)
    return found


@pytest.mark.parametrize("name", COMPONENTS)
def test_parameters(name, expected):
    kind, _, id = name.partition(" ")
    component = getattr(registries, kind).get(id)
    expected.check("parameters", name, {name: component.version}, usual(component), tells=False)


def test_no_other_components_are_stored(expected):
    expected.names("parameters", COMPONENTS)
