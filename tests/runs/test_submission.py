"""Submissions: an honest one holds, and whatever is changed in one is found."""

from __future__ import annotations

import json
import math
import shutil
import statistics
from dataclasses import replace

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.canonical import guarded, plain
from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.runs.array_files import inline_trace, load_trace
from quickstudy.runs.merge import read_results
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.scoring import find_measures, score_trace
from quickstudy.runs.submission import (
    SUBMISSION,
    Submission,
    hashes,
    read_submission,
    records_of,
    submit,
)
from quickstudy.runs.verification import (
    BITS,
    FALSE_REFUSALS,
    INTERVAL,
    Demands,
    chosen,
    expected,
    verify,
)

HERE = ExecuteOptions(workers=0)
LEARNER = "esn:units=10"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "results"
    given = {"protocol": {"sequences": 60}, "controls": False, "workers": 0}
    qs.run("language/qa", LEARNER, seeds=6, out=folder, **given)
    return folder


@pytest.fixture
def packed(results, tmp_path):
    """An honest submission, as a copy of its own."""
    submit(results, tmp_path / "honest", read_results(results).records.values())
    return tmp_path / "honest"


def alter(folder, change):
    """Change every record, and make everything fit again: checksums, hashes and manifest."""
    for path in sorted((folder / "runs").glob("*.jsonl")):
        lines = []
        for line in path.read_text().splitlines():
            facts = json.loads(line)
            del facts["check"]
            change(facts)
            lines.append(guarded(facts))
        path.write_text("\n".join(lines) + "\n")
    found = read_submission(folder)
    again = Submission(found.name, dict(hashes(folder)), found.note)
    (folder / SUBMISSION).write_text(again.as_text())


def other_versions(facts):
    facts["where"]["versions"]["numpy"] = "1.0"


def raise_scores(facts):
    (entry,) = (one for one in facts["scores"].values() if "log-area" in one["values"])
    entry["values"]["log-area"] += 0.01


def better(share, only=None):
    """Changes the trace, and gives the scores that follow from it."""

    def change(facts):
        if only is not None and facts["what"]["repetition"] not in only:
            return
        record = next(one for one in change.records if one.key == facts["key"])
        trace = load_trace(change.folder, record)
        accuracy = 1 - (1 - trace.arrays["accuracy"]) * (1 - share)
        trace = type(trace)(
            trace.kind, {**trace.arrays, "accuracy": accuracy}, trace.facts, trace.cost
        )
        facts["trace"] = plain(inline_trace(trace))
        ids = find_measures(list(facts["scores"]))
        facts["scores"] = plain(score_trace(trace, ids, "corrected"))

    return change


def tampered(folder, change):
    change.folder, change.records = folder, records_of(folder)
    alter(folder, change)


def test_an_honest_one_holds_to_the_bit(packed):
    found = verify(packed, options=HERE)
    assert found.holds, found.faults
    assert (found.runs, [one.how for one in found.checked]) == (6, [BITS])
    assert found.scores >= 6


def test_one_made_with_other_versions_holds_by_an_interval(packed):
    """To pass as other, the run made again must differ: the trace is moved within the spread."""
    alter(packed, other_versions)
    tampered(packed, better(0.001))
    found = verify(packed, options=HERE)
    assert found.holds, found.faults
    assert [one.how for one in found.checked] == [INTERVAL]


def test_a_tampered_score_is_refused(packed):
    alter(packed, raise_scores)
    found = verify(packed, options=HERE)
    assert not found.holds
    assert len(found.faults) == 6
    assert all("in the record" in one and "by its trace" in one for one in found.faults)
    assert not found.checked  # nothing had to be run for it


def test_a_tampered_trace_is_refused(packed):
    """The smallest lie: everything fits together, and the numbers are a little better."""
    tampered(packed, better(0.001))
    found = verify(packed, options=HERE)
    assert not found.holds
    (fault,) = found.faults
    assert "made again, with the same versions" in fault


