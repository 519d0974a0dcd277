"""Tuned within a stated budget: which setting of a learner is reported is decided on tasks and
seeds that are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import alternatives, configure
from quickstudy.base.study import StudyRow
from quickstudy.base.task import asked_of
from quickstudy.learners.learner_spec import choose_learner, fitted, with_parameters
from quickstudy.pages.study_request import Request
from quickstudy.report.statistics import best, middle
from quickstudy.runs.results import Runs
from quickstudy.runs.run_spec import Setting, make_task, protocol_of

AS_GIVEN, TUNED = "as given", "tuned"
RULESETS = (AS_GIVEN, TUNED)
ROOT = 2**32
"""Added to the root seed of what is reported: the seeds of the tuning are used for nothing else
either.
"""
FACTORS = (1.0, 0.3, 3.0)
"""Factors of the usual learning rate, if the name of a learner lists no values to try; the
usual rate comes first, and is kept if none is better.
"""
COSTS = ("examples", "updates", "learn_seconds", "answer_seconds", "compile_seconds")


@dataclass(frozen=True)
class Tuning:
    """The tuning of one family, as the study has it: its task, the parameters of its protocol,
    repetitions, and how many candidates a family may have at most.
    """

    task: str
    protocol: Mapping[str, Any]
    seeds: int
    most: int


@dataclass(frozen=True)
class Chosen:
    """name: of the candidate that is reported, None while nothing has been run. tried: by
    candidate, the middle of the score on the tuning task. cost: of all tuning runs of the family.
    tied: how many were the best alike.
    """

    name: str | None
    tried: Mapping[str, float]
    cost: Mapping[str, float]
    task: str = ""
    score: str = ""
    runs: int = 0
    tied: int = 1


def family_of(row: StudyRow) -> str:
    """The family of a row: the one that its item belongs to in the battery, or that of its task's
    id.
    """
    id = row.task.partition(":")[0]
    return str(getattr(registries.task.get(id), "family", None) or id.partition("/")[0])


def asked_on(name: str, protocol: Mapping[str, Any], convention: str) -> str:
    """What a task asks of a learner under its protocol with some parameters."""
    task = make_task(name, convention)
    id = protocol_of(task)
    return asked_of(task, configure(id, registries.protocol.get(id), protocol, convention))


def tuning_of(request: Request, family: str) -> Tuning:
    """The study's settings for the tuning of a family. Raises UsageError if there are none."""
    said = request.study.settings.get("tuning", {})
    if family not in said:
        raise UsageError(
            f"{request.study.id}: no settings on how {family} is tuned; leave out --tuned"
        )
    own = said[family]
    return Tuning(
        own["task"],
        own.get("protocol", {}),
        int(said.get("seeds", 1)),
        int(said.get("candidates", 3)),
    )


def candidates(typed: str, request: Request, family: str) -> list[str]:
    """The settings of a learner that are tried in a family: those that its name lists,
    `lstm:rate=0.001|0.01`; of a name with a single learner, the usual learning rate and rates
    around it, if it has one.
    """
    tuning = tuning_of(request, family)
    task = make_task(tuning.task, request.convention)
    asked = asked_on(tuning.task, tuning.protocol, request.convention)
    named = list(
        dict.fromkeys(fitted(one, request.convention, asked).name for one in alternatives(typed))
    )
    if len(named) == 1 and "rate=" not in named[0]:
        usual = (
            choose_learner(named[0], request.convention, task, asked).what["parameters"].get("rate")
        )
        if isinstance(usual, float):
            named = [with_parameters(named[0], f"rate={usual * factor:.6g}") for factor in FACTORS]
    if len(named) > tuning.most:
        raise UsageError(
            f"{typed} lists {len(named)} settings in {family}, and the budget is"
            f" {tuning.most}; name fewer"
        )
    return named


def tuning_settings(request: Request, typed: str) -> Iterator[Setting]:
    """The runs that decide, of all families of a request in which there is something to decide."""
    for family in dict.fromkeys(map(family_of, request.rows)):
        names = candidates(typed, request, family)
        if len(names) > 1:
            yield from (_setting(request, family, name) for name in names)


def tuning_seeds(request: Request) -> int:
    """Repetitions of each of them."""
    return int(request.study.settings.get("tuning", {}).get("seeds", 1))


def chosen(request: Request, typed: str, family: str) -> Chosen:
    """The candidate that did best on the tuning task, by its headline; among equals the one that is
    nearest to the usual setting, then the first.
    """
    names = candidates(typed, request, family)
    if len(names) == 1:
        return Chosen(names[0], {}, {})
    task = registries.task.get(tuning_of(request, family).task.partition(":")[0])
    headline = registries.protocol.get(protocol_of(task)).headline
    runs: dict[str, Runs] = {
        name: request.results.runs(_setting(request, family, name)) for name in names
    }
    values = {name: request.results.values(found, headline) for name, found in runs.items()}
    records = [record for found in runs.values() for record in found.values()]
    read = request.results.score(headline, records)
    tuning, costs = tuning_of(request, family), _cost([record.cost for record in records])
    tried = {name: sum(own.values()) / len(own) for name, own in values.items() if own}
    first = (
        best({f"{place:03d}": values[name] for place, name in enumerate(names)}, read)
        if records
        else None
    )
    if first is None:
        return Chosen(None, tried, costs, tuning.task, read.title, len(records))
    level = middle(values[names[int(first)]], read)
    tied = [name for name in names if values[name] and middle(values[name], read) == level]
    return Chosen(
        min(tied, key=lambda name: _changes(request, family, name)),
        tried,
        costs,
        tuning.task,
        read.title,
        len(records),
        len(tied),
    )


def _changes(request: Request, family: str, name: str) -> int:
    """How many parameters of a candidate are not as usual: its label has only those."""
    tuning = tuning_of(request, family)
    asked = asked_on(tuning.task, tuning.protocol, request.convention)
    task = make_task(tuning.task, request.convention)
    return choose_learner(name, request.convention, task, asked).label.count("=")


def _setting(request: Request, family: str, name: str) -> Setting:
    tuning = tuning_of(request, family)
    return Setting(tuning.task, name, request.convention, request.root + ROOT, tuning.protocol)


def _cost(costs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {name: sum(float(cost.get(name) or 0.0) for cost in costs) for name in COSTS}
