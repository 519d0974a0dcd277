"""The API key of a server: read from an environment variable, sent to that server alone, taken out
of every text.
"""

from __future__ import annotations

import os
import re

from quickstudy.adapters.server_url import ServerUrl
from quickstudy.base.errors import UsageError

USUAL = "OPENAI_API_KEY"
OWN_SERVER = "https://api.openai.com"
"""The server that the usual key belongs to."""
FRAGMENT = 8
"""Characters of a key that are concealed even without the rest of it: a message may have been cut
within the key.
"""
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*_)?API_KEY", re.ASCII)


def check_key_name(name: str) -> None:
    """Raise ValueError for what cannot be the name of a variable with an API key. The text is not
    repeated: it may be the key itself.
    """
    if name and not _NAME.fullmatch(name):
        raise ValueError(
            "key must be the name of an environment variable, one that ends in API_KEY, as"
            f" key=OPENAI_API_KEY; what was given ({len(name)} characters) is not shown, in case it"
            " is the key"
        )


def read_key(name: str, server: ServerUrl) -> str:
    """The key for a server; empty: none is sent.

    name: of the variable that holds it. Without a name the usual variable is read, for its own
    server and for servers on this machine only: no other server is sent a key that the user has not
    named. Raises UsageError, without the key, if a variable that was named is not set, or holds
    what no key holds.
    """
    if not name and not (
        server.local or str(server).startswith(f"{OWN_SERVER}/") or str(server) == OWN_SERVER
    ):
        return ""
    key = os.environ.get(name or USUAL, "").strip()
    if name and not key:
        raise UsageError(
            f"openai: the environment variable {name} is not set; type: export {name}=..."
        )
    if not all("!" <= letter <= "~" for letter in key):
        raise UsageError(
            f"openai: the environment variable {name or USUAL} holds a character that no key has (a"
            " blank, a line break, a letter outside ASCII); set it again"
        )
    return key


def concealed(text: str, key: str) -> str:
    """A text without the key, and without any longer part of it.

    >>> concealed("no such key: sk-abcdefgh123", "sk-abcdefgh1234567")
    'no such key: [key]'
    """
    if len(key) < FRAGMENT:
        return text.replace(key, "[key]") if key else text
    parts = {key[start : start + FRAGMENT] for start in range(len(key) - FRAGMENT + 1)}
    hidden = [False] * len(text)
    for start in range(len(text) - FRAGMENT + 1):
        if text[start : start + FRAGMENT] in parts:
            hidden[start : start + FRAGMENT] = [True] * FRAGMENT
    marked = "".join(
        "\0" if secret else letter
        for letter, secret in zip(text.replace("\0", " "), hidden, strict=True)
    )
    return re.sub("\0+", "[key]", marked)
