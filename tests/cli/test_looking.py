"""ls, show, sample, score: what a user sees before anything runs."""

import json
import subprocess
import sys

import pytest

from quickstudy.base.sheet import parse_sheet


def lines(answer):
    assert answer.status == 0, answer.err
    return [json.loads(line) for line in answer.out.splitlines()]


def test_ls_tasks_as_json(quickstudy):
    rows = lines(quickstudy("ls", "tasks", "--json"))
    assert {"language/periodic", "language/symbol-counting", "language/qa"} <= {
        row["id"] for row in rows
    }
    assert all(row["version"] >= 1 and row["summary"] for row in rows)


@pytest.mark.parametrize(
    "kind",
    [
        "tasks",
        "learners",
        "cores",
        "trainings",
        "controls",
        "measures",
        "protocols",
        "blocks",
        "figures",
    ],
)
def test_everything_listed_can_be_shown(quickstudy, kind):
    rows = lines(quickstudy("ls", kind, "--json"))
    assert rows
    sheet = lines(quickstudy("show", rows[0]["id"], "--json"))[0]
    assert sheet["id"] == rows[0]["id"]
    assert parse_sheet(sheet["sheet"]).summary == rows[0]["summary"]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_sheet_says_what_is_declared_and_prints_no_method(quickstudy, more):
    """The solution of a flow is a method by the name of what a protocol declares."""
    answer = quickstudy("show", "dynamics/lorenz-63", *more).out
    assert "persistence" in answer
    assert not any(word in answer for word in ("Exact: ", '"exact"', "<function"))


def test_show_names_parameters_controls_and_oracle(quickstudy):
    answer = quickstudy("show", "language/qa", "--convention", "published")
    assert answer.status == 0
    for word in ("balanced", "False", "polarity-count", "qa-oracle", "Departures"):
        assert word in answer.out


def test_sample_gives_words_and_supervised_indices(quickstudy):
    arguments = (
        "sample",
        "language/qa",
        "--count",
        3,
        "--seed",
        0,
        "--convention",
        "published",
        "--json",
    )
    first, second = quickstudy(*arguments), quickstudy(*arguments)
    assert first.out == second.out
    for row in lines(first):
        assert row["supervised"] == [len(row["tokens"]) - 1]
        assert row["tokens"][-1] in ("YES", "NO")


def test_sample_for_people_marks_what_is_asked(quickstudy):
    answer = quickstudy("sample", "language/symbol-counting", "-n", 1)
    assert answer.status == 0
    assert "[" in answer.out
    assert answer.out.rstrip().endswith(".")


def test_score_wade(quickstudy, tmp_path):
    (tmp_path / "curve.json").write_text(json.dumps({"accuracy": [0.2, 0.2, 0.7]}))
    value = lines(quickstudy("score", "wade", "curve.json", "--preset", "paper", "--json"))[0][
        "wade"
    ]
    assert value == pytest.approx((0.1 + 0.2 + (0.3 + 0.4 + 0.5 + 0.6 + 0.7) / 3) / 5.5, abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "langauge/qa", "-l", "esn"], 'no task "langauge/qa"; did you mean "language/qa"?'),
        (["run", "language/qa", "-l", "majorty"], 'did you mean "majority"?'),
        (["run", "language/qa", "-l", "esn:units=-5"], "esn: units must be at least 1, got -5"),
        (["run", "language/qa", "-l", "esn:unit=5"], 'no parameter "unit"; did you mean "units"?'),
        (
            ["run", "language/qa", "-l", "esn:units=many"],
            'units must be a whole number, got "many"',
        ),
        (["run", "language/qa:moost=3", "-l", "esn"], 'did you mean "most"?'),
        (["run", "language/qa", "-l", "lstm+sgd"], "lstm is a core that has to be trained"),
        (
            ["run", "language/qa", "-l", "majority", "--seeds", "0"],
            "seeds must be at least 1, got 0",
        ),
        (
            ["run", "language/qa", "-l", "majority", "--convention", "publishd"],
            'did you mean "published"?',
        ),
        (
            ["run", "language/qa", "-l", "majority", "--set", "sequences=2"],
            "sequences must be at least 5, got 2",
        ),
        (["run", "language/qa", "-l", "nothing.py:Class"], "no file nothing.py"),
        (["ls", "taks"], 'did you mean "tasks"?'),
        (["show", "language/q"], 'did you mean "language/qa"?'),
        (["sample", "language/qa", "--count", "0"], "count must be at least 1, got 0"),
        (["score", "wade", "absent.json"], "absent.json"),
        (["score", "wad", "absent.json"], 'did you mean "wade"?'),
        (["report", "absent"], "absent"),
        (["runn"], "runn"),
        (["run", "language/qa"], "--learner"),
    ],
)
def test_a_mistake_is_a_line_or_two_and_status_2(quickstudy, arguments, words):
    answer = quickstudy(*arguments)
    assert answer.status == 2
    assert words in answer.err
    assert "Traceback" not in answer.err
    assert 1 <= len(answer.err.strip().splitlines()) <= 2
    assert answer.out == ""


def test_reading_only_the_first_line_makes_no_noise(tmp_path):
    command = f"{sys.executable} -m quickstudy ls learners | head -1"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("library", "arguments", "extra"),
    [
        ("jax", ["run", "language/qa", "-l", "esn", "--no-controls"], "learners"),
        ("duckdb", ["query", ".", "select 1"], "report"),
    ],
)
def test_an_extra_that_is_not_installed_is_named_with_its_command(
    quickstudy, tmp_path, library, arguments, extra
):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{library}.py").write_text(f"raise ModuleNotFoundError('hidden', name='{library}')")
    (tmp_path / "runs").mkdir()
    answer = quickstudy(*arguments, PYTHONPATH=str(hidden))
    assert answer.status == 2
    assert (
        answer.err.strip()
        == f"{library} is not installed; type: pip install -e '.[{extra}]' in the repository"
    )


def test_a_profile_has_no_empty_field(quickstudy):
    answer = quickstudy("show", "profile-quick")
    assert "Score: ;" not in answer.out
    assert "Default seeds: 6; time limit of a run: 300 s" in answer.out


def test_several_learners_are_profiled_by_one_command(quickstudy):
    answer = quickstudy(
        "profile", "esn", "recall", "--families", "dynamics", "--seeds", "1", "--dry-run"
    )
    assert answer.status == 0
    assert answer.out.count("profile-quick version") == 2
    assert quickstudy("profile", "esn", "recal", "--dry-run").status == 2


def test_show_of_a_file_takes_its_only_class(quickstudy, tmp_path):
    file = tmp_path / "own.py"
    file.write_text('class Own:\n    """Mine."""\n')
    assert "Mine." in quickstudy("show", str(file)).out
    file.write_text("class Own:\n    pass\n\n\nclass Other:\n    pass\n")
    answer = quickstudy("show", str(file))
    assert answer.status == 2
    assert "has 2 classes: Own, Other; type" in answer.err
