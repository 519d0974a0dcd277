"""Measure the anchors of every item of the battery: `python docs/anchors.py [ITEM ...]`.

Anchors are constants of an item and its version, from seeds that are used for nothing else (root
seed ROOT): the spans of a guess, of the oracle, of a rote memoriser, of the best other baseline,
which is chosen on one half of the seeds and measured on the other, and of a network that learns
nothing. They are in `published/anchors`, a line an item; one stored in its present version is kept.
`docs/norms.py` puts them into the norms inside the package.
"""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import sys
from typing import Any

import numpy as np

from quickstudy.base import registries
from quickstudy.base.canonical import plain
from quickstudy.base.seeds import Streams
from quickstudy.base.study import find_study
from quickstudy.base.task import asked_of
from quickstudy.learners.learner_spec import choose_learner, fitted
from quickstudy.measures.span import span
from quickstudy.runs.run_spec import component, protocol_of
from quickstudy.tasks.span.item import Axis
from quickstudy.testing.span_rules import end_span, rule_spans, rules_of

ROOT = 7_200_001
"""The root seed of all anchors."""
SEEDS, UNTRAINED = 200, 20
"""Seeds of the baselines, and of the untrained network, which takes a hundred times longer."""
NETWORK = "lstm:rate=1e-12,passes=1"
"""It goes through the lesson once, with steps so small that its weights keep their initial
values.
"""
STORED = pathlib.Path(__file__).resolve().parent.parent / "published" / "anchors" / "results.jsonl"


def items() -> list[str]:
    """All items, tracking once for every group that a card has."""
    names = [id for id in registries.task.names() if id.startswith("span/") and id != "span/track"]
    tracked = [row.task for row in find_study("profile-full").rows if "group=" in row.task]
    return [*names, *tracked]


def mean(values: Any) -> float:
    """Of spans: the mean of ln(1 + span), in natural units."""
    return round(float(np.expm1(np.log1p(np.asarray(values, float)).mean())), 4)


def subject_of(task: Any) -> dict[str, Any]:
    """What the anchors of an item rest on."""
    protocol = registries.protocol.get(protocol_of(task))()
    return {"task": plain(component(task)), "protocol": plain(component(protocol))}


def anchors_of(name: str) -> dict[str, Any]:
    """The anchors of one item."""
    task = registries.typed_task(name)
    streams = [Streams(ROOT, task.id, seed) for seed in range(SEEDS)]
    rules = rules_of(task)
    runs = [rule_spans(task, rules, stream) for stream in streams]
    controls = {rule: [run[rule] for run in runs] for rule in rules}
    others = {rule: own for rule, own in controls.items() if rule != "rote"}
    half = SEEDS // 2
    best = max(others, key=lambda rule: mean(others[rule][:half]))
    protocol = registries.protocol.get(protocol_of(task))()
    asked = asked_of(task, protocol)
    network = choose_learner(fitted(NETWORK, "corrected", asked).name, "corrected", task, asked)
    traces = protocol.examine(task, network.make(task), streams[:UNTRAINED]).traces
    return {
        "subject": subject_of(task),
        "chance": chance_of(task, traces[0]),
        "oracle": float(task.grid[-1]),
        "best_control": {"name": best, "span": mean(others[best][half:])},
        "rote": mean(controls["rote"]) if "rote" in controls else None,
        "untrained": {
            "span": mean([end_span(trace) for trace in traces]),
            "seeds": UNTRAINED,
            "name": "lstm",
        },
        "controls": {rule: mean(own) for rule, own in controls.items()},
        "seeds": SEEDS,
        "root": ROOT,
    }


def chance_of(task: Axis, trace: Any) -> float:
    """The mean span of guesses among the answers that are possible: a little above nothing, for
    sums below 0 are 0.
    """
    if "chance" not in trace.arrays:  # answers that have nothing to do with the input: r^2 is 0
        return float(task.least)
    rng, asked, chance = (
        Streams(ROOT, "guess", 0).numpy("data"),
        trace.arrays["asked"],
        trace.arrays["chance"],
    )
    asked = asked[-1] if asked.ndim > 1 else asked
    accuracy = rng.binomial(asked, chance, (SEEDS, len(asked))) / asked
    return mean(span((accuracy - chance) / (1 - chance), trace.arrays["difficulty"], task.least))


def stored() -> dict[str, Any]:
    """The stored anchors, by item."""
    text = STORED.read_text(encoding="utf-8") if STORED.exists() else ""
    return {one["item"]: one for one in map(json.loads, text.splitlines())}


def main(names: list[str]) -> None:
    """Measure the items that are missing or have another version."""
    for name in names or items():
        if stored().get(name, {}).get("subject") == subject_of(registries.typed_task(name)):
            continue
        made = {"item": name, **anchors_of(name)}
        STORED.parent.mkdir(parents=True, exist_ok=True)
        # Several items may be measured at the same time, each by a process.
        lock = os.open(STORED.parent, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = {**stored(), name: made}
        lines = (f"{json.dumps(found[one])}\n" for one in sorted(found))
        STORED.write_text("".join(lines), encoding="utf-8")
        os.close(lock)


if __name__ == "__main__":
    main(sys.argv[1:])
