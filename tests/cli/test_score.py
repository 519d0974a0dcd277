"""score: a file by its kind, or a folder again; measures from outside, here and in a run."""

import json
import pathlib

import pytest

import quickstudy as qs
from quickstudy.base.errors import UsageError
from quickstudy.base.registry import include
from quickstudy.cli import score as kinds

MEASURE = '''
import quickstudy as qs


@qs.measure(
    "mid-way", version=1, kinds=["learning-curve"], chance="0", equation="a at half the curve",
    scores=[qs.Score("mid-way", unit="share", better="higher", range=(0, 1))],
)
def mid_way(trace, convention):
    """Accuracy in the middle of the curve."""
    accuracy = trace.arrays["accuracy"]
    return {"mid-way": float(accuracy[len(accuracy) // 2])}
'''
RUN = (
    "run",
    "language/qa",
    "-l",
    "majority",
    "--set",
    "sequences=60",
    "--no-controls",
    "-j",
    0,
    "-q",
)
WITH = ("--measure", "mid-way", "--include", "half.py")


@pytest.fixture
def half(tmp_path):
    (tmp_path / "half.py").write_text(MEASURE)


def scored(inside):
    rows = inside(
        "query", "results", "select repetition, value from scores where name = 'mid-way'", "--json"
    )
    return {row["repetition"]: row["value"] for row in map(json.loads, rows.out.splitlines())}


def test_a_folder_is_scored_again_by_a_measure_from_outside(inside, half):
    assert inside(*RUN, "-s", 2).status == 0
    assert scored(inside) == {}
    dry = inside("score", "results", *WITH, "--dry-run")
    assert (dry.status, dry.out) == (0, "2 of 2 runs would be scored again: mid-way v1 (2)\n")
    assert scored(inside) == {}
    done = json.loads(inside("score", *WITH, "results", "--json").out)
    assert done["measures"] == {"mid-way": {"version": 1, "runs": 2}}
    assert (done["runs"], done["scored"], done["left_out"]) == (2, 2, [])
    middle = (
        "select repetition, accuracy from curves qualify         row_number() over (partition by"
        " key order by step) = count(*) over (partition by key) // 2 + 1"
    )
    rows = [
        json.loads(line) for line in inside("query", "results", middle, "--json").out.splitlines()
    ]
    assert scored(inside) == {row["repetition"]: row["accuracy"] for row in rows}


def test_a_run_applies_it_to_what_is_new_and_to_what_is_found(inside, half, tmp_path):
    inside(*RUN, "-s", 2)
    before = sorted((tmp_path / "results" / "runs").iterdir())
    more = inside(*RUN, "-s", 3, *WITH)
    assert more.status == 0, more.err
    assert set(scored(inside)) == {0, 1, 2}
    keys = {json.loads(line)["key"] for path in before for line in path.read_text().splitlines()}
    rows = inside("query", "results", "select key from runs", "--json").out.splitlines()
    assert keys < {json.loads(row)["key"] for row in rows}
    unknown = inside(*RUN, "-s", 4, "--measure", "mid-weigh")
    assert (unknown.status, unknown.out) == (2, "")
    assert 'no measure "mid-weigh"; did you mean "mid-way"?' in unknown.err


def test_the_same_from_python(inside, half, tmp_path):
    """Beside the protocol's own measures, in the same runs; and again, of what is stored."""
    task = {
        "seeds": 2,
        "controls": False,
        "protocol": {"sequences": 60},
        "workers": 0,
        "out": tmp_path / "results",
    }
    plain = qs.run("language/qa", "majority", **task)
    include(tmp_path / "half.py")
    before = {record.key: set(record.scores) for record in plain.records}
    again = qs.run("language/qa", "majority", measures=["mid-way"], **task)
    assert {record.key: set(record.scores) - {"mid-way"} for record in again.records} == before
    assert all("mid-way" in record.scores for record in again.records)
    assert again.score("mid-way").scored == 0
    with pytest.raises(UsageError, match='no measure "half"'):
        qs.run("language/qa", "majority", measures="half", **task)


def test_folders_are_read_with_a_file_of_ones_own(inside, half, task_file, tmp_path):
    (tmp_path / "reverse.py").write_text(task_file)
    run = (
        "run",
        "mine/reverse",
        "-l",
        "majority",
        "-l",
        "copy-last",
        "--set",
        "sequences=60",
        "-j",
        0,
        "-q",
        "-s",
        2,
    )
    assert inside(*run, *WITH, "--include", "reverse.py").status == 0
    for verb in (
        ("report", "results", "--format", "csv"),
        ("compare", "majority", "copy-last", "--score", "mid-way"),
        ("query", "results", "select count(*) from scores where name = 'mid-way'"),
        ("show", "mid-way"),
        ("ls", "measures"),
    ):
        answer = inside(*verb, "--include", "half.py")
        assert answer.status == 0, answer.err
        assert "mid-way" in answer.out or "4" in answer.out


def test_every_kind_of_file_is_a_module_and_in_the_help(inside):
    modules = {
        path.stem.replace("_", "-") for path in pathlib.Path(kinds.__file__).parent.glob("*.py")
    } - {"--init--"}
    assert "wade" in modules
    shown = inside("score", "--help").out
    assert all(f"\n  {kind} " in shown for kind in modules)
    assert "--thresholds 100" in inside("score", "wade", "--help").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["wad", "curve.json"], 'cannot score "wad" from a file; did you mean "wade"?'),
        (["wad"], '"wad" is neither a folder nor a kind of file; did you mean "wade"?'),
        (["wade"], "see quickstudy score wade --help"),
        ([], "see quickstudy score FOLDER --help"),
        (["."], "no results in ."),
        ([".", "."], "one folder at a time can be scored again, got 2"),
        ([".", "--measure", "wad"], 'no measure "wad"; did you mean "wade"?'),
        (["--unheard"], "no such option"),
    ],
)
def test_what_can_be_wrong(inside, arguments, words):
    answer = inside("score", *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err
    assert len(answer.err.splitlines()) == 1
