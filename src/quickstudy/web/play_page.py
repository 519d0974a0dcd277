"""The pages of players, as HTML. All rules are on the server; the script shows what it is given."""

from __future__ import annotations

from importlib import resources

from quickstudy.render.markup import Markup, asset, breakable, joined, tag


def _own(name: str) -> Markup:
    return Markup(
        resources.files("quickstudy.web").joinpath("assets", name).read_text(encoding="utf-8")
    )


def door_page(nonce: str) -> str:
    """Where a player types the room code."""
    form = tag(
        "form",
        tag("label", "Room code", for_="code"),
        tag("div", _field("code", maxlength=20), _button("Enter"), class_="typed"),
        tag("p", "", id="fault", role="alert"),
        id="door",
        class_="play",
    )
    return _page(nonce, "door.js", tag("header", _EYEBROW, tag("h1", "Welcome"), form))


def play_page(nonce: str, consent: str = "", named: bool = False) -> str:
    """Where a player plays.

    Args:
        nonce: by which the browser knows our own script and style.
        consent: what a new player must agree to first.
        named: whether a new player may type a name.

    """
    form = tag(
        "form",
        tag("label", "", for_="line", id="ask"),
        tag("div", id="choices", role="group", aria_labelledby="ask"),
        tag("div", _field("line"), _button("Answer"), class_="typed"),
        tag("p", "", id="fault", role="alert"),
        id="form",
    )
    header = tag(
        "header",
        _EYEBROW,
        tag("p", "", id="person", class_="eyebrow"),
        tag("h1", "", id="title"),
        tag("p", breakable(""), id="explained"),
    )
    play = tag(
        "section",
        tag(
            "div",
            tag("p", "", id="progress", role="status"),
            tag("button", "Stop", type="button", id="stop"),
            class_="bar",
        ),
        tag("pre", "", id="board", tabindex=0, aria_label="Shown"),
        tag("div", "", id="picture"),
        form,
        tag("div", "", id="end", tabindex=-1, hidden=True),
        class_="play",
        aria_label="The game",
    )
    aside = tag(
        "aside",
        tag(
            "pre", "", id="reference", hidden=True, tabindex=0, aria_label="To look at all the time"
        ),
        tag("h2", "So far"),
        tag("ol", id="log", tabindex=0, aria_label="So far, the newest first"),
        aria_label="So far",
    )
    table = tag("div", play, aside, class_="table-top", id="game", hidden=True)
    join = (_join(consent, named),) if consent or named else ()
    return _page(nonce, "play.js", header, *join, table)


def _join(consent: str, named: bool) -> Markup:
    """The questions to a new player before the first session."""
    name = (
        tag("label", "Your name (or leave it empty, and get a number)", for_="name"),
        tag("div", _field("name", maxlength=40), class_="typed"),
    )
    agree = tag(
        "label",
        Markup('<input type="checkbox" id="agreed" required>'),
        " ",
        tag("span", consent),
        class_="agree",
    )
    return tag(
        "form",
        *(name if named else ()),
        *((agree,) if consent else ()),
        tag("div", _button("Begin")),
        tag("p", "", id="join-fault", role="alert", class_="fault"),
        id="join",
        class_="play",
        hidden=True,
    )


_EYEBROW = tag("p", "quickstudy play", class_="eyebrow")


def _field(id: str, **attributes: object) -> Markup:
    """A line to type, as it is: nothing is completed or corrected."""
    made = tag(
        "input",
        id=id,
        autocomplete="off",
        autocapitalize="off",
        autocorrect="off",
        spellcheck="false",
        **attributes,
    )
    return Markup(made.removesuffix("</input>"))


def _button(words: str) -> Markup:
    return tag("button", words, type="submit", class_="main")


def _page(nonce: str, script: str, *parts: Markup) -> str:
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("title", "quickstudy play"),
        tag("style", asset("picture.css"), asset("page.css"), _own("play.css"), nonce=nonce),
    )
    noscript = tag(
        "noscript",
        tag("p", "This page needs its script: without it, play in the terminal.", class_="note"),
    )
    main, code = tag("main", *parts, noscript), tag("script", _own(script), nonce=nonce)
    body = f"<head>{head}</head>\n<body>{main}{code}</body>"
    return f'<!doctype html>\n<html lang="en">\n{body}\n</html>\n'
