"""The dashboard behind a real port, by a plain client and in a real browser."""

from __future__ import annotations

import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

import browser
from browser import FLAGS, chromium
from quickstudy.api.run import run
from quickstudy.base.record import OK, Record
from quickstudy.base.trace import Trace
from quickstudy.cli.main import main
from quickstudy.runs.array_files import inline_trace
from quickstudy.runs.journal import Journal
from quickstudy.web.app import application

__all__ = ["chromium"]
SCRIPT = "<script>document.title='hit'</script>"


@contextlib.contextmanager
def served(*places, hook=lambda scope: None):
    """A server in a thread; gives its address. hook: called with every request before it is
    answered.
    """
    app = application([pathlib.Path(one) for one in places])

    async def hooked(scope, receive, send):
        hook(scope)
        await app(scope, receive, send)

    with browser.served(hooked) as address:
        yield address


def get(address, **headers):
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, headers=headers), timeout=30
        ) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "rules"
    run(
        ["language/periodic"],
        ["majority"],
        seeds=2,
        out=folder,
        workers=0,
        controls=False,
        protocol={"sequences": 20},
    )
    return folder


def odd(folder):
    """Three records that nobody means well with: a script for a name, a curve of a million points,
    no trace at all.
    """
    folder.mkdir()
    labels = {
        "task": SCRIPT,
        "learner": f"{SCRIPT}{'x' * 5000}",
        "role": "learner",
        "family": SCRIPT,
    }
    accuracy = np.random.default_rng(0).random((1, 1_000_000))
    traces = [
        inline_trace(
            Trace(
                "learning-curve",
                {"steps": np.arange(1_000_000), "accuracy": accuracy},
                {"x": SCRIPT},
            )
        ),
        {"kind": SCRIPT, "facts": {}, "file": "../../../etc/passwd"},
        {},
    ]
    with Journal(folder) as journal:
        for number, trace in enumerate(traces):
            what = {
                "task": {"id": SCRIPT},
                "learner": {"id": "l"},
                "convention": SCRIPT,
                "repetition": number,
            }
            scores = {SCRIPT: {"version": 1, "values": {SCRIPT: "nan"}}}
            journal.write(
                Record(
                    what, OK, SCRIPT, scores=scores, trace=trace, labels=labels, traceback=SCRIPT
                )
            )
    (folder / "page.html").write_text(f"<title>quiet</title>{SCRIPT}")
    return folder


