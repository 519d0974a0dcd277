"""Playing in the browser: a page, and the seats of those who play on it.

This server writes: answers change a session, and a session that ends is kept as a run. So it is
apart from the dashboard, which reads only. It is for this machine and for people who know its
address: the address begins with random words; the server answers to the names of this machine only;
and it takes an answer from its own page only, which the browser confirms (`Origin`).
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import secrets
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from quickstudy.base.canonical import plain
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.play.keeping import Invitation, Sitting
from quickstudy.render.markup import Markup, asset, breakable, joined, tag
from quickstudy.render.svg import drawn
from quickstudy.report.words import counted
from quickstudy.web.app import HEADERS, LOOPBACK

MOST_SEATS = 50
"""Sessions at once."""
IDLE_SECONDS = 1800.0
"""From then on a session in which nothing happens may give way to another; what was played is
kept.
"""
_MOST_BYTES = 20_000
_MOST_LETTERS = 4000
"""Of one answer."""


@dataclass
class Place:
    """A person's session. log: what was shown and answered so far. kept: what became of it, in
    words; scores: by name. touched: when it was last asked for, by the clock of this process.
    """

    sitting: Sitting
    touched: float = field(default_factory=time.monotonic)
    log: list[dict[str, Any]] = field(default_factory=list)
    kept: str = ""
    scores: list[tuple[str, float]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def person(self) -> str:
        """The id of who plays."""
        return self.sitting.invitation.name

    def gives_way(self) -> tuple[int, float] | None:
        """The order in which sessions give way to new ones: those that are over, those without an
        answer, those in which nothing has happened for long; None for one that is being played.
        """
        idle = time.monotonic() - self.touched
        if self.sitting.seat.over:
            return 0, -idle
        if not self.log:
            return 1, -idle
        return (2, -idle) if idle > IDLE_SECONDS else None

    def answer(self, turn: int, line: str) -> None:
        """Take an answer to what was shown in a turn; one that comes a second time changes
        nothing.
        """
        with self.lock:
            seat = self.sitting.seat
            if turn != len(self.log) or seat.over:
                return
            shown = seat.shown().text
            said = self.sitting.answer(line)
            self.log.append({"shown": shown, "typed": line, "said": said.text, "good": said.good})
            self._end()

    def stop(self) -> None:
        """The person leaves."""
        with self.lock:
            if not self.sitting.seat.over:
                if left := self.sitting.seat.stop():
                    self.log.append({"shown": left, "typed": "", "said": "", "good": None})
                self._end()

    def _end(self) -> None:
        seat, folder = self.sitting.seat, self.sitting.folder
        if not seat.over:
            return
        if not seat.scored:
            self.kept = "Too little was answered to be scored."
            return
        kept = self.sitting.keep()
        records = kept or [outcome.record for outcome in self.sitting.outcomes()]
        # The summary has the mean of several runs.
        entries = [] if len(records) > 1 else list(records[0].scores.values())
        self.scores = [
            (name, value) for entry in entries for name, value in entry["values"].items()
        ]
        self.kept = (
            f"Kept as {counted(len(kept), 'run')}. To see it with those of learners: quickstudy"
            f" serve {folder}"
            if kept
            else "Not kept: start with --out results to keep sessions."
        )

    def facts(self) -> dict[str, Any]:
        """All that the page shows, in plain types."""
        with self.lock:
            seat = self.sitting.seat
            found = {
                "turn": len(self.log),
                "over": seat.over,
                "progress": seat.progress,
                "log": self.log,
                "reference": seat.reference,
                "explained": seat.explained,
                "person": self.person,
                "title": seat.title,
            }
            if seat.over:
                return {
                    **found,
                    "summary": seat.summary(),
                    "kept": self.kept,
                    "scores": plain(self.scores),
                }
            shown = self.sitting.shown()
            picture = joined(*(part for block in shown.picture for part in drawn(block)))
            return {
                **found,
                "text": shown.text,
                "ask": shown.ask,
                "choices": shown.choices,
                "picture": picture,
                "paced": shown.paced,
                "seconds": shown.seconds,
            }


class Room:
    """The players of an invitation. folder: where sessions are kept; None: nowhere.

    Every browser is a person with an id of its own, by which sessions are kept. The first one has
    the name of the invitation, if that has one; the others add a random id.
    """

    def __init__(self, invitation: Invitation, folder: pathlib.Path | None) -> None:
        self.invitation, self._folder = invitation, folder
        self._places: dict[str, Place] = {}
        self._people: set[str] = set()
        self._lock = threading.Lock()

    def sit(self, person: str = "") -> str:
        """A new session; gives its name. person: the id that a browser was given before; one that
        was not given here is replaced by a new one. Raises HTTPException where there is no room.
        """
        with self._lock:
            if person not in self._people:
                person = self._another()
            own = {name: place for name, place in self._places.items() if place.person == person}
            for name in [name for name, place in own.items() if not place.log]:
                del self._places[name]  # it was only looked at: its data are still unseen
            self._make_room()
            taken = {
                number
                for place in own.values()
                if place.log
                for number in place.sitting.repetitions
            }
            invitation = dataclasses.replace(self.invitation, name=person)
            name = secrets.token_urlsafe(9)
            self._places[name] = Place(Sitting.after_all(invitation, self._folder, taken))
            return name

    def _another(self) -> str:
        own = self.invitation.name
        made = (
            own
            if own and not self._people
            else f"{own[:30]}{'-' if own else ''}{secrets.token_hex(4)}"
        )
        self._people.add(made)
        return made

    def _make_room(self) -> None:
        while len(self._places) >= MOST_SEATS:
            ways = {
                name: way
                for name, place in self._places.items()
                if (way := place.gives_way()) is not None
            }
            if not ways:
                raise HTTPException(
                    503, f"{MOST_SEATS} people are playing already; try again later"
                )
            leaving = self._places.pop(min(ways, key=ways.__getitem__))
            if leaving.log:
                leaving.stop()  # which keeps what was played

    def place(self, name: str) -> Place:
        """One session. Raises HTTPException where there is none of that name."""
        try:
            place = self._places[name]
        except KeyError:
            raise HTTPException(404, "there is no such session; begin another") from None
        place.touched = time.monotonic()
        return place


def player(room: Room, word: str, hosts: tuple[str, ...] = LOOPBACK) -> Starlette:
    """The page of a room as a web application, under a random word."""

    async def page(request: Request) -> Response:
        nonce = secrets.token_urlsafe(12)
        policy = (
            f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}';"
            " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return HTMLResponse(_page(nonce), headers={**HEADERS, "Content-Security-Policy": policy})

    async def sit(request: Request) -> Response:
        person = (await _asked(request)).get("person", "")
        name = await run_in_threadpool(room.sit, person if isinstance(person, str) else "")
        return await _facts(room, name)

    async def look(request: Request) -> Response:
        return await _facts(room, request.path_params["name"])

    async def answer(request: Request) -> Response:
        given, name = await _asked(request), request.path_params["name"]
        turn, line = given.get("turn"), given.get("line")
        if (
            type(turn) is not int or not isinstance(line, str) or len(line) > _MOST_LETTERS
        ):  # True is an int too
            raise HTTPException(400, "an answer has a turn and a line of at most 4,000 letters")
        if any(
            "\ud800" <= letter <= "\udfff" for letter in line
        ):  # half of a character cannot be sent back
            raise HTTPException(400, "the line has a character that is not whole")
        try:
            await run_in_threadpool(room.place(name).answer, turn, line)
        except UsageError as error:
            return JSONResponse({"fault": str(error)}, 422, headers=HEADERS)
        return await _facts(room, name)

    async def stop(request: Request) -> Response:
        await _asked(request)
        await run_in_threadpool(room.place(request.path_params["name"]).stop)
        return await _facts(room, request.path_params["name"])

    async def refused(request: Request, error: Exception) -> Response:
        status, said = (
            (error.status_code, error.detail)
            if isinstance(error, HTTPException)
            else (500, str(error))
        )
        return JSONResponse({"fault": said}, status, headers=HEADERS)

    routes = [
        Route(f"/{word}/", page),
        Route(f"/{word}/sit", sit, methods=["POST"]),
        Route(f"/{word}/seat/{{name}}", look),
        Route(f"/{word}/seat/{{name}}/answer", answer, methods=["POST"]),
        Route(f"/{word}/seat/{{name}}/stop", stop, methods=["POST"]),
    ]
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    faults: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        HTTPException: refused,
        QuickstudyError: refused,
    }
    return Starlette(routes=routes, middleware=[guard], exception_handlers=faults)


async def _asked(request: Request) -> dict[str, Any]:
    """What a request that changes something brings. Raises HTTPException unless it comes from our
    own page.
    """
    # A form or a picture of another page can send a request here, but never with our origin, nor
    # JSON unasked.
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if (
        request.headers.get("origin") != own
        or request.headers.get("sec-fetch-site", "same-origin") != "same-origin"
    ):
        raise HTTPException(403, "answers are taken from the page of this server alone")
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "send JSON")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, "too long")
    try:
        given = json.loads(body or b"{}")
        json.dumps(given, ensure_ascii=False).encode()  # what cannot be sent back is not taken
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "no JSON") from error
    if not isinstance(given, dict):
        raise HTTPException(400, "send an object")
    return given


async def _facts(room: Room, name: str) -> Response:
    found = await run_in_threadpool(room.place(name).facts)
    return JSONResponse({"name": name, **found}, headers=HEADERS)


def _own(name: str) -> Markup:
    return Markup(
        resources.files("quickstudy.web").joinpath("assets", name).read_text(encoding="utf-8")
    )


def _page(nonce: str) -> str:
    head = joined(
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Markup('<meta name="color-scheme" content="light dark">'),
        tag("title", "quickstudy play"),
        tag("style", asset("picture.css"), asset("page.css"), _own("play.css"), nonce=nonce),
    )
    form = tag(
        "form",
        tag("label", "", for_="line", id="ask"),
        tag("div", id="choices", role="group", aria_labelledby="ask"),
        tag(
            "div",
            Markup(
                '<input id="line" autocomplete="off" autocapitalize="off" autocorrect="off"'
                ' spellcheck="false">'
            ),
            tag("button", "Answer", type="submit", class_="main"),
            class_="typed",
        ),
        tag("p", "", id="fault", role="alert"),
        id="form",
    )
    main = tag(
        "main",
        tag(
            "header",
            tag("p", "quickstudy play", class_="eyebrow"),
            tag("p", "", id="person", class_="eyebrow"),
            tag("h1", "", id="title"),
            tag("p", breakable(""), id="explained"),
        ),
        tag(
            "div",
            tag(
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
            ),
            tag(
                "aside",
                tag(
                    "pre",
                    "",
                    id="reference",
                    hidden=True,
                    tabindex=0,
                    aria_label="To look at all the time",
                ),
                tag("h2", "So far"),
                tag("ol", id="log", tabindex=0, aria_label="So far, the newest first"),
                aria_label="So far",
            ),
            class_="table-top",
        ),
        tag(
            "noscript",
            tag(
                "p", "This page needs its script: without it, play in the terminal.", class_="note"
            ),
        ),
    )
    script = tag("script", _own("play.js"), nonce=nonce)
    return (
        "<!doctype html>\n<html"
        f' lang="en">\n<head>{head}</head>\n<body>{main}{script}</body>\n</html>\n'
    )
