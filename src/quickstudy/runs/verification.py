"""Whether a submission holds: its files, its scores, and one run of six made again.

A score that was changed in a record differs from the one computed from its trace. A trace that was
changed as well differs from that of the run made again, if it is one of those that are. Which ones
these are follows from the hash of the submission, so nobody chooses them; but who packs again and
again can choose among hashes. A board therefore adds a text that is not known beforehand (`salt`).
"""

from __future__ import annotations

import hashlib
import math
import pathlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quickstudy.base.blocks import CONTROL, ORACLE, PERSON
from quickstudy.base.canonical import digest, plain, spelled
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.measure import Score
from quickstudy.base.record import NOT_APPLICABLE, OK, Record
from quickstudy.base.score_metadata import read_legend
from quickstudy.learners.outside import reached
from quickstudy.runs.array_files import checksum, load_trace
from quickstudy.runs.doctor import examine_folder
from quickstudy.runs.execute import execute
from quickstudy.runs.merge import read_results
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_spec import Setting, identity
from quickstudy.runs.scoring import compare_scores
from quickstudy.runs.submission import (
    SUBMISSION,
    Submission,
    file_faults,
    read_submission,
    records_of,
    sources_of,
)

BITS, ROUNDING, INTERVAL = "bits", "rounding", "interval"
"""How a run was found to be the same: to the last bit; up to the order of sums; or within what the
other seeds let one expect.
"""
ONE_OF = 6
"""Runs of a setting of which one is made again."""
FALSE_REFUSALS = 0.01
"""How often an honest submission made with other versions is refused, where scores are normal."""
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Demands:
    """What a board asks of a submission.

    Args:
        seeds: the fewest repetitions of a learner.
        root: the root seed; a free choice would be a choice of lucky seeds.
        salt: added to the hash before runs are chosen, so that they cannot be foreseen.
        run_code: whether files of the submitter may be run; read them first.

    """

    seeds: int = 6
    root: int = 0
    salt: str = ""
    run_code: bool = False


@dataclass(frozen=True)
class Checked:
    """One run that was made again. how: BITS, ROUNDING or INTERVAL; fault: why it does not hold."""

    task: str
    learner: str
    repetition: int
    how: str = ""
    fault: str = ""


@dataclass(frozen=True)
class Verification:
    """What was found. faults: all that speaks against the submission; none: it holds."""

    submission: Submission
    runs: int = 0
    scores: int = 0
    checked: tuple[Checked, ...] = ()
    faults: tuple[str, ...] = field(default=())

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.faults

    def as_facts(self) -> dict[str, Any]:
        """Plain mapping."""
        return {
            "name": self.submission.name,
            "hash": self.submission.hash,
            "holds": self.holds,
            "runs": self.runs,
            "scores": self.scores,
            "checked": [vars(one) for one in self.checked],
            "faults": list(self.faults),
        }


def verify(
    folder: str | pathlib.Path,
    demands: Demands | None = None,
    options: ExecuteOptions | None = None,
    includes: Sequence[str] = (),
) -> Verification:
    """Check a submission. Runs are made again only where all else holds.

    Args:
        folder: the submission.
        demands: what the board asks.
        options: how runs are made again.
        includes: files with the board's own tasks.

    Raises UsageError where the folder is not a submission.

    """
    folder, demands = pathlib.Path(folder), demands or Demands()
    found = read_submission(folder)
    if faults := tuple(file_faults(folder, found)):
        return Verification(found, faults=faults)
    damage = [str(one) for one in examine_folder(folder) if one.file != SUBMISSION]
    records = records_of(folder)
    faults = (*damage, *_unfit(records, demands))
    if faults:
        return Verification(found, len(records), faults=faults)
    compared = compare_scores(folder)
    faults = compared.differences
    if compared.skipped:
        faults += (
            f"{compared.skipped} scores are of versions of measures that are not installed here",
        )
    if faults:
        return Verification(found, len(records), compared.equal, faults=faults)
    with tempfile.TemporaryDirectory(prefix="quickstudy-verify-") as made:
        checked = _again(folder, records, found.hash + demands.salt, options, includes, made)
    wrong = tuple(
        f"{one.task}, {one.learner}, seed {one.repetition}: {one.fault}"
        for one in checked
        if one.fault
    )
    return Verification(found, len(records), compared.equal, checked, wrong)


Cells = Mapping[str, list[Record]]
"""The runs of each setting, by its identity without the repetition."""


def _cells(records: Iterable[Record]) -> Cells:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(spelled({**record.what, "repetition": None}), []).append(record)
    return {
        name: sorted(own, key=lambda one: int(one.what.get("repetition", 0)))
        for name, own in found.items()
    }


