"""For people with a model of their own: what went wrong is said in full, and what was asked for can
be looked at.
"""

from __future__ import annotations

import inspect
import json
import pathlib
import re
import sys

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.api.run import Results
from quickstudy.base import registries, registry
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.spaces import Tokens
from quickstudy.base.text import LONGEST, short_path, whole_traceback
from quickstudy.base.trace import Answered, answer_arrays, answered
from quickstudy.cli.main import main
from quickstudy.learners.learner_spec import revive
from quickstudy.report.build import gather
from quickstudy.testing.check_result import undisturbed

SMALL = {"protocol": {"sequences": 30}, "seeds": 2, "workers": 0}
TABLE = '''
import numpy as np
from quickstudy.base.learner import Snapshot


class Table:
    """Remembers which answer followed a token last."""

    def __init__(self, brief, seed, reach=1):
        self.table = np.full(brief.inputs.size, reach, dtype=int)

    def learn(self, inputs, targets):
        self.table[inputs[targets >= 0]] = targets[targets >= 0]

    def predict(self, inputs):
        return self.table[inputs]

    def snapshot(self):
        return Snapshot({"table": self.table})

    def restore(self, snapshot):
        self.table = np.array(snapshot.arrays["table"])


class Forgetful(Table):
    snapshot = restore = None

    def __getattribute__(self, name):
        if name in ("snapshot", "restore"):
            raise AttributeError(name)
        return super().__getattribute__(name)
'''


def ran(*words):
    with pytest.raises(SystemExit) as ending:
        main(
            [
                "run",
                "language/periodic",
                "--seeds",
                "2",
                "--set",
                "sequences=30",
                "--out",
                "r",
                "-j",
                "0",
                *words,
            ]
        )
    return ending.value.code or 0


class Falls:
    """Fails deep inside."""

    def __init__(self, brief, seed):
        self.seen = 0

    def learn(self, inputs, targets):
        self.seen += 1
        if self.seen == 3:
            self.deeper("\x1b[31mred")

    def deeper(self, word):
        raise KeyError(f"no weights for {word}")

    def predict(self, inputs):
        return inputs


def test_a_failed_learner_leaves_its_whole_traceback(tmp_path):
    results = qs.run("language/periodic", Falls, out=tmp_path, controls=False, **SMALL)
    assert {record.status for record in results.records} == {"failed"}
    for record in results.records:
        lines = record.traceback.splitlines()
        assert lines[0] == "Traceback (most recent call last):"
        assert any(line.strip().startswith('File "quickstudy/runs/run_one.py"') for line in lines)
        assert [line.split(", in ")[1] for line in lines if line.startswith("  File")][-2:] == [
            "learn",
            "deeper",
        ]
        assert lines[-1].startswith("KeyError: ")
        assert "\x1b" not in record.traceback
        assert "traceback" not in record.what
    line, _ = [
        line for path in tmp_path.glob("runs/*.jsonl") for line in path.read_text().splitlines()
    ]
    assert json.loads(line)["traceback"] == results.records[0].traceback


def test_a_traceback_is_bounded_and_names_no_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(pathlib.Path(__file__).parent)
    try:
        np.stack([]) if Falls(None, 0) else None
    except ValueError as error:
        text = whole_traceback(error)
    assert 'File "test_models.py", line' in text
    assert 'File "numpy/' in text
    assert (
        short_path("/home/somebody/.local/lib/python3.11/site-packages/net/core.py")
        == "net/core.py"
    )
    try:
        raise ValueError("first" + "x" * 3 * LONGEST + "last")
    except ValueError as error:
        text = whole_traceback(error)
    assert len(text) < LONGEST + 100
    assert "letters left out" in text
    assert text.endswith("last")
    assert text.startswith("Traceback")


