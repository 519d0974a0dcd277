"""Requests to a server that speaks the completions or the chat protocol, and its replies."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quickstudy.adapters.api_key import FRAGMENT, concealed, read_key
from quickstudy.adapters.llm_cache import KeptAnswers, Said, estimated_tokens
from quickstudy.adapters.server_url import ServerUrl
from quickstudy.base.canonical import digest
from quickstudy.base.errors import Unavailable

if TYPE_CHECKING:
    from quickstudy.adapters.openai import Server

LONGEST = 1 << 20
"""Bytes of a reply that are read: an answer takes a few hundred."""
QUOTED = 200
"""Letters of a server's message that are repeated."""
PATIENCE = 60.0
"""Seconds between two attempts, at most."""
LIKELIEST = (20, 5, 0)
"""Log-probabilities that are asked for: some servers give at most 5, some none."""
LIMITS = ("max_tokens", "max_completion_tokens")
"""Names of the longest answer in a request: newer chat models accept only the second."""
WORDS = 16
"""Tokens of an answer that is read as text: enough for "The answer is k."."""
PROBE = "a b a b a"
"""The first prompt, which only finds out what the server accepts."""


class Refused(Exception):
    """An attempt failed. again: another may succeed. after: seconds that the server asks to wait.
    status: of its reply.

    Its text never holds the key, and it is raised without the error that caused it: a traceback is
    stored.
    """

    def __init__(
        self, reason: str, again: bool = True, after: float = 0.0, status: int = 0
    ) -> None:
        super().__init__(reason)
        self.again, self.after, self.status = again, after, status


@dataclass(frozen=True)
class RequestForm:
    """How a request is written. likeliest: log-probabilities that are asked for. limit: name of the
    longest answer.
    """

    likeliest: int
    limit: str = LIMITS[0]

    def after(self, refusal: str) -> RequestForm | None:
        """The form to try when the server has refused this one with some words; None when there is
        no other.
        """
        longer = replace(self, limit=LIMITS[1]) if self.limit == LIMITS[0] else None
        if longer and any(name in refusal for name in LIMITS):
            return longer
        fewer = [number for number in LIKELIEST if number < self.likeliest]
        return replace(self, likeliest=fewer[0]) if fewer else longer