def _unfit(records: Sequence[Record], demands: Demands) -> Iterator[str]:
    """What a board does not take, whatever the numbers are."""
    if not records:
        yield "there is no run in it"
    if any(record.labels.get("role") == PERSON for record in records):
        yield "sessions of people are not submitted; forget them by --learner 'person*'"
    code = sorted({name for record in records for name in sources_of(record)})
    if code and not demands.run_code:
        yield f"it has code of its own ({', '.join(code)}): read it, then give --run-code"
    yield from _outside(records, demands)
    if any(name != pathlib.PurePath(name).name for name in code):
        yield "a file of its code is named with a folder"
    for own in _cells(records).values():
        first = own[0]
        title = f"{first.labels.get('task')}, {first.labels.get('learner')}"
        numbers = [int(one.what.get("repetition", -1)) for one in own]
        rule = first.labels.get("role") in (CONTROL, ORACLE)
        fewest = 1 if rule or first.status == NOT_APPLICABLE else demands.seeds
        if first.what.get("root") != demands.root:
            yield f"{title}: the root seed must be {demands.root}, got {first.what.get('root')}"
        if numbers != list(range(len(numbers))):
            yield f"{title}: seeds must be 0, 1, 2 ... without a gap, got {numbers}"
        if len(numbers) < fewest:
            yield f"{title}: at least {fewest} seeds are needed, got {len(numbers)}"
        if len({spelled(plain([one.labels, one.legend])) for one in own if one.status == OK}) > 1:
            yield f"{title}: its runs are labelled in different ways"


def _outside(records: Iterable[Record], demands: Demands) -> Iterator[str]:
    """What would be reached if runs were made again: programs, servers, and files that are not the
    submission's. A name in a record may be anything.
    """
    named: dict[str, Record] = {}
    for record in records:
        labels = (str(record.labels.get(part, "")) for part in ("task", "learner"))
        texts = [*labels, *map(str, record.parameters("protocol").values())]
        named |= dict.fromkeys(texts, record)
    for text, record in sorted(named.items()):
        own = {f"{name} (its code is run)" for name in sources_of(record)}
        files = [one for one in reached(text) if one.endswith("(its code is run)")]
        if strange := sorted({*files} - own):
            yield f"{text}: {', '.join(strange)}, and that file is not in the submission"
        if (others := sorted({*reached(text)} - {*files})) and not demands.run_code:
            yield (
                f"{text} reaches outside quickstudy: {', '.join(others)}; if you trust it, give"
                " --run-code"
            )


def chosen(records: Sequence[Record], hash: str) -> list[Record]:
    """The runs that are made again: of each setting one of six, by the hash of the submission."""
    found = []
    for own in _cells(records).values():
        finished = [one for one in own if one.status == OK]
        finished.sort(key=lambda one: hashlib.sha256(f"{hash} {one.key}".encode()).digest())
        found += finished[: math.ceil(len(finished) / ONE_OF)]
    return found


def _again(
    folder: pathlib.Path,
    records: Sequence[Record],
    hash: str,
    options: ExecuteOptions | None,
    includes: Sequence[str],
    made: str,
) -> tuple[Checked, ...]:
    """Make the chosen runs again, and compare them."""
    wanted = chosen(records, hash)
    code = _code(folder, records, pathlib.Path(made, "code"))
    settings: dict[str, Setting] = {}
    faults: dict[str, str] = {}
    for record in wanted:
        try:
            settings[record.key] = _setting(record, code)
        except QuickstudyError as error:
            faults[record.key] = f"cannot be made again: {error}"
    most = 1 + max((int(one.what["repetition"]) for one in records), default=0)
    plan = make_plan(list(settings.values()), most, includes=includes)
    plan = replace(plan, cells=tuple(cell for cell in plan.cells if cell.key in settings))
    out = pathlib.Path(made, "runs")
    execute(plan, out, replace(options or ExecuteOptions(), progress=False))
    now = read_results(out).records
    cells = {one.key: own for own in _cells(records).values() for one in own}
    checks = []
    for record in wanted:
        how, fault = "", faults.get(record.key, "")
        if not fault:
            again = now.get(record.key)
            how, fault = _compared(folder, record, out, again, cells[record.key], len(wanted))
        labels = record.labels
        checks.append(
            Checked(labels["task"], labels["learner"], int(record.what["repetition"]), how, fault)
        )
    return tuple(checks)


def _code(folder: pathlib.Path, records: Sequence[Record], place: pathlib.Path) -> pathlib.Path:
    """The submitter's files, under their own names."""
    place.mkdir()
    for name, kept in {item for one in records for item in sources_of(one).items()}:
        text = (folder / kept).read_bytes()
        if (place / name).exists() and (place / name).read_bytes() != text:
            raise UsageError(f"two files of the submission are called {name}; submit them apart")
        (place / name).write_bytes(text)
    return place


