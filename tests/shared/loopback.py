"""A server on loopback that speaks the completions and the chat protocol, with a small model that
learns in its context; and that misbehaves, request after request, as it is told.
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
    pairs = [
        place.split(">")
        for line in shown
        for place in line.split()
        if ">" in place and place != ">"
    ]
    counts = Counter(answer for symbol, answer in pairs if symbol == last)
    total = sum(counts.values())
    return {f" {answer}": math.log(count / total) for answer, count in counts.items()} or {
        " ?": 0.0
    }


class Loopback:
    """faults: what is done to the next requests, one each: `slow`, `cut`, `nonsense`, `no-json`,
    `busy`, `broken`, `forbidden`, and five that repeat the key they were sent: `echo-refused`,
    `echo-nonsense`, `echo-status`, `echo-cut` (in a reply that ends within it), `echo-answer`; then
    all goes well. always: what is done to all requests. logprobs: whether they are given, at most
    `most` of them. limit: the name under which the length of an answer is taken. usage: whether
    tokens are counted. answer: what it says instead of its answer, with {} for that. delay: seconds
    before an answer. seen: bodies and headers of all requests.
    """

    def __init__(self, logprobs: bool = True) -> None:
        self.faults: list[str] = []
        self.always = ""
        self.logprobs = logprobs
        self.most = 20
        self.limit = "max_tokens"
        self.usage = True
        self.answer = "{}"
        self.delay = 0.0
        self.seen: list[tuple[dict[str, Any], dict[str, str]]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.seen.append((body, dict(self.headers)))
                fault = outer.faults.pop(0) if outer.faults else outer.always
                outer.reply(self, body, fault)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def reply(self, handler: Any, body: dict[str, Any], fault: str) -> None:
        statuses = {"busy": 429, "broken": 503, "forbidden": 401, "echo-refused": 401}
        status, more = statuses.get(fault, 200), {}
        if fault == "busy":
            more = {"Retry-After": "0.2"}
        chat = handler.path.endswith("/chat/completions")
        prompt = body["messages"][0]["content"].rpartition("\n")[0] if chat else body["prompt"]
        likely = next_symbol(prompt)
        best = max(likely, key=lambda one: (likely[one], one))
        text = self.answer.format(best.strip()) if self.answer != "{}" else best
        sent = str(handler.headers["Authorization"]).removeprefix("Bearer ")
        text = sent if fault == "echo-answer" else text
        choice: dict[str, Any] = {"message": {"content": text}} if chat else {"text": text}
        if self.logprobs and "logprobs" in body:
            if self.answer != "{}":
                likely = {self.answer.split()[0]: 0.0}
            listed = [{"token": token, "logprob": value} for token, value in likely.items()]
            choice["logprobs"] = (
                {"content": [{"top_logprobs": listed}]} if chat else {"top_logprobs": [likely]}
            )
        whole: dict[str, Any] = {"choices": [choice]}
        if self.usage:
            whole["usage"] = {"total_tokens": len(prompt.split()) + 1}
        said = f"told to be {fault}: {sent}" if fault.startswith("echo") else f"told to be {fault}"
        asked = body.get("top_logprobs", body.get("logprobs", 0))
        if self.limit not in body:
            status, said = 400, f"Unsupported parameter: use '{self.limit}' instead."
        elif asked and asked > self.most:
            status, said = 400, f"logprobs: at most {self.most} are given"
        content = json.dumps(whole if status == 200 else {"error": {"message": said}}).encode()
        content = {
            "nonsense": b'{"choices": 3}',
            "no-json": b"<html>",
            "echo-nonsense": f"who is {sent}?".encode(),
        }.get(fault, content)
        if fault == "echo-cut":
            content = f"{' ' * 60}{sent[:12]}".encode()
        time.sleep(0.6 if fault == "slow" else self.delay)
        try:
            if fault == "echo-status":
                handler.wfile.write(f"{sent} is your key\r\n\r\n".encode())
                return
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
