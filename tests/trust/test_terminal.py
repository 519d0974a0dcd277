"""What of others' may be opened, is: nothing in it runs, and nothing in it gives a terminal or a
spreadsheet orders.
"""

from __future__ import annotations

import csv
import io
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from quickstudy.api.run import Results
from quickstudy.api.run import run as run_here
from quickstudy.base.errors import Stopped, UsageError, nearest, was_interrupted
from quickstudy.base.record import OK, Record
from quickstudy.base.text import LINES, shortened, visible
from quickstudy.render.terminal import show
from quickstudy.render.write_page import csv_text
from quickstudy.report.build import build_report
from quickstudy.report.export import as_csv
from quickstudy.report.page import FORMS, screen_page
from quickstudy.runs.journal import Journal
from quickstudy.runs.results import ResultsTable

as_html, as_latex, as_text = FORMS["html"], FORMS["latex"], FORMS["text"]

ORDERS = "\x1b]0;title\x07\x1b[31m\x9b2J\b\u202e"
HOSTILE = {
    "task": f"evil.py:Task{ORDERS}\n=1+1",
    "learner": f"evil.py:Evil{ORDERS}<script>alert(1)</script>",
    "family": f"language{ORDERS}",
    "role": "learner",
}
EVIL = "import pathlib\npathlib.Path('RAN').write_text('yes')\nclass Evil: ...\nclass Task: ...\n"
STUDY = """
version = 1
title = "A small table"
source = "nowhere"
kind = "table"
score = "wade"
seeds = 2
[learners]
A = "evil.py:Evil"
[[rows]]
task = "language/qa"
label = "5 qa"
"""
VERBS = (
    ["report", "theirs", "--format", "text"],
    ["report", "theirs", "--format", "csv"],
    ["report", "theirs", "--format", "latex"],
    ["report", "theirs", "-o", "page.html"],
    ["compare", HOSTILE["learner"], "majority", "--out", "theirs"],
    ["query", "theirs", "select learner, task, reason from runs"],
    ["doctor", "theirs", "--no-repair"],
    ["score", "theirs"],
    ["show", "study.toml"],
    ["reproduce", "study.toml", "--dry-run"],
    [
        "run",
        "language/qa",
        "-l",
        "majority",
        "--no-controls",
        "-s",
        "1",
        "--set",
        "sequences=60",
        "-j",
        "0",
    ],
)


def record(
    learner: str, value: float = 0.5, repetition: int = 0, *, status: str = OK, **labels: str
) -> Record:
    """A run with one score, labelled as somebody likes."""
    component = {"id": learner, "version": 1, "parameters": {}}
    what: dict[str, Any] = {
        "task": {**component, "id": labels.get("task", "language/qa")},
        "learner": component,
        "protocol": {"id": "language", "version": 1, "parameters": {}},
        "convention": "corrected",
        "root": 0,
        "repetition": repetition,
    }
    names = {
        "task": "language/qa",
        "family": "language",
        "role": "learner",
        **labels,
        "learner": learner,
    }
    scores = {"log-area": {"version": 2, "values": {"log-area": value}}} if status == OK else {}
    return Record(
        what, status, "" if status == OK else f"it broke{ORDERS}", scores=scores, labels=names
    )


def report(records: list[Record]) -> Any:
    def no_trace(_: Record) -> Any:
        raise UsageError("none")

    return build_report(ResultsTable.of(records, no_trace))


def on_screen(data: Any, width: int = 80) -> str:
    target = io.StringIO()
    show(screen_page(data), Console(file=target, width=width, no_color=True, highlight=False))
    return target.getvalue()


