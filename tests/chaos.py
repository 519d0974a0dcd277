"""Damage and hostile input by the thousand: `make chaos`. What is tried here in earnest,
tests/trust tries a little of.

A results folder with every kind of file is made. Then, one at a time: a random bit of a random file
is flipped (`flips`), or every bit of a trace and of a learner in turn (`bits`); a record is made
odd somewhere and put beside the others with its checksum right, as a newer version or an enemy
might (`records`).

All is read again. It has held if what is read is what was there before, and what is missing is
said; it has not if a number is another without a word, if anything but a QuickstudyError is raised,
or if another record is gone.
"""

import contextlib
import copy
import hashlib
import json
import os
import pathlib
import sys
import tempfile
import traceback

import numpy as np
from tally import Tally, chosen, generator

from quickstudy.api.run import run
from quickstudy.base.canonical import canonical, digest, guarded
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.learner import Snapshot
from quickstudy.base.record import Record
from quickstudy.base.trace import SoFar, Trace
from quickstudy.report.build import gather
from quickstudy.report.compare import compare
from quickstudy.report.export import as_csv, as_json
from quickstudy.report.page import FORMS
from quickstudy.runs.array_files import load_snapshot, load_trace
from quickstudy.runs.checkpoints import UnfinishedCall
from quickstudy.runs.doctor import examine_folder
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.run_one import Outcome
from quickstudy.runs.sql import query

as_html, as_latex, as_text = FORMS["html"], FORMS["latex"], FORMS["text"]

KINDS = {
    "runs": 0.5,
    "traces": 0.14,
    "learners": 0.14,
    "unfinished": 0.1,
    "sealed": 0.07,
    "sources": 0.03,
    "quickstudy.json": 0.02,
}
"""How often each kind of file is damaged."""
QUERIES = (
    "SELECT key, task, learner, status, what FROM runs ORDER BY 1",
    "SELECT * FROM scores ORDER BY ALL",
)
CURVES = "SELECT key, step, accuracy FROM curves ORDER BY ALL"
PLACE = {"versions": {}, "device": "cpu", "lanes": 1}
CALL = ["a" * 64]
LEARNER = '''
import numpy as np


class Last:
    """Answers what it was last told."""

    def __init__(self, brief, seed):
        self.answer = 0

    def learn(self, inputs, targets):
        self.answer = targets[-1]

    def predict(self, inputs):
        return np.full(len(inputs), self.answer)
'''


def make_folder(folder, rng):
    """Records with traces inside and in files, kept learners and code, an unfinished call, sealed
    tables.
    """
    folder.parent.joinpath("last.py").write_text(LEARNER)
    learners = ["majority", f"{folder.parent / 'last.py'}:Last"]
    run(
        "language/qa",
        learners,
        seeds=2,
        out=folder,
        protocol={"sequences": 60},
        controls=False,
        workers=0,
    )
    labels = {"task": "made/up", "learner": "made", "family": "made", "role": "learner"}
    with Journal(folder) as journal:
        for number in range(2):
            accuracy = np.sort(rng.random(1200))
            arrays = {
                "step": np.arange(1, 1201),
                "accuracy": accuracy if number else np.round(accuracy, 1),
            }
            learner = Snapshot(
                {"weights": rng.random(20), "names": np.array(["a", "b"])}, {"width": 20}
            )
            what = {
                "task": {"id": "made/up"},
                "convention": "corrected",
                "root": 0,
                "repetition": number,
            }
            scores = {"made": {"version": 1, "values": {"made": float(number)}}}
            outcome = Outcome(
                Record(what, "ok", scores=scores, labels=labels),
                Trace("learning-curve", arrays),
                learner,
            )
            journal.save(outcome)
        journal.write(Record({**what, "repetition": 9}, "failed", "cannot add", labels=labels))
    call = UnfinishedCall(Journal(folder), CALL, PLACE)
    call._write(
        SoFar(
            {"step": np.arange(9)}, {"at": 3}, Snapshot({"weights": rng.random(9)}, {"width": 9})
        ),
        1.0,
    )
    query(folder, CURVES)


