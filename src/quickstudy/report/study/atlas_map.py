"""The picture of an atlas: the score of every rule on every task, from the lowest to the highest of the task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quickstudy.report.markup import escape, tag
from quickstudy.report.numbers import NOTHING, score
from quickstudy.report.study.atlas_rules import families
from quickstudy.report.svg import spread, text

LEVELS = 9
"""Colours of the style sheet."""

_LEFT, _TOP, _HEIGHT, _GAP, _WIDTH = 150.0, 64.0, 22.0, 20.0, 1040
_BLOCK = 176.0
_SIGNS = {"ours": "▲", "theirs": "△"}


@dataclass(frozen=True)
class Strip:
    """One task. means: by rule, as far as known. chosen, published: rules to be marked, None where there is none. sign:
    -1 where lower is better.
    """

    label: str
    means: Mapping[int, float]
    chosen: int | None = None
    published: int | None = None
    sign: int = 1

    def marks(self) -> list[tuple[int, str]]:
        """The rules to be marked and how; one that is both chosen and published is marked as chosen."""
        theirs = self.published if self.published != self.chosen else None
        return [(rule, kind) for rule, kind in ((theirs, "theirs"), (self.chosen, "ours")) if rule is not None]

    def scale(self) -> str:
        """What the colours run from and to."""
        return f"{score(min(self.means.values()))} to {score(max(self.means.values()))}" if self.means else ""

    def level(self, rule: int) -> int | None:
        """The colour of a rule, 0 for the lowest and LEVELS - 1 for the highest of the task; None where unknown."""
        if rule not in self.means:
            return None
        low, high = min(self.means.values()), max(self.means.values())
        share = (self.means[rule] - low) / (high - low) if high > low else 0.0
        return min(LEVELS - 1, int(share * LEVELS))


def family_map(strips: Sequence[Strip], title: str) -> str:
    """A row per task, a column per family of rules; a cell's quarters are the rule, its mirror image and, below, their
    complements. The families that do best over all tasks come first.
    """
    columns = sorted(families(), key=lambda family: (-_standing(strips, family), family[0]))
    step = (_WIDTH - _LEFT - 16) / len(columns)
    parts = [text("family", _LEFT - 8, _TOP - 8, class_="tick", text_anchor="end")]
    for number, family in enumerate(columns):
        place = f"translate({_LEFT + (number + 0.5) * step + 3:.1f} {_TOP - 6:.1f}) rotate(-90)"
        parts.append(tag("text", str(family[0]), class_="small", transform=place))
    for row, strip in enumerate(strips):
        top = _TOP + row * (_HEIGHT + _GAP)
        parts.append(text(strip.label, _LEFT - 8, top + _HEIGHT / 2 + 2, class_="label", text_anchor="end"))
        parts.append(text(strip.scale(), _LEFT - 8, top + _HEIGHT + 5, class_="tick", text_anchor="end"))
        for number, family in enumerate(columns):
            parts.append(_family_cell(strip, family, _LEFT + number * step, top, step - 0.8))
        parts.append(_pointers(strip, columns, step, top + _HEIGHT))
    bottom = _TOP + len(strips) * (_HEIGHT + _GAP) + 8
    parts += [_legend(_LEFT, bottom), *_keys(_LEFT + 330, bottom)]
    return _picture("wide", _WIDTH, bottom + 44, title, *parts)


def block_map(strips: Sequence[Strip], title: str) -> str:
    """For a narrow window: a block of 16 x 16 per task, rule 0 in the upper left, the row being rule // 16."""
    cell = _BLOCK / 16
    parts = []
    for number, strip in enumerate(strips):
        left, top = 4 + number % 2 * 204.0, 24 + number // 2 * (_BLOCK + 50)
        parts.append(text(strip.label, left, top - 7, class_="label"))
        paths: dict[str, str] = {}
        for rule in range(256):
            x, y = left + rule % 16 * cell, top + rule // 16 * cell
            paths[_class(strip, rule)] = (
                paths.get(_class(strip, rule), "") + f"M{x:g} {y:g}h{cell:g}v{cell:g}h-{cell:g}z"
            )
        parts += [tag("path", class_=name, d=path) for name, path in sorted(paths.items())]
        for marked, kind in strip.marks():
            x, y = left + marked % 16 * cell, top + marked // 16 * cell
            parts.append(tag("rect", class_=f"frame {kind}", x=x, y=y, width=cell, height=cell))
        marks = f"best {_name(strip.chosen)}, published {_name(strip.published)}"
        parts.append(text(marks, left, top + _BLOCK + 15, class_="tick"))
        parts.append(text(strip.scale(), left + _BLOCK, top - 7, class_="tick", text_anchor="end"))
    bottom = 24 + (len(strips) + 1) // 2 * (_BLOCK + 50) + 6
    return _picture("narrow", 400, bottom + 44, title, *parts, _legend(4, bottom))