class Client:
    """Talks to a server, with one connection per request, so that a broken one harms no other.

    kept: answers given before, among them that to the first prompt. likely: whether the server
    gives log-probabilities.
    """

    parameters: int | None = None

    def __init__(self, settings: Server, kept: KeptAnswers | None = None) -> None:
        self._settings, self._server = settings, ServerUrl.read(settings.url)
        self._key = read_key(settings.key, self._server)
        way = "/completions" if settings.protocol == "completions" else "/chat/completions"
        self._path = self._server.path + way
        self._lock, self._next = threading.Lock(), 0.0
        self.at_once = settings.at_once
        self._form = RequestForm(LIKELIEST[0] if settings.logprobs else 0)
        self.likely = self._tried(kept).likely is not None
        if not self.likely:
            self._form = replace(self._form, likeliest=0)

    def _tried(self, kept: KeptAnswers | None) -> Said:
        """The answer to the first prompt, in the first form that the server accepts."""
        while True:
            name = digest(self.request(PROBE))
            if kept is not None and (said := kept.get(name)) is not None:
                return said
            try:
                said = self._attempted(PROBE)
            except Refused as refusal:
                form = self._form.after(str(refusal)) if refusal.status in (400, 422) else None
                if form is None:
                    raise self._unavailable(refusal) from None
                self._form = form
                continue
            if kept is not None:
                kept.put(name, said)
            return said

    def say(self, prompt: str, answers: Sequence[str] = ()) -> Said:
        """The server's answer. Raises Unavailable when all attempts have failed."""
        try:
            return self._attempted(prompt)
        except Refused as refusal:
            raise self._unavailable(refusal) from None

    def close(self) -> None:
        """No connection is left open."""

    def request(self, prompt: str, answers: Sequence[str] = ()) -> dict[str, Any]:
        """The body of a request."""
        likeliest, chat = self._form.likeliest, self._settings.protocol == "chat"
        length = {self._form.limit: 1 if likeliest else WORDS}
        body: dict[str, Any] = {"model": self._settings.model, "temperature": 0, **length}
        if not chat:
            return {**body, "prompt": prompt, **({"logprobs": likeliest} if likeliest else {})}
        asked = "\nGive the next symbol only."
        more = {"logprobs": True, "top_logprobs": likeliest} if likeliest else {}
        return {**body, "messages": [{"role": "user", "content": prompt + asked}], **more}

    def _attempted(self, prompt: str) -> Said:
        """With as many attempts as are allowed."""
        body = self.request(prompt)
        for attempt in range(self._settings.retries + 1):
            self._wait_for_turn()
            try:
                said = self._without_key(understood(self._posted(body), self._settings.protocol))
            except Refused as refusal:
                if not refusal.again or attempt == self._settings.retries:
                    raise Refused(
                        concealed(str(refusal), self._key)[: 2 * QUOTED],
                        refusal.again,
                        status=refusal.status,
                    ) from None
                time.sleep(min(PATIENCE, max(refusal.after, 0.05 * 4**attempt)))
            else:
                return (
                    said
                    if said.tokens
                    else said._replace(tokens=estimated_tokens(prompt + said.text))
                )
        raise AssertionError("there is at least one attempt")

    def _unavailable(self, refusal: Refused) -> Unavailable:
        if not refusal.again:
            return Unavailable(f"the server refuses: {refusal}")
        return Unavailable(
            f"the server gave no answer in {self._settings.retries + 1} attempts, the last:"
            f" {refusal}; what was answered is kept: run again"
        )

    def _without_key(self, said: Said) -> Said:
        if (
            len(self._key) < FRAGMENT
        ):  # `EMPTY` and the like are not secrets, and may be part of an answer
            return said
        likely = said.likely and {
            concealed(text, self._key): value for text, value in said.likely.items()
        }
        return said._replace(likely=likely, text=concealed(said.text, self._key))

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
        kind = (
            http.client.HTTPSConnection
            if self._server.scheme == "https"
            else http.client.HTTPConnection
        )
        connection = kind(self._server.host, self._server.port, timeout=self._settings.seconds)
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
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
        except TimeoutError:
            raise Refused(f"it took more than {self._settings.seconds:g} seconds") from None
        except (OSError, http.client.HTTPException) as error:
            words = _quoted(str(error) or type(error).__name__, self._key)
            raise Refused(f"no connection to {self._server.host}: {words}") from None
        finally:
            if reply is not None:  # of a server that ends the connection the reply has the socket
                reply.close()
            connection.close()
        if reply.status != 200:
            words = _quoted(bytes(read[: 8 * QUOTED]).decode(errors="replace"), self._key)
            again = reply.status in (408, 409, 425, 429) or reply.status >= 500
            said = f"status {reply.status}, {words or 'without a word'}"
            raise Refused(said, again, _seconds(reply), reply.status)
        return bytes(read)


def _quoted(text: str, key: str) -> str:
    """A server's message on one line, shortened, without the key."""
    return " ".join(concealed(text, key).split())[:QUOTED]


def _seconds(reply: http.client.HTTPResponse) -> float:
    try:
        return max(0.0, float(reply.headers.get("Retry-After", "0")))
    except ValueError:  # a date: as if it were absent
        return 0.0


def understood(reply: bytes, protocol: str) -> Said:
    """The content of a reply. Raises Refused if it is not of the protocol."""
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
            pairs = (
                [(one["token"], one["logprob"]) for one in content[0]["top_logprobs"]]
                if content
                else None
            )
        likely = {str(token): float(logarithm) for token, logarithm in pairs} if pairs else None
        if not isinstance(text, str):
            raise TypeError
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise Refused(
            f"the reply is not of the {protocol} protocol: {bytes(reply[:QUOTED])!r}"
        ) from None
    return Said(likely, text, tokens)
