"""The server of the dashboard and of the page to play on."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import pathlib
import secrets
import socket
import webbrowser
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from quickstudy.base.errors import UsageError
from quickstudy.base.text import counted
from quickstudy.play.keeping import Invitation
from quickstudy.web.app import LOOPBACK, application
from quickstudy.web.class_page import class_route
from quickstudy.web.door import Door, names_of
from quickstudy.web.playing import player
from quickstudy.web.room import Room, Rules

MOST_CONNECTIONS = 256
"""Connections at once: a further one is answered by status 503."""
REQUEST_SECONDS = 10.0
"""That a client may take to send its first request."""


def serve_forever(
    places: Sequence[pathlib.Path], host: str, port: int, open_it: bool, say: Callable[[str], None]
) -> None:
    """Listen until interrupted. Raises UsageError where the address cannot be had."""
    with contextlib.closing(_listening(host, port)) as listener:
        bound = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{bound}/"
        say(f"Dashboard: {address}  (Ctrl-C ends it)")
        if not _is_loopback(host):
            say(f"Anybody who reaches {host} can read: {', '.join(map(str, places))}")
        if open_it:
            webbrowser.open(address)
        # Elsewhere it may be called by any name; here only by those of this machine.
        hosts = [*LOOPBACK, host] if _is_loopback(host) else ["*"]
        server_of(application(places, hosts)).run(sockets=[listener])


def play_forever(
    invitation: Invitation,
    folder: pathlib.Path | None,
    port: int,
    open_it: bool,
    say: Callable[[str], None],
) -> None:
    """Let people play until interrupted, on this machine alone. Raises UsageError for what cannot
    be played.
    """
    invitation.seat()  # report the error here, not in the browser
    word, room = secrets.token_urlsafe(12), Room(invitation, folder)
    with contextlib.closing(_listening(LOOPBACK[0], port)) as listener:
        address = f"http://{LOOPBACK[0]}:{listener.getsockname()[1]}/{word}/"
        say(f"Play {invitation.task}: {address}  (Ctrl-C ends it)")
        say(_kept(folder))
        if open_it:
            webbrowser.open(address)
        _until_interrupted(player(room, word), room, listener, say)


def teach_forever(
    invitation: Invitation,
    folder: pathlib.Path | None,
    host: str,
    port: int,
    rules: Rules,
    open_it: bool,
    say: Callable[[str], None],
) -> None:
    """Let a class play until interrupted: anybody who reaches an address of this machine and
    has the room code. Raises UsageError for what cannot be played, and for an address that is none.
    """
    invitation.seat()
    names, room, door = names_of(host), Room(invitation, folder, rules), Door()
    word, own = secrets.token_urlsafe(12), secrets.token_urlsafe(12)
    with contextlib.closing(_listening(names[-1], port)) as listener:
        address = f"http://{host}:{listener.getsockname()[1]}/"
        say(f"Play {invitation.task}: {address}")
        say(f"Room code: {door.shown}  (or the link {address}#{door.code})")
        say(f"The class, for you alone: {address}{own}/")
        say(_kept(folder))
        say("The connection is not encrypted: who shares the network can read along.")
        say("Ctrl-C ends it, and keeps what was played.")
        if open_it:
            webbrowser.open(f"{address}{own}/")
        more = [*door.routes(word), class_route(room, own, door.shown)]
        _until_interrupted(player(room, word, names, more), room, listener, say)


def _kept(folder: pathlib.Path | None) -> str:
    if folder is None:
        return "Sessions are not kept; give --out to keep them"
    return f"Sessions that end are kept in {folder}"


def _until_interrupted(
    app: Starlette, room: Room, listener: socket.socket, say: Callable[[str], None]
) -> None:
    """Serve; in the end keep what was played in sessions that were going on."""
    try:
        server_of(app).run(sockets=[listener])
    finally:
        if (going := room.close()) and room.folder is not None:
            say(f"{counted(going, 'session')} that went on ended, and what was played is kept")


class _Hasty(H11Protocol):
    """Closes a connection that does not send a whole request in time."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self.loop.call_later(REQUEST_SECONDS, self._close_if_silent)

    def _close_if_silent(self) -> None:
        waiting: Any = (
            self.cycle
        )  # None until the first request has come, against its declared type
        if waiting is None and not self.transport.is_closing():
            self.transport.close()


def server_of(app: Starlette) -> uvicorn.Server:
    """A server with bounds on connections and on the time of a request."""
    settings = uvicorn.Config(
        app,
        http=_Hasty,
        log_level="warning",
        lifespan="off",
        server_header=False,
        access_log=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(settings)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise UsageError(f"--host {host}: {error.strerror or error}") from error
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise UsageError(f"--host {host} is not an address of this machine") from error
        raise UsageError(
            f"{host} port {port}: {error.strerror}; try `--port 0` for a free one"
        ) from error
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
