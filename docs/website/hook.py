"""What MkDocs runs while it builds the site: generated pages, their places in the navigation, and
Markdown as GitHub reads it made into Markdown as MkDocs reads it.

Generated pages exist in memory only. Their paths are under GENERATED.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import Any

import command_pages
import learner_pages
import notebook_pages
import python_pages
import study_pages
import task_pages
from mkdocs.structure.files import File, Files

ROOT = pathlib.Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(?P<language>\w+)(?P<options>(?: [\w.=/-]+)+)$", re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s]+)(?=\))")


def generated() -> Iterator[tuple[str, str]]:
    """Every generated page: its path below docs/, and its Markdown."""
    yield "changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    yield "examples.md", _examples()
    yield from task_pages.pages()
    yield from learner_pages.pages()
    yield from study_pages.pages()
    yield from notebook_pages.pages()
    yield from command_pages.pages()
    yield from python_pages.pages()


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, and put them into the navigation."""
    made = dict(generated())
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    config.nav = _expanded(config.nav, list(made))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """One page as MkDocs reads it."""
    path = page.file.src_uri
    if path == study_pages.RESULTS:
        markdown = study_pages.shortened(markdown)
    return _LINK.sub(lambda link: _target(link["target"], path), _FENCE.sub(_fence, markdown))


def _expanded(nav: Any, made: list[str]) -> Any:
    """The navigation, with every path that ends with / as the list of generated pages below it."""
    if isinstance(nav, list):
        return [_expanded(part, made) for part in nav]
    if isinstance(nav, dict):
        return {title: _expanded(part, made) for title, part in nav.items()}
    return [path for path in made if path.startswith(nav)] if nav.endswith("/") else nav


def _fence(found: re.Match[str]) -> str:
    """Options of a block are for the tests; only the name of a file is for the reader."""
    name = re.search(r" file=(\S+)", found["options"])
    return f"```{found['language']}" + (f' title="{name[1]}"' if name else "")


def _target(target: str, path: str) -> str:
    """A link that leaves docs/ in the repository, as a link to the page that replaces it here."""
    if target.startswith(("http://", "https://", "#")):
        return target
    up = "../" * path.count("/")
    if target.endswith(".ipynb") and not path.startswith("notebooks/"):
        return target.removesuffix(".ipynb") + ".md"
    if path == "changelog.md":
        return target.removeprefix("docs/")
    if target.startswith(f"{up}../"):
        name = target.removeprefix(f"{up}../")
        if name == "CHANGELOG.md":
            return f"{up}changelog.md"
        if name == "README.md":
            return f"{up}index.md"
        if name.startswith("examples/"):
            return f"{up}examples.md#{name.removeprefix('examples/').replace('.', '')}"
    return target


def _examples() -> str:
    """The scripts of examples/, one after another."""
    parts = ["# Scripts to start from\n\nThey run unchanged. They are in the folder `examples`.\n"]
    for path in sorted((ROOT / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8").strip()
        parts.append(f'## {path.name}\n\n```python title="{path.name}"\n{code}\n```\n')
    return "\n".join(parts)