def _setting(record: Record, code: pathlib.Path) -> Setting:
    """What to run so that a record is made again. Raises UsageError where that cannot be."""
    learner = record.labels["learner"]
    file = learner.partition(":")[0]
    if file in sources_of(record):
        learner = f"{code / file}{learner.removeprefix(file)}"
    protocol = dict(record.parameters("protocol"))
    convention, root = str(record.what["convention"]), int(record.what["root"])
    setting = Setting(record.labels["task"], learner, convention, root, protocol)
    what = identity(setting, setting.resolve(), int(record.what["repetition"]))
    if digest(what) != record.key:
        parts = [name for name in what if plain(what[name]) != record.what.get(name)]
        raise UsageError(
            f"its {' and '.join(parts)} is another one in this version of quickstudy; run it again"
        )
    return setting


def _compared(
    folder: pathlib.Path,
    record: Record,
    out: pathlib.Path,
    again: Record | None,
    cell: Sequence[Record],
    comparisons: int,
) -> tuple[str, str]:
    """How a run is the same as the one made again, or why it is not."""
    if again is None or again.status != OK:
        reason = again.reason if again else "it did not end"
        return "", f"made again, it has no result ({reason})"
    if plain([again.labels, again.legend]) != plain([record.labels, record.legend]):
        return "", "its labels are not those of the run made again"
    was, now = _values(record), _values(again)
    if was == now and _trace_bits(folder, record) == _trace_bits(out, again):
        return BITS, ""
    if was.keys() == now.keys() and all(_close(was[name], now[name]) for name in was):
        return ROUNDING, ""
    name, value = _headline(again)
    if same_make(record, again):
        return "", (
            f"{name} is {was.get(name)} in the submission and {value} made again, with the same"
            " versions on the same kind of processor"
        )
    values = [_values(one).get(name, math.nan) for one in cell if one.status == OK]
    ends = expected(values, read_legend([again]).score(name), FALSE_REFUSALS / comparisons)
    if ends is None:
        return "", (
            f"{name} cannot be compared with that of other versions: {len(values)} runs, of which"
            f" {sum(map(math.isfinite, values))} have a finite number; use the versions of the"
            " board"
        )
    low, high = ends
    if low <= value <= high:
        return INTERVAL, ""
    return "", (
        f"{name} is {value:.4g} made again; by the seeds of the submission it should lie from"
        f" {low:.4g} to {high:.4g}"
    )


def same_make(one: Record, other: Record) -> bool:
    """Whether two runs must be equal to the bit: versions, device, lanes and model of processor.

    A record lists what its process had loaded, also for other runs: a library that only one of the
    two lists is one that the other was made without, so it does not count.
    """
    listed = [dict(record.where.get("versions") or {}) for record in (one, other)]
    both = listed[0].keys() & listed[1].keys()
    if not {"quickstudy", "python"} <= both:
        return False
    makes = [
        {
            "versions": {name: versions[name] for name in both},
            "device": record.where.get("device"),
            "lanes": record.where.get("lanes"),
            "model": record.where.get("machine", {}).get("model"),
        }
        for record, versions in zip((one, other), listed, strict=True)
    ]
    return makes[0] == makes[1] and bool(makes[0]["model"])


def expected(values: Sequence[float], score: Score, level: float) -> tuple[float, float] | None:
    """Where the score of one more run lies but for a share `level` of honest submissions: the t
    interval of a prediction from these runs, in the scale in which the score is read. None for
    fewer than three runs, and where a number is not finite.
    """
    from scipy.stats import t

    places = [score.place(value) for value in values]
    if len(places) < 3 or not all(map(math.isfinite, places)):
        return None
    mean = math.fsum(places) / len(places)
    variance = math.fsum((one - mean) ** 2 for one in places) / (len(places) - 1)
    spread = max(math.sqrt(variance), score.least, 1e-9)
    reach = float(t.isf(level / 2, len(places) - 1)) * spread * math.sqrt(1 + 1 / len(places))
    return score.value(mean - reach), score.value(mean + reach)


def _values(record: Record) -> dict[str, float]:
    return {
        f"{id}/{name}": float(value)
        for id, entry in sorted(record.scores.items())
        for name, value in entry["values"].items()
        if value is not None
    }


def _headline(record: Record) -> tuple[str, float]:
    """The first score of a run, by what its measures say."""
    named = {name.partition("/")[2]: name for name in _values(record)}
    first = next(iter(read_legend([record]).order(named)), "")
    return named[first], _values(record)[named[first]]


def _trace_bits(folder: pathlib.Path, record: Record) -> tuple[str, str]:
    trace = load_trace(folder, record)
    return checksum(trace.arrays), spelled(plain(trace.facts))


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=1e-9) or one != one != other
