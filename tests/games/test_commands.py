"""Games as a user types them."""

from __future__ import annotations

import json

import pytest

import quickstudy as qs
from quickstudy.base.blocks import Graph, HeatMap, Plot
from quickstudy.base.study import find_study
from quickstudy.cli.main import main

pytest.importorskip("jax")
TASK = "games/listener:samples=4"  # a program that other tests have compiled


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return call


def test_a_sample_is_replayed(typed, tmp_path):
    status, out, _ = typed("sample", TASK, "--count", 2, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert len(lines) == 2
    assert list(lines[0]) == ["task", "values", "renamed", "games"]
    assert list(lines[0]["games"][0]) == ["query", "target", "speaker", "listener", "correct"]
    (tmp_path / "episodes.jsonl").write_text(out)
    status, out, _ = typed("replay", "episodes.jsonl")
    assert status == 0
    for line, printed in zip(lines, out.splitlines(), strict=True):
        steps = json.loads(printed)["steps"]
        assert len(steps) == 3 * len(line["games"])
        assert list(steps[0]) == ["round_idx", "speaker", "listener", "reward", "done"]
        assert list(steps[0]["speaker"]) == [
            "stimulus",
            "communication_channel",
            "mode_id",
            "previous_game_result",
            "previous_game_reward",
        ]
        assert sum(step["reward"] for step in steps) == len(line["games"])
        assert [step["done"] for step in steps] == [False] * (len(steps) - 1) + [True]
    lines[1]["decisions"] = [0, 9]
    (tmp_path / "wrong.jsonl").write_text("\n".join(map(json.dumps, lines)))
    status, _, err = typed("replay", "wrong.jsonl")
    assert status == 2
    assert err.strip() == "wrong.jsonl, line 2: decisions[1] must lie in 0..1, got 9"


def test_a_task_that_is_not_there_is_named(typed, tmp_path):
    (tmp_path / "wrong.jsonl").write_text('{"task": "games/listner"}')
    status, _, err = typed("replay", "wrong.jsonl")
    assert status == 2
    assert 'no task "games/listner"; did you mean "games/listener"?' in err


def test_languages_and_codes_are_scored_from_files(typed, tmp_path):
    table = {
        "meanings": [[0, 0], [0, 1], [1, 0], [1, 1]],
        "utterances": [[1, 1], [1, 2], [2, 1], [2, 2]],
    }
    (tmp_path / "language.json").write_text(json.dumps(table))
    status, out, _ = typed("score", "language", "language.json", "--json")
    found = json.loads(out)
    assert (status, found["topsim"], found["posdis"], found["bosdis"]) == (0, 1.0, 1.0, 0.0)
    assert list(found)[:2] == ["topsim", "topsim-plain"]
    assert "topsim-means" not in found
    (tmp_path / "means.json").write_text(
        json.dumps({**table, "means": [[-0.5], [0.5], [-0.4], [0.3]]})
    )
    with_means = json.loads(typed("score", "language", "means.json", "--json")[1])
    assert set(with_means) - set(found) == {"topsim-means", "topsim-means-fast"}
    assert {name: with_means[name] for name in found} == found
    floats = {
        **table,
        "utterances": [[float(token) for token in row] for row in table["utterances"]],
    }
    (tmp_path / "language.json").write_text(json.dumps(floats), encoding="utf-8-sig")
    assert typed("score", "language", "language.json", "--json")[:2] == (0, out)
    (tmp_path / "codes.json").write_text(
        json.dumps({"factors": table["meanings"], "codes": table["utterances"]})
    )
    status, out, _ = typed("score", "disentanglement", "codes.json", "--json")
    assert (status, json.loads(out)) == (0, {"mig": 1.0, "modularity": 1.0})
    (tmp_path / "language.json").write_text('{"meanings": [[0]]}')
    status, _, err = typed("score", "language", "language.json")
    assert status == 2
    assert "utterances" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("kind", "content", "said"),
    [
        ("language", {"meanings": [[0], [1]], "utterances": [[1], [2**63]]}, "utterances, row 1"),
        (
            "language",
            {"meanings": [[0], [1]], "utterances": [[1], [2]], "means": [[0], ["a"]]},
            "means, row 1",
        ),
        (
            "language",
            {"meanings": [[0], [1]], "utterances": [[1], [2]], "means": [[0]]},
            "1 rows of means",
        ),
        ("language", {"meanings": [[], []], "utterances": [[1], [2]]}, "meanings, row 0: is empty"),
        (
            "language",
            {"meanings": [[0], []], "utterances": [[1], [2]]},
            "meanings, row 1: is empty",
        ),
        (
            "language",
            {"meanings": [[0], [0, 1]], "utterances": [[1], [2]]},
            "row 1: has 2 entries, the first has 1",
        ),
        ("disentanglement", {"factors": [[0], [1]], "codes": [[], []]}, "codes, row 0: is empty"),
        ("disentanglement", {"factors": [[0], [1]], "codes": [[0], [10**400]]}, "codes, row 1"),
        ("disentanglement", {"factors": [[0], [1]], "codes": [[-1e308], [1e308]]}, "column 0"),
    ],
)
def test_numbers_beyond_what_can_be_reckoned_with_are_named(kind, content, said, typed, tmp_path):
    (tmp_path / "large.json").write_text(json.dumps(content))
    status, _, err = typed("score", kind, "large.json")
    assert status == 2
    assert said in err
    assert len(err.strip().splitlines()) == 1


def test_who_hears_nothing_guesses_in_a_run(tmp_path):
    found = qs.run(TASK, "blind", seeds=1, controls=False, workers=0, out=tmp_path / "results")
    (record,) = found.records
    assert record.status == "ok"
    assert abs(record.scores["zero-shot-accuracy"]["values"]["zero-shot-accuracy"] - 0.5) < 0.04


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("s2b-figure3", [Plot]), ("s2b-figure4", [HeatMap] * 6)],
)
def test_figures_are_drawn(name, kinds, tmp_path):
    made = qs.reproduce(name, out=tmp_path / "study", workers=0, seeds=1)
    drawn = [block for block in made.page.blocks if isinstance(block, Graph | Plot | HeatMap)]
    assert list(map(type, drawn)) == kinds
    if name == "s2b-figure3":
        assert [len(panel.series) for panel in drawn[0].panels] == [5, 5, 3]


def test_the_audit_has_every_cell_and_its_printed_number():
    study = find_study("s2b-audit")
    printed = {row.label: next(iter(row.published.values()), None) for row in study.rows}
    assert len(study.rows) == 19
    assert printed["O=1 S=4"].value == 0.7494
    assert printed["O=16 S=1"].value == 0.6492
    assert printed["pair O=4 S=2"].value == 0.5158
    assert printed["Table 4"].value == 0.86


@pytest.mark.parametrize("field", ["values", "renamed", "listener", "target", "decisions"])
def test_a_huge_number_is_named_in_one_line(typed, tmp_path, field):
    _, out, _ = typed("sample", TASK, "--count", 1, "--json")
    line = json.loads(out.splitlines()[0])
    line["decisions"] = [None] * 3
    owner = line["games"][0] if field in line["games"][0] else line
    first, *others = owner[field]
    owner[field] = [10**400 if not isinstance(first, list) else [10**400, *first[1:]], *others]
    (tmp_path / "huge.jsonl").write_text(json.dumps(line))
    status, _, err = typed("replay", "huge.jsonl")
    assert (status, err.count("\n"), "huge.jsonl, line 1" in err) == (2, 1, True), err
