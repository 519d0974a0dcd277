"""A plugin of pytest: a test fails when a model no longer learns what it should.

    from quickstudy.testing.plugin import assert_learns

    def test_it_looks_things_up():
        assert_learns(Model, "span/lookup", at_least=8)

Seeds are run one after another, and no more of them than it takes (`Rule`). Instead of a number, a
file of stored spans may be the demand: `assert_learns(Model, "span/lookup", since="learns.json")`;
`pytest --store-learns` writes it. `--learns-report FOLDER` writes what was found as Markdown and as
a badge.
"""

from __future__ import annotations

import json
import pathlib
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.testing.sequential import FAILED, UNDECIDED, Rule, mean_span

ENDPOINT = 1
"""Version of the form in which shields.io reads a badge."""
_found: list[Learned] = []
_stores = False


class NotShown(UserWarning):
    """A demand was missed, but by no more than chance explains."""


@dataclass(frozen=True)
class Learned:
    """A result: the learner, the task, the demand, the spans by seed, the decision, and the
    time.
    """

    learner: str
    item: str
    demand: float
    spans: Sequence[float]
    decision: str
    seconds: float

    @property
    def words(self) -> str:
        """Such as `Model on span/lookup: 11.8, at least 8 demanded (2 seeds, 31 s): passed`."""
        seeds = f"{len(self.spans)} seed{'' if len(self.spans) == 1 else 's'}"
        return (
            f"{self.learner} on {self.item}: {mean_span(self.spans):.3g}, at least"
            f" {self.demand:.3g} demanded ({seeds}, {self.seconds:.0f} s): {self.decision}"
        )


def assert_learns(
    learner: Any,
    item: str,
    at_least: float | None = None,
    *,
    since: str | pathlib.Path | None = None,
    most: int = 8,
    alarm: float = 0.01,
    root: int = 0,
    **protocol: Any,
) -> Learned:
    """Raise AssertionError if a learner no longer reaches a span.

    Parameters
    ----------
    learner:
        A name (`esn`, `model.py:Model`), a class, or a learner object.
    item:
        An item of the battery, such as `span/lookup`.
    at_least:
        The span that is demanded, in the unit of the item.
    since:
        A file of stored spans whose mean is demanded instead. Missing spans are stored with
        `pytest --store-learns`.
    most:
        The largest number of seeds.
    alarm:
        How often it may fail although the true span is what is demanded.
    root:
        Root seed.
    protocol:
        Parameters of the protocol that are not as usual, such as `sequences=300`.

    """
    rule = Rule(most=most, alarm=alarm)
    if (at_least is None) == (since is None):
        raise UsageError("assert_learns: give either at_least=SPAN or since=FILE")
    if at_least is not None and not 0 <= at_least < float("inf"):
        raise UsageError(f"assert_learns: at_least must be a span from 0, got {at_least}")
    from quickstudy.learners.learner_spec import bring, without_place

    name = bring(learner)
    began = time.monotonic()

    def run(seed: int) -> float:
        return span_of_seed(name, item, seed, root, protocol)

    before: Sequence[float] = ()
    if since is not None:
        file, entry = pathlib.Path(since), _entry(without_place(name), item, protocol)
        stored = _read(file)
        if _stores:
            spans = [run(seed) for seed in range(most)]
            _write(file, {**stored, entry: spans})
            return _noted(name, item, mean_span(spans), spans, "stored", began)
        if entry not in stored:
            raise UsageError(f"{file} has no spans of {entry}; run pytest --store-learns once")
        before = stored[entry]
        at_least = mean_span(before)
    assert at_least is not None
    decision, spans = rule.go(run, at_least, before)
    found = _noted(name, item, at_least, spans, decision, began)
    if decision == FAILED:
        raise AssertionError(
            f"{found.words}; spans by seed: {', '.join(f'{one:.3g}' for one in spans)}"
        )
    if decision == UNDECIDED:
        warnings.warn(f"{found.words}: not clearly below", NotShown, stacklevel=2)
    return found


