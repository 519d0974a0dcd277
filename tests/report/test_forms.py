"""The forms of a report: HTML, JSON, CSV, LaTeX and text."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quickstudy.render import terminal
from quickstudy.render.latex import escape as escape_latex
from quickstudy.render.markup import escape
from quickstudy.report.export import as_csv, as_json
from quickstudy.report.page import FORMS, screen_page
from quickstudy.report.report_data import ReportData

as_html, as_latex, as_text = FORMS["html"], FORMS["latex"], FORMS["text"]

Make = Callable[..., Any]
EVIL = '<img src=x onerror="alert(1)">'


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, text by element, and whether all
    are closed.
    """

    VOID = ("meta", "br", "wbr", "img", "link", "input", "hr")

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[tuple[str, str]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.text.append((self.open[-1], data))


def embedded(source: str) -> Any:
    start = source.index(">", source.index('<script type="application/json" id="data"')) + 1
    return json.loads(source[start : source.index("</script>", start)])


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(part)
    elif value in ("inf", "-inf") or (
        isinstance(value, int | float) and not isinstance(value, bool)
    ):
        yield float(value)


def test_page_is_whole_and_escaped(study_report: ReportData) -> None:
    source = as_html(study_report)
    page = Page(source)
    assert page.open == []
    names = {name for name, _ in page.elements}
    assert not names & {"img", "link", "iframe", "object", "base"}
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert EVIL not in source
    assert escape(EVIL) in source
    assert "LearnerFault: <loss> is nan & stays so" in "".join(text for _, text in page.text)


def test_page_needs_nothing_else(make_study: Make, make_report: Make) -> None:
    source = as_html(make_report(make_study(seeds=2), "quickstudy run language/qa"))
    for outside in ("http:", "https:", "src=", "@import", "file:", "//www"):
        assert outside not in source
    assert not re.search(r"url\((?!data:)", source)
    links = [attributes["href"] for _, attributes in Page(source).elements if "href" in attributes]
    assert links
    assert all(link is not None and link.startswith("#") for link in links)


def test_links_and_ids_agree(study_report: ReportData) -> None:
    elements = Page(as_html(study_report)).elements
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for _, attributes in elements:
        assert "href" not in attributes or (attributes["href"] or "").lstrip("#") in ids


def test_tables_and_pictures_can_be_used_without_seeing(study_report: ReportData) -> None:
    elements = Page(as_html(study_report)).elements
    assert all("scope" in attributes for name, attributes in elements if name == "th")
    pictures = [attributes for name, attributes in elements if name == "svg"]
    assert len(pictures) == 2 * 4
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in pictures)


def test_same_data_same_bytes(make_study: Make, make_report: Make) -> None:
    records = make_study(seeds=3)
    assert as_html(make_report(records)) == as_html(make_report(records[::-1]))


def test_every_number_of_the_page_is_in_its_data(study_report: ReportData) -> None:
    source = as_html(study_report)
    assert embedded(source) == as_json(study_report)
    known = set(numbers_in(as_json(study_report)))
    counts = {
        float(count) for count in range(20)
    }  # how many runs or failures: lengths of lists in the data
    values = [
        attributes["data-value"]
        for _, attributes in Page(source).elements
        if "data-value" in attributes
    ]
    assert len(values) > 300
    assert all(float(value or "") in known | counts for value in values)


def test_json_is_strict_and_says_it_all(study_report: ReportData) -> None:
    found = json.loads(json.dumps(as_json(study_report), allow_nan=False))
    task = next(
        task
        for task in found["tasks"]
        if task["task"] == "language/qa" and task["convention"] == "corrected"
    )
    rows = {row["learner"]: row for row in task["learners"]}
    lstm, estimate = rows["lstm"], rows["lstm"]["scores"]["wade"]
    assert set(estimate) == {"n", "mean", "sd", "median", "quartiles", "interval"}
    assert estimate["interval"][0] <= estimate["mean"] <= estimate["interval"][1]
    assert (lstm["runs"], lstm["role"], lstm["cost"]["trained_parameters"]) == (6, "learner", 3602)
    assert len(lstm["curve"]["steps"]) == len(lstm["curve"]["mean"]) == len(lstm["curve"]["low"])
    assert rows["rnn"]["scores"]["steps-to-0.9"]["median"] == "inf"
    assert [failure["repetition"] for failure in rows["gru"]["failures"]] == [0, 1]
    assert found["changes"][0]["conventions"] == ["published", "corrected"]
    assert found["command"].startswith("quickstudy run")


def test_csv_is_tidy(study_report: ReportData) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(study_report))))
    assert len(rows) == sum(len(row.runs) for table in study_report.tables for row in table.rows)
    row = next(row for row in rows if row["learner"] == "lstm" and row["convention"] == "published")
    assert (row["root"], row["repetition"], row["status"], row["role"]) == (
        "0",
        "0",
        "ok",
        "learner",
    )
    assert 0 < float(row["wade"]) < 1
    assert float(row["learn_seconds"]) == 0.4
    assert any(math.isinf(float(row["steps-to-0.9"])) for row in rows if row["steps-to-0.9"])
    failed = next(row for row in rows if row["learner"] == "gru")
    assert (failed["wade"], failed["reason"]) == ("", "LearnerFault: <loss> is nan & stays so")


def test_csv_labels_are_no_formulas(make_record: Make, make_report: Make) -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv(make_report([make_record("=1+1")]))))
    assert row["learner"] == "'=1+1"


