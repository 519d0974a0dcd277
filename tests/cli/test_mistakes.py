"""What a user does wrong, and what a machine does: one line, the right status, never a
traceback.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

from quickstudy.api.run import run
from quickstudy.base.errors import UsageError
from quickstudy.base.record import Record
from quickstudy.cli.main import main
from quickstudy.runs.journal import Journal

SMALL = ("--set", "sequences=60")

STUDY = """
version = 1
title = "A small table"
source = "nowhere"
kind = "table"
score = "wade"
seeds = 2
[learners]
A = "majority"
[[rows]]
task = "language/qa"
label = "5 qa"
"""

MUTE = """
class Mute:
    def __init__(self, brief, seed):
        pass

    def learn(self, inputs, targets):
        pass

    def predcit(self, inputs):
        return inputs
"""


RAISES = (
    MUTE.replace("Mute", "Raises").replace("predcit", "predict").replace("return inputs", "1 / 0")
)


@pytest.fixture
def files(tmp_path, task_file):
    """Files of a user's, each with one fault, and a results folder with three runs."""
    (tmp_path / "raises.py").write_text(RAISES)
    (tmp_path / "mute.py").write_text(MUTE)
    (tmp_path / "reverse.py").write_text(task_file)
    (tmp_path / "homeless.py").write_text(task_file.replace('    protocol="language",\n', ""))
    (tmp_path / "wordless.py").write_text(task_file.replace(', "|"]', "]"))
    (tmp_path / "study.toml").write_text(STUDY.replace('"wade"', '"max-accuracy"'))
    return tmp_path


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Three runs of a rule, made once."""
    folder = tmp_path_factory.mktemp("results") / "out"
    command = [
        "run",
        "language/qa",
        "-l",
        "majority",
        "--no-controls",
        "--seeds",
        "3",
        *SMALL,
        "-j",
        "0",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "quickstudy", *command, "-o", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "3 ok" in done.stderr
    return folder


@pytest.fixture
def here(files, monkeypatch, capsys):
    """The command in this process, which is quicker; for what leaves nothing behind in it."""

    def call(*arguments):
        monkeypatch.chdir(files)
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["reproduce", "study.toml"],
            'language/qa has no score "max-accuracy"; did you mean "maximum-accuracy"?',
        ),
        (["show", "study.toml"], 'did you mean "maximum-accuracy"?'),
        (["show", "wade-tabel4"], 'did you mean "wade-table4"?'),
        (["show", "qa"], 'did you mean "language/qa"?'),
        (
            ["run", "language/qa", "-l", "mute.py:Mute"],
            "the class has no predict, it has learn, predcit",
        ),
        (
            ["run", "language/qa", "-l", "remaining-share"],
            (
                "remaining-share is a rule of other tasks; language/qa has majority, polarity,"
                " polarity-count, verbatim, not-before, last-name, inner-name, qa-oracle"
            ),
        ),
        (
            ["run", "language/qa", "-l", "majority", "-s", "10000000000", "--dry-run"],
            "seeds must be at most 1,000,000",
        ),
        (["reproduce", "wade-table4", "--seeds", "-3"], "seeds must be at least 1, got -3"),
        (["reproduce", "wade-table4", "--seeds", "0"], "seeds must be at least 1, got 0"),
        (
            ["run", "language/qa", "-l", "majority", "--data", "/nonexist"],
            "--data names no folder: /nonexist",
        ),
        (["run", "language/qa", "--bogus"], "see quickstudy run --help"),
        (["bogus"], "see quickstudy --help"),
        (["check", "mute.py:Foo"], 'no task, core or learner "Foo" in mute.py; known: Mute'),
        (["check", "language/qa", "absent.txt"], "no file absent.txt"),
        (["query", "FOLDER", ""], "the query asks nothing"),
        (["report", "FOLDER", "-o", "/proc/x.html"], "cannot write /proc/x.html"),
        (["report", "FOLDER", "-o", "absent/x.html"], "no folder absent to write x.html into"),
        (
            ["report", "FOLDER", "-o", "absent/x.csv", "--format", "csv"],
            "no folder absent to write x.csv into",
        ),
        (
            ["report", "FOLDER", "-o", "mute.py", "--format", "files"],
            "cannot write mute.py: File exists",
        ),
        (["pack", "FOLDER", "-o", "absent/x.zip"], "no folder absent to write x.zip into"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(here, files, results, arguments, words):
    status, out, err = here(*(results if part == "FOLDER" else part for part in arguments))
    assert status == 2, err
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""
    assert not (files / "results").exists()
    assert not (files / "absent").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["run", "mine/reverse", "--include", "homeless.py", "-l", "majority"],
            'no protocol "mine"',
        ),
        (
            ["sample", "mine/reverse:longest=0", "--include", "reverse.py"],
            "mine/reverse: sample raised ValueError: low >= high (reverse.py:26)",
        ),
        (
            ["sample", "mine/reverse", "--include", "wordless.py"],
            "mine/reverse: inputs must be tokens 0..3, got",
        ),
    ],
)
def test_a_mistake_in_a_file_is_one_line_and_status_2(quickstudy, files, arguments, words):
    answer = quickstudy(*arguments)
    assert answer.status == 2, answer.err
    assert words in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert answer.out == ""


def test_a_changed_task_is_another_task(quickstudy, files, task_file):
    command = (
        "run",
        "mine/reverse",
        "--include",
        "reverse.py",
        "-l",
        "majority",
        "--no-controls",
        "-s",
        2,
        *SMALL,
    )
    assert json.loads(quickstudy(*command, "-j", 0, "--json").out)["ok"] == 2
    assert json.loads(quickstudy(*command, "--dry-run", "--json").out)["to_do"] == 0
    (files / "reverse.py").write_text(task_file.replace("word[::-1]", "word[::1]"))
    assert json.loads(quickstudy(*command, "--dry-run", "--json").out)["to_do"] == 2


def test_quiet_still_says_what_failed(quickstudy, files):
    command = (
        "run",
        "language/qa",
        "-l",
        "raises.py:Raises",
        "--no-controls",
        "-s",
        2,
        *SMALL,
        "-q",
        "-j",
        0,
    )
    first = quickstudy(*command)
    assert first.status == 1
    failure, counts = first.err.splitlines()
    assert (
        failure
        == "failed: language/qa raises.py:Raises repetition 0: ZeroDivisionError: division by zero"
        " (raises.py:10)"
    )
    assert counts.startswith("2 failed in ")
    again = quickstudy(*command)
    assert again.status == 1
    assert (
        again.err.strip()
        == "2 of the runs found have failed before; --retry-failed runs them again"
    )


def test_letters_that_the_terminal_lacks(quickstudy):
    answer = quickstudy("show", "wade-grid", PYTHONIOENCODING="latin-1")
    assert answer.status == 0, answer.err
    assert "reached at > or at ?" in answer.out


def test_enough_read_is_no_fault(tmp_path):
    command = (
        f"{sys.executable} -m quickstudy sample language/qa -n 20000 | head -1; exit"
        " ${PIPESTATUS[0]}"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 141
    assert done.stderr == ""


def test_nothing_typed_is_answered_with_the_help(quickstudy):
    bare, asked = quickstudy(), quickstudy("--help")
    assert (bare.status, bare.err) == (0, "")
    assert bare.out == asked.out
    assert bare.out.startswith("Usage:")


def test_oracles_are_listed(here):
    _, out, _ = here("ls", "oracles", "--json")
    names = [json.loads(line)["id"] for line in out.splitlines()]
    assert "qa-oracle" in names
    assert "majority" not in names


def test_a_study_of_ones_own_is_shown(here, files):
    (files / "study.toml").write_text(STUDY)
    status, out, err = here("show", "study.toml")
    assert status == 0, err
    assert "Score: wade; no numbers were published" in out


def test_a_study_that_runs_nothing_or_not_that_often_says_so(quickstudy, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY.replace('"table"', '"illustration"'))
    few = quickstudy("reproduce", "study.toml", "--seeds", 5, "-j", 0)
    assert few.status == 0, few.err
    assert "study has 1 repetition of each run; --seeds 5 has no effect" in few.err
    none = quickstudy("reproduce", "wade-grid", "--seeds", 5)
    assert (none.status, none.err) == (0, "wade-grid runs nothing; --seeds 5 has no effect\n")


def test_the_score_says_its_thresholds_and_what_it_left_out(here, files):
    (files / "curve.csv").write_text("step,accuracy\n0,0.9\n1,0.2\n2,0.2\n3,0.7\n")
    _, out, err = here("score", "wade", "curve.csv")
    assert out.strip() == "WADE 0.206061  (paper, 10 thresholds)"
    assert err.strip() == "curve.csv: 1 evaluations before step 1 were left out; time counts from 1"
    assert "(paper, 100 thresholds)" in here("score", "wade", "curve.csv", "--thresholds", 100)[1]
    assert "--thresholds 100" in here("score", "wade", "--help")[1]


def test_the_time_is_measured_or_unknown(here, results):
    command = (
        "run",
        "language/qa",
        "-l",
        "majority",
        "--no-controls",
        "-o",
        results,
        "--dry-run",
        "-j",
        64,
    )
    assert "time unknown: nothing of this has been run here before" in here(*command)[1]
    assert (
        "about 0 s, by the time that runs have taken here"
        in here(*command, *SMALL, "--seeds", 5)[1]
    )


def test_another_spelling_of_a_learner_is_the_same_learner(here, files):
    accuracy = {"accuracy": {"version": 1, "values": {"final-accuracy": 0.5}}}
    with Journal(files / "out") as journal:
        for learner in ("reca", "majority"):
            for repetition in range(3):
                what = {
                    "learner": {"id": learner},
                    "convention": "corrected",
                    "root": 0,
                    "repetition": repetition,
                }
                journal.write(
                    Record(
                        what,
                        "ok",
                        scores=accuracy,
                        labels={"task": "language/qa", "learner": learner},
                    )
                )
    status, out, err = here("compare", "reca:rule=206", "majority", "-o", "out")
    assert status == 0, err
    assert "d undefined" in out


def test_damaged_lines_are_counted_aloud(here, results, files):
    journal = next((results / "runs").glob("*.jsonl"))
    (files / "out" / "runs").mkdir(parents=True)
    lines = journal.read_text().splitlines(keepends=True)
    (files / "out" / "runs" / journal.name).write_text("damaged\n" + "".join(lines[1:]))
    for arguments in (("query", "out", "select count(*) from runs"), ("report", "out")):
        status, _, err = here(*arguments)
        assert status == 0
        assert err.strip() == "1 damaged lines of out were left out; type: quickstudy doctor out"


@pytest.mark.parametrize(
    ("tasks", "learners", "options", "words"),
    [
        (
            "language/qa",
            int,
            {},
            "int: a learner needs learn(inputs, targets) and predict(inputs), or act",
        ),
        (
            "language/qa",
            3,
            {},
            "a learner is a class with learn and predict, or something with begin, got 3",
        ),
        (
            "language/qa",
            "majority",
            {"seeds": 1.5},
            "seeds must be a whole number, the number of repetitions, got 1.5",
        ),
        ("language/qa", "majority", {"seeds": 10**10}, "seeds must be at most 1,000,000"),
        (5, "majority", {}, "a task is named by its id, such as language/qa, got 5"),
    ],
)
def test_the_same_from_python(tmp_path, tasks, learners, options, words):
    with pytest.raises(UsageError) as caught:
        run(tasks, learners, out=tmp_path, **options)
    assert words in str(caught.value)


def test_a_report_that_cannot_be_written_does_not_spoil_what_is_found(
    quickstudy, results, tmp_path
):
    (tmp_path / "out" / "report.html" / "report.html").mkdir(parents=True)
    shutil.copytree(results / "runs", tmp_path / "out" / "runs")
    command = (
        "run",
        "language/qa",
        "-l",
        "majority",
        "--no-controls",
        "-s",
        3,
        *SMALL,
        "-o",
        "out",
    )
    answer = quickstudy(*command)
    assert answer.status == 0, answer.err
    assert "all 3 runs found" in answer.err
    assert "cannot write out/report.html" in answer.err
    assert pathlib.Path(tmp_path / "out" / "report.html" / "report.html").is_dir()


def test_an_option_out_of_range_is_named_in_plain_words(capsys):
    with pytest.raises(SystemExit) as end:
        main(["play", "curriculum/micro-1", "--steps", "0"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert "--steps" in said
    assert "must be" in said
    assert "Input" not in said
