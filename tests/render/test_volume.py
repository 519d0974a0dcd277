"""A space that is turned and steps that are walked through: drawn without a script, and moved by
keys in a browser.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from browser import Browse, browse, chromium
from quickstudy.base.blocks import LINE, Cloud, Mark, Page, Steps, Text, Volume
from quickstudy.render.html import as_html
from quickstudy.render.scatter3d import RAISED, TURNED, seen
from quickstudy.render.terminal import as_text
from quickstudy.render.write_page import page_files

__all__ = ["browse", "chromium"]
SCRIPT = "</script><script>document.title='hit'</script>"
PLACES = [(0.0, 0.0, 0.0), (10.0, 4.0, 2.0), (10.0, 0.0, 1.0)]


@pytest.fixture
def space() -> Volume:
    clouds = [
        Cloud(f"points {SCRIPT}", Mark(), PLACES),
        Cloud("a path", Mark(number=1), PLACES, LINE),
    ]
    return Volume(
        "space",
        "A space.",
        "Three points and a path.",
        ["rank", f"depth {SCRIPT}", "memory"],
        [("", clouds)],
    )


def dots(dom: str) -> list[list[float]]:
    """(x, y) of all circles of the wide picture."""
    wide = dom[dom.index('class="plot wide"') : dom.index('class="plot narrow"')]
    found = re.findall(r'<circle class="dot" cx="([\d.-]+)" cy="([\d.-]+)"', wide)
    return [list(map(float, pair)) for pair in found]


def wanted(page: str, turned: float, raised: float) -> list[list[float]]:
    """Where the same points must lie, by the projection in Python."""
    left, top, scale = map(float, re.search(r'data-space="([^"]+)"', page)[1].split())  # type: ignore[index]
    inside = np.array(PLACES) / np.array(PLACES).max(axis=0)
    places = [seen(tuple(place), turned, raised) for place in inside.tolist()]
    return [[left + scale * right, top - scale * up] for right, up, _ in places]


def test_up_is_up_and_what_is_near_is_near() -> None:
    low, high = seen((0.5, 0.5, 0.0)), seen((0.5, 0.5, 1.0))
    assert high[0] == pytest.approx(low[0])
    assert high[1] - low[1] == pytest.approx(math.cos(math.radians(RAISED)))
    assert seen((0.5, 0.5, 1.0), raised=90.0)[2] > seen((0.5, 0.5, 0.0), raised=90.0)[2]
    lengths = [
        math.hypot(*seen(corner)) for corner in ((0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 0.0))
    ]
    assert lengths == pytest.approx([math.sqrt(0.75)] * 3)


def test_files_of_a_space_have_its_points_in_its_own_units(space: Volume) -> None:
    files = page_files(Page("", [space]), "page")
    rows = files["space.csv"].splitlines()
    assert rows[0] == f"panel,series,rank,depth {SCRIPT},memory"
    assert rows[2].endswith(",10.0,4.0,2.0")
    assert files["space.svg"].count("<circle") == 3
    assert "<script" not in files["space.svg"]


def test_keys_turn_a_space(space: Volume, browse: Browse) -> None:
    probe = """<script>addEventListener("load", () => {
      const plot = document.querySelector("figure.turns svg.wide");
      const event = (key) => new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true});
      const press = (key) => plot.dispatchEvent(event(key));
      for (const key of KEYS) press(key);
    });</script></body>"""
    page = as_html(Page("", [space]))
    assert dots(page) == pytest.approx(np.array(wanted(page, TURNED, RAISED)), abs=0.1)
    keys = ["ArrowRight"] * 4 + ["ArrowUp"] * 30 + ["ArrowDown"] * 2
    dom, console = browse(page.replace("</body>", probe.replace("KEYS", str(keys))), "--dump-dom")
    assert console == ""
    assert "<title>hit" not in dom
    assert dots(dom) == pytest.approx(np.array(wanted(page, TURNED + 20, 80.0)), abs=0.1)
    assert f"turned {TURNED + 20:.0f}°, raised 80°" in dom
    dom, _ = browse(
        page.replace("</body>", probe.replace("KEYS", str([*keys, "Home"]))), "--dump-dom"
    )
    assert dots(dom) == pytest.approx(np.array(wanted(page, TURNED, RAISED)), abs=0.1)
    assert "The same in numbers" in dom


def test_a_pointer_turns_a_space(space: Volume, browse: Browse) -> None:
    probe = """<script>addEventListener("load", () => {
      const plot = document.querySelector("figure.turns svg.wide");
      plot.setPointerCapture = () => {};
      const event = (kind, x, y) => new PointerEvent(kind, {clientX: x, clientY: y, pointerId: 1});
      const at = (kind, x, y) => plot.dispatchEvent(event(kind, x, y));
      at("pointerdown", 100, 100);
      at("pointermove", 140, 80);
      at("lostpointercapture", 0, 0);
      at("pointermove", 0, 0);
    });</script></body>"""
    page = as_html(Page("", [space]))
    dom, console = browse(page.replace("</body>", probe), "--dump-dom")
    assert console == ""
    assert dots(dom) == pytest.approx(np.array(wanted(page, TURNED + 20, RAISED - 10)), abs=0.1)


def test_steps_are_walked_through(browse: Browse) -> None:
    steps = Steps(
        "Three steps.",
        [(f"step {number} {SCRIPT}", [Text(f"text {number}")]) for number in range(3)],
    )
    page = Page("", [steps])
    assert all(f"text {number}" in as_text(page) for number in range(3))
    html = as_html(page)
    assert (
        "hidden" not in html[html.index('<figure class="steps"') : html.index("</figure>")]
    )  # without a script, all
    probe = """<script>addEventListener("load", () => {
      const figure = document.querySelector("figure.steps");
      const event = (key) => new KeyboardEvent("keydown", {key, cancelable: true});
      const press = (key) => figure.dispatchEvent(event(key));
      KEYS.forEach(press);
      document.querySelectorAll(".steering button")[1].click();
    });</script></body>"""
    for keys, shown in (
        (["ArrowRight", "ArrowRight"], 1),
        (["End", "ArrowRight"], 1),
        (["End", "Home"], 0),
    ):
        dom, console = browse(
            html.replace("</body>", probe.replace("KEYS", str(keys))), "--dump-dom"
        )
        assert console == ""
        items = re.findall(r"<li( hidden=\"\")?><h3>", dom)
        assert [place for place, hidden in enumerate(items) if not hidden] == [shown]
        assert f"{shown + 1} of 3" in dom
        assert "<title>hit" not in dom
