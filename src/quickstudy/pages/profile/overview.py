"""The learners of folders of cards side by side: spans in natural units, and the share of every
family.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Mapping, Sequence

from quickstudy.base.blocks import SPAN, Block, Column, Group, HeatMap, Line, Name, Number, Table
from quickstudy.base.errors import UsageError
from quickstudy.base.study import find_study
from quickstudy.pages.profile.index import read_index
from quickstudy.pages.profile.spans import Item, Profile, profile_of
from quickstudy.pages.study_request import Request, by_protocol
from quickstudy.render.numbers import NOTHING, span_text

_SEEDS = 1_000_000
"""All repetitions that a folder has."""


def profiles_in(folder: pathlib.Path) -> list[Profile]:
    """The learners with a card in a folder; of an old version of the study, none."""
    index = read_index(folder)
    if not index:
        return []
    study = find_study(index["study"])
    if study.version != index["version"]:
        return []
    settings = {**study.settings, "ruleset": index["ruleset"]}
    return list(
        _profiles(
            Request(
                dataclasses.replace(study, settings=settings), folder, study.convention, _SEEDS
            ),
            index["learners"],
        )
    )


def _profiles(request: Request, learners: Sequence[str]) -> Iterator[Profile]:
    for learner in learners:
        rows = [dataclasses.replace(row, learners={learner: learner}) for row in request.rows]
        study = dataclasses.replace(request.study, rows=tuple(rows))
        whole = by_protocol(study, request.convention, {})
        try:
            found = profile_of(dataclasses.replace(request, study=whole), learner)
        except UsageError:  # of a script that is over, or of a lost file
            continue
        if any(not item.why for item in found.items):
            yield found


def overview(found: Sequence[Profile], name: str, cards: Mapping[str, str]) -> list[Block]:
    """A map of learners by items, the families' shares, and all spans with intervals. cards: by
    learner, its page.
    """
    found = sorted(found, key=_mean_share, reverse=True)
    return [_map(found, name), _shares(found, name, cards), _spans(found, name)]


def _mean_share(profile: Profile) -> tuple[int, float]:
    """Those with all families first, by their mean share."""
    shares = [family.share for family in profile.families if family.share is not None]
    return len(shares), sum(shares) / len(shares) if shares else 0.0


def _map(found: Sequence[Profile], name: str) -> HeatMap:
    items = found[0].items
    shares = [[_share(item) for item in one.items] for one in found]
    texts = [
        [
            NOTHING if item.why else span_text(item.spans.span or 0.0, item.spans.ceiling)
            for item in one.items
        ]
        for one in found
    ]
    units = "; ".join(f"{item.label}: {item.task.unit}" for item in items)
    caption = f"Spans in natural units, coloured by their share of the item's axis. {units}"
    label = "One row per learner, one column per item, with its span"
    return HeatMap(
        f"{name}-map",
        caption,
        label,
        [one.learner for one in found],
        [item.label for item in items],
        shares,
        "share",
        "",
        texts=texts,
        data=span_table(found),
    )


def _share(item: Item) -> float | None:
    return None if item.why else float(item.spans.shares.mean())


def span_table(found: Sequence[Profile]) -> list[Sequence[object]]:
    """One row per learner and item, the heading first."""
    heading = ("learner", "family", "item", "unit", "span", "low", "high", "seeds", "reason")
    return [
        heading,
        *(
            (
                one.learner,
                family.name,
                item.name,
                item.task.unit,
                item.spans.span,
                *(item.spans.interval or (None, None)),
                len(item.spans.values),
                item.why,
            )
            for one in found
            for family in one.families
            for item in family.items
        ),
    ]


def _shares(found: Sequence[Profile], name: str, cards: Mapping[str, str]) -> Table:
    columns = [Column("learner", numeric=False)]
    columns += [Column(family.name, "higher") for family in found[0].families]
    lines = [
        Line(
            [
                Name(one.learner, target=cards.get(one.learner, "")),
                *(
                    Number(own.share, own.interval, note=_missing(own.missing))
                    for own in one.families
                ),
            ]
        )
        for one in found
    ]
    caption = (
        "Share of the chart, by family: mean of ln(1 + span) / ln(1 + end of the axis) over its"
        " items, with 95 % intervals over seeds. A family with an item missing has no number"
    )
    return Table(f"{name}-shares", caption, columns, [Group(lines)], paper=True)


def _missing(items: Sequence[Item]) -> str:
    return f"without {', '.join(item.label for item in items)}" if items else ""


def _spans(found: Sequence[Profile], name: str) -> Table:
    columns = [Column("learner", numeric=False)]
    columns += [Column(item.label, "higher", note=item.task.unit) for item in found[0].items]
    lines = [Line([Name(one.learner), *map(span_number, one.items)]) for one in found]
    caption = "Spans with 95 % intervals over seeds"
    return Table(
        f"{name}-spans", caption, columns, [Group(lines)], data=span_table(found), paper=True
    )


def span_number(item: Item) -> Number:
    """A span in a cell, with its interval."""
    word = span_text(item.spans.end, over=True) if item.spans.ceiling else ""
    return Number(item.spans.span, item.spans.interval, SPAN, word, note=item.why)
