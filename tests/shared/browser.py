"""A real browser for tests of pages: fixtures `chromium` and `browse`, which a test module
imports.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

INSTALL = "chromium is not installed; type: apt-get update && apt-get install -y chromium"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--enable-logging=stderr",
    "--hide-scrollbars",
    "--virtual-time-budget=3000",
)
Browse = Callable[..., tuple[str, str]]


@contextlib.contextmanager
def served(app: Any) -> Iterator[str]:
    """A web application behind a real port, in a thread; gives its address."""
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def chromium() -> str:
    found = shutil.which("chromium")
    if found is None and os.environ.get("CI") == "true":
        pytest.fail(INSTALL)
    if found is None:
        pytest.skip(INSTALL)
    return found


@pytest.fixture
def browse(chromium: str, tmp_path: pathlib.Path) -> Browse:
    """Open a page in a fresh profile; gives standard output and what the console said."""

    def run(source: str, *flags: str, fragment: str = "") -> tuple[str, str]:
        page = tmp_path / "page.html"
        page.write_text(source)
        command = [
            chromium,
            *FLAGS,
            f"--user-data-dir={tmp_path / 'profile'}",
            *flags,
            page.as_uri() + fragment,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout, "\n".join(
            line for line in done.stderr.splitlines() if "CONSOLE" in line
        )

    return run