@pytest.mark.parametrize(
    "change",
    [
        lambda versions: versions.update({"loaded-by-chance": "1.0"}),
        lambda versions: versions.pop("scipy"),
    ],
)
def test_a_library_that_one_process_had_loaded_for_other_runs_hides_no_lie(packed, change):
    alter(packed, lambda facts: change(facts["where"]["versions"]))
    tampered(packed, better(0.001))
    (fault,) = verify(packed, options=HERE).faults
    assert "made again, with the same versions" in fault


def test_a_tampered_trace_that_names_other_versions_is_refused(packed):
    alter(packed, other_versions)
    tampered(packed, better(0.9))
    found = verify(packed, options=HERE)
    assert not found.holds
    assert "by the seeds of the submission it should lie" in found.faults[0]


def test_one_tampered_run_of_six_is_found_by_one_salt_of_six(packed):
    """The choice is even: over salts, the changed run is chosen once in six times."""
    records, hash = records_of(packed), read_submission(packed).hash
    counts = [0] * 6
    for salt in range(600):
        (one,) = chosen(records, f"{hash}{salt}")
        counts[one.what["repetition"]] += 1
    assert sum(counts) == 600
    assert all(60 <= count <= 145 for count in counts)  # 100 expected, 4.4 standard deviations


def test_the_chosen_runs_follow_from_the_hash(packed, tmp_path):
    records, hash = records_of(packed), read_submission(packed).hash
    assert chosen(records, hash) == chosen(list(reversed(records)), hash)
    shutil.copytree(packed, tmp_path / "again")
    assert read_submission(tmp_path / "again").hash == hash


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "quickstudy.json").unlink(), "quickstudy.json is missing"),
        (lambda folder: (folder / "more.txt").write_text("x"), "more.txt is not part of"),
        (lambda folder: append(folder, b"\n"), "was changed after it was packed"),
    ],
)
def test_a_file_that_is_missing_more_or_changed_is_named(packed, change, words):
    change(packed)
    (fault,) = verify(packed, options=HERE).faults
    assert words in fault


def append(folder, content):
    with open(next((folder / "runs").glob("*.jsonl")), "ab") as file:
        file.write(content)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"format": 2, "name": "a", "files": {}, "note": "", "quickstudy": ""}', "format 1"),
        ('{"format": 1, "name": "a", "files": {}, "note": "", "quickstudy": ""}', "its hash is"),
        ('{"format": 1, "name": "a", "files": [], "note": "", "quickstudy": ""}', "cannot be read"),
    ],
)
def test_a_manifest_that_is_none_is_refused(packed, text, words):
    (packed / SUBMISSION).write_text(text)
    with pytest.raises(UsageError, match=words):
        verify(packed)


def test_a_link_is_refused(packed):
    (packed / "traces" / "a.npz").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="is a link"):
        verify(packed)


def test_a_line_whose_checksum_does_not_fit_is_refused(packed):
    path = next((packed / "runs").glob("*.jsonl"))
    path.write_text(path.read_text().replace('"status":"ok"', '"status":"OK"', 1))
    found = read_submission(packed)
    again = Submission(found.name, dict(hashes(packed)), found.note)
    (packed / SUBMISSION).write_text(again.as_text())
    assert not verify(packed, options=HERE).holds


def drop(number):
    def change(folder):
        path = next((folder / "runs").glob("*.jsonl"))
        lines = [
            line
            for line in path.read_text().splitlines()
            if json.loads(line)["what"]["repetition"] != number
        ]
        path.write_text("\n".join(lines) + "\n")
        alter(folder, lambda facts: None)

    return change


