"""Runs are told apart by one identity: in the report, in its forms, in SQL, by `compare`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from quickstudy.api.study import request_study
from quickstudy.base.errors import UsageError
from quickstudy.base.record import OK, Record
from quickstudy.cli.main import main
from quickstudy.pages.page import page_of
from quickstudy.report.build import build_report
from quickstudy.report.compare import compare
from quickstudy.report.page import FORMS
from quickstudy.runs.grouping import outdated, task_groups
from quickstudy.runs.journal import Journal
from quickstudy.runs.results import ResultsTable
from quickstudy.runs.sql import query

as_html, as_latex, as_text = FORMS["html"], FORMS["latex"], FORMS["text"]


def record(
    learner,
    seed,
    value,
    *,
    version="1",
    sequences=60,
    convention="corrected",
    started=0.0,
    protocol="language",
):
    """A run with one score."""
    what = {
        "task": {"id": "language/qa", "version": 1, "parameters": {"verbs": 2}},
        "learner": {"id": learner, "version": version, "parameters": {}},
        "protocol": {"id": protocol, "version": 1, "parameters": {"sequences": sequences}},
        "convention": convention,
        "root": 0,
        "repetition": seed,
    }
    labels = {"task": "language/qa", "family": "language", "learner": learner, "role": "learner"}
    legend = {
        "headline": "final-accuracy",
        "scores": {"accuracy": {"final-accuracy": {"better": "higher"}}},
    }
    scores = {"accuracy": {"version": 1, "values": {"final-accuracy": value}}}
    return Record(what, OK, where={"started": started}, scores=scores, labels=labels, legend=legend)


def runs(learner, *values, **rest):
    return [record(learner, seed, value, **rest) for seed, value in enumerate(values)]


def save(folder, records):
    with Journal(folder) as journal:
        for one in records:
            journal.write(one)
    return folder


def forms(records):
    data = build_report(ResultsTable.of(records, lambda one: None))
    return as_html(data), as_text(data), as_latex(data)


@pytest.mark.parametrize(("sequences", "said"), [(60, True), (1200, False)])
def test_what_is_not_the_standard_protocol_is_in_every_title(sequences, said):
    for form in forms(runs("mine", 0.5, 0.6, sequences=sequences)):
        assert ("protocol sequences 60" in " ".join(form.split())) is said
        assert "protocol sequences 1200" not in form


def test_a_protocol_that_is_not_installed_is_told_by_the_record():
    made = [
        replace(one, labels={**one.labels, "protocol": "sequences=60"})
        for one in runs("mine", 1.0, protocol="far")
    ]
    assert [table.title for table in task_groups(made)] == ["language/qa (protocol sequences 60)"]
    assert [table.title for table in task_groups(runs("mine", 1.0, protocol="far"))] == [
        "language/qa"
    ]


def test_two_protocols_are_two_comparisons_and_never_one_pair(tmp_path):
    small = runs("mine", *[0.6] * 6) + runs("other", *[0.5] * 6)
    large = runs("mine", *[0.9] * 3, sequences=400) + runs("other", *[0.1] * 2, sequences=400)
    rows = compare(save(tmp_path, small + large), "mine", "other")
    numbers = [
        (row.task, row.pairs, round(row.first_mean, 6), round(row.second_mean, 6)) for row in rows
    ]
    assert numbers == [
        ("language/qa (protocol sequences 400)", 2, 0.9, 0.1),
        ("language/qa (protocol sequences 60)", 6, 0.6, 0.5),
    ]
    assert rows[0].as_facts()["protocol"] == {"sequences": 400}
    assert rows[0].as_text()[0] == "language/qa (protocol sequences 400) (corrected)"


def test_a_name_that_means_two_is_refused_and_the_printed_one_taken(tmp_path):
    save(
        tmp_path,
        runs("mine", 0.1, 0.2, version="a")
        + runs("mine", 0.7, 0.8, version="b")
        + runs("o", 0.0, 0.0),
    )
    with pytest.raises(
        UsageError,
        match=r'mine means 2 learners on .*"mine \(learner version a\)" and "mine \(learn',
    ):
        compare(tmp_path, "mine", "o")
    (row,) = compare(tmp_path, "mine (learner version b)", "o")
    assert (row.first_mean, row.second_mean) == (pytest.approx(0.75), 0.0)
    assert row.versions == {"task": "1", "protocol": "1", "first": "b", "second": "1"}
    assert row.compared() == ("first: mine (learner version b)", "second: o, version 1")
    (row,) = compare(tmp_path, "mine (learner version a)", "mine (learner version b)")
    assert row.difference == pytest.approx(-0.6)
    with pytest.raises(UsageError, match="compared with itself"):
        compare(tmp_path, "mine (learner version a)", "mine (learner version a)")


def test_a_learner_has_one_title_in_all_tables():
    """Of a learner that was edited between two tables, or run in two versions in one of them."""
    made = runs("mine", 0.1, version="a") + runs("mine", 0.9, version="b") + runs("o", 0.0)
    other = runs("mine", 0.2, version="a", sequences=400) + runs("o", 0.0, sequences=400)
    found = {
        table.title[-4:-1]: [one.title for one in table.learners]
        for table in task_groups(made + other)
    }
    assert found == {
        "400": ["mine (learner version a)", "o"],
        " 60": ["mine (learner version a)", "mine (learner version b)", "o"],
    }
    edited = runs("mine", 0.1, version="a") + runs("mine", 0.2, version="b", sequences=400)
    assert [table.learners[0].title[-2] for table in task_groups(edited)] == ["b", "a"]
    assert "2 learners" in forms(edited)[1]
    both = runs("mine", 0.1, version="a") + runs("mine", 0.2, version="b", convention="published")
    assert [table.learners[0].title[-2] for table in task_groups(both)] == ["a", "b"]


def test_damage_that_a_comparison_left_out_is_said(tmp_path, capsys):
    save(tmp_path, runs("mine", 0.1, 0.2, 0.3) + runs("other", 0.0, 0.0, 0.0))
    (journal,) = (tmp_path / "runs").glob("*.jsonl")
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join(["{nothing", *lines[1:]]) + "\n")
    with pytest.raises(SystemExit, match="0"):
        main(["compare", "mine", "other", str(tmp_path)])
    out, err = capsys.readouterr()
    assert "1 damaged lines of" in err
    assert "2 pairs" in out
    with pytest.raises(SystemExit, match="0"):
        main(["compare", "mine", "other", "--out", str(tmp_path), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert (facts["left_out"], facts["pairs"]) == (1, 2)


def test_sql_tells_apart_what_the_report_does(tmp_path):
    made = (
        runs("mine", 0.1, 0.2, version="a")
        + runs("mine", 0.7, version="b")
        + runs("mine", 0.9, sequences=400)
    )
    save(tmp_path, made)
    _, rows, _ = query(
        tmp_path,
        "select report_task, report_learner, learner_version, task_version, count(*),"
        " round(avg(value), 2) from scores where name = 'final-accuracy' group by all order by all",
    )
    assert rows == [
        ("language/qa (protocol sequences 400)", "mine (learner version 1)", "1", "1", 1, 0.9),
        ("language/qa (protocol sequences 60)", "mine (learner version a)", "a", "1", 2, 0.15),
        ("language/qa (protocol sequences 60)", "mine (learner version b)", "b", "1", 1, 0.7),
    ]
    _, rows, _ = query(
        tmp_path, "select distinct protocol->>'$.parameters.sequences', task_parameters from runs"
    )
    assert sorted(rows) == [("400", '{"verbs":2}'), ("60", '{"verbs":2}')]


def test_the_latest_version_is_the_one_run_last_and_other_protocols_are_no_versions():
    old, new = (
        runs("mine", 0.1, 0.2, version="b", started=1.0),
        runs("mine", 0.3, version="a", started=2.0),
    )
    other = runs("mine", 0.4, version="b", sequences=400, started=1.0)
    assert outdated([*old, *new, *other]) == old
    assert outdated(new) == []


def test_a_part_that_a_later_version_has_added_tells_runs_apart():
    old = runs("mine", 0.1, 0.2)
    new = [replace(one, what={**one.what, "newpart": 3}) for one in runs("mine", 0.8, 0.9)]
    found = task_groups([*old, *new])
    assert sorted(len(table.records) for table in found) == [2, 2]
    assert {table.title.partition("(")[2] for table in found} == {
        "newpart 3, protocol sequences 60)",
        "newpart not given, protocol sequences 60)",
    }
    assert outdated([*old, *new]) == []


def test_a_study_with_another_protocol_says_so_in_its_title(tmp_path):
    def title(**given):
        return page_of(request_study("wade-table4", out=tmp_path, protocol=given)).title

    usual = title()
    assert "protocol" not in usual
    assert title(sequences=1200) == usual  # as it is anyway
    assert title(sequences=60).endswith("(protocol sequences 60)")


def test_two_conventions_without_a_common_learner_have_nothing_to_compare():
    made = runs("mine", 0.5, 0.6) + runs("other", 0.7, 0.8, convention="published")
    for form in forms(made):
        assert "What the convention changes" not in form
    made += runs("mine", 0.9, convention="published")
    assert "What the convention changes" in forms(made)[1]
