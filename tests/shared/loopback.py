"""A server on loopback that speaks the completions and the chat protocol, with a small model that learns in its
context; and that misbehaves, request after request, as it is told.
"""

from __future__ import annotations

import http.server
import json
import math
import threading
import time
from collections import Counter
from typing import Any


def next_symbol(prompt: str) -> dict[str, float]:
    """Logarithms of the shares of what has followed the last symbol before: a model of one step."""
    *shown, asked = prompt.splitlines()
    last = asked.rstrip(">").split()[-1]
    pairs = [place.split(">") for line in shown for place in line.split() if ">" in place and place != ">"]
    counts = Counter(answer for symbol, answer in pairs if symbol == last)
    total = sum(counts.values())
    return {f" {answer}": math.log(count / total) for answer, count in counts.items()} or {" ?": 0.0}


class Loopback:
    """faults: what is done to the next requests, one each: `slow`, `cut`, `nonsense`, `no-json`, `busy`, `broken`,
    `forbidden`; then all goes well. logprobs: whether they are given. delay: seconds before
    an answer. seen: bodies and headers of all requests.
    """

    def __init__(self, logprobs: bool = True) -> None:
        self.faults: list[str] = []
        self.logprobs = logprobs
        self.delay = 0.0
        self.seen: list[tuple[dict[str, Any], dict[str, str]]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.seen.append((body, dict(self.headers)))
                fault = outer.faults.pop(0) if outer.faults else ""
                outer.reply(self, body, fault)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def reply(self, handler: Any, body: dict[str, Any], fault: str) -> None:
        status, more = {"busy": 429, "broken": 503, "forbidden": 401}.get(fault, 200), {}
        if fault == "busy":
            more = {"Retry-After": "0.2"}
        chat = handler.path.endswith("/chat/completions")
        prompt = body["messages"][0]["content"].rpartition("\n")[0] if chat else body["prompt"]
        likely = next_symbol(prompt)
        text = max(likely, key=lambda one: (likely[one], one))
        choice: dict[str, Any] = {"message": {"content": text}} if chat else {"text": text}
        if self.logprobs and "logprobs" in body:
            listed = [{"token": token, "logprob": value} for token, value in likely.items()]
            choice["logprobs"] = {"content": [{"top_logprobs": listed}]} if chat else {"top_logprobs": [likely]}
        whole = {"choices": [choice], "usage": {"total_tokens": len(prompt.split()) + 1}}
        content = json.dumps(whole if status == 200 else {"error": {"message": f"told to be {fault}"}}).encode()
        content = {"nonsense": b'{"choices": 3}', "no-json": b"<html>"}.get(fault, content)
        time.sleep(0.6 if fault == "slow" else self.delay)
        try:
            handler.send_response(status)
            for name, value in {**more, "Content-Length": str(len(content))}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(content[: len(content) // 2] if fault == "cut" else content)
        except OSError:  # nobody waits for it any more
            pass

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
