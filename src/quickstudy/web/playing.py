"""Playing in the browser, as a web application: which address does what, and what none does.

This server writes: answers change a session, and a session that ends is kept as a run. So it is
apart from the dashboard, which reads only. It is for people who know its address, which begins with
random words; it answers only to the names that it was given; and an answer is taken from its own
page only, which the browser vouches for (`Origin`). A class has a room code as well
(`quickstudy.web.door`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.web.app import HEADERS, LOOPBACK
from quickstudy.web.play_page import play_page
from quickstudy.web.room import Room

_MOST_BYTES = 20_000
_MOST_LETTERS = 4000
"""Of one answer."""


def player(
    room: Room, word: str, hosts: Sequence[str] = LOOPBACK, more: Sequence[Route] = ()
) -> Starlette:
    """The page of a room as a web application.

    Args:
        room: the players and the task. word: the random first part of the address.
        hosts: names by which the server may be called.
        more: further addresses of the same server.

    """

    async def page(request: Request) -> Response:
        return scripted(lambda nonce: play_page(nonce, room.rules.consent, room.rules.named))

    async def sit(request: Request) -> Response:
        given = await posted(request)
        ticket, name = (str(given.get(part) or "") for part in ("ticket", "name"))
        try:
            seat, ticket = await run_in_threadpool(
                room.sit, ticket, name, given.get("agreed") is True
            )
        except UsageError as error:
            return JSONResponse({"fault": str(error)}, 422, headers=HEADERS)
        return await _facts(room, seat, ticket=ticket)

    async def look(request: Request) -> Response:
        return await _facts(room, request.path_params["name"])

    async def answer(request: Request) -> Response:
        given, name = await posted(request), request.path_params["name"]
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
        await posted(request)
        await run_in_threadpool(room.place(request.path_params["name"]).stop)
        return await _facts(room, request.path_params["name"])

    routes = [
        Route(f"/{word}/", page),
        Route(f"/{word}/sit", sit, methods=["POST"]),
        Route(f"/{word}/seat/{{name}}", look),
        Route(f"/{word}/seat/{{name}}/answer", answer, methods=["POST"]),
        Route(f"/{word}/seat/{{name}}/stop", stop, methods=["POST"]),
        *more,
    ]
    guard = Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    faults: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        HTTPException: _refused,
        QuickstudyError: _refused,
    }
    return Starlette(routes=routes, middleware=[guard], exception_handlers=faults)


def scripted(page: Callable[[str], str]) -> Response:
    """A page whose own script and style run, and no others. page: its HTML, by their nonce."""
    nonce = secrets.token_urlsafe(12)
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}';"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(page(nonce), headers={**HEADERS, "Content-Security-Policy": policy})


async def _refused(request: Request, error: Exception) -> Response:
    known = isinstance(error, HTTPException)
    status, said = (error.status_code, error.detail) if known else (500, str(error))  # type: ignore[attr-defined]
    return JSONResponse({"fault": said}, status, headers=HEADERS)


async def posted(request: Request) -> dict[str, Any]:
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


async def _facts(room: Room, name: str, **more: str) -> Response:
    found = await run_in_threadpool(room.place(name).facts)
    return JSONResponse({"name": name, **found, **more}, headers=HEADERS)
