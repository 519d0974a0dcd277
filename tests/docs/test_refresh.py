"""New numbers get into the pages, and into the right places."""

from __future__ import annotations

import pathlib
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHOWN = """before

```console no-run
$ quickstudy run a \\
    --seeds 2
...
 esn   0.027 ±0.007   never
10 ok in ...
$ make test
7 passed
```

after
"""
PRINTED = [" lstm  0.100 ±0.001  3,648 ", " esn  −0.5 ±0.100  3,648 ", "10 ok in 12 s"]


def test_commands_are_found(pages: Any) -> None:
    block = pages.Block(1, "console", {}, "$ first \\\n    --option\nprinted\n$ second\n")
    assert [(command.line, command.printed) for command in pages.commands(block)] == [
        ("first --option", ["printed"]),
        ("second", []),
    ]


def test_numbers_are_renewed(refresh: Any, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text(SHOWN)
    asked = []

    def run(command: str) -> list[str]:
        asked.append(command)
        return PRINTED

    monkeypatch.setattr(refresh, "_run", run)
    monkeypatch.setattr(refresh, "ROOT", tmp_path)
    assert refresh.refresh(page) == []
    assert asked == ["quickstudy run a --seeds 2"]
    assert page.read_text() == SHOWN.replace(" esn   0.027 ±0.007   never", " esn  −0.5 ±0.100  3,648")


def test_a_line_that_is_not_printed_any_more_is_named(refresh: Any, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text(SHOWN)
    monkeypatch.setattr(refresh, "_run", lambda command: PRINTED[:1])
    monkeypatch.setattr(refresh, "ROOT", tmp_path)
    assert refresh.refresh(page) == [
        "page.md, line 4: no longer printed:  esn   0.027 ±0.007   never",
        "page.md, line 4: no longer printed: 10 ok in ...",
    ]
    assert page.read_text() == SHOWN


def test_the_command_behind_make_run_is_known(refresh: Any) -> None:
    command = refresh.made_by("run")
    assert command.startswith("quickstudy run language/periodic ")
    assert command.endswith("--seeds 6 --out results/first-look")
    assert "$" not in command


def test_the_readme_names_all_there_is(refresh: Any) -> None:
    text = (ROOT / "README.md").read_text()
    assert refresh.with_ids(text) == text, "type: python docs/refresh.py --ids"
    assert {"language/qa", "language/periodic"} <= set(refresh.inside()["tasks"])
    assert "qa-oracle" in refresh.inside()["oracles"]
    assert all(f"| {kind} | `" in text for kind in refresh.inside())


def test_a_missing_id_is_put_in(refresh: Any) -> None:
    made = refresh.with_ids("| tasks | `old` |\n| families | `old` |\n")
    assert "`language/qa`" in made
    assert made.endswith(" |\n| families | `old` |\n")
