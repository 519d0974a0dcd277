"""Which runs are a study's: those of its identity, all of them, and the folder is read once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from quickstudy.base.canonical import canonical, plain, spelled
from quickstudy.base.record import FAILED, OK, Record
from quickstudy.base.study import Study, find_study
from quickstudy.cli.main import app
from quickstudy.pages.reproduction import reproduction
from quickstudy.pages.study_request import Request, by_protocol
from quickstudy.runs import merge
from quickstudy.runs.results import ResultsFolder
from quickstudy.runs.run_spec import Setting, identity, labels

Make = Callable[..., Any]
STUDY = """
version = 1
title = "Two rules"
source = "nowhere"
kind = "table"
score = "wade"
seeds = 3
[learners]
Same = "majority"
Other = { corrected = "polarity" }
[[rows]]
task = "language/qa"
label = "5 qa"
"""
OTHER = (
    'version = 1\ntitle = "The same"\nsource = "nowhere"\nkind = "table"\nscore = "wade"\nseeds ='
    ' 3\nlike = "{}"\n'
)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    path = tmp_path / "rules.toml"
    path.write_text(STUDY)
    return find_study(str(path))


def run_of(
    learner: str = "majority",
    repetition: int = 0,
    status: str = OK,
    version: int | None = None,
    **setting: Any,
) -> Record:
    asked = Setting("language/qa", learner, **setting)
    parts = asked.resolve()
    what = identity(asked, parts, repetition)
    if version is not None:
        what["learner"] = {**what["learner"], "version": version}
    scores = {"wade": {"version": 1, "values": {"wade": 0.1 * repetition}}}
    return Record(plain(what), status, scores=scores, labels=labels(asked, parts))


def folder_of(*records: Record) -> ResultsFolder:
    """A folder that holds records, without one on the disk."""
    shelf = ResultsFolder(Path("nowhere"), [])
    shelf._reading = merge.Reading({str(number): record for number, record in enumerate(records)})
    return shelf


def seeds(
    shelf: ResultsFolder,
    study: Study,
    column: str = "Same",
    root: int = 0,
    under: str = "corrected",
) -> Any:
    return list(Request(study, shelf.folder, under, 6, root, shelf=shelf).cells()["5 qa"][column])


def test_a_run_of_another_version_is_another_whatever_it_is_called(study: Study) -> None:
    mine, old = run_of(repetition=0), run_of(repetition=1, version=99)
    assert mine.labels == old.labels
    assert seeds(folder_of(mine, old), study) == [(0, 0)]


@pytest.mark.parametrize(
    "part", ["task", "learner", "protocol", "convention", "root", "repetition"]
)
def test_a_run_that_does_not_say_all_that_it_was_is_nobodys(study: Study, part: str) -> None:
    lacking = Record({name: one for name, one in run_of().what.items() if name != part}, OK)
    shelf = folder_of(lacking, run_of(repetition=2))
    assert (len(shelf.table().finished), seeds(shelf, study)) == (1, [(0, 2)])


def test_a_run_under_another_label_is_the_same_run(study: Study) -> None:
    renamed = dataclasses.replace(run_of(), labels={"task": "x", "learner": "y", "role": "control"})
    assert seeds(folder_of(renamed), study) == [(0, 0)]


def test_convention_protocol_and_root_are_part_of_what_was_run(study: Study) -> None:
    found = folder_of(
        run_of(repetition=0),
        run_of(repetition=1, convention="published"),
        run_of(repetition=2, protocol={"schedule": "every"}),
        run_of(repetition=3, root=1),
    )
    usual, exact = (by_protocol(study, "corrected", {}, exact=exact) for exact in (False, True))
    assert usual.rows[0].protocol == {
        "schedule": run_of().what["protocol"]["parameters"]["schedule"]
    }
    assert seeds(found, study) == seeds(found, usual) == [(0, 0)]
    assert seeds(found, exact) == [(0, 2)]
    assert seeds(found, study, under="published") == [(0, 1)]
    assert seeds(found, study, root=1) == [(1, 3)]
    assert list(Request(study, found.folder, "published", 6, shelf=found).cells()["5 qa"]) == [
        "Same"
    ]


def test_all_stored_seeds_are_shown_however_few_are_asked_for(
    study: Study, save: Make, tmp_path: Path
) -> None:
    folder = save(tmp_path / "runs", [run_of(repetition=number) for number in range(3)])
    request = Request(study, folder, "corrected", seeds=1)
    assert list(request.cells()["5 qa"]["Same"]) == [(0, 0), (0, 1), (0, 2)]
    assert request.cells()["5 qa"]["Other"] == {}
    assert reproduction(request).cells["5 qa"]["Same"].n == 3


def test_a_study_that_is_like_another_has_its_runs(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "like.toml"
    path.write_text(OTHER.format(tmp_path / "rules.toml"))
    like = find_study(str(path))
    assert (like.id, like.runs) == ("like", "rules")
    assert seeds(folder_of(run_of()), like) == [(0, 0)]


def test_the_folder_is_read_again_only_when_it_has_changed(
    study: Study, save: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = count_reads(monkeypatch)
    shelf = ResultsFolder(tmp_path / "runs")
    assert seeds(shelf, study) == []
    save(tmp_path / "runs", [run_of(), run_of(repetition=1, status=FAILED)])
    assert seeds(shelf, study) == [(0, 0)]
    assert len(shelf.reading().records) == 2
    assert len(reads) == 2
    save(tmp_path / "runs", [run_of(repetition=1)])
    assert seeds(shelf, study) == [(0, 0), (0, 1)]
    assert len(reads) == 3


def test_a_command_that_finds_everything_done_reads_the_folder_once(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [
        "reproduce",
        str(tmp_path / "rules.toml"),
        "-o",
        str(tmp_path / "out"),
        "--seeds",
        "2",
        "-j",
        "0",
    ]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    reads = count_reads(monkeypatch)
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 0, again.output
    assert again.stdout == first.stdout
    assert len(reads) == 1


def test_a_failed_run_is_the_status_of_every_command_that_asks_for_it(
    study: Study, save: Make, tmp_path: Path
) -> None:
    protocol = {"schedule": "thinned"}
    folder = save(
        tmp_path / "out",
        [run_of(protocol=protocol), run_of("polarity", status=FAILED, protocol=protocol)],
    )
    arguments = [
        "reproduce",
        str(tmp_path / "rules.toml"),
        "-o",
        str(folder),
        "-j",
        "0",
        "--seeds",
        "1",
    ]
    corrected = [*arguments, "--convention", "corrected"]
    assert CliRunner().invoke(app, corrected).exit_code == 1
    # Under the published convention that column has no learner: what failed is not asked for.
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert CliRunner().invoke(app, [*corrected, "--retry-failed"]).exit_code == 0


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_plain_values_are_spelled_canonically(value: Any) -> None:
    assert spelled(value) == canonical(value)


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Count how often the journals of a folder are gone through, whoever asks for it."""
    reads = []
    original = merge.read_lines

    def read_lines(folder: Path, **more: Any) -> Any:
        reads.append(folder)
        return original(folder, **more)

    monkeypatch.setattr(merge, "read_lines", read_lines)
    return reads
