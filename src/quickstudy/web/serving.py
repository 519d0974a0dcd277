"""The server of the dashboard and of the page to play on."""

from __future__ import annotations

import contextlib
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
from quickstudy.play.keeping import Invitation
from quickstudy.web.app import LOOPBACK, application
from quickstudy.web.playing import Room, player

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
    word = secrets.token_urlsafe(12)
    with contextlib.closing(_listening(LOOPBACK[0], port)) as listener:
        address = f"http://{LOOPBACK[0]}:{listener.getsockname()[1]}/{word}/"
        say(f"Play {invitation.task}: {address}  (Ctrl-C ends it)")
        say(
            f"Sessions that end are kept in {folder}"
            if folder
            else "Sessions are not kept; give --out to keep them"
        )
        if open_it:
            webbrowser.open(address)
        server_of(player(Room(invitation, folder), word)).run(sockets=[listener])


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
        raise UsageError(
            f"{host} port {port}: {error.strerror}; try `--port 0` for a free one"
        ) from error
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
