"""How verbs grow with the records of a results folder: python benchmarks/folders.py [N ...].

A small run is made once; a folder of N records has its records with further repetitions, so that
every record has the key of a run that `run` would make. Each verb runs in a process of its own.
Prints seconds of CPU and the peak of memory, and the size of what was written.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from quickstudy.base.record import Record
from quickstudy.runs.merge import read_results

TASKS = (
    *("qa", "harder-qa", "world-qa", "adjective-qa", "periodic", "increasing-period"),
    *("pattern-counting", "symbol-counting", "extra-copy", "extra-reverse"),
)
LEARNERS = ("esn:units=50", "esn:units=60", "esn:units=70")
RUN = [
    *("run", *(f"language/{name}" for name in TASKS)),
    *(part for name in LEARNERS for part in ("--learner", name)),
    *("--set", "sequences=20", "--workers", "0", "--quiet"),
]
SQL = "select learner, avg(value) from scores where name = 'wade' group by learner"
VERBS: dict[str, list[str]] = {
    "run --dry-run": ["--dry-run"],
    "run that finds all": [],
    "report": ["report", "{folder}"],
    "report csv": ["report", "{folder}", "--format", "csv"],
    "compare": ["compare", *LEARNERS[:2], "--out", "{folder}"],
    "query, first": ["query", "{folder}", SQL],
    "query, again": ["query", "{folder}", SQL],
    "doctor": ["doctor", "{folder}", "--no-repair"],
    "score --dry-run": ["score", "{folder}", "--dry-run"],
    "site": ["site", "{folder}", "--out", "{folder}-site"],
}


def main() -> None:
    """One table for each N."""
    place = pathlib.Path(os.environ.get("OUT") or tempfile.mkdtemp(prefix="quickstudy-folders-"))
    only = [one for one in sys.argv[1:] if not one.isdecimal()]
    for count in [int(one) for one in sys.argv[1:] if one.isdecimal()] or [1_000, 10_000]:
        folder = place / str(count)
        seeds = made(place / "small", folder, count)
        print(f"{count:,} records, {size(folder / 'runs'):.1f} MB", flush=True)
        for name, words in VERBS.items():
            if only and name not in only:
                continue
            if name.startswith("run"):
                words = [*RUN, "--seeds", str(seeds), "--out", "{folder}", *words]
            words = [word.format(folder=folder) for word in words]
            seconds, wall, peak, written = measured(words)
            print(f"  {name:20} {seconds:7.1f} s CPU {wall:7.1f} s {peak:6.0f} MB  {written}")
            sys.stdout.flush()
        for page in [*folder.glob("*.html"), pathlib.Path(f"{folder}-site")]:
            print(f"  {page.name:20} {size(page):7.1f} MB")


def made(small: pathlib.Path, folder: pathlib.Path, count: int) -> int:
    """Make a folder of about `count` records; gives the number of repetitions in it."""
    if not (small / "runs").is_dir():
        command = [sys.executable, "-m", "quickstudy", *RUN, "--seeds", "1", "--out", str(small)]
        subprocess.run(command, check=True)
    first = list(read_results(small).records.values())
    seeds = max(1, round(count / len(first)))
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "runs").mkdir(parents=True)
    shutil.copy(small / "quickstudy.json", folder)
    with open(folder / "runs" / "synthetic.jsonl", "w", encoding="ascii") as file:
        for repetition in range(seeds):
            for record in first:
                facts = {name: getattr(record, name) for name in Record.__dataclass_fields__}
                facts["what"] = {**record.what, "repetition": repetition}
                facts["scores"] = shifted(facts["scores"], repetition)
                file.write(Record(**facts).to_line() + "\n")
    return seeds


def shifted(scores: dict, repetition: int) -> dict:
    """The same scores, a little different in every repetition."""
    text = json.dumps(scores)
    found = json.loads(text)
    for entry in found.values():
        for name, value in entry["values"].items():
            if isinstance(value, float) and 0 < value < 1:
                entry["values"][name] = value * (1 - (repetition % 97) / 1e4)
    return found


def measured(words: list[str]) -> tuple[float, float, float, str]:
    """CPU seconds, seconds, peak in MB and what the first line of the output is."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        command = [sys.executable, "-m", "quickstudy", *words]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        lines = output.read().decode(errors="replace").strip().splitlines()
    said = f"status {process.returncode}: {lines[-1][:90] if lines else ''}"
    wall = time.monotonic() - began
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, said


def size(path: pathlib.Path) -> float:
    """Of a file or a folder, in MB."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return sum(one.stat().st_size for one in files) / 1e6


if __name__ == "__main__":
    main()
