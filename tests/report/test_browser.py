"""The page in a real browser."""

from __future__ import annotations

import pathlib
import re
import struct
import zlib

import pytest

from browser import Browse, browse, chromium
from quickstudy.base.blocks import LEARNER
from quickstudy.report.page import FORMS
from quickstudy.report.report_data import ReportData

as_html = FORMS["html"]
__all__ = ["browse", "chromium"]

# Written into the page after its own script: moves over the first plot, and sorts the first table
# by WADE.
PROBE = """<script>addEventListener("load", () => {
  const plot = document.querySelector("figure.live svg.wide"), box = plot.getBoundingClientRect();
  const place = {clientX: box.left + box.width / 3, clientY: box.top + 20};
  plot.querySelector("g.panel").dispatchEvent(new PointerEvent("pointermove", place));
  document.querySelectorAll("#scores-0 thead button")[5].click();
});</script>"""


def rows_of(dom: str, table: str) -> list[str]:
    """The labels of a table's rows, top to bottom."""
    body = dom[dom.index(f'id="{table}"') :]
    body = body[: body.index("</table>")]
    heads = re.findall(r'<th scope="row"[^>]*>(.*?)</th>', body, re.DOTALL)
    return [re.sub(r"<[^>]*>", "", head) for head in heads]


def test_the_page_loads_and_answers(study_report: ReportData, browse: Browse) -> None:
    dom, console = browse(as_html(study_report).replace("</body>", PROBE + "</body>"), "--dump-dom")
    assert console == ""
    table = study_report.tables[0]
    by_wade = sorted(table.of_role(LEARNER), key=lambda row: -(row.scores["wade"].mean or 0))
    names = rows_of(dom, "scores-0")
    assert names[:3] == [row.learner for row in by_wade]
    assert names[:3] != [row.learner for row in table.of_role(LEARNER)]
    assert names[3:] == ["polarity", "majority", "oracle"]
    readout = dom[dom.index('<div class="readout"') :]
    readout = readout[: readout.index("</div>")]
    assert "hidden" not in readout[: readout.index(">")]
    assert re.search(r"training sequences \(logarithmic\): [\d.]+<", readout)
    assert all(row.learner in readout for row in table.rows)
    assert dom.count("<circle cx=") >= len(table.rows)


def test_errors_would_be_seen(study_report: ReportData, browse: Browse) -> None:
    _, console = browse(
        as_html(study_report).replace("</body>", "<script>nonsense()</script></body>"), "--dump-dom"
    )
    assert "nonsense is not defined" in console


def test_a_link_can_sort(study_report: ReportData, browse: Browse) -> None:
    dom, console = browse(
        as_html(study_report), "--dump-dom", fragment="#sort=scores-0,0,descending"
    )
    assert console == ""
    assert rows_of(dom, "scores-0") == [
        "rnn",
        "lstm",
        "esn:units=200,leak=0.3",
        "polarity",
        "majority",
        "oracle",
    ]
    assert 'aria-sort="descending"' in dom


@pytest.mark.parametrize(("width", "height"), [(1280, 1600), (390, 1600)])
def test_there_is_something_to_see(
    study_report: ReportData, browse: Browse, tmp_path: pathlib.Path, width: int, height: int
) -> None:
    picture = tmp_path / "page.png"
    browse(as_html(study_report), f"--screenshot={picture}", f"--window-size={width},{height}")
    lines = pixels(picture.read_bytes())
    assert len(set(lines)) > height / 10, "most lines of the picture are alike"


def pixels(png: bytes) -> list[bytes]:
    """The filtered lines of a PNG file: enough to tell a blank page from a printed one."""
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    content, place = b"", 8
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        content += (
            png[place + 8 : place + 8 + size] if png[place + 4 : place + 8] == b"IDAT" else b""
        )
        place += 12 + size
    raw = zlib.decompress(content)
    step = 1 + width * depth // 8 * {0: 1, 2: 3, 6: 4}[colour]
    return [raw[start : start + step] for start in range(0, height * step, step)]
