"""First section of the audit: what the Transformer scores with and without the answers in sight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quickstudy.report.numbers import NOTHING
from quickstudy.report.statistics import ABOVE, FEWEST, LEVEL, UNTOLD
from quickstudy.report.study.audit_data import (
    Audit,
    Section,
    compare,
    listed,
    mean_of,
    mean_text,
    pair_text,
)
from quickstudy.report.study.page import Grid, Paragraph, Part, half_words
from quickstudy.report.words import counted

SCORES = ("wade", "final-accuracy")
KINDS = ("exchange", "blank")
_REACTS = {True: "yes", False: "no", None: "?"}


def tampered(learner: str, how: str) -> str:
    """The learner that is tested with false answers in its inputs."""
    return f"tampered:learner={learner},how={how}"


def section(audit: Audit) -> Section:
    """Leaking against causal on every task, then the answers exchanged."""
    leaking, causal = audit.setting("leaking"), audit.setting("causal")
    if leaking is None or causal is None:
        return Section([], {})
    heading = ["task"]
    for score in SCORES:
        heading += [f"{audit.found.score(score).title}, leaking", "causal", "leaking − causal"]
    rows: list[list[str]] = [heading]
    facts: dict[str, Any] = {}
    told: dict[str, dict[str, str]] = {score: {} for score in SCORES}
    for row in audit.rows:
        cells, numbers = [row.label], {}
        for score in SCORES:
            one, other = (audit.values(row, learner, "published", score) for learner in (leaking, causal))
            pair = compare(one, other)
            cells += [mean_text(one), mean_text(other), pair_text(pair)]
            numbers[score] = {"leaking": mean_of(one), "causal": mean_of(other), "standing": pair.standing}
            if pair.standing != UNTOLD:
                told[score][row.label] = pair.standing
        if any(cell != NOTHING for cell in cells[1:]):
            rows.append(cells)
            facts[row.label] = numbers
    parts: list[Part] = [
        Paragraph(
            "The published Transformer attends to the whole sequence, in which the answer stands one place after the "
            "question. The same network with a causal mask, trained and tested on the same schedule (convention "
            "published), shows what that is worth.",
            "1. The Transformer sees the answers",
        )
    ]
    if len(rows) == 1:
        return Section([*parts, Paragraph(f"No runs of {leaking} or {causal} are there.")], {"tasks": facts})
    parts += [
        Grid(f"{audit.order.study.id}-leak", f"Mean{half_words(rows)}; differences over common seeds", rows),
        *(Paragraph(_raised(audit.found.score(score).title, told[score])) for score in SCORES),
    ]
    swap = _swap(audit, leaking, causal)
    return Section([*parts, *swap.parts], {"tasks": facts, "swap": swap.facts})


def _raised(title: str, told: Mapping[str, str]) -> str:
    """On how many tasks the leak raises a score."""
    if not told:
        return f"Too few common runs to tell whether seeing the answers raises {title}."
    higher = [label for label, standing in told.items() if standing == ABOVE]
    return (
        f"Seeing the answers raises {title} on {len(higher)} of the {counted(len(told), 'task')} that can be told "
        f"(interval above 0): {listed(higher)}."
    )


def _swap(audit: Audit, leaking: str, causal: str) -> Section:
    """What trained networks answer when the answer in their input is exchanged or taken away."""
    score = "final-accuracy"
    rows: list[tuple[str, ...]] = [("task", "network", "as trained", "answer exchanged", "answer taken away", "reacts")]
    facts: dict[str, Any] = {}
    for row in audit.rows:
        for name, learner in (("leaking", leaking), ("causal", causal)):
            names = [learner, *(tampered(learner, how) for how in KINDS)]
            found = [audit.values(row, name_of, "published", score) for name_of in names]
            # Of the seeds that all three have, so that their means can be compared.
            seeds = set(found[0]).intersection(*found[1:])
            usual, *changed = ({seed: values[seed] for seed in sorted(seeds)} for values in found)
            if not usual:
                continue
            pairs = [compare(values, usual) for values in changed]
            standings = {pair.standing for pair in pairs}
            # Runs of the untouched network may come from another machine, and differ in a question by rounding.
            reacts = None if standings == {UNTOLD} else not standings <= {LEVEL, UNTOLD}
            rows.append((row.label, name, mean_text(usual), *map(mean_text, changed), _REACTS[reacts]))
            means = {how: mean_of(values) for how, values in zip(KINDS, changed, strict=True)}
            facts.setdefault(row.label, {})[name] = {"as_trained": mean_of(usual), **means, "reacts": reacts}
    if len(rows) == 1:
        return Section([Paragraph("The answers have not been exchanged yet: no such runs are there.")], facts)
    falls = [task for task, found in facts.items() if found.get("leaking", {}).get("reacts")]
    moved, still = (
        [task for task, found in facts.items() if found.get("causal", {}).get("reacts") is said]
        for said in (True, False)
    )
    text = (
        "After training, the answer in the input is exchanged for a false one, and marked against the true one. The "
        f"leaking network reacts on {listed(falls)}; the causal one reacts on {listed(moved)} and does not on "
        f"{listed(still)}."
    )
    caption = (
        "Final test accuracy. A network reacts if the 95 % interval of the change over common seeds lies apart from 0, "
        f"in either way of tampering; ? with fewer than {FEWEST} pairs. Tasks with one question a sequence"
    )
    return Section([Paragraph(text), Grid(f"{audit.order.study.id}-swap", caption, rows)], facts)