def test_latex_is_booktabs_and_escaped(study_report: ReportData) -> None:
    source = as_latex(study_report)
    assert source.count(r"\begin{table}") == source.count(r"\end{table}") == 3
    assert (
        source.count(r"\toprule")
        == source.count(r"\bottomrule")
        == source.count(r"\begin{tabular}")
        >= 3
    )
    for tabular in source.split(r"\begin{tabular}")[1:]:
        columns = len(tabular[: tabular.index("\n")].split("@{}")[1])
        rows = [line for line in tabular.splitlines() if line.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {columns - 1}
    assert r"\textless{}img src=x onerror=\textquotedbl{}alert(1)" in source.replace(
        r"\allowbreak{}", ""
    )
    assert r"& never \\" in source


@given(st.text(max_size=30))
@example("…")
def test_latex_specials_never_stand_alone(text: str) -> None:
    escaped = escape_latex(text)
    bare = re.sub(r"\\(?:text[a-z]+|dots)\{\}|\\ensuremath\{\\?[a-z-]+\}|\\[{}$&#%_]", "", escaped)
    assert not set(bare) & set("\\{}$&#%_^~")


@given(st.text(max_size=30))
def test_escaped_text_comes_back_as_text(text: str) -> None:
    page = Page(f"<p>{escape(text)}</p>")
    assert [name for name, _ in page.elements] == ["p"]


def test_text_is_one_line_per_learner(study_report: ReportData) -> None:
    text = as_text(study_report)
    assert "\x1b" not in text
    glance, scores, cost, *_ = (
        line.split() for line in text.splitlines() if line.startswith("lstm")
    )
    assert glance[1:4:2] == [glance[1], "*"]  # clearly ahead
    assert (scores[2][0], scores[3]) == ("±", "6")
    assert cost[1] == "3,602"
    assert EVIL in text
    task = text[text.index("language/qa  corrected") :]
    order = [task.index(f"\n{name} ") for name in ("lstm", "polarity", "oracle")]
    assert order == sorted(order)
    failed = next(line for line in text.splitlines() if line.startswith("gru") and "nan" in line)
    assert failed.split()[1:4] == ["failed", "2", "LearnerFault:"]
    assert re.search(r"LearnerFault: <loss> is nan & stays so +0/0, 0/\d$", failed)
    assert "WADE above chance ↑" in text
    assert "steps to 0.9 ↓" in text


def test_markup_in_labels_is_no_markup(make_record: Make, make_report: Make) -> None:
    assert "my[red]net[/red]" in as_text(make_report([make_record("my[red]net[/red]")]))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_narrow_text_goes_on_below(width: int, make_study: Make, make_report: Make) -> None:
    data = make_report(make_study(seeds=2))
    text = terminal.as_text(screen_page(data), width)
    assert max(map(len, text.splitlines())) <= width
    wide = terminal.as_text(screen_page(data), 1000)
    for name in ("lstm", "polarity", "oracle"):
        cells = [
            cell
            for line in wide.splitlines()
            if line.strip().startswith(name + " ")
            for cell in line.split()[1:]
        ]
        assert len(cells) > 10
        assert all(cell in text for cell in cells)


def test_best_is_bold_only_when_it_is_clearly_so(make_record: Make, make_report: Make) -> None:
    def runs(name: str, *values: float) -> list[Any]:
        scores = [{"wade": {"version": 1, "values": {"wade": value}}} for value in values]
        return [
            make_record(name, repetition=index, scores=score) for index, score in enumerate(scores)
        ]

    clear = make_report([*runs("a", *[0.9, 0.91] * 3), *runs("b", *[0.1, 0.2] * 3)])
    unclear = make_report([*runs("a", *[0.1, 0.9] * 3), *runs("b", *[0.2, 0.7] * 3)])
    assert "<strong><bdi>a</bdi></strong>" in as_html(clear)
    assert "<strong>" not in as_html(unclear)
    assert r"\textbf{" in as_latex(clear)
    assert r"\textbf{" not in as_latex(unclear)


@pytest.mark.parametrize("form", [as_html, as_text, as_csv, as_latex, as_json])
def test_strange_reports_are_still_reports(
    form: Callable[[ReportData], Any], make_record: Make, make_report: Make
) -> None:
    unknown = {"insight": {"version": 3, "values": {"insight": 4.5}}}
    for records in (
        [make_record(status="failed", reason="out of memory")],
        [make_record(status="not-applicable", reason="has no act")],
        [make_record("net", "puzzles/hanoi", scores=unknown)],
        [make_record(scores={})],
        [make_record("copy", role="control")],
        [make_record(curve=([0], [0.5]), scores={})],
        [make_record(curve=([7], [0.5]), scores={})],
        [make_record(f"learner-{index}") for index in range(9)],
    ):
        assert form(make_report(records))


def test_one_run_says_so(make_record: Make, make_report: Make) -> None:
    source = as_html(make_report([make_record()]))
    assert "of 1 run<" in source
    assert "1 run of esn is too few for a verdict, 6 would do" in source


def test_a_measure_from_elsewhere_is_named(make_record: Make, make_report: Make) -> None:
    scores = {"insight": {"version": 3, "values": {"insight": 4.5}}}
    source = as_html(make_report([make_record("net", "puzzles/hanoi", scores=scores)]))
    assert "not installed here" in source
    assert "4.500" in source