def test_tracebacks_are_printed_once_for_equal_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("falls.py").write_text(
        "class Falls:\n    def __init__(self, brief, seed): pass\n    def predict(self, inputs):"
        " return inputs\n    def learn(self, inputs, targets): return self.weights\n"
    )
    assert ran("-l", "falls.py:Falls", "--no-controls", "--traceback", "--quiet") == 1
    printed = capsys.readouterr().err
    assert printed.count("Traceback (most recent call last)") == 1
    assert "language/periodic  falls.py:Falls  repetition 0 and 1 more" in printed
    assert 'File "falls.py", line 4, in learn\n    def learn' in printed
    with pytest.raises(SystemExit):
        main(["report", "r", "--format", "csv", "--traceback"])
    assert capsys.readouterr().err.count("Traceback (most recent call last)") == 1
    pytest.importorskip("duckdb")
    with pytest.raises(SystemExit):
        main(
            [
                "query",
                "r",
                "select count(*) as n from runs where traceback like '%in learn%'",
                "--json",
            ]
        )
    assert json.loads(capsys.readouterr().out) == {"n": 2}


def test_answers_of_a_test_by_hand():
    """Two questions in the first sequence, one in the second; the padding of another lane is left
    out.
    """
    exam = Exam(
        [
            Examples.from_sequences([[1, 2, 3, 4], [5, 6]], [[1, 3], [1]]),
            Examples.from_sequences([[7, 8]], [[1]]),
        ]
    )
    scores = np.zeros((2, 3, 10))
    scores[0, [0, 1, 2], [2, 9, 6]] = scores[1, 0, 3] = 1.0
    first, second, third = answered(answer_arrays(exam, scores, 0))
    assert [(one.sequence, one.time, one.answer, one.target) for one in (first, second, third)] == [
        (0, 0, 2, 2),
        (0, 2, 9, 4),
        (1, 0, 6, 6),
    ]
    assert [one.right for one in (first, second, third)] == [True, False, True]
    assert second.read.tolist() == [1, 2, 3]
    (only,) = answered(answer_arrays(exam, scores, 1))
    assert (only.read.tolist(), only.answer, only.target) == ([7], 3, 8)


def test_answers_are_those_of_the_last_test_and_change_no_number(tmp_path):
    learners = ["majority", "copy-last", "esn:units=20"]
    without = qs.run("language/periodic", learners, out=tmp_path / "without", **SMALL)
    kept = qs.run("language/periodic", learners, out=tmp_path / "kept", keep_answers=True, **SMALL)
    for before, now in zip(without.records, kept.records, strict=True):
        assert (before.key, before.scores) == (now.key, now.scores)
        rows = kept.answers(now.key)
        assert all(isinstance(row, Answered) for row in rows)
        final = now.scores["accuracy"]["values"]["final-accuracy"]
        assert sum(row.right for row in rows) / len(rows) == pytest.approx(final)
        assert now.trace["facts"]["answers"] == now.trace["facts"]["test_questions"] == len(rows)
        if now.labels["learner"] == "copy-last":
            assert [row.answer for row in rows] == [row.read[-1] for row in rows]
        with pytest.raises(QuickstudyError, match="has no answers"):
            without.answers(before.key)


def test_answers_can_be_asked_in_sql(tmp_path, capsys):
    pytest.importorskip("duckdb")
    results = qs.run(
        "language/periodic", "copy-last", out=tmp_path, controls=False, keep_answers=True, **SMALL
    )
    wrong = sum(not row.right for record in results.records for row in results.answers(record.key))
    sql = (
        "select count(*) as n from traces a join traces t using (key, place) "
        "where a.name = 'last_answer' and t.name = 'last_target' and a.value <> t.value"
    )
    with pytest.raises(SystemExit):
        main(["query", str(tmp_path), sql, "--json"])
    assert json.loads(capsys.readouterr().out) == {"n": wrong}
    assert wrong > 0


def test_what_is_not_kept_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("table.py").write_text(TABLE)
    both = ["-l", "table.py:Table", "-l", "table.py:Forgetful", "--keep-learners", "--quiet"]
    assert ran(*both) == 0
    printed = capsys.readouterr().err
    assert (
        printed
        == "no learner kept of table.py:Forgetful (2 of 2 runs): it has no snapshot and restore\n"
    )
    assert ran(*both, "--keep-answers", "--seeds", "3") == 0
    printed = capsys.readouterr().err.splitlines()
    assert (
        "no answers kept of table.py:Table (2 of 3 runs): run before without; give another folder"
        in printed
    )
    assert (
        "no learner kept of table.py:Forgetful (1 of 3 runs): it has no snapshot and restore"
        in printed
    )
    assert not any("no learner kept of table.py:Table " in line for line in printed)


