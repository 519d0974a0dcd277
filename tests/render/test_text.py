"""A page as text: on a screen, whole, and in a paper."""

from __future__ import annotations

import io
import math
import pathlib
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from quickstudy.base import blocks
from quickstudy.base.blocks import Column, Group, Line, Name, Number, Table, Text
from quickstudy.base.measure import Score
from quickstudy.render import terminal
from quickstudy.render.latex import as_latex, escape
from quickstudy.render.numbers import bounds, exact, half_width, scored, spoken, written
from quickstudy.render.terminal import as_text, show


def screen(page: blocks.Page, width: int = 80) -> list[str]:
    target = io.StringIO()
    show(page, Console(file=target, width=width, force_terminal=False))
    return target.getvalue().splitlines()


def big(count: int) -> Table:
    columns = [
        Column("learner", numeric=False),
        *(Column(f"score number {index}", "higher") for index in range(9)),
    ]
    numbers = [Number(0.5, (0.4, 0.6))] * 9
    lines = [
        Line([Name(f"context.py:Context:reach={index},and=more,and=more"), *numbers])
        for index in range(count)
    ]
    ends = [Line([Name("best-rule"), *numbers], blocks.CONTROL, first=True)]
    return Table("big", "Many", columns, [Group(lines), Group(ends)])


def test_a_section_fits_a_screen_and_says_what_is_left_out() -> None:
    words = [
        Text("word " * 400, "verdict"),
        *(Text(f"remark {index} " * 20, "remark") for index in range(9)),
    ]
    lines = screen(
        blocks.Page("", [blocks.Section("task", [*words, big(60), big(2)], "t", "corrected")])
    )
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("best-rule") for line in lines)
    shown = [line for line in lines if line.startswith("context")]
    assert len({line.split()[0] for line in shown}) == len(shown) >= 5
    assert f"{61 - len(shown) - 1} rows more are in the report." in lines
    assert "7 remarks more are in the report." in lines


def test_a_summary_goes_on_below_on_a_narrow_screen() -> None:
    summary = replace(big(3), caption="What the numbers are")
    lines = screen(blocks.Page("", [blocks.Section("In short", [summary], "short")]))
    assert all(sum(f"score number {index} ↑" in line for line in lines) == 1 for index in range(9))
    assert "What the numbers are" in lines


@given(
    st.lists(st.text(max_size=40), min_size=1),
    st.integers(20, 120),
    st.sets(st.integers(1, 9), min_size=1),
)
def test_a_sheet_is_as_wide_as_rich_measures_it(
    names: list[str], width: int, columns: set[int]
) -> None:
    table, chosen = big(1), sorted(columns)
    lines = [
        replace(line, cells=[Name(name), name, *line.cells[2:]])
        for name in names
        for line in table.lines
    ]
    table = replace(table, groups=[Group(lines)])
    sheet = terminal._sheet(table, chosen, width, table.lines)
    assert terminal._measure(table, width)(chosen) == Console(width=10_000).measure(sheet).maximum


def test_a_screen_has_the_verdict_and_no_definitions(page: blocks.Page) -> None:
    lines = screen(page)
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "lstm is above the best control." in text
    assert "meaning" not in text
    assert "run <img" not in text
    assert "lstm (replay)" in text


@pytest.mark.parametrize("width", [80, 240])
def test_nothing_gives_the_terminal_orders(page: blocks.Page, width: int) -> None:
    for text in (as_text(page, width), "\n".join(screen(page, width))):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
        assert "\\x1b[31m" in text
    assert "my[red]net[/red]" in as_text(blocks.Page("my[red]net[/red]", []))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_narrow_table_goes_on_below(scores: Table, width: int) -> None:
    text = as_text(blocks.Page("", [scores]), width)
    assert max(map(len, text.splitlines())) <= width
    for name in ("lstm", "polarity", "oracle"):
        (line,) = (
            line
            for line in scores.lines
            if isinstance(line.cells[0], Name)
            and line.cells[0].text == name
            and line.role != blocks.REPLAY
        )
        assert all(spoken(cell) in text for cell in line.cells[1:])


