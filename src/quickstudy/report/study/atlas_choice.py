"""The rules that are best by one score: what choosing them was worth, and how they stand beside the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.report.numbers import NOTHING, plus_minus
from quickstudy.report.numbers import score as written
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, LEVEL, UNTOLD, Contrast, Values, difference, estimate
from quickstudy.report.study.atlas_rules import images
from quickstudy.report.study.atlas_runs import TaskRuns, criterion_of, published_rules
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Grid, Paragraph, Part, half_words
from quickstudy.report.words import counted


@dataclass(frozen=True)
class Choice:
    """The best rule of a task by a score, and the published one, None where there is none among the rules tried.

    after, theirs: scores of the two on the reported seeds. optimism: the chosen rule on the choosing seeds less on the
    reported ones. gain: chosen less published on the reported seeds.
    """

    task: TaskRuns
    rule: int
    published: int | None
    after: Values
    theirs: Values
    optimism: Contrast
    gain: Contrast


def choice_parts(order: Order, tasks: Sequence[TaskRuns], score: str) -> tuple[list[Part], dict[str, Any]]:
    """Two grids with sentences, and everything as facts by task."""
    read, criterion = order.score(score), criterion_of(order.study)
    name, title = f"{order.study.id}-{order.convention}-{score}", read.title
    if not read.sign:
        return [Paragraph(f"{title}: direction unknown, so that no rule is the best.", f"Chosen by {title}")], {}
    found = [choice for task in tasks if (choice := _choice(order, task, score))]
    own = [
        ("task", "rule", "its images", "choosing", "reported", "optimism", "rank by the published criterion"),
        *(_own_row(choice, score, criterion) for choice in found),
    ]
    about = (
        f"{title}: mean{half_words(own)}. Optimism: on the choosing seeds less on the reported ones, of the same rule. "
        f"The rank is among the rules compared on the choosing seeds, by {order.score(criterion).title}"
    )
    parts: list[Part] = [Paragraph(_rise(found, title), f"Chosen by {title}"), Grid(name, about, own)]
    if any(choice.published is not None for choice in found):
        heading = ("task", "published rule", f"rank by {title}", "rank by the published criterion", "its score")
        rows = [(*heading, "chosen − published"), *(_published_row(choice, score, criterion) for choice in found)]
        caption = f"{title} on the reported seeds: mean{half_words(rows)}. Ranks are on the choosing seeds"
        parts += [
            Grid(f"{name}-published", caption, rows),
            *map(Paragraph, _gain(found)),
        ]
    return parts, {choice.task.row.task: _facts(choice, score, criterion) for choice in found}


def published_rule(order: Order, task: TaskRuns) -> int | None:
    """The published rule of a task, if it is among those that are tried."""
    return next((rule for rule in published_rules(order.study, task.row)[:1] if rule in task.choosing), None)


def _choice(order: Order, task: TaskRuns, score: str) -> Choice | None:
    rule = task.chosen(score)
    if rule is None:
        return None
    published = published_rule(order, task)
    after = task.values(rule, score, reported=True)
    theirs = task.values(published, score, reported=True) if published is not None else {}
    return Choice(
        task,
        rule,
        published,
        after,
        theirs,
        _contrast(task.values(rule, score), after),
        Contrast(None) if published == rule else _contrast(after, theirs),
    )


def _own_row(choice: Choice, score: str, criterion: str) -> tuple[str, ...]:
    others = " ".join(str(one) for one in dict.fromkeys(images(choice.rule)) if one != choice.rule)
    return (
        choice.task.row.label,
        str(choice.rule),
        others or NOTHING,
        _mean(choice.task.values(choice.rule, score)),
        _mean(choice.after),
        _signed(choice.optimism),
        _rank(choice.task, choice.rule, criterion),
    )


def _published_row(choice: Choice, score: str, criterion: str) -> tuple[str, ...]:
    rule = choice.published
    if rule is None:
        return (choice.task.row.label, *[NOTHING] * 5)
    ranks = [_rank(choice.task, rule, by) for by in (score, criterion)]
    gain = "the same rule" if rule == choice.rule else _signed(choice.gain)
    return choice.task.row.label, str(rule), *ranks, _mean(choice.theirs), gain


def _rise(found: Sequence[Choice], title: str) -> str:
    """What choosing the best has added."""
    known = [choice.optimism for choice in found if choice.optimism.value is not None]
    if not known:
        return "The chosen rules have no runs on the reported seeds yet."
    mean = sum(rise.value or 0.0 for rise in known) / len(known)
    return (
        f"On the seeds on which it was chosen, the best rule scores {written(abs(mean))} "
        f"{'more' if mean > 0 else 'less'} {title} than on others, on average over {counted(len(known), 'task')}. Task "
        f"by task, by the interval: {_told(known)}."
    )


def _gain(found: Sequence[Choice]) -> list[str]:
    rivals = [choice.gain for choice in found if choice.gain.value is not None]
    if not rivals:
        return []
    return [
        f"On the reported seeds, chosen rule against published one on {counted(len(rivals), 'task')} where they "
        f"differ, by the interval: {_told(rivals)}."
    ]


def _facts(choice: Choice, score: str, criterion: str) -> dict[str, Any]:
    task, means = choice.task, choice.task.means(score)
    return {
        "rule": choice.rule,
        "published_rule": choice.published,
        "choosing_mean": means[choice.rule],
        "choosing_runs": task.runs,
        "reported_mean": _plain_mean(choice.after),
        "reported_runs": len(choice.after),
        "published_rule_mean": _plain_mean(choice.theirs),
        "optimism": choice.optimism.value,
        "gain": choice.gain.value,
        "rank_by_criterion": task.rank(choice.rule, criterion),
        "published_rank": None if choice.published is None else task.rank(choice.published, score),
        "level": sum(mean == means[choice.rule] for mean in means.values()),
    }


def _contrast(one: Values, other: Values) -> Contrast:
    return difference(one, other) if one and other else Contrast(None)


def _mean(values: Values) -> str:
    found = estimate(list(values.values()))
    return NOTHING if found is None else plus_minus(found.mean, found.interval)


def _plain_mean(values: Values) -> float | None:
    return sum(values.values()) / len(values) if values else None


def _told(contrasts: Sequence[Contrast]) -> str:
    """On how many tasks the difference is above 0, below it, level with it, or has too few runs to say."""
    counts = Counter(contrast.standing for contrast in contrasts)
    parts = [f"more on {counts[ABOVE]}", f"less on {counts[BELOW]}", f"cannot be told apart on {counts[LEVEL]}"]
    said = [part for part, name in zip(parts, (ABOVE, BELOW, LEVEL), strict=True) if counts[name]]
    if counts[UNTOLD]:
        said.append(f"no verdict on {counts[UNTOLD]}, where fewer than {FEWEST} runs are there")
    return ", ".join(said)


def _signed(contrast: Contrast) -> str:
    if contrast.value is None:
        return NOTHING
    return ("+" if contrast.value > 0 else "") + plus_minus(contrast.value, contrast.interval)


def _rank(task: TaskRuns, rule: int, score: str) -> str:
    rank = task.rank(rule, score)
    return NOTHING if rank is None else f"{rank:g} of {len(task.means(score))}"
