"""The page of a study: what its blocks make, under its title, with the record of how it was
made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from quickstudy.base.blocks import Block, Made, Page, Section, Terms, Text
from quickstudy.pages.study_request import Request, blocks_of
from quickstudy.report.build import days_of, places_of
from quickstudy.report.sections import where
from quickstudy.report.words import counted

_RECORD, _NOTES = "record", "remark"


def page_of(request: Request, command: str = "") -> Page:
    """What the folder holds of a study. command: what to type to have the same again."""
    study, blocks = request.study, blocks_of(request.study)
    found = [
        Made(made) if not isinstance(made := block.blocks(request), Made) else made
        for block in blocks
    ]
    whole = any(getattr(block, "whole", False) for block in blocks)
    all_rows, under = (request.whole or study).rows, [f"{study.source}."]
    rows, some = len(all_rows), len(study.rows) < len(all_rows)
    if some:
        named = ", ".join(row.label for row in study.rows)
        runs = any(row.learners for row in all_rows)
        lacking = "; the others have no runs in this folder" if runs else ""
        under.append(f"Showing {len(study.rows)} of {rows} rows ({named}){lacking}.")
    said = [f"{len(study.rows)} of {rows} rows"] if some else []
    said += [f"protocol {name} {value}" for name, value in sorted(request.changed.items())]
    return Page(
        f"{study.title} ({', '.join(said)})" if said else study.title,
        [
            *([Text(" ".join(study.notes.split()), _NOTES)] if study.notes else []),
            *(one for made in found for one in made.blocks),
            Section("The record", list(_record(request, command, whole)), _RECORD),
        ],
        under,
        "quickstudy study",
        {name: fact for made in found for name, fact in made.facts.items()},
        whole,
    )


def screen_page(page: Page) -> Page:
    """What a terminal shows of it: neither the notes of the study nor the record."""
    shown = [
        one
        for one in page.blocks
        if getattr(one, "kind", "") != _NOTES
        and not (isinstance(one, Section) and one.name == _RECORD)
    ]
    return replace(page, blocks=shown)


def _record(request: Request, command: str, whole: bool) -> Iterator[Block]:
    """Where everything comes from, and where more of it is."""
    study = request.study
    # A study of computed quantities has no learners, runs nothing and reads no folder.
    records = request.results.finished if request.columns else []
    if command:
        again = "; given again, it runs nothing twice" if request.columns else ""
        yield Text(f"The command that made this page{again}.")
        yield Text(command, "command")
    items = [("study", f"{study.id}, version {study.version}", "")]
    if days := days_of(records):
        items.append(
            (
                "runs",
                f"{counted(len(records), 'finished run')} in the folder, made {days} (UTC)",
                "",
            )
        )
    yield Terms(
        items
        if whole
        else [*items, ("report.html", "all runs of the folder, one by one", "report.html")]
    )
    if records:
        yield where(places_of(records)[0])