def seen(binary, profile, address, *flags):
    """What a browser has made of a page, and what its console said."""
    command = [
        binary,
        *FLAGS,
        "--virtual-time-budget=7000",
        f"--user-data-dir={profile}",
        *flags,
        "--dump-dom",
        address,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_from_all_folders_to_one_run(results):
    with served(results.parent) as address:
        status, front, headers = get(f"{address}/")
        assert status == 200
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert '<a href="./rules/">' in front
        _, runs, _ = get(f"{address}/rules/")
        assert "2 finished runs" in runs
        keys = sorted(set(re.findall(r"\./runs/([0-9a-f]{64})", runs)))
        assert len(keys) == 2
        status, page, _ = get(f"{address}/rules/runs/{keys[0]}")
        assert status == 200
        assert "majority on language/periodic" in page
        assert keys[0] in page
        assert get(f"{address}/rules/report")[0] == 200
        assert "majority" in get(f"{address}/rules/report")[1]


@pytest.mark.parametrize(
    "path",
    [
        "/nothing/",
        "/rules/runs/0",
        "/rules/files/quickstudy.json",
        "/rules/files/none.html",
        "/rules/runs",
        "/rules/files/..%2F..%2Fsecret.html",
        "/rules/files/%2e%2e%2fsecret.html",
        "/..%2fsecret.html",
        "/rules/files/link.html",
        "/rules/files/runs",
    ],
)
def test_nothing_else_has_an_address(results, path):
    secret = results.parent.parent / "secret.html"
    secret.write_text("secret")
    with contextlib.suppress(FileExistsError):
        (results / "link.html").symlink_to(secret)
    (results / "page.html").write_text("a page")
    with served(results) as address:
        status, text, _ = get(address + path)
        assert status == 404
        assert "secret" not in text.replace("secret.html", "")
        assert get(f"{address}/rules/files/page.html")[:2] == (200, "a page")


def test_it_reads_only_and_only_by_names_of_this_machine(results):
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*")}
    with served(results) as address:
        assert get(f"{address}/", Host="rebound.example")[0] == 400
        request = urllib.request.Request(f"{address}/rules/", data=b"x")
        with pytest.raises(urllib.error.HTTPError, match="405") as refused:
            urllib.request.urlopen(request)
        refused.value.close()
        get(f"{address}/rules/report")
    assert {path: path.stat().st_mtime_ns for path in results.rglob("*")} == before


def test_odd_records_are_shown_as_such_and_do_no_harm(chromium, results, tmp_path):
    folder = odd(tmp_path / "odd")
    with served(folder, results) as address:
        _, runs, _ = get(f"{address}/odd/")
        keys = re.findall(r"\./runs/([0-9a-f]{64})", runs)
        assert (
            len(keys) + runs.count("jsonl, line") == 3
        )  # shown as a run, or named among what is damaged
        assert keys
        for number, path in enumerate(["odd/", "odd/report", *(f"odd/runs/{key}" for key in keys)]):
            dom, console = seen(chromium, tmp_path / f"profile-{number}", f"{address}/{path}")
            assert "<title>hit" not in dom
            assert "&lt;script&gt;" in dom
            assert console == []
        dom, _ = seen(chromium, tmp_path / "file", f"{address}/odd/files/page.html")
        assert "<title>quiet</title>" in dom  # shown, and nothing of it has run
        assert get(f"{address}/rules/")[0] == 200


def test_a_page_takes_over_what_a_run_writes_meanwhile(chromium, results, tmp_path):
    """Two browsers at once. The second journal comes after the page was made and before it first
    asks.
    """
    folder = tmp_path / "growing"
    shutil.copytree(results, folder)
    asked = []

    def grow(scope):
        if scope.get("query_string") == b"mark":
            asked.append(scope["path"])
            if len(asked) == 1:
                run(
                    ["language/periodic"],
                    ["majority"],
                    seeds=5,
                    out=folder,
                    workers=0,
                    controls=False,
                    protocol={"sequences": 20},
                )

    with served(folder, hook=grow) as address:
        assert "2 finished runs" in get(f"{address}/growing/")[1]
        found = {}

        def look(number):
            found[number] = seen(chromium, tmp_path / f"profile-{number}", f"{address}/growing/")

        threads = [threading.Thread(target=look, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(asked) >= 2
    for dom, console in found.values():
        assert console == []
        assert "5 finished runs" in dom
    assert any('role="status"' in dom and "Renewed at" in dom for dom, _ in found.values())


def test_the_command(results, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["serve", str(results.parent / "none")])
    assert ended.value.code == 2
    assert "none is not a folder; name a results folder" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        main(["serve", str(results), "--port", str(taken.getsockname()[1])])
    assert ended.value.code == 2
    assert "try `--port 0`" in capsys.readouterr().err


def test_everything_on_it_is_in_the_results(results):
    with served(results) as address:
        _, page, _ = get(f"{address}/rules/report")
    facts = json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    )
    assert facts


def test_only_the_script_of_the_page_may_run(results):
    with served(results.parent) as address:
        _, page, headers = get(f"{address}/")
        again = get(f"{address}/")[2]["Content-Security-Policy"]
    policy = headers["Content-Security-Policy"]
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy)[1]
    assert f'nonce="{nonce}"' in page
    assert policy != again
    assert "script-src 'unsafe-inline'" not in page


def test_the_front_page_names_what_a_folder_holds_and_rules_come_last(tmp_path):
    run(
        ["language/periodic"],
        ["bag"],
        seeds=1,
        out=tmp_path / "own",
        workers=0,
        protocol={"sequences": 20},
    )
    with served(tmp_path) as address:
        front, runs = (get(f"{address}/{path}")[1].replace("<wbr>", "") for path in ("", "own/"))
    assert "language/periodic" in front
    assert ">bag<" in front
    assert "periodic-oracle" not in front
    roles = re.findall(r">(learner|control|oracle)<", runs)
    assert roles[:2] == ["learner", "learner"]  # the heading of the column, and the first run
    assert "learner" not in roles[2:]
