"""Everything that is registered keeps its promises. No list here: what is found is checked."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pathlib

import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import CONVENTIONS, configure
from quickstudy.base.registry import Registry, package_sources, split_sheet
from quickstudy.base.task import asked_of
from quickstudy.learners.core_with_training import default_training
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.testing import check_core, check_learner, check_task
from quickstudy.testing.learners import LEARNS_NOTHING
from quickstudy.testing.metadata_checks import check_conventions, check_parameters
from quickstudy.testing.small_tasks import Echo, Partners

KINDS = ("task", "control", "core", "training", "learner", "protocol", "measure")
REFERENCE = pathlib.Path(__file__).parents[2] / "docs" / "reference"
SLOW = {"dcem", "dnc", "esbn"}
"""Ten seconds and more each to compile with a training: taught real numbers only."""
BY_FILE = {"curriculum/file@1"}
"""Tasks that are nothing without a file of the user's."""
OUTSIDE = (
    *("lines", "zeromq", "openai", "hf", "recorded", "recorded-states"),
    *("torch", "fla", "hf-config", "reservoirpy", "memax"),
)
"""Learners that are nothing without a program, a server, a file or a library: looked at with
one, in tests of their own.
"""
EXTRAS = {"torch"}
"""Libraries that modules of adapters need and that the tests can do without."""
ROOMS = ("tasks", "cores", "learners", "protocols", "measures", "adapters")


def sources():
    """The files of this package: installed packages and included files are somebody else's."""
    for room in ROOMS:
        yield from package_sources(f"quickstudy.{room}")


def ids(kind):
    return Registry(kind, sources).names()


def versions(kind):
    """(id, version) as the text announces them, all versions."""
    registry = Registry(kind, sources)
    registry.names()
    return sorted(registry._entries)


def names(kind):
    return [f"{id}@{version}" for id, version in versions(kind)]


def own(tasks):
    """Those with code of their own: what differs from another in defaults alone is drawn by its
    family's tests.
    """
    return [name for name in tasks if not hasattr(registries.task.get(name), "variant_of")]


def made(task, convention="corrected"):
    """As it is by default."""
    return configure(task, registries.task.get(task), {}, convention)


def broken(findings):
    return [str(finding) for finding in findings if not finding.ok]


FEW = {
    "units": 12,
    "features": 6,
    "hidden": 8,
    "keys": 6,
    "slots": 8,
    "word": 4,
    "heads": 1,
    "nearest": 2,
    "layers": 1,
}
"""Sizes, of those a core may have, with which it is soon compiled."""
TWO_LAYERS = {"units": 12, "layers": 2}
OWN = {"recall": {"lags": 3, "hops": 2, "order": 2}}
"""Those of cores without units."""


def few(name):
    """Those that a core has; those of attention go together and are small as they are."""
    found = registries.core.get(name)
    usual = {field.name: field.default for field in dataclasses.fields(found)}
    if "units" not in usual:
        return OWN.get(name.split("@")[0], {})
    return {
        size: number
        for size, number in FEW.items()
        if size in usual and (size != "layers" or isinstance(usual[size], int))
    }


def small(name):
    """A core of few units, if it has units."""
    return configure(name, registries.core.get(name), few(name))


def taught_sizes(core):
    """As text, sizes with which a core learns and is soon compiled."""
    sizes = {**few(core), "units": 24} if "units" in few(core) else few(core)
    return ",".join(f"{name}={number}" for name, number in sizes.items())


def trained_names():
    """Every core with what is usual for it, and every training that answers with two cores that it
    takes, the first that is a reservoir and the first that is not.
    """
    made = {}
    for core in ids("core"):
        usual = [
            default_training(registries.core.get(core), convention) for convention in CONVENTIONS
        ]
        for training in ids("training"):
            try:
                choose_learner(f"{core}+{training}", "corrected")
            except UsageError:
                continue
            kind = training, registries.core.get(core).frozen
            if answers(training) and ((training in usual and core not in SLOW) or kind not in made):
                made[kind] = None
                yield f"{core}+{training}:{taught_sizes(core)}".removesuffix(":")


def answers(training):
    """Whether it is shown right answers and asked for some; others learn by reward, and are looked
    at elsewhere.
    """
    found = registries.training.get(training)
    asked = {usual.asked for usual in getattr(found, "usual_for", ())}
    shown = "cross-entropy" in getattr(found, "losses", ("cross-entropy",))
    return shown and (not asked or bool(asked & {"symbols", "reals", "strings"}))


def ruled_tasks(tasks=None):
    """Every task, or some of them, with every rule that it names."""
    for id in own(ids("task")) if tasks is None else tasks:
        if f"{id}@1" in BY_FILE:
            continue
        task = registries.task.get(id)
        oracle = getattr(task, "oracle", None)
        for rule in (*task.controls, *([oracle] if oracle in registries.control else [])):
            yield id, rule


def different(tasks):
    """Every task under every convention that makes another one of it."""
    for name in sorted(set(tasks) - BY_FILE):
        found = []
        for convention in CONVENTIONS:
            if (one := made(name, convention)) not in found:
                found.append(one)
                yield name, convention


@pytest.mark.parametrize(("name", "convention"), list(different(own(names("task")))))
def test_tasks(name, convention):
    assert broken(check_task(made(name, convention))) == []


@pytest.mark.parametrize("name", names("core"))
def test_cores(name):
    assert broken(check_core(small(name))) == []


