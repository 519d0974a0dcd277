"""The door of a class: a player who types the room code gets the address of the page to play on.

A code has six signs of thirty, so there are 7.3e8. Five wrong ones in a minute from one address,
or sixty from all, and the door stays shut for the rest of that minute: an attacker who tries for
eight hours finds the code with a chance of 4 in 100,000.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections import deque
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from quickstudy.base.errors import UsageError
from quickstudy.web.app import HEADERS
from quickstudy.web.play_page import door_page
from quickstudy.web.playing import posted, scripted

SIGNS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""No two of them look alike."""
LETTERS = 6
MINUTE = 60.0
MOST_WRONG = 5
"""Wrong codes from one address in a minute."""
MOST_WRONG_OF_ALL = 60
_NO_ADDRESSES = ("0.0.0.0", "::", "*", "")


class Door:
    """A room code, and how often it was typed wrongly.

    Args:
        code: what must be typed; small letters, spaces and hyphens do not matter.

    """

    def __init__(self, code: str = "") -> None:
        self.code = code or "".join(secrets.choice(SIGNS) for _ in range(LETTERS))
        self._wrong: dict[str, deque[float]] = {}

    @property
    def shown(self) -> str:
        """The code in two halves, to read aloud."""
        half = len(self.code) // 2
        return f"{self.code[:half]}-{self.code[half:]}"

    def check(self, typed: str, address: str) -> None:
        """Raise HTTPException for a wrong code, and for any code after too many wrong ones."""
        since = time.monotonic() - MINUTE
        for other, times in list(self._wrong.items()):
            while times and times[0] < since:
                times.popleft()
            if not times:
                del self._wrong[other]
        own = len(self._wrong.get(address, ()))
        if own >= MOST_WRONG or sum(map(len, self._wrong.values())) >= MOST_WRONG_OF_ALL:
            raise HTTPException(429, "too many wrong codes; wait a minute")
        given = "".join(sign for sign in typed.upper() if sign.isalnum())
        if not secrets.compare_digest(given.encode(), self.code.encode()):
            self._wrong.setdefault(address, deque()).append(time.monotonic())
            raise HTTPException(403, "this is not the room code")

    def routes(self, word: str) -> Sequence[Route]:
        """The addresses of the door. word: what the address of the page to play on begins with."""

        async def page(request: Request) -> Response:
            return scripted(door_page)

        async def enter(request: Request) -> Response:
            typed = (await posted(request)).get("code")
            address = request.client.host if request.client else ""
            self.check(typed if isinstance(typed, str) else "", address)
            return JSONResponse({"address": f"/{word}/"}, headers=HEADERS)

        return [Route("/", page), Route("/enter", enter, methods=["POST"])]


def names_of(host: str) -> list[str]:
    """The names by which a server at this address may be called.

    Raises UsageError for an address that is not one of this machine's, but all of them.
    """
    if host in _NO_ADDRESSES:
        known = ", ".join(own_addresses()) or "none was found"
        raise UsageError(
            f'--host "{host}" is every network that this machine is in; name the one address that'
            f" the class reaches (of this machine: {known})"
        )
    try:
        address = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
    except OSError as error:
        raise UsageError(
            f"--host {host}: {error.strerror or error}; give the name or the IPv4 address of this"
            " machine"
        ) from error
    return list(dict.fromkeys([host, str(address)]))


def own_addresses() -> list[str]:
    """The IPv4 addresses that this machine has, as far as it knows them."""
    found: list[str] = []
    try:
        known = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        found += [str(one[4][0]) for one in known]
    except OSError:  # it does not know its own name
        pass
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # chooses a network; nothing is sent
            found.append(probe.getsockname()[0])
        except OSError:
            pass
    return sorted({one for one in found if not one.startswith("127.")})
