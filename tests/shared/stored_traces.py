"""Traces of every kind, stored: measures are applied to these, whatever tasks and learners do now.

They are made once, by the runs named here. A new kind of trace needs a line in RUNS; the traces
that exist are never made again, since the numbers of all measures rest on them.
"""

from __future__ import annotations

import json
import pathlib

import numpy as np

import expected
from quickstudy.base.canonical import plain
from quickstudy.base.parameters import parse_assignments
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.runs.run_spec import Setting
from tiny_runs import Run

FOLDER = expected.FOLDER / "traces"
ABOUT = "about"
SHORT = "washout=20,training=200,validation=20"
PAIRS = pathlib.Path(__file__).with_name("sentence_pairs.txt")
STRINGS = "order=1,factors=1,shown=10,asked=12,bits=true"
RUNS = {
    "behaviours": Run(
        "dynamics/charc",
        "esn:units=8",
        "population=4,generations=3,neighbours=2,steps=60,voxel=0.5,placed=10,tasks=dynamics/narma-10",
    ),
    "classes": Run("dynamics/digits", "esn:units=20"),
    "continual-curve": Run("continual/chained", "esn+rls:units=30", "sequences=60"),
    "curriculum-life": Run("curriculum/chain", "search", "steps=6000"),
    "forgetting": Run("curriculum/forgetting", "table", "steps=20000"),
    "span": Run("span/copy:longest=6", "esn:units=30", "sequences=120,tests=12"),
    "span of a series": Run("span/delay:longest=8,training=300,test=100", "esn:units=30"),
    "span of a prediction": Run("span/ahead:longest=8,training=300,test=100", "esn:units=30"),
    "games": Run(
        "games/listener:most=2,words=3",
        "gru:units=8,passes=2,rebuild=1.0,numbers=3",
        "observations=400,tests=3,episodes=8",
    ),
    "games of pairs": Run(
        "games/pair:most=2,words=3,samples=2",
        "gru+channel:units=6,batch=2,games=4",
        "observations=200,tests=2,episodes=8,acquired=4",
    ),
    "learning-curve": Run("language/qa", "esn+rls:units=50", "sequences=60"),
    "learning-curve, published": Run(
        "language/qa@1", "esn+rls:units=30", "sequences=60,order=published,schedule=every"
    ),
    "learning-curve of reviews": Run(
        "reviews/imdb:pieces=200", "bag+sparse:passes=8", "schedule=every,stride=50"
    ),
    "length-outcomes": Run(
        "grammar/parity-check:longest=4", "esn:units=20", "sequences=40,upto=8,each=4"
    ),
    "predictions": Run(f"dynamics/narma-10:{SHORT},test=60", "esn:units=20", "lengths=3"),
    "predictions of a channel": Run("dynamics/channel-20:training=200,test=60", "esn:units=20"),
    "predictions, free": Run(
        "dynamics/lorenz-63:training=400,test=160,free=130,starts=2", "esn:units=40"
    ),
    "predictions, climate": Run(
        "dynamics/lorenz-63-climate:training=400,test=40,free=40,starts=2,climate=1200",
        "esn:units=40",
    ),
    "predictions, balance": Run("dynamics/double-pole-imitation:training=400,test=100", "mean"),
    "predictions, reaching": Run("dynamics/arm:test=350", "esn:units=20"),
    "predictions, in situ": Run("dynamics/van-der-pol:test=50,starts=2,seconds=12", "esn:units=20"),
    "predictions of labels": Run("dynamics/binary-channel:training=200,test=60", "esn:units=20"),
    "properties": Run(
        "dynamics/memory:washout=20,training=120,test=60,delays=4",
        "esn:units=6",
        "degrees=2,budget=20,streams=4,length=20,shared=10,delays=5",
    ),
    "recognition": Run("grammar/recognition", "esn:units=20", "sequences=60,upto=60,asked=40"),
    "sentence-bits": Run(
        f"grammar/sentences:pairs={PAIRS}", "bigram", "sequences=40,held=0.2,asked=10"
    ),
    "sequences": Run(
        "dynamics/long-addition:span=20", "esn:units=20", "sequences=16,validation=4,test=8"
    ),
    "string-outcomes": Run("grammar/an-bn", "mdlrnn:effort=2", STRINGS),
    "string-outcomes, wrong": Run("grammar/an-bn", "esn:units=20", STRINGS),
    "transfer": Run("curriculum/transfer", "table", "steps=20000"),
    "trials": Run("dynamics/double-pole", "no-force", "trials=4,every=2"),
}


def trace_of(run: Run) -> Trace:
    """The trace of a run."""
    setting = Setting(run.task, run.learner, "corrected", 0, parse_assignments(run.protocol))
    parts = setting.resolve()
    learner = parts.learner.make_beside([parts.learner], parts.task)
    return parts.protocol.examine(parts.task, learner, [Streams(0, parts.task.id, 0)]).traces[0]


def make_missing() -> None:
    """Store the traces that are not stored yet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, run in RUNS.items():
        if not (path := FOLDER / f"{name}.npz").exists():
            trace = trace_of(run)
            facts = {key: fact for key, fact in trace.facts.items() if "seconds" not in key}
            about = np.array(json.dumps({"kind": trace.kind, "facts": plain(facts)}))
            np.savez_compressed(path, **{ABOUT: about}, **trace.arrays)


def stored() -> dict[str, Trace]:
    """All stored traces."""
    return {path.stem: _trace(path) for path in sorted(FOLDER.glob("*.npz"))}


def _trace(path: pathlib.Path) -> Trace:
    with np.load(path) as file:
        about = json.loads(str(file[ABOUT]))
        arrays = {name: file[name] for name in file.files if name != ABOUT}
    return Trace(about["kind"], arrays, about["facts"])
