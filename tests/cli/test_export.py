"""What is exported can be read by those for whom it is made."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json

import pytest

import quickstudy as qs
from quickstudy.api.croissant import Publication, write_croissant
from quickstudy.api.sample import sample
from quickstudy.base.errors import UsageError
from quickstudy.play.keeping import Invitation, Sitting
from quickstudy.render.write_page import csv_text
from quickstudy.report.answers import HEADING, answer_rows
from quickstudy.report.build import gather
from quickstudy.report.eval_results import as_yaml, eval_results

PUBLISHED = Publication(
    "A. Nother", "https://spdx.org/licenses/CC0-1.0.html", "https://example.org/data"
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "results"
    qs.run("language/qa", "esn:units=10", seeds=2, out=folder, protocol={"sequences": 40})
    return folder


def test_the_entries_of_a_learner_are_read_by_the_hub(results):
    entries = eval_results(
        gather([results]), "esn:units=10", "me/bench", "https://example.org", "2026-01-15"
    )
    (entry,) = entries
    (row,) = (row for row in gather([results]).tables[0].rows if row.learner == "esn:units=10")
    assert entry["value"] == row.scores["log-area"].mean
    assert entry["dataset"] == {
        "id": "me/bench",
        "task_id": "language-qa-protocol-sequences-40",
    }
    assert "mean of 2 seeds" in entry["notes"]
    assert "best control" in entry["notes"]
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(as_yaml(entries)) == entries
    hub = pytest.importorskip("huggingface_hub")
    (read,) = hub.parse_eval_result_entries(yaml.safe_load(as_yaml(entries)))
    assert (read.dataset_id, read.value, read.date) == ("me/bench", entry["value"], "2026-01-15")


@pytest.mark.parametrize(
    ("learner", "data_set", "words"),
    [
        ("esn:units=10", "bench", "named OWNER/NAME"),
        ("esn:units=11", "me/bench", 'no runs of a learner "esn:units=11"'),
        ("majority", "me/bench", 'no runs of a learner "majority"'),
    ],
)
def test_entries_that_cannot_be_are_refused(results, learner, data_set, words):
    with pytest.raises(UsageError, match=words):
        eval_results(gather([results]), learner, data_set)


def test_every_answer_of_a_person_is_a_row(tmp_path):
    sitting = Sitting(Invitation("span/copy", amount=1, name="ann"), tmp_path)
    lines = ["".join(sitting.shown().paced).partition("|")[0]]
    sitting.answer(lines[0])
    while not sitting.seat.over:
        shown = "".join(sitting.shown().paced).partition("|")[0]
        wrong = next(letter for letter in "abcdefgh" if letter != shown[0])
        sitting.answer(wrong + shown[1:])
    sitting.keep()
    words = Sitting(Invitation("language/qa", amount=2), tmp_path)
    for _ in range(2):
        words.shown()
        words.answer("a")
    words.keep()
    rows = list(csv.DictReader(io.StringIO(csv_text(answer_rows(tmp_path)))))
    assert tuple(rows[0]) == HEADING
    span = [row for row in rows if row["task"] == "span/copy"]
    assert [row["right"] for row in span] == ["1", "0", "0"]
    assert [row["difficulty"] for row in span] == ["1", "2", "3"]
    assert {row["person"] for row in span} == {"ann"}
    other = [row for row in rows if row["task"] == "language/qa"]
    assert [row["right"] for row in other] == [str(int(right)) for right in words.seat.right]
    assert all(float(row["seconds"]) >= 0 for row in rows)


def test_where_nobody_has_played_there_are_no_answers(results):
    with pytest.raises(UsageError, match="nobody has played"):
        answer_rows(results)


@pytest.mark.parametrize("task", ["span/copy", "dynamics/narma-10", "games/listener"])
def test_examples_are_written_with_their_description(task, tmp_path):
    path = write_croissant(task, tmp_path / "data", PUBLISHED, count=3, seed=1)
    facts = json.loads(path.read_text())
    (file,) = facts["distribution"]
    content = (path.parent / file["contentUrl"]).read_bytes()
    assert file["sha256"] == hashlib.sha256(content).hexdigest()
    rows = [json.loads(line) for line in content.splitlines()]
    assert rows == sample(task, count=3, seed=1).as_json()
    (records,) = facts["recordSet"]
    described = {field["name"] for field in records["field"]}
    for name in {*rows[0]} - described:  # nested, and said to be so
        assert name in facts["description"]
    required = {"license", "url", "creator", "datePublished", "description", "name", "conformsTo"}
    assert required <= {*facts}
    if importlib.util.find_spec("mlcroissant"):  # else what is above has to do
        croissant = importlib.import_module("mlcroissant")
        assert len(list(croissant.Dataset(jsonld=str(path)).records("examples"))) == len(rows)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"creator": " "}, "--creator must name"),
        ({"license": "CC0"}, "--license must be an address"),
        ({"url": "example.org"}, "--url must be an address"),
    ],
)
def test_a_description_without_a_licence_is_refused(given, words):
    with pytest.raises(UsageError, match=words):
        Publication(**{**vars(PUBLISHED), **given})


def test_a_measured_file_is_described_and_not_copied(tmp_path, monkeypatch):
    content = b"intensity,note\n" + b"".join(b"%d,a\n" % number for number in range(20))
    (tmp_path / "santafe_laser.csv").write_bytes(content)
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path))
    path = write_croissant("dynamics/santa-fe-laser", tmp_path / "described", PUBLISHED)
    assert [one.name for one in path.parent.iterdir()] == ["croissant.json"]
    facts = json.loads(path.read_text())
    (file,) = facts["distribution"]
    assert (file["name"], file["sha256"]) == (
        "santafe_laser.csv",
        hashlib.sha256(content).hexdigest(),
    )
    (records,) = facts["recordSet"]
    assert [(one["name"], one["dataType"]) for one in records["field"]] == [
        ("intensity", "sc:Integer"),
        ("note", "sc:Text"),
    ]
    assert "20 rows" in facts["description"]


def test_data_without_a_description_are_refused_and_nothing_is_overwritten(tmp_path):
    with pytest.raises(UsageError, match="data of somebody else"):
        write_croissant("dynamics/digits", tmp_path / "data", PUBLISHED)
    (tmp_path / "used").write_text("")
    with pytest.raises(UsageError, match="exists and is not empty"):
        write_croissant("span/copy", tmp_path, PUBLISHED)
