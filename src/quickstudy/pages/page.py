"""The page of a study: what its blocks make, under its title, with the record of how it was made."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from quickstudy.base.blocks import Block, Page, Section, Terms, Text
from quickstudy.base.record import Record
from quickstudy.base.study import Study
from quickstudy.pages.request import Made, Request, blocks_of
from quickstudy.report.words import counted


def page_of(request: Request, whole: Study | None = None, command: str = "") -> Page:
    """What the folder holds of a study. whole: the study with all its rows, where the request has only some. command:
    what to type to have the same again.
    """
    study, blocks = request.study, blocks_of(request.study)
    found = [_made(block.blocks(request)) for block in blocks]
    whole_page = any(getattr(block, "whole", False) for block in blocks)
    shown = [one for made in found for one in made.blocks]
    rows = len((whole or study).rows)
    some = len(study.rows) < rows
    under = [f"{study.source}."] if study.source else []
    if some:
        under.append(f"Only {', '.join(row.label for row in study.rows)}: of the others there are no runs here.")
    record = _record(request, command, whole_page)
    return Page(
        f"{study.title} ({len(study.rows)} of {rows} rows)" if some else study.title,
        [*([Text(" ".join(study.notes.split()), "remark")] if study.notes else []), *shown, record],
        under,
        "quickstudy study",
        {name: fact for made in found for name, fact in made.facts.items()},
        whole_page,
    )


def _made(found: Made | Sequence[Block]) -> Made:
    return found if isinstance(found, Made) else Made(found)


def _record(request: Request, command: str, whole: bool) -> Section:
    """Where everything comes from, and where it is."""
    made: list[Block] = []
    if command:
        made += [Text("The command that made this page; given again, it runs nothing twice."), Text(command, "command")]
    items = [("study", f"{request.study.id}, version {request.study.version}", ""), *_origin(request.found.records)]
    if not whole:
        items.append(("all runs", "the report of the folder", "report.html"))
    return Section("The record", [*made, Terms(items)], "record")


def _origin(records: Sequence[Record]) -> Iterator[tuple[str, str, str]]:
    """When, with what and on what the runs of the folder were made."""
    if not records:
        return
    days = sorted(
        time.strftime("%Y-%m-%d", time.gmtime(one.where["started"])) for one in records if "started" in one.where
    )
    if days:
        made = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
        yield "runs", f"{counted(len(records), 'finished run')} in the folder, made {made} (UTC)", ""
    versions = _each(f"{name} {number}" for one in records for name, number in one.where.get("versions", {}).items())
    if versions:
        yield "versions", ", ".join(versions), ""
    machines = [one.where.get("machine", {}) for one in records]
    places = _each(" ".join(map(str, (one.get("system"), one.get("processor")))) for one in machines if one)
    devices = _each(str(one.where["device"]) for one in records if "device" in one.where)
    if places or devices:
        yield "machines", ", ".join([*places, *devices]), ""


def _each(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