def test_a_kept_learner_of_a_file_comes_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("here", "elsewhere", "changed"):
        pathlib.Path(folder).mkdir()
        pathlib.Path(folder, "board.py").write_text(
            TABLE + ("\n# other\n" if folder == "changed" else "")
        )
    # With a parameter, and out of a file that this process has not seen when the learner is asked
    # for.
    monkeypatch.setattr(registry, "_included", [])
    named = "here/board.py:Table:reach=0"
    results = qs.run(
        "language/periodic", named, out="r", controls=False, keep_learners=True, **SMALL
    )
    record = results.records[0]
    host = results.learner(record.key).host
    assert host.table.tolist() == [1, 0]
    monkeypatch.setattr(registry, "_included", [])
    with pytest.raises(
        UsageError, match=r'board.py:Table comes from a file; say where it is: .*file="board.py"'
    ):
        Results(pathlib.Path("r")).learner(record.key)
    assert results.learner(record.key, file="elsewhere/board.py").host.table.tolist() == [1, 0]
    with pytest.raises(UsageError, match="its code has changed since"):
        results.learner(record.key, file="changed/board.py")


def test_a_snapshot_cannot_have_a_file_imported(tmp_path, monkeypatch):
    """Whoever opens a folder of somebody else's runs nothing that the folder names."""
    monkeypatch.chdir(tmp_path)
    pathlib.Path("trap.py").write_text("import pathlib\npathlib.Path('sprung').touch()\n")
    brief = Brief(Tokens(2), Tokens(2), "cross-entropy", 3, 3).as_facts()
    for id in ("trap.py:Trap", f"{tmp_path}/trap.py:Trap", "../trap.py:Trap"):
        what = {"id": id, "version": "0", "parameters": {}}
        with pytest.raises(UsageError):
            revive(Snapshot({}, {"learner": what, "brief": brief}))
    assert not pathlib.Path("sprung").exists()


def test_run_describes_every_argument():
    described = inspect.getdoc(qs.run)
    for name in inspect.signature(qs.run).parameters:
        assert re.search(rf"^{name}:\n    \S", described, re.MULTILINE), name


def test_a_check_sees_the_global_generator_of_torch(monkeypatch):
    """By a stand-in, which is all of torch that the check looks at."""

    class Generator:
        state = np.array([1, 2])
        random = property(lambda self: self)

        def get_rng_state(self):
            return self

        def set_rng_state(self, kept):
            self.state = np.array([1, 2])

        def numpy(self):
            return self.state

    stand_in = Generator()
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    with undisturbed() as watch:
        assert watch.touched == []
        stand_in.state = np.array([1, 3])
        assert watch.touched == ["torch"]
    assert stand_in.state.tolist() == [1, 2]


HALF = """
import quickstudy as qs


@qs.measure(
    "first-step",
    version=1,
    kinds=("learning-curve",),
    equation="first step",
    chance="none",
    scores=(
        qs.Score("first-step", "the very first", unit="sequences", better="lower", range=(0, 10)),
    ),
)
def first_step(trace, convention):
    return {"first-step": float(trace.arrays["step"][0])}
"""


def test_a_measure_of_ones_own_is_shown_without_its_file(tmp_path, monkeypatch, capsys):
    """Where it was asked for: in the terminal and on the page, before the protocol's own
    columns.
    """
    monkeypatch.chdir(tmp_path)
    pathlib.Path("first.py").write_text(HALF)
    assert ran("-l", "majority", "--quiet", "--include", "first.py", "--measure", "first-step") == 0
    monkeypatch.setitem(registries.measure._entries, ("first-step", 1), None)
    del registries.measure._entries["first-step", 1]
    capsys.readouterr()
    (table,) = gather([pathlib.Path("r")]).tables
    assert "the very first" in [score.title for score in table.columns][:2]
    with pytest.raises(SystemExit):
        main(["report", "r", "--format", "text"])
    assert "the very first ↓" in capsys.readouterr().out
    (plain,) = gather([qs.run("language/periodic", "majority", out="plain", **SMALL).folder]).tables
    assert [score.title for score in plain.columns][-1] == "steps to 0.9"
