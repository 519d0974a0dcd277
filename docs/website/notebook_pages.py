"""The notebooks of docs/notebooks as pages: text, code, and what the code printed and showed."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "notebooks"


def pages() -> Iterator[tuple[str, str]]:
    """A page for each notebook, the card first."""
    for path in sorted(FOLDER.glob("*.ipynb"), key=lambda path: (path.stem != "card", path.stem)):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        parts = [part for cell in cells for part in _cell(cell)]
        title, rest = parts[0].partition("\n")[::2]
        link = f"[Download this notebook]({path.name})"
        yield f"notebooks/{path.stem}.md", "\n\n".join([title, link, rest, *parts[1:]]) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    text = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield text
        return
    yield f"```python\n{text}\n```"
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            yield f"```text\n{''.join(output['text']).rstrip()}\n```"
        elif "text/html" in output["data"]:
            yield _one_line("".join(output["data"]["text/html"]))
        else:
            yield f"```text\n{''.join(output['data']['text/plain'])}\n```"


def _one_line(html: str) -> str:
    """HTML that Markdown leaves as it is: a blank line would end it."""
    return "\n".join(line for line in html.splitlines() if line.strip())
