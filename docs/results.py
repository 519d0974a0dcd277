"""Write the page of measured tables from what is stored: `python docs/results.py`. No run is made, and nothing typed.

Every folder of published/ with runs of a study stands on it as `quickstudy reproduce` prints it from them. The first
line of its command.txt is that command; the others say where it was given. Cards are on a page of their own.
"""

from __future__ import annotations

import pathlib
import shlex
from typing import Any

import typer.main
from pages import ROOT

from quickstudy.base.parameters import parse_assignments
from quickstudy.cli.main import app
from quickstudy.pages.page import page_of, screen_page
from quickstudy.pages.request import Request
from quickstudy.render.terminal import as_text
from quickstudy.reproducing import request_study

PAGE = ROOT / "docs" / "reference" / "results.md"
STORED = ROOT / "published"
WIDTH = 150
HEAD = """# Tables as measured

Studies as their commands printed them, made by `python docs/results.py` from the runs that are stored in `published/`.
What was not run is empty, and a title says which parameter is not the study's own. To have the same pages with curves,
pictures and single runs, take the stored runs over: `quickstudy reproduce STUDY --stored published/STUDY`; more seeds
are then run on top of them.
"""


def stored() -> list[pathlib.Path]:
    """The folders of published/ that have runs, those behind cards left out: `docs/gallery.py` reads them."""
    return sorted(folder.parent for folder in STORED.glob("*/runs") if not any(folder.parent.glob("card-*.json")))


def section(folder: pathlib.Path) -> str:
    """One study: its title, the command, where it was given, and what it prints."""
    command, *place = (folder / "command.txt").read_text(encoding="utf-8").splitlines()
    page = screen_page(page_of(_request(command, folder).widened()))
    title, *text = as_text(page, WIDTH).splitlines()
    body = "\n".join(text).strip()
    return f"## {title}\n\n`{command}`. {' '.join(place)}\n\n```text\n{body}\n```\n"


def _request(command: str, folder: pathlib.Path) -> Request:
    """What a typed command asks for, with the stored runs in the place of its results."""
    program, verb, *words = shlex.split(command)
    verbs: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
    given = verbs[verb].make_context(program, words).params
    wanted = ("study", "convention", "root", "only", "exact", "controls")
    return request_study(
        **{name: given[name] for name in wanted},
        seeds=given["seeds"] or 6,
        protocol=parse_assignments(",".join(given["set_"])),
        out=folder,
    )


def text_of_page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *map(section, stored())])


if __name__ == "__main__":
    PAGE.write_text(text_of_page(), encoding="utf-8")