def obeyed(text: str) -> str:
    """What a terminal would obey. Colours of our own are taken out first."""
    own = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "".join(
        sorted(
            set(re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", own)) - {"\r"}
        )
    )


@pytest.fixture
def theirs(tmp_path: pathlib.Path) -> pathlib.Path:
    """A results folder of somebody's, and beside it the file that its names would be."""
    (tmp_path / "theirs" / "runs").mkdir(parents=True)
    with Journal(tmp_path / "theirs") as journal:
        for repetition in range(3):
            labels = {name: text for name, text in HOSTILE.items() if name != "learner"}
            journal.write(record(HOSTILE["learner"], 0.5, repetition, **labels))
            journal.write(record("majority", 0.4, repetition, **{**labels, "role": "control"}))
        journal.write(record("=cmd|' /C calc'!A0", status="failed", **labels))
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def typed(
    folder: pathlib.Path, arguments: list[str], **more: Any
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quickstudy", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, **more
    )


@pytest.mark.parametrize(
    "arguments", VERBS, ids=lambda arguments: " ".join(arguments[:1] + arguments[-1:])[:24]
)
def test_what_others_have_made_is_opened_and_nothing_runs(
    theirs: pathlib.Path, arguments: list[str]
) -> None:
    if arguments[0] == "query":
        pytest.importorskip("duckdb")
    done = typed(theirs, [*arguments, *(["-o", "theirs"] if arguments[0] == "run" else [])])
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert not (theirs / "RAN").exists()
    if arguments[-1] not in ("csv", "page.html"):  # CSV in a pipe is data, to the last character
        assert obeyed(done.stdout + done.stderr) == ""


@pytest.mark.parametrize("learner", ["evil.py:Evil", "./evil.py:Evil:width=8", "evil.py"])
def test_a_comparison_looks_for_a_learner_by_its_name_only(
    theirs: pathlib.Path, learner: str
) -> None:
    done = typed(theirs, ["compare", learner, "majority", "--out", "theirs"])
    assert (done.returncode, (theirs / "RAN").exists()) == (2, False)
    assert f'no runs of a learner "{learner}"' in " ".join(done.stderr.split())


@pytest.mark.parametrize("format", ["text", "csv"])
def test_a_terminal_is_given_no_orders(theirs: pathlib.Path, format: str) -> None:
    driver, terminal = pty.openpty()
    command = [sys.executable, "-m", "quickstudy", "report", "theirs", "--format", format]
    with subprocess.Popen(command, cwd=theirs, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        seen = b""
        while True:
            try:
                part = os.read(driver, 65536)
            except OSError:  # so ends a terminal on Linux
                break
            if not part:
                break
            seen += part
    os.close(driver)
    assert process.returncode == 0
    assert obeyed(seen.decode()) == ""
    assert "\\x1b]0;title\\x07" in seen.decode()


def test_names_are_text_in_python_too(theirs: pathlib.Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(theirs)
    results = Results(pathlib.Path("theirs"))
    assert len(results.records) == 7
    results.show()
    results.report()
    assert obeyed(capsys.readouterr().out) == ""
    assert not (theirs / "RAN").exists()


@given(st.text())
def test_nothing_unseen_is_left(text: str) -> None:
    assert obeyed(visible(text)) == ""
    assert visible(visible(text)) == visible(text)
    assert "\n" not in visible(text)
    assert visible(text, keep=LINES).count("\n") == text.count("\n")


@given(st.lists(st.text("abc=…", min_size=1, max_size=30), max_size=8), st.integers(6, 20))
def test_cut_names_stay_apart(names: list[str], width: int) -> None:
    cut = shortened(names, width)
    assert all(len(name) <= width for name in cut)
    assert all(short == name for short, name in zip(cut, names, strict=True) if len(name) <= width)
    if all("…" not in name for name in names):
        assert len(set(cut)) == len(set(names))


def test_csv_is_data_for_a_spreadsheet_and_for_python() -> None:
    words = ["=1", "+1 x", "-a", "@a", "\n=1", " =1", "＝1", "\tx", "a\rb", "a\nb", 'a"b', "a,b"]
    numbers = ["-0.5", "+0.25", "nan", "1e-9", ""]
    found = list(csv.reader(io.StringIO(csv_text([words, numbers]), newline="")))
    assert found == [[*(f"'{word}" for word in words[:8]), *words[8:]], numbers]
    table = as_csv(report([record("net\r=1")]))
    (row,) = csv.DictReader(io.StringIO(table, newline=""))
    assert row["learner"] == "net\r=1"


def test_pages_and_papers_are_given_no_orders() -> None:
    data = report([record(HOSTILE["learner"])])
    assert obeyed(as_html(data).partition("<script type")[0]) == ""
    assert obeyed(as_latex(data)) == ""
    assert r"\textbackslash{}x1b]0;title\textbackslash{}x07" in as_latex(data).replace(
        r"\allowbreak{}", ""
    )
    assert obeyed(as_text(data)) == ""


def many(learners: int, tasks: list[str], seeds: int = 6) -> list[Record]:
    names = [f"context.py:Context:reach={number},decay=0.125" for number in range(learners)]
    # Below 1, the most that this score can be: an interval that a bound cuts is shown by its ends.
    cast = [(name, "learner", 0.5 + number / 100) for number, name in enumerate(names)]
    cast += [
        ("majority", "control", 0.4),
        ("copy-last", "control", 0.3),
        ("the-oracle", "oracle", 0.99),
    ]
    return [
        record(name, value - 0.0001 + seed / 1000, seed, role=role, task=task)
        for task in tasks
        for name, role, value in cast
        for seed in range(seeds)
    ]


@pytest.mark.parametrize("learners", [2, 15, 40])
@pytest.mark.parametrize("seeds", [2, 6])
def test_a_task_takes_25_lines_of_80_columns(learners: int, seeds: int) -> None:
    broken = [record(f"broken-{number}", status="failed", repetition=number) for number in range(9)]
    lines = on_screen(report([*many(learners, ["language/qa"], seeds), *broken])).splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    names = [line.split()[0] for line in lines if line.startswith("context.py:Con") and "±" in line]
    assert len(names) == len(set(names)) >= 2
    text = "\n".join(lines)
    assert "majority" in text
    assert "the-oracle" in text


def test_learners_by_tasks_come_first() -> None:
    tasks = [f"language/{name}" for name in ("qa", "periodic", "world-qa")]
    text = on_screen(report(many(3, tasks)), 100)
    first = text.partition("language/")[0]
    assert all(name in first for name in ("qa", "periodic", "world-qa", "best control", "oracle"))
    best = next(line for line in first.splitlines() if "=2," in line)
    assert best.count("0.522 ±") == best.count("*") == 3
    assert text.count("is clearly ahead of") == 3


def test_runs_that_failed_are_counted_as_such() -> None:
    text = on_screen(
        report([*many(2, ["language/qa"]), record("gru", status="failed"), record("gru", 0.5, 1)])
    )
    assert re.search(r"^gru .* 1 \(1 failed\)", text, re.MULTILINE)
    assert "not)" not in text


def test_why_a_run_has_no_result_stands_on_the_screen() -> None:
    reason = (
        "language asks for symbols, and language/integrate for reals; give it a protocol of its own"
    )
    lines = on_screen(
        report([replace(record("gru", status="not-applicable"), reason=reason)])
    ).splitlines()
    assert reason in " ".join(" ".join(lines).split())
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80


def test_a_measure_that_was_asked_for_stands_on_the_screen() -> None:
    columns = ["log-area", "wade-above-chance", "wade", "final-accuracy", "maximum-accuracy"]
    legend = {
        "headline": "log-area",
        "columns": columns,
        "scores": {"half": {"half-way": {"better": "lower"}}},
    }
    entry = {"half": {"version": 1, "values": {"half-way": 3.0}, "code": "abc", "scored": 1.0}}
    rest = {name: {"version": 9, "values": {name: 0.25}} for name in columns[1:]}
    runs = [record("mine", 0.5 + seed / 1000, seed) for seed in range(6)]
    made = [replace(one, scores={**one.scores, **entry, **rest}, legend=legend) for one in runs]
    assert "half way ↓" in on_screen(report(made))


@pytest.mark.parametrize(("learners", "longest"), [(2, 60), (15, 90)])
def test_a_verdict_can_be_read_whatever_the_number_of_learners(learners: int, longest: int) -> None:
    words = report(many(learners, ["language/qa"])).tables[0].verdict.text.split()
    assert len(words) <= longest
    assert ("13 more" in " ".join(words)) == (learners == 15)


def test_a_run_shows_what_was_asked_for(tmp_path: pathlib.Path, capsys: Any) -> None:
    common: dict[str, Any] = {
        "seeds": 1,
        "protocol": {"sequences": 60},
        "out": tmp_path,
        "workers": 0,
    }
    run_here("language/periodic", "majority", **common)
    results = run_here("language/qa", "majority", controls=False, **common)
    assert [each.labels["task"] for each in results.records] == ["language/qa"]
    results.show()
    shown = capsys.readouterr().out
    assert "language/periodic" not in shown
    assert "3 other runs of the folder: in its report" in shown
    assert len(Results(tmp_path).records) == 4
    assert {task["task"] for task in results.as_json()["tasks"]} == {
        "language/qa (protocol sequences 60)"
    }


SLOW = """
import time
class Slow:
    def __init__(self, brief, seed): ...
    def learn(self, inputs, targets): time.sleep(30)
    def predict(self, inputs): return [0] * len(inputs)
"""


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_twice_ctrl_c_ends_with_a_last_line(tmp_path: pathlib.Path, quiet: list[str]) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    command = [
        sys.executable,
        "-m",
        "quickstudy",
        "run",
        "language/qa",
        "-l",
        "slow.py:Slow",
        "--no-controls",
        *quiet,
    ]
    with subprocess.Popen(
        [*command, "-j", "1"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "results").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1.0)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
        assert process.stderr is not None
        last = process.stderr.read().splitlines()[-1]
    assert process.returncode == 130
    assert re.fullmatch(r"nothing was done in \d+ s; stopped, everything is saved", last)


def test_ctrl_c_under_whatever_name() -> None:
    interrupt, error = (
        KeyboardInterrupt(),
        RuntimeError("CPU dispatcher tracer already initialized"),
    )
    error.__cause__ = interrupt
    assert was_interrupted(error)
    assert was_interrupted(interrupt)
    assert not was_interrupted(RuntimeError())
    assert Stopped().exit_status == 130


@pytest.mark.parametrize("arguments", [["ls", "tasks"], ["show", "language/qa"]])
def test_an_output_that_is_full_or_closed(tmp_path: pathlib.Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "quickstudy", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "No space left on device\n")
    closed = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (closed.returncode, closed.stderr) == (0, "")


def test_wrong_names_are_answered_in_one_short_line(tmp_path: pathlib.Path) -> None:
    done = typed(tmp_path, ["run", "language/qa", "-l", "missing.py:Net"])
    assert (done.returncode, done.stderr) == (
        2,
        'no file missing.py, which the learner "missing.py:Net" names\n',
    )
    assert len(nearest("zzz", [f"name-{number}" for number in range(70)])) < 200
    listed = typed(tmp_path, ["ls", "controls"]).stdout
    assert "majority" in listed
    assert "oracle " not in listed
    (tmp_path / "mine.py").write_text('class Net:\n    """A net of mine."""\n')
    assert "A net of mine." in typed(tmp_path, ["show", "mine.py:Net"]).stdout
