"""The server against clients that send half a request, or none that makes sense."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time

import pytest

from quickstudy.play.keeping import Invitation
from quickstudy.web import serving
from quickstudy.web.app import LOOPBACK, application
from quickstudy.web.playing import Room, player

WORD = "a-word"


@contextlib.contextmanager
def running(app):
    """A server; gives its port. It must end in time, whatever is still open."""
    with contextlib.closing(serving._listening(LOOPBACK[0], 0)) as listener:
        server = serving.server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def sent(port, content, wait=3.0):
    """All that is answered to some bytes until the server closes the connection, or is silent."""
    with socket.create_connection((LOOPBACK[0], port), timeout=wait) as client:
        client.sendall(content)
        read = b""
        with contextlib.suppress(OSError):  # reset, or left open
            while piece := client.recv(65536):
                read += piece
        return read


def request(port, path, body="", **headers):
    headers = {"Host": f"127.0.0.1:{port}", "Connection": "close", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    method = "POST" if body else "GET"
    content = body.encode()
    head = f"{method} {path} HTTP/1.1\r\n{lines}Content-Length: {len(content)}\r\n\r\n"
    return sent(port, head.encode("latin-1") + content)


def status(answer):
    return int(answer.split(b" ")[1])


def test_half_a_request_is_not_held_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.5)
    with running(application([tmp_path], list(LOOPBACK))) as port:
        with socket.create_connection((LOOPBACK[0], port), timeout=10) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: 127")
            began = time.monotonic()
            assert client.recv(100) == b""
            assert time.monotonic() - began < 8
        assert status(request(port, "/")) == 200


def test_connections_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 5)
    with running(application([tmp_path], list(LOOPBACK))) as port:
        with contextlib.ExitStack() as held:
            for _ in range(5):
                held.enter_context(socket.create_connection((LOOPBACK[0], port)))
            time.sleep(0.5)
            assert status(request(port, "/")) == 503
        time.sleep(0.5)
        assert status(request(port, "/")) == 200


@pytest.mark.parametrize(
    "content",
    [
        b"GET / HTTP/1.1\r\nHost: [\r\n\r\n",
        b"GET //[ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /%00/files/%ff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        b"\x16\x03\x01\x00\xff",
    ],
)
def test_a_malformed_request_prints_no_traceback(tmp_path, capfd, content):
    with running(application([tmp_path], list(LOOPBACK))) as port:
        sent(port, content)
        assert status(request(port, "/")) == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "body", ["[" * 3000, '{"line": ' + "[" * 900 + "]" * 900 + "}", '{"line": "\\ud800"}']
)
def test_a_body_that_cannot_be_sent_back_is_refused(capfd, body):
    room = Room(Invitation("language/qa"), None)
    with running(player(room, WORD)) as port:
        own = {"Origin": f"http://127.0.0.1:{port}", "Content_Type": "application/json"}
        sat = request(port, f"/{WORD}/sit", "{}", **own)
        name = json.loads(sat.partition(b"\r\n\r\n")[2])["name"]
        seat = f"/{WORD}/seat/{name}"
        assert status(request(port, f"{seat}/answer", body, **own)) in (400, 422)
        assert status(request(port, seat)) == 200
    assert "Traceback" not in capfd.readouterr().err