def test_a_core_of_two_layers():
    """The cores of today's papers are stacked by one class, so that one of them shows it."""
    assert broken(check_core(configure("mingru", registries.core.get("mingru"), TWO_LAYERS))) == []


@pytest.mark.parametrize("name", list(trained_names()))
def test_cores_with_their_trainings(name):
    assert broken(check_learner(name, Partners(), sequences=80)) == []


def taught_real_numbers():
    """A core of every usual training there, those that are taught nothing else, and the two best
    known. All others are taught real numbers in tests/net, which knows what they answer then.
    """
    wanted, made = {"esn", "lstm"} | SLOW, {}
    for core in ids("core"):
        found = choose_learner(core, "corrected", Echo(), asked_of(Echo())).what["id"]
        kind = found.partition("+")[2], registries.core.get(core).frozen
        if core in wanted or kind not in made:
            made[kind] = None
            yield core


@pytest.mark.parametrize("core", list(taught_real_numbers()))
def test_cores_on_real_numbers(core):
    findings = check_learner(f"{core}:{taught_sizes(core)}", Echo(), sequences=80)
    assert broken(findings) == []


@pytest.mark.parametrize(
    "name", [name for name in names("learner") if name.split("@")[0] not in OUTSIDE]
)
def test_whole_learners(name):
    broken_by_rules = (
        {LEARNS_NOTHING} if not getattr(registries.learner.get(name), "learns", True) else set()
    )
    findings = check_learner(name)
    assert [
        str(finding)
        for finding in findings
        if not finding.ok and finding.what not in broken_by_rules
    ] == []


@pytest.mark.parametrize(("task", "rule"), list(ruled_tasks()))
def test_controls_and_oracles(task, rule):
    """A rule that never learns breaks one promise, and only that one."""
    about = made(task)
    findings = check_learner(rule, about, sequences=30)
    assert [
        finding
        for finding in findings
        if not finding.ok and not finding.what.endswith(LEARNS_NOTHING)
    ] == []
    oracle = getattr(about, "oracle", None) == rule
    assert registries.control.get(rule).role == ("oracle" if oracle else "control")


def test_every_rule_is_named_by_a_task_or_in_the_reference():
    named = {rule for _, rule in ruled_tasks(ids("task"))}
    reference = "".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    assert named <= set(ids("control"))
    assert [rule for rule in set(ids("control")) - named if f"`{rule}`" not in reference] == []


def test_every_core_has_a_usual_training():
    for core in ids("core"):
        for convention in CONVENTIONS:
            training = default_training(registries.core.get(core), convention)
            assert choose_learner(core, convention).what["id"] == f"{core}+{training}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_announces_what_importing_registers(kind):
    """Ids, versions and summaries, and nothing besides."""
    announced = Registry(kind, sources)
    announced.names()
    registry = getattr(registries, kind)
    for module, _ in sources():
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name not in EXTRAS:
                raise
    for (id, version), entry in announced._entries.items():
        target = registry.get(f"{id}@{version}")
        assert (target.id, target.version, target.__module__) == (id, version, entry.module)
        assert entry.summary == split_sheet(inspect.getdoc(target))[0]
        assert entry.summary.endswith((".", "?"))
    own = {
        key
        for key, entry in registry._entries.items()
        if (entry.module or "").startswith("quickstudy.")
    }
    assert own == set(announced._entries)


@pytest.mark.parametrize("kind", ["task", "core", "training", "protocol"])
def test_components_are_frozen_dataclasses_with_a_docstring(kind):
    for name in names(kind):
        component = getattr(registries, kind).get(name)
        assert dataclasses.is_dataclass(component), name
        assert component.__dataclass_params__.frozen, name
        assert inspect.getdoc(component)
        assert not component.__doc__.startswith(f"{component.__name__}("), name
        if name not in BY_FILE:
            check_parameters(configure(name, component, {}))
            check_conventions(component)


def test_rules_are_host_learners_with_a_docstring():
    for name in names("control"):
        rule = registries.control.get(name)
        assert inspect.getdoc(rule), name
        if getattr(rule, "compiled", False):
            assert list(inspect.signature(rule).parameters) == ["task", "brief"], name
            assert callable(rule.start), name
            assert callable(rule.step), name
            continue
        assert list(inspect.signature(rule).parameters) == ["task", "brief", "seed"], name
        if not hasattr(rule, "act"):
            assert callable(rule.learn), name
            assert callable(rule.predict), name


def test_measures_say_how_to_read_them():
    for name in names("measure"):
        measure = registries.measure.get(name)
        assert measure.direction in ("higher", "lower"), name
        assert measure.range[0] < measure.range[1], name
        assert all(
            (measure.unit, measure.chance, measure.equation, measure.kinds, measure.__doc__)
        ), name


def test_parameters_of_cores_and_trainings_stand_side_by_side():
    """`esn+sgd:units=200,rate=0.1` must not be ambiguous."""
    cores, trainings = (
        {
            field.name
            for id in ids(kind)
            for field in dataclasses.fields(getattr(registries, kind).get(id))
        }
        for kind in ("core", "training")
    )
    assert not cores & trainings


def test_names_cannot_be_taken_for_one_another():
    """One word names one learner, and none of the signs that separate parts of a name is in it."""
    learners = [*ids("core"), *ids("learner"), *ids("control")]
    assert len(set(learners)) == len(learners)
    for kind in KINDS:
        for id in ids(kind):
            assert not set(id) & set(":+@,= "), id
            assert id == id.lower()
            assert ("/" in id) == (kind == "task"), id
