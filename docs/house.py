"""Measure the size and the shape of the package, as a table: `python docs/house.py`.

Lines are counted as they stand; the formatter holds them at 100 columns. Files entered by a command
are files of the package with at least one function called while the command runs (imports alone
are not counted), in this process: `--workers 0`.
"""

from __future__ import annotations

import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from plain_english import matches

ROOT = pathlib.Path(__file__).parents[1] / "src" / "quickstudy"
SMALL = ("--seeds", "1", "--set", "sequences=20", "--workers", "0", "--quiet")
COMMANDS = {
    "run": ("run", "language/qa", "--learner", "majority", *SMALL),
    "reproduce rc-table9": ("reproduce", "rc-table9", "--quiet", "--data", "data"),
    "profile of one family": (
        *("profile", "majority", "--families", "language"),
        *("--seeds", "1", "--workers", "0", "--quiet"),
    ),
}
GOALS = {
    "lines of the package": "<= 66,000",
    "files entered: run": "<= 75",
    "files entered: reproduce rc-table9": "<= 20",
    "files entered: profile of one family": "",
    "resolve() per run": "1",
    "option relays": "1",
    "hasattr/getattr as protocol": "< 30",
    "dialect words per 1,000 lines": "< 3",
}
PROTOCOL = re.compile(r"\b(?:hasattr|getattr)\(")
COUNT_FILES = """
import atexit, json, os, sys, threading
root, target = {root!r}, {target!r}
entered, resolved = set(), [0]
importing = threading.local()
def note(frame, event, argument):
    code = frame.f_code
    if code.co_name == "<module>" and event in ("call", "return"):
        importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
    elif event == "call" and code.co_filename.startswith(root):
        # Bodies of modules and classes, and what they call, run on import.
        if code.co_flags & 1 and not getattr(importing, "depth", 0):
            entered.add(code.co_filename)
            resolved[0] += code.co_name == "_parts"
def write():
    sys.setprofile(None)
    json.dump([sorted(entered), resolved[0]], open(target, "w"))
atexit.register(write)
from quickstudy.cli.main import main
threading.setprofile(note)
sys.setprofile(note)
sys.argv = ["quickstudy", *{arguments!r}]
main({arguments!r})
"""


def say(*lines: object, sep: str = " ") -> None:
    """Write to standard output."""
    sys.stdout.write(sep.join(map(str, lines)) + "\n")


def main() -> None:
    """Print the table; with --json, one object."""
    found = measured()
    if "--json" in sys.argv:
        say(json.dumps(found))
        return
    width = max(map(len, found))
    say(f"{'':{width}}  {'now':>8}  goal")
    for name, value in found.items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.1f}"
        say(f"{name:{width}}  {shown:>8}  {GOALS.get(name, '')}".rstrip())


def measured() -> dict[str, float]:
    """Every number by name."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.py"))}
    lines = sum(text.count("\n") for text in texts.values())
    found: dict[str, float] = {"lines of the package": lines}
    for name, arguments in COMMANDS.items():
        files, resolved = entered(arguments)
        found[f"files entered: {name}"] = len(files)
        if name == "run":
            runs = max(1, recorded())
            found["resolve() per run"] = resolved / runs
        if "--files" in sys.argv:
            say(name, *(pathlib.Path(one).relative_to(ROOT) for one in files), sep="\n  ")
    found["option relays"] = relays(texts)
    found["hasattr/getattr as protocol"] = sum(map(protocol_calls, texts.values()))
    count = sum(len(matches(path)) for path in texts)
    found["dialect words per 1,000 lines"] = 1000 * count / lines
    return found


_runs: list[int] = [0]


def recorded() -> int:
    """The runs that the last command has recorded."""
    return _runs[0]


def entered(arguments: tuple[str, ...]) -> tuple[list[str], int]:
    """The files of the package that a command calls functions of, in a fresh process and folder;
    and how often the components of a setting were looked up.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder, "entered.json")
        make_up_series(pathlib.Path(folder, "data"))
        program = COUNT_FILES.format(root=str(ROOT), target=str(target), arguments=list(arguments))
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True
        )
        if done.returncode or not target.exists():
            raise SystemExit(f"quickstudy {' '.join(arguments)}: {done.stderr}")
        _runs[0] = sum(
            path.read_text().count("\n") for path in pathlib.Path(folder).rglob("runs/*.jsonl")
        )
        files, resolved = json.loads(target.read_text())
        return files, resolved


def make_up_series(folder: pathlib.Path) -> None:
    """Noise in the place of the measured series of rc-table9, as the tests make it up."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "shared"))
    from made_up_data import SERIES  # type: ignore[import-not-found]

    folder.mkdir()
    for data, names, rows in SERIES:
        table = np.abs(np.random.default_rng(0).normal(size=(rows, len(names))))
        heading = ",".join(names)
        np.savetxt(folder / data.layouts[0], table, delimiter=",", header=heading, comments="")


def relays(texts: dict[pathlib.Path, str]) -> int:
    """How often an option of a run is declared: by how many functions and classes that have at
    least three options which all verbs know, for the option that most have.
    """
    names = {"seeds", "out", "root", "workers", "retry_failed", "limit_seconds", "progress"}
    counts = dict.fromkeys(names, 0)
    for text in texts.values():
        for node in ast.walk(ast.parse(text)):
            own: set[str] = set()
            if isinstance(node, ast.FunctionDef):
                own = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
            elif isinstance(node, ast.ClassDef):
                parts = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
                own = {one.id for one in parts if isinstance(one, ast.Name)}
            if len(own & names) >= 3:
                for name in own & names:
                    counts[name] += 1
    return max(counts.values())


def protocol_calls(text: str) -> int:
    """Calls of hasattr, and of getattr with a default or with the name of an attribute as text:
    both ask an object whether it has something.
    """
    count = 0
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            literal = len(node.args) > 1 and isinstance(node.args[1], ast.Constant)
            count += literal and node.func.id in ("hasattr", "getattr")
    return count


if __name__ == "__main__":
    main()
