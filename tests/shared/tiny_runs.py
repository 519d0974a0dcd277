"""The smallest runs in which every core, training, learner, control and protocol does what it does.

A new core needs no line here; a new training, learner, control or protocol needs one if no other
run has it, and a test says so.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from expected import TOLERANCE
from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.parameters import parse_assignments, write_assignments
from quickstudy.base.registry import Registry, package_sources
from quickstudy.base.seeds import Streams
from quickstudy.runs.run_spec import Setting, built_in

ROOMS = ("tasks", "cores", "learners", "protocols", "measures", "adapters")


class Run(NamedTuple):
    """What is run: as a user types it."""

    task: str
    learner: str
    protocol: str = ""


FAMILIES = {
    "language": Run("language/periodic", "passes=2", "sequences=15"),
    "grammar": Run("grammar/an-bn", "passes=8", "order=1,factors=1,shown=10,asked=12"),
    "dynamics": Run("dynamics/narma-10:washout=5,training=100,validation=10,test=20", "passes=16"),
    "curriculum": Run("curriculum/micro-1", "", "steps=120,replies=true"),
    "games": Run("games/listener:most=2,words=3", "", "observations=60,tests=1,episodes=4"),
}
"""The task and the protocol of each family; as the learner, what is given to trainings with
passes.
"""

SIZES = {
    "units": 12,
    "features": 6,
    "hidden": 8,
    "keys": 6,
    "slots": 8,
    "word": 4,
    "heads": 1,
    "nearest": 2,
    "layers": 1,
    "redundancy": 2,
    "block": 20,
    "states": 4,
}
"""Of those that a core has."""
OWN_SIZES: dict[str, dict[str, Any]] = {
    "transformer": {"embedding": 8, "heads": 2, "hidden": 8},
    "attention": {"embedding": 8, "heads": 2, "hidden": 8},
    "encoded-lstm": {"units": 12, "features": 6, "hidden": 8},
    "liquid": {"units": 27},
    "recall": {"lags": 3, "hops": 2, "order": 2},
}
LOOSE = {"delay-node in dynamics": 5e-3, "transformer in curriculum": 2e-3}
"""Runs that another CPU changes more: a fit with features that are nearly the same, and gradients
near zero that are divided by their size (7e-4 and 9e-4 measured).
"""


def sources() -> Any:
    """The files of this package, without installed packages and included files."""
    for room in ROOMS:
        yield from package_sources(f"quickstudy.{room}")


@functools.cache
def ids(kind: str) -> list[str]:
    """The built-in components of a kind."""
    return Registry(kind, sources).names()


@functools.cache
def versions(kind: str) -> list[tuple[str, int]]:
    """All of their versions."""
    registry: Any = Registry(kind, sources)
    registry.names()
    return sorted(registry._entries)


def small(core: str) -> dict[str, Any]:
    """The sizes of a core with which it is soon compiled."""
    fields = {field.name for field in dataclasses.fields(registries.core.get(core))}
    return OWN_SIZES.get(core) or {name: size for name, size in SIZES.items() if name in fields}


def usual(core: str, family: str) -> Run:
    """A core with its usual training in a family."""
    task, given, protocol = FAMILIES[family]
    parameters = {**small(core), **parse_assignments(given if core != "recall" else "")}
    return Run(task, f"{core}:{write_assignments(parameters)}", protocol)


def outcome(run: Run, convention: str = "corrected") -> tuple[dict[str, Any], dict[str, Any]]:
    """The versions of all that took part in a run, and what came out: its trace, the scores of its
    last test, and of the trained learner two sums that do not depend on how its state is laid out.
    """
    setting = Setting(run.task, run.learner, convention, 0, parse_assignments(run.protocol))
    parts = setting.resolve()
    streams = [Streams(0, parts.task.id, 0)]
    used = components(parts)
    try:
        learner = parts.learner.make_beside([parts.learner], parts.task)
        examination = parts.protocol.examine(parts.task, learner, streams)
    except (NotApplicable, UsageError) as reason:  # the words may change, the refusal may not
        return used, {"refused": type(reason).__name__}
    (trace,) = examination.traces
    found: dict[str, Any] = {
        "kind": trace.kind,
        "arrays": dict(trace.arrays),
        "facts": facts(trace),
    }
    if examination.last is not None and examination.last.scores is not None:
        found["scores"] = np.asarray(examination.last.scores)
    for snapshot in examination.snapshots():
        arrays = [np.asarray(array) for array in snapshot.arrays.values()]
        reals = [one[np.isfinite(one)].astype(float) for one in arrays if one.dtype.kind == "f"]
        sizes = [np.arcsinh(np.abs(one)) for one in reals]  # a counter must not hide the weights
        found["state"] = {
            "sizes": float(sum(one.sum() for one in sizes)),
            "squares": float(sum((one**2).sum() for one in sizes)),
        }
    return used, found


def facts(trace: Any) -> dict[str, Any]:
    """What a trace says of itself, and what it cost, without the time that it took."""
    cost = {f"cost {name}": value for name, value in trace.cost.as_facts().items()}
    return {name: value for name, value in {**trace.facts, **cost}.items() if "seconds" not in name}


def check_core(core: str, family: str, expected: Any) -> None:
    """A core with its usual training in a family, against what is stored."""
    name = f"{core} in {family}"
    used, found = outcome(usual(core, family))
    expected.check(family, name, used, found, LOOSE.get(name, TOLERANCE))


def components(parts: Any) -> dict[str, Any]:
    """The versions of the components of a run, by `kind id`."""
    return {name: found.version for name, found in built_in(parts).items()}


LISTENER = "games/listener:most=2,words=3"
PLAYED, LONGER = "observations=60,tests=1,episodes=4", "observations=300,tests=1,episodes=4"
REVIEWS = "reviews/imdb:pieces=200"
NARMA = "dynamics/narma-10:washout=5,training=100,validation=10,test=20"
CORES = {
    "esn": [
        *(Run(NARMA, f"esn:units=12,topology={one}") for one in ("ring", "line", "lattice")),
        Run(NARMA, "esn:units=12,input_noise=0.1,state_noise=0.1,direct=true,late=true"),
    ],
}
"""Further forms of a core."""
SHORT_GRU = "gru+adam:units=6,batch=2,rate=0.02,passes=6"
TRAININGS = {
    "adam": [
        Run("language/periodic", f"{SHORT_GRU},schedule=cosine,clip=0.5", "sequences=15"),
        Run("language/periodic", f"{SHORT_GRU},schedule=late,l1=0.1,l2=0.1", "sequences=15"),
        Run(
            LISTENER,
            "gru+adam:units=6,batch=2,passes=1,rebuild=1,foretell=1,numbers=3,bits=2",
            PLAYED,
        ),
    ],
    "bandit": [Run(LISTENER, "gru+bandit:units=6,batch=2", f"teaching=payoff,{LONGER}")],
    "channel": [
        Run("games/pair:most=2,words=3,samples=2", "gru+channel:units=6,batch=2,games=4", LONGER)
    ],
    "cma": [
        Run(
            "dynamics/van-der-pol-trial",
            "esn+cma:units=6,passes=2,candidates=4",
            "trials=8,every=4",
        )
    ],
    "logistic": [Run("language/periodic", "esn+logistic:units=12,passes=2", "sequences=15")],
    "pooled": [Run(REVIEWS, "gru+pooled:units=6,passes=4", "stride=20")],
    "ppo": [
        Run(LISTENER, f"{core}+ppo:units=6,batch=2,parts=1", f"teaching=reward,{LONGER}")
        for core in ("gru", "esn")
    ],
    "r2d2": [
        Run(
            "games/listener:most=2,words=3",
            "gru+r2d2:units=6,batch=2,every=2,sequences=2,unroll=6,overlap=2,burn_in=2,replay=100,"
            "target=2,exploring=50",
            "teaching=reward,observations=200,tests=1,episodes=4",
        )
    ],
    "rls": [Run("language/periodic", "esn+rls:units=12", "sequences=15")],
    "sparse": [Run(REVIEWS, "bag+sparse:passes=4", "stride=20")],
}
"""Trainings that are not usual in any of the families above; further forms of those that are."""
LEARNERS = {
    "mdlrnn": Run("grammar/an-bn", "mdlrnn:effort=2", "order=1,factors=1,shown=10,asked=12"),
    "network": Run("grammar/an-bn", "network", "order=1,factors=1,shown=10,asked=12"),
    "ngram": Run("language/qa", "ngram:order=2", "sequences=15"),
    "program": Run("curriculum/chain", "program", "steps=300,replies=true"),
    "search": Run("curriculum/chain", "search", "steps=300,replies=true"),
    "table": Run("curriculum/chain", "table", "steps=300,replies=true"),
    "tabular": Run("span/mapping:block=30", "tabular"),
    "relearning": Run("language/qa", "relearning:learner=esn+sgd:units=12,every=6", "sequences=15"),
    "tampered": Run("language/qa", "tampered:learner=gru:units=6,how=blank", "sequences=15"),
    "sieve": Run("language/qa", "sieve", "sequences=15"),
}
OUTSIDE = {
    "fla": "a library",
    "hf": "a folder with weights",
    "hf-config": "a library",
    "lines": "a program",
    "memax": "a library",
    "openai": "a server",
    "recorded": "a file of answers",
    "recorded-states": "a recording of a device",
    "reservoirpy": "a library",
    "torch": "a library",
    "zeromq": "a program",
}
"""Learners that are nothing without something of the user's, and what that is."""
PROTOCOLS = {
    "charc": Run(
        "dynamics/charc",
        "esn:units=8",
        "population=4,generations=3,neighbours=2,steps=60,voxel=0.5,placed=10",
    ),
    "classification": Run("dynamics/digits", "mean"),
    "continual": Run("continual/chained", "majority", "sequences=15"),
    "curriculum": Run("curriculum/chain", "echo-byte", "steps=300,replies=true"),
    "dynamics": Run("dynamics/channel-20:training=60,test=20", "linear"),
    "forgetting": Run("curriculum/forgetting", "table", "steps=20000"),
    "games": Run(LISTENER, "uniform-decision", PLAYED),
    "grammar": Run("grammar/an-bn", "always-b", "order=1,factors=1,shown=10,asked=12"),
    "language": Run("language/qa", "majority", "sequences=15"),
    "long-memory": Run(
        "dynamics/long-addition:span=20", "mean", "sequences=16,validation=4,test=8"
    ),
    "properties": Run(
        "dynamics/memory:washout=20,training=120,test=60,delays=4",
        "delay-line",
        "degrees=2,budget=20,streams=4,length=20,shared=10,delays=5",
    ),
    "recognition": Run("grammar/recognition", "by-last", "sequences=40,upto=60,asked=20"),
    "reviews": Run(REVIEWS, "majority", "stride=20"),
    "sentences": Run("grammar/sentences", "bigram", "sequences=40,asked=10"),
    "span": Run("span/lookup:longest=4", "among-shown", "sequences=20,tests=6"),
    "span-series": Run("span/delay:longest=4,training=200,test=100", "last-input"),
    "span-world": Run("span/keep:block=20,longest=3", "random-action"),
    "transduction": Run("grammar/parity-check:longest=4", "uniform", "sequences=10,upto=6,each=2"),
    "transfer": Run("curriculum/transfer", "table", "steps=20000"),
    "trials": Run("dynamics/van-der-pol-trial", "no-force", "trials=4,every=2"),
}
"""Each with a rule that never learns, where it has one: a training that changes does not change
these.
"""