def test_what_is_folded_away_is_left_out(page: blocks.Page) -> None:
    assert '"a": [' not in as_text(page)
    opened = blocks.Page("", [blocks.Details("d", [blocks.Stored({"a": [math.inf]})], open=True)])
    assert '"inf"' in as_text(opened)


def test_numbers_are_written_as_they_are_read() -> None:
    error = Score("error", read="log", range=(0, 1), better="lower")
    assert spoken(scored(error, 1e-3, (5e-4, 2e-3))) == "0.001 ×÷2"
    assert bounds(scored(error, 1e-3, (5e-4, 2e-3))) == "[0.0005, 0.002]"
    steps = Score("steps", shown="median", words={"inf": "never", "<1": "<1"})
    assert [written(scored(steps, value)) for value in (math.inf, 0.5, 1234.0, None)] == [
        "never",
        "<1",
        "1,234",
        "–",
    ]
    factor = Number(1.0, (0.0, 2.0), form=blocks.FACTOR)
    assert (written(factor), bounds(factor), half_width(factor)) == ("×10", "[1, 100]", "×÷10")
    assert spoken(Number(None, note="no control")) == "–"
    assert spoken(Number(5, form=blocks.COUNT, note="1 missing")) == "5 (1 missing)"


@pytest.mark.parametrize("form", blocks.FORMS)
def test_infinity_is_a_number_and_nothing_is_none(form: str) -> None:
    assert written(Number(math.inf, form=form)) in ("∞", "×∞", "inf")
    assert written(Number(None, form=form)) == written(Number(math.nan, form=form)) == "–"


@given(st.floats(allow_nan=False))
def test_exact_numbers_come_back(value: float) -> None:
    assert float(exact(value)) == value


@given(st.sampled_from(blocks.FORMS), st.floats(-300, 300), st.booleans())
def test_every_form_writes_every_number(form: str, value: float, signed: bool) -> None:
    text = written(Number(value, form=form, signed=signed))
    assert text
    assert "-" not in text.replace("e-", "") or form in (blocks.EXACT, blocks.STEPS, blocks.SECONDS)


def test_latex_is_booktabs_labelled_and_within_the_text(page: blocks.Page) -> None:
    source = as_latex(page)
    assert (
        source.count(r"\begin{table}") == source.count(r"\end{table}") == 1
    )  # the cost is not for a paper
    assert (
        source.count(r"\toprule")
        == source.count(r"\bottomrule")
        == source.count(r"\begin{tabular}")
        > 1
    )
    assert r"\label{tab:scores-0}" in source
    assert r"lstm\textsuperscript{\dag}" in source
    assert r"\textbf{0.123 {\scriptsize [0.000, 0.200]}}" in source
    assert r"\textless{}img src=" in source
    assert source.count("{") - source.count(r"\{") == source.count("}") - source.count(r"\}")
    for tabular in re.findall(
        r"\\begin\{tabular\}\{@\{\}(\w+)@\{\}\}(.*?)\\end", source, re.DOTALL
    ):
        rows = [line for line in tabular[1].splitlines() if line.endswith(r"\\")]
        assert len(rows) == 10
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(tabular[0]) - 1}


def test_a_narrow_table_stays_in_one_piece_at_the_usual_size(scores: Table) -> None:
    cut = replace(scores, columns=scores.columns[:2], groups=[Group([Line(["a", Number(1)])])])
    source = as_latex(blocks.Page("", [cut]))
    assert source.count(r"\begin{tabular}") == 1
    assert "small" not in source


@given(st.text(max_size=40))
def test_latex_specials_never_stand_alone(text: str) -> None:
    bare = re.sub(
        r"\\ensuremath\{\\?[a-z-]+\}|\\(text[a-z]+|dots)\{\}|\\[{}$&#%_]", "", escape(text)
    )
    assert not set(bare) & set("\\{}$&#%_^~")
    assert all(ord(letter) < 0x180 for letter in bare)


def test_latex_compiles(page: blocks.Page, tmp_path: pathlib.Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed; type: apt-get install -y texlive-latex-recommended")
    preamble = (
        r"\documentclass{article}\usepackage{booktabs}\usepackage[T1]{fontenc}\begin{document}"
    )
    (tmp_path / "page.tex").write_text(f"{preamble}\n{as_latex(page)}\n\\end{{document}}\n")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull \\hbox" not in done.stdout