def _standing(strips: Sequence[Strip], family: Sequence[int]) -> float:
    """Mean level of a family over all tasks and members, turned round where lower is better."""
    known = [strip.sign * level for strip in strips for rule in family if (level := strip.level(rule)) is not None]
    return sum(known) / len(known) if known else -math.inf


def _family_cell(strip: Strip, family: Sequence[int], left: float, top: float, width: float) -> str:
    numbers = ", ".join(f"{rule}: {score(strip.means.get(rule, math.nan))}" for rule in dict.fromkeys(family))
    parts = [tag("title", escape(f"{strip.label}. {numbers}"))]
    for place, rule in enumerate(family):
        x, y = left + place % 2 * width / 2, top + place // 2 * _HEIGHT / 2
        parts.append(tag("rect", class_=_class(strip, rule), x=x, y=y, width=width / 2, height=_HEIGHT / 2))
    for marked, kind in strip.marks():
        if marked in family:
            place = list(family).index(marked)
            x, y = left + place % 2 * width / 2, top + place // 2 * _HEIGHT / 2
            parts.append(tag("rect", class_=f"frame {kind}", x=x, y=y, width=width / 2, height=_HEIGHT / 2))
    return tag("g", *parts)


def _pointers(strip: Strip, columns: Sequence[Sequence[int]], step: float, top: float) -> str:
    """The numbers of the marked rules, below their columns."""
    marked = strip.marks()
    places = [next(number for number, family in enumerate(columns) if rule in family) for rule, _ in marked]
    wanted = [_LEFT + (place + 0.5) * step for place in places]
    shown = spread(wanted, 40, _LEFT + 12, _WIDTH - 24)
    return "".join(
        text(f"{_SIGNS[kind]} {rule}", x, top + 12, class_=f"pointer {kind}", text_anchor="middle")
        for (rule, kind), x in zip(marked, shown, strict=True)
    )


def _keys(left: float, top: float) -> list[str]:
    ours = text("▲ best rule here", left, top + 11, class_="pointer ours")
    return [ours, text("△ published rule", left + 130, top + 11, class_="pointer theirs")]


def _legend(left: float, top: float) -> str:
    swatches = [
        tag("rect", class_=f"h{level}", x=left + level * 22, y=top, width=22, height=13) for level in range(LEVELS)
    ]
    ends = [
        text("lowest of the task", left, top + 28, class_="tick"),
        text("highest", left + 22 * LEVELS, top + 28, class_="tick", text_anchor="end"),
        tag("rect", class_="absent", x=left + 22 * LEVELS + 14, y=top, width=22, height=13),
        text("no runs", left + 22 * LEVELS + 42, top + 11, class_="tick"),
    ]
    return tag("g", *swatches, *ends, aria_hidden="true")


def _class(strip: Strip, rule: int) -> str:
    level = strip.level(rule)
    return "absent" if level is None else f"h{level}"


def _name(rule: int | None) -> str:
    return NOTHING if rule is None else str(rule)


def _picture(name: str, width: int, height: float, title: str, *parts: str) -> str:
    return tag(
        "svg",
        tag("title", escape(title)),
        tag("g", *parts, class_="heat"),
        class_=f"plot {name}",
        viewBox=f"0 0 {width} {height:g}",
        role="img",
        aria_label=title,
    )