@pytest.mark.parametrize(
    ("change", "demands", "words"),
    [
        (drop(2), Demands(seeds=5), "without a gap, got [0, 1, 3, 4, 5]"),
        (drop(5), Demands(), "at least 6 seeds are needed, got 5"),
        (lambda folder: None, Demands(root=1), "the root seed must be 1, got 0"),
        (
            lambda folder: alter(folder, lambda facts: facts["labels"].update(role="person")),
            Demands(),
            "sessions of people are not submitted",
        ),
        (
            lambda folder: alter(
                folder,
                lambda facts: facts["labels"].update(learner=f"x{facts['what']['repetition']}"),
            ),
            Demands(),
            "labelled in different ways",
        ),
        (
            lambda folder: alter(
                folder, lambda facts: facts["where"].update(sources={"evil.py": "sources/a.py"})
            ),
            Demands(),
            "code of its own (evil.py): read it, then give --run-code",
        ),
    ],
)
def test_what_a_board_does_not_take(packed, change, demands, words):
    change(packed)
    faults = verify(packed, demands, HERE).faults
    assert any(words in one for one in faults), faults


@pytest.mark.parametrize("run_code", [False, True])
@pytest.mark.parametrize(
    "learner",
    ["FOLDER/evil.py:Evil", "lines:command=touch FOLDER/RAN", "tampered:learner=FOLDER/evil.py"],
)
def test_a_name_that_reaches_outside_runs_nothing(packed, tmp_path, learner, run_code):
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'RAN')!r}, 'w')\n")
    named = learner.replace("FOLDER", str(tmp_path))
    alter(packed, lambda facts: facts["labels"].update(learner=named))
    demands = Demands(run_code=run_code and ".py" in learner)
    found = verify(packed, demands, HERE)
    assert not found.holds
    assert not (tmp_path / "RAN").exists()
    assert any("not in the submission" in one or "reaches outside" in one for one in found.faults)


@pytest.mark.parametrize("part", ["task", "learner"])
@pytest.mark.parametrize("file", ["a:evil.py", "x+y:evil.py", "x+a/evil.py", "a.pyx/evil.py"])
def test_a_file_of_an_odd_name_is_code_too(packed, tmp_path, monkeypatch, part, file):
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(f"open({str(tmp_path / 'RAN')!r}, 'w')\n")
    alter(packed, lambda facts: facts["labels"].update({part: f"{file}:Evil"}))
    found = verify(packed, options=HERE)
    assert not (tmp_path / "RAN").exists()
    assert any("its code is run" in one for one in found.faults), found.faults


def test_a_label_of_somebody_else_is_refused(packed):
    """The numbers of one learner under the name of another: they are another run."""
    alter(packed, lambda facts: facts["labels"].update(learner="esn:units=11"))
    (fault,) = verify(packed, options=HERE).faults
    assert "its learner is another one" in fault


def test_people_are_left_out_and_names_are_checked(results, tmp_path):
    records = list(read_results(results).records.values())
    person = replace(records[0], labels={**records[0].labels, "role": "person"})
    submit(results, tmp_path / "without", [person, *records[1:]])
    assert len(records_of(tmp_path / "without")) == 5
    with pytest.raises(UsageError, match="named by 1 to 40 small letters"):
        submit(results, tmp_path / "No Name", records)
    (tmp_path / "taken").mkdir()
    with pytest.raises(UsageError, match="exists"):
        submit(results, tmp_path / "taken", records)
    with pytest.raises(UsageError, match="no run of a learner"):
        submit(results, tmp_path / "empty", [])


def test_honest_runs_leave_the_interval_as_rarely_as_stated():
    """10,000 submissions of six normal scores, and a seventh: at most 1 % are refused."""
    rng = np.random.default_rng(0)
    refused = 0
    for sample in rng.normal(size=(10_000, 7)):
        low, high = expected(sample[:6].tolist(), Score("score", least=0.0), FALSE_REFUSALS)
        refused += not low <= sample[6] <= high
    # binomial: 100 expected, standard deviation 10
    assert 60 <= refused <= 140


def test_equal_scores_leave_room_for_the_smallest_difference_that_matters():
    low, high = expected([1.0] * 6, Score("score", least=0.02), FALSE_REFUSALS)
    assert low < 0.98
    assert high > 1.02
    assert expected([1.0, math.inf, 1.0, 1.0], Score("score"), 0.01) is None
    assert expected([1.0, 2.0], Score("score"), 0.01) is None
    assert statistics.mean((low, high)) == pytest.approx(1.0)
