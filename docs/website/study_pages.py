"""The studies: a page for each, from its definition and from the page of stored tables."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

from sheets import cell, escaped

from quickstudy.base.study import Published, Study, StudyRow, find_study, study_names

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = "reference/results.md"
GROUPS = {
    "battery": "The battery of spans",
    "profile": "The battery of spans",
    "wade": "Language: learning from few examples",
    "bliss": "Grammar: generalising beyond the data",
    "chomsky": "Grammar: generalising beyond the data",
    "rc": "Dynamics: reservoir computing",
    "charc": "Dynamics: reservoir computing",
    "gradual": "Curriculum: gradual learning",
    "s2b": "Games: recombining what was just seen",
}
"""The first word of a name, and the heading that the study is listed under."""
MOST_ROWS = 40
_SECTION = re.compile(
    r"^## (?P<title>.+)\n\n`(?P<command>quickstudy reproduce (?P<id>\S+)[^`]*)`", re.M
)
HEAD = """# Studies

A study is a published table or figure, or a new comparison, as data: tasks, learners,
seeds, and the published numbers.
`quickstudy reproduce NAME` runs what is missing and makes the page, published next to measured.
[How to write one](../reference/studies.md) · [All stored tables](../reference/results.md)
"""


def pages() -> Iterator[tuple[str, str]]:
    """The list of studies, and a page for each."""
    studies = [find_study(name) for name in study_names()]
    stored = _stored()
    yield "studies/index.md", _index(studies, stored)
    for study in studies:
        yield f"studies/pages/{study.id}.md", _page(study, stored.get(study.id, []))


def shortened(markdown: str) -> str:
    """The page of stored tables as headings and commands: the tables are on the pages of the
    studies.
    """
    head, *sections = re.split(r"^(?=## )", markdown, flags=re.MULTILINE)
    kept = []
    for section in sections:
        found = _SECTION.match(section)
        if found is None:
            kept.append(section)
            continue
        link = f"../studies/pages/{found['id']}.md"
        kept.append(f"## {found['title']}\n\n[`{found['command']}`]({link})\n")
    return head + "\n".join(kept)


def _stored() -> dict[str, list[str]]:
    """The sections of the page of stored tables, by study."""
    text = (ROOT / "docs" / RESULTS).read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        head = _SECTION.match(section)
        if head is not None:
            found.setdefault(head["id"], []).append(section)
    return found


def _index(studies: list[Study], stored: dict[str, list[str]]) -> str:
    groups: dict[str, list[str]] = {}
    for study in studies:
        group = GROUPS.get(study.id.partition("-")[0], "Other")
        mark = "yes" if study.id in stored else ""
        groups.setdefault(group, []).append(
            f"| [`{study.id}`](pages/{study.id}.md) | {cell(study.title)} | {mark} |"
        )
    parts = [
        "\n".join(
            [f"## {title}\n", "| study | what it shows | stored runs |", "|---|---|---|", *rows]
        )
        for title, rows in groups.items()
    ]
    return HEAD + "\n" + "\n\n".join(parts) + "\n"


def _page(study: Study, sections: list[str]) -> str:
    source = escaped(study.source)
    parts = [
        f"# {study.id}",
        f"**{escaped(study.title)}**",
        f"{source}. Made under the convention `{study.convention}` unless another is asked for.",
        f"```console\n$ quickstudy reproduce {study.id}\n```"
        if study.kind != "profile"
        else f"```console\n$ quickstudy profile LEARNER --{study.id.partition('-')[2]}\n```",
        escaped(study.notes.strip()),
    ]
    if sections:
        parts += ["## Measured", *map(_measured, sections)]
    elif any(row.published for row in study.rows):
        parts += ["## Published", _published(study), "No runs of this study are stored."]
    if study.rows:
        parts += ["## Rows", _rows(study)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _measured(section: str) -> str:
    """A stored table, one heading lower."""
    return re.sub(r"^## ", "### ", section, count=1).rstrip()


def _published(study: Study) -> str:
    columns = [name for name in study.columns if any(name in row.published for row in study.rows)]
    rows = [
        f"| {cell(row.label)} | "
        + " | ".join(_number(row.published.get(column)) for column in columns)
        + " |"
        for row in study.rows
        if row.published
    ]
    name = study.score if study.scores else "quantity"
    head = f"| {name} | {' | '.join(map(cell, columns))} |"
    return "\n".join([head, "|---|" + "--:|" * len(columns), *rows])


def _number(value: Published | None) -> str:
    if value is None:
        return ""
    if isinstance(value.value, str):
        return cell(value.value)
    return f"{value.value:g}" + (f" ± {value.spread:g}" if value.spread is not None else "")


def _rows(study: Study) -> str:
    shown = study.rows[:MOST_ROWS]
    lines = [f"| {cell(row.label)} | `{row.task}` | {_learners(row, study)} |" for row in shown]
    left = len(study.rows) - len(shown)
    more = f"\n\n... and {left} rows more: `quickstudy show {study.id}`." if left else ""
    return "\n".join(["| row | task | learners |", "|---|---|---|", *lines]) + more


def _learners(row: StudyRow, study: Study) -> str:
    names = list(
        dict.fromkeys(filter(None, (row.learner(one, study.convention) for one in row.learners)))
    )
    shown = ", ".join(f"`{name}`" for name in names[:6]).replace("|", "\\|")
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")
