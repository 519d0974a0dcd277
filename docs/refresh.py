"""Run the commands of the pages that take minutes, and put the numbers that they print now into the
pages.

    python docs/refresh.py [PAGE ...]
    python docs/refresh.py --ids

Commands run in results/pages/, so that stored runs are not repeated; remove that folder to start
from the beginning. Runs that are stored in published/ are copied first. A line that is shown in a
page but is no longer printed, numbers apart, is an error. So is a command that ends with another
status than 0, for example when a run has failed: it is named, its block is kept, and the others are
renewed. The list of all components is made from the catalogue; with --ids, only that is done.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from typing import Any

from pages import ROOT, Block, blocks, commands, pages
from results import stored

from quickstudy.api.study import take_over
from quickstudy.base import registries
from quickstudy.base.registry import Registry

COMPONENTS = ROOT / "docs" / "reference" / "components.md"
WORK = ROOT / "results" / "pages"
_TAIL = 10
"""Lines of a failed command's output that are repeated."""
_NUMBER = re.compile(r"[−+-]?\d[\d,.]*(?:e-\d+)?|\bnever\b")


class CommandFailed(Exception):
    """A command has ended with another status than 0; the message has both."""


def main() -> int:
    """The exit status."""
    COMPONENTS.write_text(with_ids(COMPONENTS.read_text(encoding="utf-8")), encoding="utf-8")
    if sys.argv[1:] == ["--ids"]:
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    for folder in stored():
        take_over(folder, WORK / "results" / folder.name)
    chosen = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or pages()
    faults = [fault for page in chosen for fault in refresh(page)]
    sys.stderr.writelines(f"{fault}\n" for fault in faults)
    return 1 if faults else 0


def with_ids(text: str) -> str:
    """The page of components with the ids that the package has now, in the rows `| cores | ... |`
    and so on.
    """
    for kind, names in inside().items():
        row = f"| {kind} | {', '.join(_shortened(names))} |"
        text = re.sub(rf"^\| {kind} \| .*\|$", row, text, flags=re.MULTILINE)
    return text


def _shortened(names: list[str]) -> list[str]:
    """Ids in a short form: more than three that differ only in a last number or word are shown
    as one, with their count.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.split("-")[0], []).append(name)
    return [
        text
        for stem, alike in found.items()
        for text in (
            [f"`{stem}*` ({len(alike)})"] if len(alike) > 3 else [f"`{name}`" for name in alike]
        )
    ]


def inside() -> dict[str, list[str]]:
    """The ids of the package by kind, tasks by family; what else has been registered in this
    process is left out.
    """
    kinds: dict[str, Registry[Any]] = {
        "tasks": registries.task,
        "cores": registries.core,
        "trainings": registries.training,
        "learners": registries.learner,
        "controls": registries.control,
        "measures": registries.measure,
    }
    package = str(ROOT / "src")
    found = {
        kind: [entry.id for entry in registry.entries() if entry.origin.startswith(package)]
        for kind, registry in kinds.items()
    }
    families: dict[str, list[str]] = {}
    for name in found.pop("tasks"):
        family, _, rest = name.partition("/")
        families.setdefault(f"tasks of `{family}/`", []).append(rest)
    roles: dict[str, list[str]] = {"control": [], "oracle": []}
    for name in found.pop("controls"):
        roles[registries.control.get(name).role].append(name)
    return {**families, **found, "controls": roles["control"], "oracles": roles["oracle"]}


def refresh(page: pathlib.Path) -> list[str]:
    """Renew the long blocks of a page. Gives the commands that failed, and the lines that could not
    be found again.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    faults: list[str] = []
    longer = 0
    for block in blocks(page):
        if "file" in block.options:
            (WORK / block.options["file"]).write_text(block.text, encoding="utf-8")
        elif block.language == "console" and "no-run" in block.options:
            renewed, found = _renew(block)
            faults += [f"{page.relative_to(ROOT)}, line {block.line}: {fault}" for fault in found]
            first, count = block.line - 1 + longer, len(block.text.splitlines())
            lines[first : first + count] = renewed
            longer += len(renewed) - count
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return faults


def _renew(block: Block) -> tuple[list[str], list[str]]:
    """The new lines of the block, and the errors. A block whose command fails is kept."""
    renewed: list[str] = []
    missing: list[str] = []
    failed: list[str] = []
    for command in commands(block):
        renewed += command.typed
        program = made_by("run") if command.line == "make run" else command.line
        if program.startswith("make "):  # the tests themselves: their output is pasted by hand
            renewed += command.printed
            continue
        sys.stderr.write(f"{program}\n")
        try:
            printed = _run(program)
        except CommandFailed as error:
            failed.append(str(error))
            continue
        known, unknown = match(command.printed, printed)
        renewed += known
        missing += [f"no longer printed: {line}" for line in unknown]
    return (block.text.splitlines(), failed) if failed else (renewed, missing)


def match(shown: list[str], printed: list[str]) -> tuple[list[str], list[str]]:
    """The lines that a page shows, as they are printed now, and those that are not printed any
    more.

    >>> match(["...", " a  0.1", "10 ok in ..."], ["b 1", "a 0.25", "10 ok in 3 s"])
    (['...', 'a 0.25', '10 ok in ...'], [])
    """
    found: list[str] = []
    missing: list[str] = []
    place = 0
    for line in shown:
        at = next((at for at in range(place, len(printed)) if _fits(line, printed[at])), None)
        if not line.strip() or line.strip() == "...":
            found.append(line)
        elif at is None:
            found.append(line)
            missing.append(line)
        else:
            found.append(line if "..." in line else printed[at].rstrip())
            place = at + 1
    return found, missing


def made_by(target: str) -> str:
    """The command of a target of the Makefile, with its default values."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", "")
    recipe = re.search(rf"^{target}:.*\n\t(.+)$", text, flags=re.MULTILINE)
    if recipe is None:
        raise ValueError(f"the Makefile has no recipe for {target}")
    values = dict(re.findall(r"^(\w+) \?= (.+)$", text, flags=re.MULTILINE))
    command = recipe[1].replace("$(BIN)/", "")
    return " ".join(re.sub(r"\$\((\w+)\)", lambda name: values.get(name[1], ""), command).split())


def _fits(shown: str, printed: str) -> bool:
    shape = re.escape(_shape(shown)).replace(r"\.\.\.", ".*")
    return re.fullmatch(shape, _shape(printed)) is not None


def _shape(line: str) -> str:
    return " ".join(_NUMBER.sub("#", line).split())


def _run(command: str) -> list[str]:
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=WORK,
        env={**os.environ, "PATH": path, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        tail = "".join(f"\n    {line}" for line in done.stdout.splitlines()[-_TAIL:])
        raise CommandFailed(f"kept, since {command} ended with status {done.returncode}:{tail}")
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