def look(folder, sql):
    """All that readers see, by name, and everything that they say is wrong."""
    seen, said = {}, []

    def see(name, action):
        try:
            seen[name] = action()
        except QuickstudyError as error:
            said.append(str(error))

    try:
        reading = read_results(folder)
        said += map(str, reading.damage)
        said += map(str, examine_folder(folder))
    except QuickstudyError as error:
        return seen, [str(error)]
    for key, record in reading.records.items():
        seen[key] = canonical(vars(record))
        if record.trace:
            see(f"trace {key}", lambda record=record: _arrays(load_trace(folder, record)))
        if record.saved:
            see(f"learner {key}", lambda record=record: _arrays(load_snapshot(folder, record)))
    for path in (folder / "sources").iterdir():  # nobody reads them again but the doctor
        if not any(path.name in one for one in said):
            seen[path.name] = path.read_bytes()
    for text in (*QUERIES, CURVES) if sql else ():
        see(text, lambda text=text: str(query(folder, text)))
    call = UnfinishedCall(
        Journal(folder), CALL, PLACE
    )  # says on standard error what it does not take up
    if call.found is None:
        said.append("the unfinished call begins anew")
    else:
        seen["unfinished"] = (
            _arrays(call.found),
            _arrays(call.found.pupil),
            call.resumed,
            call.seconds,
        )
    return seen, said


def _arrays(holder):
    arrays = {
        name: (one.dtype.str, one.shape, one.tobytes()) for name, one in holder.arrays.items()
    }
    return hashlib.sha256(
        repr((sorted(arrays.items()), sorted(holder.facts.items()))).encode()
    ).hexdigest()


def flip(path, bit):
    """One bit the other way, as a disk would do it: size and time stay."""
    times, content = path.stat(), bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


class Damaged:
    """A folder of which one file after the other is damaged and put back. whole: all that readers
    see of it.
    """

    def __init__(self, folder):
        self.folder = folder
        self.files = {
            path: (path.read_bytes(), path.stat()) for path in folder.rglob("*") if path.is_file()
        }
        self.whole, complaints = look(folder, True)
        assert not complaints, complaints

    def of(self, kind):
        """The files of one kind."""
        return sorted(path for path in self.files if path.relative_to(self.folder).parts[0] == kind)

    def try_flip(self, tally, kind, path, bit):
        """Flip a bit and look. Everything is as it was before, afterwards."""
        flip(path, bit)
        sql = kind in ("sealed", "quickstudy.json")
        wrong = missing = ()
        try:
            seen, said = look(self.folder, sql)
            wrong = [name for name, one in seen.items() if one != self.whole.get(name)]
            missing = {
                name for name in self.whole if sql or not name.startswith("SELECT")
            } - seen.keys()
            verdict = (
                "silent" if wrong or (missing and not said) else "noticed" if said else "harmless"
            )
        except Exception as error:
            verdict, wrong = "traceback", [repr(error), *_where(error)]
        tally.add(
            kind, verdict, f"{path.relative_to(self.folder)}, bit {bit}: {wrong or sorted(missing)}"
        )
        for path, (content, times) in self.files.items():
            if kind == "sealed" or path.read_bytes() != content:
                path.write_bytes(content)
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def try_flips(folder, numbers, tally):
    """A random bit of a random file, each alone."""
    damaged = Damaged(folder)
    for number in numbers:
        rng = generator("flips", number)
        kind = rng.choice(list(KINDS), p=list(KINDS.values()))
        paths = damaged.of(kind)
        sizes = np.array([len(damaged.files[path][0]) for path in paths])
        path = paths[rng.choice(len(sizes), p=sizes / sizes.sum())]
        damaged.try_flip(tally, kind, path, int(rng.integers(8 * len(damaged.files[path][0]))))


