"""Run the notebooks of docs/notebooks and store what their cells print:

    python docs/notebooks.py [NAME ...]

A notebook is run from its first cell to its last in a new process and an empty folder, as "Restart
and run all" does. Pictures and tables are stored as the HTML that a notebook shows.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent / "notebooks"
Cell = dict[str, Any]


def read(path: pathlib.Path) -> dict[str, Any]:
    """A notebook, as the JSON that its file holds."""
    return dict(json.loads(path.read_text(encoding="utf-8")))


def source(cell: Cell) -> str:
    """The text of a cell."""
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


def outputs(path: pathlib.Path) -> list[list[dict[str, Any]]]:
    """What every code cell of a notebook prints and shows, from a run in a new process.

    Raises:
        RuntimeError: A cell raised an error.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(pathlib.Path(__file__)), "--run", str(path)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{path.name}: {done.stderr}")
    return list(json.loads(done.stdout))


def _run(path: pathlib.Path) -> list[list[dict[str, Any]]]:
    """The same in this process, whose `__main__` is the notebook's."""
    names = vars(sys.modules["__main__"])
    made = []
    for number, cell in enumerate(read(path)["cells"]):
        if cell["cell_type"] == "code":
            made.append(_cell(source(cell), f"<cell {number}>", names))
    return made


def _cell(code: str, name: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of one cell; the value of a last expression is shown, if it is not None."""
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue()})
    if value is not None:
        data = {"text/plain": repr(value)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_()
        found.append({"data": data, "metadata": {}, "output_type": "display_data"})
    return found


def store(path: pathlib.Path) -> None:
    """Run a notebook and write the outputs into its file."""
    notebook = read(path)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell, found in zip(code, outputs(path), strict=True):
        cell["outputs"] = found
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        sys.stdout.write(json.dumps(_run(pathlib.Path(sys.argv[2]))))
    else:
        for path in sorted(FOLDER.glob("*.ipynb")):
            if not sys.argv[1:] or path.stem in sys.argv[1:]:
                store(path)
