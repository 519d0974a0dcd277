"""A language model behind a server that speaks the completions or the chat protocol, as a learner in its context.

    quickstudy run language/periodic --learner "openai:url=http://127.0.0.1:8000/v1,model=my-7b" --seeds 2

Log-probabilities are asked for; where the server gives none, its answers count. What was answered is kept in the user's
cache: a run that failed, for want of a server or of tokens, goes on by the same command, and pays for nothing twice.
Only the standard library.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.adapters.answers import KeptAnswers, Said
from quickstudy.adapters.in_context import ContextPupil, begin_in_context
from quickstudy.base.canonical import digest
from quickstudy.base.catalogue import learner
from quickstudy.base.errors import Unavailable, UsageError
from quickstudy.base.learner import Brief, Pace
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens

LONGEST = 1 << 20
"""Bytes that are read of a reply: an answer takes a few hundred."""
PATIENCE = 60.0
"""Seconds that are waited at most between two attempts."""


class Refused(Exception):
    """An attempt failed. again: another may not. after: seconds that the server asks to wait."""

    def __init__(self, reason: str, again: bool = True, after: float = 0.0) -> None:
        super().__init__(reason)
        self.again, self.after = again, after


@learner("openai", version=1)
@dataclass(frozen=True)
class Server:
    """A language model behind a server, learning in its context: examples stand in the prompt, symbols renamed.

    url: of the protocol's root, as http://127.0.0.1:8000/v1. model: its name there. protocol: `completions`, or `chat`.
    shared: inputs and answers have the same letters, where there are as many of both. window: examples in the context,
    the last ones; 0: all. Temperature is 0.

    What makes no difference to an answer is no part of the identity: url; key, the name of the environment variable
    that has the key; spend, tokens that may be spent on a run, 0: any number; retries of a request; seconds that a
    request may take; per_minute, requests that are sent at most, 0: any number; at_once, side by side; kept, whether
    answers are kept. Whatever else is changed on the server's side: raise `edition`.
    """

    url: str = parameter("", place=True)
    model: str = parameter("")
    protocol: str = parameter("completions", choices=("completions", "chat"))
    shared: bool = parameter(True)
    window: int = parameter(0, at_least=0)
    edition: int = parameter(1, at_least=1)
    key: str = parameter("OPENAI_API_KEY", place=True)
    spend: int = parameter(0, at_least=0, place=True)
    retries: int = parameter(5, at_least=0, place=True)
    seconds: float = parameter(60.0, above=0.0, place=True)
    per_minute: int = parameter(0, at_least=0, place=True)
    at_once: int = parameter(4, at_least=1, place=True)
    kept: bool = parameter(True, place=True)

    pace: ClassVar[Pace] = Pace()
    reads: ClassVar[tuple[type, ...]] = (Tokens,)
    gives: ClassVar[tuple[type, ...]] = (Tokens,)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> ContextPupil:
        """Nothing in its context yet. Raises UsageError if no server or model is named."""
        if not self.url or not self.model:
            raise UsageError("openai: which server and model? type openai:url=http://127.0.0.1:8000/v1,model=NAME")
        kept = KeptAnswers(digest({"url": self.url, "edition": self.edition})) if self.kept else None
        return begin_in_context(lambda: Client(self, kept), brief, streams, self.shared, self.window, self.spend, kept)


class Client:
    """Talks to a server: one connection per request, so that one that was cut off harms no other.

    kept: where it is found whether the server gives probabilities, if that was asked before.
    """

    parameters: int | None = None

    def __init__(self, settings: Server, kept: KeptAnswers | None = None) -> None:
        parts = urllib.parse.urlsplit(settings.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"openai: url must be as http://127.0.0.1:8000/v1, got {settings.url}")
        try:
            self._host, self._port = parts.hostname, parts.port
        except ValueError as error:
            raise UsageError(f"openai: url has no port that can be: {settings.url}") from error
        self._settings, self._secure = settings, parts.scheme == "https"
        way = "/completions" if settings.protocol == "completions" else "/chat/completions"
        self._path = parts.path.rstrip("/") + way
        self._lock, self._next = threading.Lock(), 0.0
        self.at_once = settings.at_once
        self.likely = True
        self.likely = self._tried(kept).likely is not None

    def _tried(self, kept: KeptAnswers | None) -> Said:
        prompt = "a b a b a"
        name = digest(self.request(prompt))
        said = (None if kept is None else kept.get(name)) or self.say(prompt)
        if kept is not None and kept.get(name) is None:
            kept.put(name, said)
        return said

    def say(self, prompt: str, answers: Sequence[str] = ()) -> Said:
        """By as many attempts as are allowed."""
        body = self.request(prompt)
        reason = ""
        for attempt in range(self._settings.retries + 1):
            self._wait_for_turn()
            try:
                said = understood(self._posted(body), self._settings.protocol)
            except Refused as refusal:
                reason = str(refusal)
                if not refusal.again:
                    raise Unavailable(f"the server refuses: {reason}") from refusal
                if attempt < self._settings.retries:
                    time.sleep(min(PATIENCE, max(refusal.after, 0.05 * 4**attempt)))
                continue
            return said
        raise Unavailable(
            f"the server gave no answer in {self._settings.retries + 1} attempts, the last: {reason}; what was "
            "answered is kept: run again"
        )

    def close(self) -> None:
        """Nothing is open."""

    def request(self, prompt: str, answers: Sequence[str] = ()) -> dict[str, Any]:
        """The body of a request."""
        body: dict[str, Any] = {"model": self._settings.model, "temperature": 0, "max_tokens": 1 if self.likely else 4}
        if self._settings.protocol == "completions":
            return {**body, "prompt": prompt, **({"logprobs": 20} if self.likely else {})}
        asked = "\nGive the next symbol only."
        more = {"logprobs": True, "top_logprobs": 20} if self.likely else {}
        return {**body, "messages": [{"role": "user", "content": prompt + asked}], **more}

    def _wait_for_turn(self) -> None:
        if not self._settings.per_minute:
            return
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._next)
            self._next = turn + 60.0 / self._settings.per_minute
        time.sleep(max(0.0, turn - now))

    def _posted(self, body: dict[str, Any]) -> bytes:
        until = time.monotonic() + self._settings.seconds
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._settings.seconds)
        headers = {"Content-Type": "application/json"}
        if secret := os.environ.get(self._settings.key):
            headers["Authorization"] = f"Bearer {secret}"
        reply: http.client.HTTPResponse | None = None
        try:
            connection.request("POST", self._path, json.dumps(body).encode(), headers)
            reply = connection.getresponse()
            read = bytearray()
            # The time allowed is that of the whole reply: one that comes drop by drop must end too.
            while (piece := reply.read1(65536)) and len(read) <= LONGEST:
                read += piece
                if time.monotonic() > until:
                    raise TimeoutError
            if reply.length:
                raise Refused(f"the reply was cut off after {len(read)} bytes")
        except TimeoutError as error:
            raise Refused(f"it took more than {self._settings.seconds:g} seconds") from error
        except (OSError, http.client.HTTPException) as error:
            raise Refused(f"no connection to {self._host}: {error or type(error).__name__}") from error
        finally:
            if reply is not None:  # of a server that ends the connection the reply has the socket
                reply.close()
            connection.close()
        if reply.status != 200:
            said = " ".join(bytes(read[:200]).decode(errors="replace").split())
            again = reply.status in (408, 409, 425, 429) or reply.status >= 500
            raise Refused(f"status {reply.status}, {said or 'without a word'}", again, _seconds(reply))
        return bytes(read)


def _seconds(reply: http.client.HTTPResponse) -> float:
    try:
        return max(0.0, float(reply.headers.get("Retry-After", "0")))
    except ValueError:  # a date: as if nothing was said
        return 0.0


def understood(reply: bytes, protocol: str) -> Said:
    """What a reply says. Raises Refused if it is not of the protocol."""
    try:
        whole = json.loads(reply)
        choice = whole["choices"][0]
        text = choice["text"] if protocol == "completions" else choice["message"]["content"] or ""
        tokens = int((whole.get("usage") or {}).get("total_tokens") or 0)
        given = choice.get("logprobs") or {}
        if protocol == "completions":
            listed = (given.get("top_logprobs") or [None])[0]
            pairs = None if listed is None else list(listed.items())
        else:
            content = given.get("content") or []
            pairs = [(one["token"], one["logprob"]) for one in content[0]["top_logprobs"]] if content else None
        likely = {str(token): float(logarithm) for token, logarithm in pairs} if pairs else None
        if not isinstance(text, str):
            raise TypeError
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise Refused(f"the reply is not of the {protocol} protocol: {bytes(reply[:80])!r}") from error
    return Said(likely, text, tokens)