def try_bits(folder, numbers, tally):
    """Every bit of one trace and of one learner, one after the other."""
    damaged = Damaged(folder)
    paths = [
        min(damaged.of(kind), key=lambda path: path.stat().st_size)
        for kind in ("traces", "learners")
    ]
    sizes = [8 * len(damaged.files[path][0]) for path in paths]
    tally.total = len(numbers := numbers[: sum(sizes)])
    for number in numbers:
        second = number >= sizes[0]
        damaged.try_flip(
            tally, ("traces", "learners")[second], paths[second], number - second * sizes[0]
        )


ODD = (
    None,
    True,
    -1,
    0,
    10**400,
    1.5,
    float("nan"),
    "",
    "x",
    "\udc80",
    "<U200000000",
    [],
    [1],
    ["x"],
    {},
    {"x": 1},
)


def oddly(facts, rng):
    """A record with one place made odd: another value, a name that nobody knows, or nothing."""
    facts = copy.deepcopy(facts)
    places = list(_places(facts))
    holder, name = places[rng.integers(len(places))]
    deep = []
    for _ in range(200):
        deep = [deep]
    choice = rng.integers(len(ODD) + 3)
    if choice < len(ODD):
        holder[name] = copy.deepcopy(ODD[choice])
    elif choice == len(ODD):
        holder[name] = deep
    elif choice == len(ODD) + 1 and isinstance(holder, dict):
        holder["from a later version"] = 1
    else:
        del holder[name]
    facts.pop("check", None)
    facts["key"] = digest(facts["what"]) if isinstance(facts.get("what"), dict) else ""
    return facts


def _places(value):
    items = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for name, part in items:
        yield value, name
        if isinstance(part, dict | list):
            yield from _places(part)


def use(folder):
    """Everything that a user does with a folder."""
    report = gather([folder])
    for form in (as_html, as_json, as_text, as_csv, as_latex):
        text = form(report)
        (canonical(text) if isinstance(text, dict) else text).encode(errors="backslashreplace")
    for text in (*QUERIES, CURVES):
        query(folder, text)
    with contextlib.suppress(QuickstudyError):  # a name may mean two by now
        str(compare([folder], "majority", "last.py:Last"))
    examine_folder(folder)


def try_records(folder, numbers, tally):
    """Odd records, each alone beside the others."""
    whole = {key: canonical(vars(record)) for key, record in read_results(folder).records.items()}
    lines = [
        json.loads(line)
        for path in (folder / "runs").iterdir()
        for line in path.read_text().splitlines()
    ]
    lines.sort(key=lambda line: line["key"])
    odd = folder / "runs" / "odd-1-0.jsonl"
    for number in numbers:
        rng = generator("records", number)
        own = lines[rng.integers(len(lines))]
        facts = oddly(own, rng)
        odd.write_text(guarded(facts) + "\n")
        try:
            reading = read_results(folder)
            use(folder)
            others = whole.keys() - {
                own["key"],
                facts["key"],
            }  # by another repetition it is a record of another run
            gone = [key for key in others if canonical(vars(reading.records[key])) != whole[key]]
            verdict = "silent" if gone else "noticed" if reading.damage else "harmless"
        except Exception as error:
            verdict, gone = "traceback", [repr(error), *_where(error)]
        changed = sorted(
            name for name in {*own, *facts} if name != "check" and own.get(name) != facts.get(name)
        )
        tally.add("records", verdict, f"number {number}, {changed}: {gone}")
    odd.unlink(missing_ok=True)


def _where(error):
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    return [f"{pathlib.Path(frame.filename).name}:{frame.lineno}" for frame in frames]


TRIALS = {
    "flips": (try_flips, 20_000),
    "bits": (try_bits, 1_000_000),
    "records": (try_records, 1_000),
}
"""By name, what is done, and how often at most."""


def main(words):
    asked = chosen(words, {name: count for name, (_, count) in TRIALS.items()})
    with (
        tempfile.TemporaryDirectory() as place,
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stderr(nowhere),  # where every unfinished call that begins anew is told
    ):
        folder = pathlib.Path(place) / "results"
        make_folder(folder, generator("folder", 0))
        whole = True
        for name, numbers in asked.items():
            tally = Tally(name, len(numbers))
            TRIALS[name][0](folder, numbers, tally)
            whole &= tally.end()
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
