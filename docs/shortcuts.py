"""Fit shallow rules to the forms of tasks 5 to 10, store what they reach, and put the table into
its page.

    python docs/shortcuts.py [--stored]

Minutes; with --stored nothing is fitted, and the table is made of what is stored. The rules are
those of `quickstudy check FORM --shortcuts`, root seed 0.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from typing import Any

from pages import ROOT

from quickstudy.testing.check import check_shortcuts

STORED = ROOT / "published" / "shortcuts" / "results.jsonl"
PAGE = ROOT / "docs" / "explanation" / "conventions.md"
FORMS = {
    f"{number} {name}": tuple(f"{name}@{version}" for version in (1, 2, 3))
    for number, name in enumerate(
        (
            "qa",
            "harder-qa",
            "world-qa",
            "world-qa-counting",
            "adjective-qa",
            "adjective-qa-counting",
        ),
        start=5,
    )
}
"""By task: its first, its second and its third version, which is the default."""
_COLUMNS = (f"{version} version: control | fitted" for version in ("first", "second", "third"))
HEAD = f"| task | {' | '.join(_COLUMNS)} |\n|---|{6 * '---:|'}\n"


def fitted(form: str) -> list[dict[str, Any]]:
    """What every rule reaches on one form."""
    _, rules = check_shortcuts(f"language/{form}")
    return [
        {"form": form, **dataclasses.asdict(rule), "accuracy": round(rule.accuracy, 3)}
        for rule in rules
    ]


def table(rows: list[dict[str, Any]]) -> str:
    """The best control and the best fitted rule of every form."""
    lines = []
    for label, forms in FORMS.items():
        cells = [label]
        for form in forms:
            kinds = (
                [row for row in rows if row["form"] == form and row["fitted"] is fit]
                for fit in (False, True)
            )
            control, rule = (max(some, key=lambda row: row["accuracy"]) for some in kinds)
            cells += [f"{control['rule']} {control['accuracy']:.3f}", f"{rule['accuracy']:.3f}"]
        lines.append(f"| {' | '.join(cells)} |\n")
    return HEAD + "".join(lines)


def stored() -> list[dict[str, Any]]:
    """The result that was stored last."""
    return [json.loads(line) for line in STORED.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    if sys.argv[1:] != ["--stored"]:
        found = [row for forms in FORMS.values() for form in forms for row in fitted(form)]
        STORED.write_text("".join(f"{json.dumps(row)}\n" for row in found), encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(rf"{re.escape(HEAD)}(?:\|.*\n)+", table(stored()), text), encoding="utf-8"
    )
