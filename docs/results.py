"""Write the page of measured tables from what is stored: `python docs/results.py`. No run is made,
and nothing typed.

Every folder of published/ that has runs of a study, packed or not, is on it as
`quickstudy reproduce` prints it from them. The lines of its command.txt that begin with
`quickstudy` are the commands; the others say where they were given. Cards are on a page of their
own.
"""

from __future__ import annotations

import pathlib
import shlex
import tempfile
from typing import Any

import typer.main
from pages import ROOT

from quickstudy.api.study import PACKED, request_study, take_over
from quickstudy.base.parameters import parse_assignments
from quickstudy.cli.main import app
from quickstudy.pages.page import page_of, screen_page
from quickstudy.pages.study_request import Request
from quickstudy.render.terminal import as_text

PAGE = ROOT / "docs" / "reference" / "results.md"
STORED = ROOT / "published"
WIDTH = 150
HEAD = """# Tables as measured

Studies as their commands print them, made by `python docs/results.py` from the runs stored in `published/`.
Cells without runs are empty, and a title names every parameter that differs from the study's own. For the same pages
with curves, pictures and single runs, copy the stored runs: `quickstudy reproduce STUDY --stored published/STUDY`; more
seeds are then added to them.
"""


def stored() -> list[pathlib.Path]:
    """The folders of published/ that have runs, that of the battery left out: `docs/norms.py` reads
    it.
    """
    folders = sorted(
        folder.parent for kind in ("runs", PACKED) for folder in STORED.glob(f"*/{kind}")
    )
    return [folder for folder in folders if folder.name != "battery"]


def section(folder: pathlib.Path) -> str:
    """The contents of one folder: for each command the title of its study, where it was given,
    what it prints.
    """
    lines = (folder / "command.txt").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line.startswith("quickstudy ")]
    place = " ".join(line for line in lines if line not in commands)
    return "\n".join(_printed(command, folder, place) for command in commands)


def printed(command: str, folder: pathlib.Path, width: int = WIDTH) -> list[str]:
    """The lines that a command prints of the runs of a stored folder, so wide at most."""
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place)
        take_over(folder, out)
        return as_text(screen_page(page_of(_request(command, out).widened())), width).splitlines()


def _printed(command: str, folder: pathlib.Path, place: str) -> str:
    title, *text = printed(command, folder)
    body = "\n".join(text).strip()
    return f"## {title}\n\n`{command}`. {place}\n\n```text\n{body}\n```\n"


def _request(command: str, out: pathlib.Path) -> Request:
    """What a typed command asks for, with a folder of stored runs in the place of its results."""
    program, verb, *words = shlex.split(command)
    verbs: dict[str, Any] = vars(typer.main.get_command(app))["commands"]
    given = verbs[verb].make_context(program, words).params
    wanted = ("study", "convention", "root", "only", "exact", "controls")
    return request_study(
        **{name: given[name] for name in wanted},
        seeds=given["seeds"] or 6,
        protocol=parse_assignments(",".join(given["protocol"])),
        out=out,
    )


def text_of_page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *map(section, stored())])


if __name__ == "__main__":
    PAGE.write_text(text_of_page(), encoding="utf-8")
