"""The dashboard, and the page to play on, behind a port."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import pathlib
import secrets
import socket
import webbrowser
from collections.abc import Callable, Sequence

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from quickstudy.base.errors import UsageError
from quickstudy.play.keeping import Invitation
from quickstudy.web.app import LOOPBACK, application
from quickstudy.web.playing import Room, player


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
            say(f"Everybody who reaches {host} can read: {', '.join(map(str, places))}")
        if open_it:
            webbrowser.open(address)
        # Elsewhere it may be called by any name; here only by those of this machine.
        hosts = [*LOOPBACK, host] if _is_loopback(host) else ["*"]
        _run(application(places, hosts), listener)


def play_forever(
    invitation: Invitation, folder: pathlib.Path | None, port: int, open_it: bool, say: Callable[[str], None]
) -> None:
    """Let people play until interrupted, on this machine alone. Raises UsageError for what cannot be played."""
    invitation.seat()  # what is wrong is said here, not in the browser
    word = secrets.token_urlsafe(12)
    with contextlib.closing(_listening(LOOPBACK[0], port)) as listener:
        address = f"http://{LOOPBACK[0]}:{listener.getsockname()[1]}/{word}/"
        say(f"Play {invitation.task}: {address}  (Ctrl-C ends it)")
        say(f"Sessions that end are kept in {folder}" if folder else "Sessions are not kept; give --out to keep them")
        if open_it:
            webbrowser.open(address)
        _run(player(Room(invitation, folder), word), listener)


class Patient(H11Protocol):
    """Closes a connection that has not sent a whole request head within `patience` seconds: the server's own time limit
    begins only after the first request.
    """

    patience = 20.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self.loop.call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None:
            self.transport.close()


def _run(app: Starlette, listener: socket.socket) -> None:
    settings = uvicorn.Config(
        app, http=Patient, log_level="warning", lifespan="off", server_header=False, access_log=False
    )
    uvicorn.Server(settings).run(sockets=[listener])


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
        raise UsageError(f"{host} port {port}: {error.strerror}; try `--port 0` for a free one") from error
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
