"""A page as HTML: whole, escaped, offline, usable without eyes; and what is in its files."""

from __future__ import annotations

import csv
import io
import json
import math
import pathlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base import blocks
from quickstudy.base.canonical import plain
from quickstudy.render.html import as_html, blocks_html
from quickstudy.render.markup import Markup, escape, joined, named, prose, tag
from quickstudy.render.write_page import csv_text, page_files, table_rows, write_page


class Seen(HTMLParser):
    """What a browser would see: elements with their attributes, all text, and whether all are
    closed.
    """

    VOID = ("meta", "wbr")

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_hostile_names_are_text(page: blocks.Page, evil: str) -> None:
    source = as_html(page)
    seen = Seen(source)
    assert seen.open == []
    assert not {name for name, _ in seen.elements} & {
        "img",
        "b",
        "link",
        "iframe",
        "object",
        "base",
    }
    assert not any(name.startswith("on") for _, attributes in seen.elements for name in attributes)
    assert seen.text.count('<img src=x onerror="alert(1)">') > 8
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", source)
    title = next(source[found.end() :] for found in re.finditer("<h1>", source))
    assert title.startswith("<bdi>")


def test_the_page_needs_nothing_else(page: blocks.Page) -> None:
    source = as_html(page)
    assert not re.search(r"https?:|src=[\"']|@import|file:|url\(", source)
    hrefs = [
        attributes["href"] or "" for _, attributes in Seen(source).elements if "href" in attributes
    ]
    ids = [attributes["id"] for _, attributes in Seen(source).elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {href[1:] for href in hrefs if href.startswith("#")} == {
        "task-0",
        "family-0",
        "more",
        "record",
    }
    assert {href for href in hrefs if not href.startswith("#")} == {"./other.html"}
    assert set(ids) >= {"task-0", "family-0", "more", "record", "data"}


def test_a_target_is_never_another_kind_of_address() -> None:
    terms = blocks.Terms(
        [
            ("click", "me", "javascript:alert(1)"),
            ("or", "me", "//evil.example/x"),
            ("y", "", "a b#c"),
        ]
    )
    hrefs = [
        attributes.get("href")
        for name, attributes in Seen(blocks_html([terms])).elements
        if name == "a"
    ]
    assert hrefs == ["./javascript%3Aalert%281%29", ".///evil.example/x", "./a%20b%23c"]


def test_tables_and_pictures_can_be_used_without_seeing(page: blocks.Page) -> None:
    elements = Seen(as_html(page)).elements
    assert all("scope" in attributes for name, attributes in elements if name == "th")
    pictures = [attributes for name, attributes in elements if name == "svg"]
    assert len(pictures) == 2 * 5 + 3
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in pictures)


def test_cells_keep_every_digit_and_show_few(page: blocks.Page) -> None:
    source = as_html(page)
    assert (
        'data-value="0.123456789"><strong>0.123</strong><small class="under">[0.000, 0.200]</small>'
        in source
    )
    assert 'data-value="inf">never</td>' in source
    assert '<td class="number"><span title="no control">–</span></td>' in source
    # Sorted by what was measured, not by what was published.
    assert 'data-value="0.25"' in source
    assert 'data-value="0.5"' not in source


def test_the_facts_are_inside(page: blocks.Page) -> None:
    source = as_html(page)
    start = source.index(">", source.index('<script type="application/json" id="data"')) + 1
    assert json.loads(source[start : source.index("</script>", start)]) == plain(page.facts)


def test_a_live_plot_brings_its_numbers(page: blocks.Page, plots: list[blocks.Plot]) -> None:
    source = as_html(page)
    start = source.index(">", source.index('<script type="application/json" class="series"')) + 1
    (series,) = json.loads(source[start : source.index("</script>", start)])["panels"]
    drawn = [one for one in plots[0].panels[0].series if one.x]
    assert [one["y"] for one in series] == [plain(one.y) for one in drawn]
    assert source.count('class="series"') == 1


def test_a_part_for_a_notebook_has_no_script(page: blocks.Page) -> None:
    source = blocks_html(page.blocks)
    assert Seen(source).open == []
    assert not re.search(r'<script(?! type="application/json")', source)
    assert "@scope (.quickstudy)" in source


