"""The address of a language model's server: checked before anything runs, and written in one way
only.
"""

from __future__ import annotations

import ipaddress
import urllib.parse
from typing import NamedTuple

_PORTS = {"http": 80, "https": 443}


class ServerUrl(NamedTuple):
    """scheme: `http` or `https`. path: without a slash at its end."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def read(cls, url: str) -> ServerUrl:
        """Raises ValueError, without the text of a password, for what is not the address of a
        server.
        """
        # These come first: only a url without them may be repeated in a message.
        if "@" in url:
            raise ValueError(
                "url must not hold a user name or a password; name the key's variable by key=..."
            )
        if "?" in url or "#" in url:
            raise ValueError(
                "url must not hold a query (? or #): it ends with its path, as http://127.0.0.1:8000/v1"
            )
        wanted = f"url must be as http://127.0.0.1:8000/v1, got {url}"
        if not url.isascii() or not url.isprintable() or " " in url:
            raise ValueError(wanted)
        try:
            parts = urllib.parse.urlsplit(url)
        except ValueError as error:
            raise ValueError(wanted) from error
        if parts.scheme not in _PORTS or not parts.hostname:
            raise ValueError(wanted)
        try:
            port = parts.port or _PORTS[parts.scheme]
        except ValueError as error:
            raise ValueError(f"url has no port that can be: {url}") from error
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))

    def __str__(self) -> str:
        """The same text for the same server, however it was typed."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def local(self) -> bool:
        """Whether the server is on this machine."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:  # the name of another machine
            return False
