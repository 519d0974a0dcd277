"""The page of the teacher: who plays now, how far each is, and the class next to the learners."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from quickstudy.base.blocks import Block, Column, Group, Line, Page, Table, Text
from quickstudy.base.canonical import digest
from quickstudy.render.html import as_html
from quickstudy.report.build import gather
from quickstudy.report.class_chart import class_chart
from quickstudy.report.tables import marks_of
from quickstudy.report.words import counted
from quickstudy.runs.folder import RUNS
from quickstudy.runs.results import ResultsFolder
from quickstudy.web.app import HEADERS
from quickstudy.web.room import Place, Room

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{}'; img-src data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_RESTING = 120.0
"""Seconds without an answer or a look after which a player is shown as away."""


def class_route(room: Room, word: str, code: str) -> Route:
    """The address of the teacher's page. word: its random first part."""
    shelf = ResultsFolder(room.folder) if room.folder else None

    async def page(request: Request) -> Response:
        mark = await run_in_threadpool(_mark, room, shelf)
        if "mark" in request.query_params:
            return PlainTextResponse(mark, headers=HEADERS)
        nonce = secrets.token_urlsafe(12)
        found = await run_in_threadpool(class_page, room, code)
        headers = {**HEADERS, "Content-Security-Policy": _POLICY.format(nonce)}
        return HTMLResponse(as_html(found, live=mark, nonce=nonce), headers=headers)

    return Route(f"/{word}/", page)


def class_page(room: Room, code: str) -> Page:
    """The present players, and the chart of all stored sessions."""
    places = room.places()
    blocks: list[Block] = [Text(f"Room code: {code}"), *_chart(room)]
    if places:
        columns = [
            Column(name, numeric=False) for name in ("player", "how far", "answers", "state")
        ]
        lines = [
            Line(
                [
                    place.person,
                    place.sitting.seat.progress,
                    str(len(place.sitting.seconds)),
                    _state(place),
                ]
            )
            for place in places
        ]
        blocks.append(Table("players", "Sessions of now.", columns, [Group(lines)]))
    else:
        blocks.append(Text("There are no players yet."))
    where = f"kept in {room.folder}" if room.folder else "not kept: start with --out to keep them"
    under = [f"{counted(len(places), 'session')} now, {where}"]
    return Page(f"Class on {room.invitation.task}", blocks, under, "quickstudy play")


def _chart(room: Room) -> Iterator[Block]:
    """The class on the task that is played, if sessions are kept and two people have ended one."""
    if room.folder is None or not any((room.folder / RUNS).glob("*.jsonl")):
        return
    data = gather([room.folder])
    played = room.invitation
    for number, table in enumerate(data.tables):
        task = table.rows[0].setting.get("task")
        id = task.get("id") if isinstance(task, dict) else ""
        if id == played.task.partition(":")[0] and table.convention == played.convention:
            yield from class_chart(table, marks_of(data), f"class-{number}")


def _state(place: Place) -> str:
    if place.sitting.seat.over:
        return "finished"
    if not place.log:
        return "has not answered yet"
    return "away" if place.idle > _RESTING else "plays"


def _mark(room: Room, shelf: ResultsFolder | None) -> str:
    """Something that changes when the page does."""
    kept = sorted(shelf.reading().records) if shelf else []
    places = [(place.person, len(place.log), _state(place)) for place in room.places()]
    return digest([places, kept])[:16]
