"""Charts of strips: what the keyboard reads off a row, in a real browser; the data files."""

from __future__ import annotations

import json
import re

from browser import Browse, browse, chromium
from quickstudy.base import blocks
from quickstudy.render.html import as_html
from quickstudy.render.strips import strips_data, strips_drawings, strips_rows

__all__ = ["browse", "chromium"]
KEYS = """<script>
  const strip = document.querySelector("figure.strips svg.wide g.strip");
  const readout = document.querySelector("figure.strips .readout");
  const read = [];
  strip.focus();
  read.push(readout.textContent);
  for (const key of ["ArrowRight", "ArrowRight", "ArrowLeft"]) {
    strip.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    read.push(readout.textContent);
  }
  strip.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  read.push(String(readout.hidden));
  const shown = document.createElement("pre");
  document.body.append(Object.assign(shown, { id: "read", textContent: read.join(" / ") }));
</script></body>"""


def chart() -> blocks.Strips:
    ticks = [(1.0, "esn"), (9.0, "lstm"), (25.0, "deltanet")]
    row = blocks.Strip(
        "symbols copied",
        32,
        14.0,
        (12.0, 16.0),
        False,
        ticks,
        [(32, "oracle")],
        (2.3, "by-position"),
    )
    return blocks.Strips("chart", "Spans.", "Spans", "mine", [row])


def test_the_keyboard_reads_names_and_values(browse: Browse) -> None:
    page = as_html(blocks.Page("Card", [chart()]))
    dom, console = browse(page.replace("</body>", KEYS), "--dump-dom", "--window-size=1280,900")
    assert console == ""
    found = re.search('<pre id="read">(.*?)</pre>', dom)
    assert found
    assert found[1].split(" / ") == [
        "mine14.0 [12.0, 16.0]",
        "deltanet25.0",
        "oracle (mark)32+",
        "deltanet25.0",
        "true",
    ]


def test_a_row_brings_all_its_names() -> None:
    (row,) = json.loads(strips_data(chart()))
    assert [name for _, name, _, _ in row] == [
        "esn",
        "by-position",
        "lstm",
        "mine",
        "deltanet",
        "oracle",
    ]
    assert row[0][0] < row[1][0] < row[-1][0] == 1.0
    kinds = {(name, kind) for _, _, name, kind, *_ in strips_rows(chart())}
    assert {
        ("mine", "learner"),
        ("esn", "reference"),
        ("by-position", "baseline"),
        ("oracle", "mark"),
    } <= kinds
    for drawing in strips_drawings(chart()):
        assert "by-position 2.3" in str(drawing.inline())
