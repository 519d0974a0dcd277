"""Every kind of block, with names that want to break out, in a real browser: nothing leaves its
place.
"""

from __future__ import annotations

import html
import pathlib
import re

import pytest

from browser import Browse, browse, chromium
from quickstudy.base import blocks
from quickstudy.render.html import as_html

__all__ = ["browse", "chromium"]

# Written into the page, which stands in a frame (it may be narrower than any window) and tells what
# it saw.
PROBE = """<script>addEventListener("load", () => {
  const seen = (one) => one.getClientRects().length > 0, said = [], root = document.documentElement;
  const say = (what, one) => said.push(`${what}: ${one.textContent.slice(0, 40)}`);
  if (root.scrollWidth > root.clientWidth) said.push("the page is wider than its window");
  for (const plot of [...document.querySelectorAll("svg")].filter(seen)) {
    const box = plot.getBoundingClientRect();
    const texts = [...plot.querySelectorAll("text")].filter((one) => one.textContent);
    const boxes = texts.map((one) => one.getBoundingClientRect());
    boxes.forEach((own, index) => {
      const wide = own.left < box.left - 1 || own.right > box.right + 1;
      if (wide || own.bottom > box.bottom + 1) say("cut", texts[index]);
      for (const other of boxes.slice(0, index)) {
        const across = Math.min(own.right, other.right) - Math.max(own.left, other.left);
        const down = Math.min(own.bottom, other.bottom) - Math.max(own.top, other.top);
        if (across > 1 && down > 3) say("on another", texts[index]);
      }
    });
  }
  const passages = document.querySelectorAll("h1, h2, h3, p, dt, dd, li, pre, th, td");
  for (const one of [...passages].filter(seen))
    if (one.scrollWidth > one.clientWidth + 1) say("too wide", one);
  for (const box of [...document.querySelectorAll(".scroll, .across")].filter(seen))
    if (box.scrollWidth > box.clientWidth + 1 === box.parentElement.querySelector(".more").hidden)
      say("unsaid", box);
  parent.postMessage(said.join("\\n") || "nothing", "*");
});</script>"""
FRAME = """<body>
<iframe src="framed.html" style="width: WIDTHpx; height: 3000px; border: 0"></iframe><script>
  addEventListener("message", (event) => {
    const said = document.createElement("pre");
    document.body.append(Object.assign(said, {id: "said", textContent: event.data}));
  });
</script></body>"""


def looked_at(source: str, width: int, browse: Browse, folder: pathlib.Path) -> str:
    (folder / "framed.html").write_text(source.replace("</body>", PROBE + "</body>"))
    dom, console = browse(
        FRAME.replace("WIDTH", str(width)), "--dump-dom", "--window-size=1400,1000"
    )
    assert console == ""
    found = re.search('<pre id="said">(.*?)</pre>', dom, re.DOTALL)
    assert found, "the page said nothing"
    return html.unescape(found[1])


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_leaves_its_place(
    page: blocks.Page, width: int, browse: Browse, tmp_path: pathlib.Path
) -> None:
    assert looked_at(as_html(page), width, browse, tmp_path) == "nothing"


def test_what_leaves_its_place_would_be_seen(
    page: blocks.Page, browse: Browse, tmp_path: pathlib.Path
) -> None:
    source = as_html(page).replace("<wbr>", "").replace("overflow-wrap", "no-wrap")
    source = source.replace('class="title"', 'transform="translate(-200)"')
    said = looked_at(source, 400, browse, tmp_path)
    assert "the page is wider than its window" in said
    assert "too wide: esn+rls" in said
    assert "cut: accuracy" in said
