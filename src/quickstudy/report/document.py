"""The shell of every page: one HTML file that needs nothing else, with styles and script inside."""

from __future__ import annotations

from importlib import resources

from quickstudy.report.markup import escape, tag

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def document(title: str, body: str) -> str:
    """A whole page around the markup of its body. Nothing in it refers to anything outside it."""
    head = "".join(
        [
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">',
            tag("title", escape(f"{title} · quickstudy")),
            tag("style", asset("page.css")),
        ]
    )
    whole = body + tag("script", asset("page.js"))
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>{whole}</body>\n</html>\n'


def asset(name: str) -> str:
    """The text of a file that pages carry inside."""
    if name == "page.css":
        return "".join(_read("render", part) for part in ("picture.css", name))
    return _read("report", name)


def _read(room: str, name: str) -> str:
    return resources.files(f"quickstudy.{room}").joinpath("assets", name).read_text(encoding="utf-8")
