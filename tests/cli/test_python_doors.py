"""What the command line does has a function in Python, with the same numbers."""

import json
import subprocess
import sys

import pytest

import quickstudy as qs
from quickstudy.base.errors import UsageError


def printed(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "quickstudy", *arguments, "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_sample_gives_what_the_command_prints(tmp_path):
    found = qs.sample("language/periodic:longest=2", count=2, seed=3)
    command = ("sample", "language/periodic:longest=2", "-n", "2", "-s", "3")
    assert found.as_json() == printed(tmp_path, *command)
    assert len(found.parts()) == 2
    assert "[" in str(found)


def test_sample_of_a_series_is_a_table():
    (table,) = qs.sample("dynamics/narma-10").parts()
    assert table[0] == ("step", "part", "inputs", "", "targets")
    with pytest.raises(UsageError, match="count must be at least 1"):
        qs.sample("dynamics/narma-10", count=0)


def test_a_file_is_scored_by_its_kind(tmp_path):
    curve = tmp_path / "curve.json"
    curve.write_text(json.dumps({"accuracy": [0.1, 0.5, 0.9, 1.0]}))
    assert (
        qs.score("wade", curve)["wade"] == printed(tmp_path, "score", "wade", str(curve))[0]["wade"]
    )
    with pytest.raises(UsageError, match='cannot score "wad" from a file; did you mean "wade"'):
        qs.score("wad", curve)
    with pytest.raises(UsageError, match='wade has no option "preest"; did you mean "preset"'):
        qs.score("wade", curve, preest="paper")
    with pytest.raises(UsageError, match="is not a folder; a file needs its kind first"):
        qs.score(tmp_path / "nowhere")


def test_a_drive_is_written_from_python(tmp_path):
    header = qs.drive("dynamics/narma-10", tmp_path / "a.csv", seed=2, volts=(-1.0, 1.0))
    (facts,) = printed(
        tmp_path, "drive", "dynamics/narma-10", "-o", "b.csv", "-s", "2", "--volts=-1:1"
    )
    assert facts == {"file": "b.csv", **header}
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with pytest.raises(UsageError, match="the lower one first"):
        qs.drive("dynamics/narma-10", tmp_path / "c.csv", volts=(1.0, -1.0))


def test_questions_are_written_from_python(tmp_path):
    given = {"protocol": {"sequences": 20}}
    done = qs.write_questions("language/periodic:longest=2", tmp_path / "q.jsonl", **given)
    lines = (tmp_path / "q.jsonl").read_text().splitlines()
    assert (done.runs, done.lines) == (1, len(lines))
    assert done.without_answers > 0


def test_the_spec_sheet_and_the_lists_are_plain_data(tmp_path):
    assert qs.show("esn") == printed(tmp_path, "show", "esn")[0]
    assert qs.ls("engines") == printed(tmp_path, "ls", "engines")
    assert {one["id"] for one in qs.ls("engines")} >= {"process", "serial"}
    assert qs.show("wade-table4")["kind"] == "study"


def test_every_option_is_in_the_signature_and_the_help():
    import inspect

    from quickstudy.api.options import options_of

    for verb in ("run", "reproduce", "profile"):
        function = getattr(qs, verb)
        assert set(options_of(verb)) < set(inspect.signature(function).parameters)
        assert all(f"{name}:" in function.__doc__ for name in options_of(verb))
    with pytest.raises(UsageError, match='run has no option "sedes"; did you mean "seeds"'):
        qs.run("language/qa", "majority", sedes=3)
    with pytest.raises(UsageError, match='reproduce has no option "rerun"'):
        qs.reproduce("wade-table4", rerun=True)