def test_every_table_and_picture_has_its_files(page: blocks.Page, tmp_path: pathlib.Path) -> None:
    files = page_files(page, "report")
    pictures = {"curves-0", "bars", "small", "points", "atlas", "cells", "machine", "chart"}
    wanted = {f"{name}.{ending}" for name in pictures for ending in ("svg", "csv")}
    assert set(files) == {"report.html", "scores-0.csv", "cost-0.csv"} | wanted
    links = {
        attributes.get("href")
        for name, attributes in Seen(files["report.html"]).elements
        if name == "a"
    }
    assert {f"./{name}" for name in files if name != "report.html"} <= links
    assert write_page(page, tmp_path, "report") == tmp_path / "report.html"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == files


def test_the_csv_of_a_table_has_numbers_halves_and_marks(scores: blocks.Table) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(table_rows(scores)))))
    assert len(rows) == len(scores.lines)
    first = rows[0]
    assert first["learner"] == "lstm"
    assert float(first["WADE above chance"]) == 0.123456789
    assert float(first["WADE above chance ±"]) == 0.1
    assert float(first["error ±"]) == pytest.approx(2.0)  # a factor
    assert (rows[2]["runs"], rows[2]["runs mark"], first["scaled"]) == ("6", "1 missing", "")
    assert (rows[1]["steps to 0.9"], first["published"]) == ("never", "0.500 | 0.250 ±0.050 =")


def test_the_csv_of_a_picture_has_what_is_drawn_or_what_it_brings(
    page: blocks.Page, plots: list[blocks.Plot]
) -> None:
    rows = list(csv.reader(io.StringIO(page_files(page, "report")["curves-0.csv"])))
    assert rows[0] == ["panel", "series", "training sequences", "accuracy", "low", "high"]
    assert len(rows) == 1 + sum(len(one.x) for one in plots[0].panels[0].series)
    brought = blocks.Page(
        "", [blocks.Plot("p", "", "", plots[0].x, plots[0].y, [], data=[("a", "b"), (1, math.inf)])]
    )
    assert page_files(brought, "q")["p.csv"] == "a,b\n1,inf\n"


def test_what_has_no_name_has_no_file(graph: blocks.Graph) -> None:
    unnamed = replace(graph, name="")
    assert list(page_files(blocks.Page("", [unnamed]), "page")) == ["page.html"]
    assert 'id=""' not in blocks_html([unnamed])


def test_csv_words_are_no_formulas() -> None:
    assert csv_text([("=1+1", " @x", "-1.5", "＋a")]) == "'=1+1,' @x,-1.5,'＋a\n"


@given(st.text(max_size=60))
def test_text_comes_back_as_text(text: str) -> None:
    for made in (
        tag("p", text),
        tag("p", title=text),
        tag("p", named(text)),
        joined(tag("p", "x"), text),
        prose(text),
    ):
        seen = Seen(made)
        assert {name for name, _ in seen.elements} <= {"p", "bdi", "wbr", "span", "code"}
        assert seen.open == []
    assert tag("p", Markup("<i>x</i>")) == "<p><i>x</i></p>"
    assert escape(escape(text)) == escape(text)


def test_code_in_a_sentence_is_set_as_code() -> None:
    source = as_html(
        blocks.Page("x", [blocks.Text("As in `s2b-balanced`, `<b>` and a lone ` sign.")])
    )
    assert (
        "<p>As in <code>s2b-balanced</code>, <code>&lt;b&gt;</code> and a lone ` sign.</p>"
        in source
    )


@given(st.text(st.sampled_from("ab ,:=\n"), max_size=90))
def test_a_name_is_broken_inside_a_word_only_if_the_word_is_very_long(text: str) -> None:
    broken = named(text).removeprefix("<bdi>").removesuffix("</bdi>")
    assert broken.replace("<wbr>", "") == text
    for before, after in re.findall(r"(\w+)<wbr>(?=(\w+))", broken):
        assert len(before) + len(after) > 26