def span_of_seed(
    learner: str, item: str, seed: int, root: int = 0, protocol: Mapping[str, Any] | None = None
) -> float:
    """The span of one run. Raises AssertionError, with the reason, for a run that fails."""
    from quickstudy.base.record import OK
    from quickstudy.measures.span import psychometric, span
    from quickstudy.runs.run_one import examine
    from quickstudy.runs.run_spec import Setting

    setting = Setting(item, learner, "corrected", root, dict(protocol or {}))
    (outcome,) = examine(setting, [seed])
    if outcome.record.status != OK or outcome.trace is None:
        raise AssertionError(
            f"{learner} on {item}, seed {seed}: {outcome.record.status}: {outcome.record.reason}"
        )
    trace = outcome.trace
    if trace.kind != "span":
        raise UsageError(f"assert_learns: {item} has no span; choose one of `quickstudy ls span/*`")
    end = psychometric(trace)[-1]
    return float(span(end, trace.arrays["difficulty"], float(trace.facts["least"])))


def _noted(
    name: str, item: str, demand: float, spans: Sequence[float], decision: str, began: float
) -> Learned:
    from quickstudy.learners.learner_spec import without_place

    seconds = time.monotonic() - began
    found = Learned(without_place(name), item, demand, list(spans), decision, seconds)
    _found.append(found)
    return found


def _entry(name: str, item: str, protocol: Mapping[str, Any]) -> str:
    return " ".join([name, item, *(f"{key}={protocol[key]}" for key in sorted(protocol))])


def _read(file: pathlib.Path) -> dict[str, list[float]]:
    if not file.exists():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): [float(one) for one in spans] for name, spans in found.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise UsageError(f"{file} is not a file of stored spans: {error}") from error


def _write(file: pathlib.Path, spans: Mapping[str, Sequence[float]]) -> None:
    file.write_text(json.dumps(dict(sorted(spans.items())), indent=1) + "\n", encoding="utf-8")


def pytest_addoption(parser: Any) -> None:
    """Options of the command line of pytest."""
    group = parser.getgroup("quickstudy", "does it still learn?")
    group.addoption(
        "--store-learns", action="store_true", help="store spans for assert_learns(since=FILE)"
    )
    group.addoption(
        "--learns-report", metavar="FOLDER", help="write learns.md, learns.json and badge.json"
    )


def pytest_configure(config: Any) -> None:
    """Read the options."""
    global _stores
    _stores = bool(config.getoption("--store-learns", default=False))


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    """One line for every call of `assert_learns`, and the report."""
    if _found:
        terminalreporter.section("does it still learn?")
        for one in _found:
            terminalreporter.line(one.words)
    folder = config.getoption("--learns-report", default=None)
    if folder:
        write_report(pathlib.Path(folder), _found)


def write_report(folder: pathlib.Path, found: Sequence[Learned]) -> None:
    """`learns.md` for a comment, `learns.json`, and `badge.json` for shields.io."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        f"| {one.learner} | {one.item} | {mean_span(one.spans):.3g} | {one.demand:.3g} |"
        f" {len(one.spans)} | {one.decision} |"
        for one in found
    ]
    heading = ["| learner | item | span | demanded | seeds | |", "|---|---|--:|--:|--:|---|"]
    (folder / "learns.md").write_text("\n".join([*heading, *rows]) + "\n", encoding="utf-8")
    facts = json.dumps([asdict(one) for one in found], indent=1)
    (folder / "learns.json").write_text(facts + "\n", encoding="utf-8")
    failed = sum(one.decision == FAILED for one in found)
    badge = {
        "schemaVersion": ENDPOINT,
        "label": "learns",
        "message": f"{len(found) - failed} of {len(found)}" if found else "not tested",
        "color": "red" if failed else "brightgreen" if found else "lightgrey",
    }
    (folder / "badge.json").write_text(json.dumps(badge) + "\n", encoding="utf-8")
