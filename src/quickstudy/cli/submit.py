"""`quickstudy submit` and `verify`: runs for a board, and whether they hold."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.base.text import counted
from quickstudy.cli.output import DATA, INCLUDE, JSON, include_files, name_data, print_json, say


def submit(
    folder: pathlib.Path = typer.Argument(..., help="A results folder."),
    out: pathlib.Path = typer.Option(
        ..., "--out", "-o", help="Folder to make, as BOARD/submissions/NAME."
    ),
    task: list[str] = typer.Option(
        [], "--task", help="Only runs on this task; patterns such as 'language/*'."
    ),
    learner: list[str] = typer.Option(
        [], "--learner", help="Only runs of this learner, with those of the rules; patterns too."
    ),
    note: str = typer.Option(
        "", "--note", help="Who submits and what, as text for the submission."
    ),
    json: bool = JSON,
) -> None:
    """Pack runs for a board: copy them into a new folder, with the hash of every file. Sessions of
    people are left out.
    """
    from quickstudy.runs.grouping import shown
    from quickstudy.runs.merge import read_results
    from quickstudy.runs.submission import records_of, sources_of
    from quickstudy.runs.submission import submit as pack

    reading = read_results(folder, expected=True)
    made = pack(folder, out, shown(list(reading.records.values()), task, learner), note)
    records = records_of(out)
    if json:
        facts = {"folder": str(out), "hash": made.hash, "runs": len(records)}
        print_json({**facts, "files": len(made.files)})
        return
    say(f"{counted(len(records), 'run')} in {out}, hash {made.hash[:16]}")
    hosts = sorted({str(one.where.get("machine", {}).get("host", "")) for one in records} - {""})
    code = sorted({name for one in records for name in sources_of(one)})
    if hosts:
        say(f"Anybody can read in it the name of the machine: {', '.join(hosts)}")
    if code:
        say(f"It has your files in it: {', '.join(code)}")
    say(f"Check it: quickstudy verify {out}{' --run-code' if code else ''}")


def verify(
    folder: pathlib.Path = typer.Argument(..., help="A submission."),
    seeds: int = typer.Option(
        6, "--seeds", "-s", min=1, help="The fewest repetitions of a learner."
    ),
    root: int = typer.Option(0, "--root", help="The root seed that the board asks for."),
    salt: str = typer.Option(
        "",
        "--salt",
        help="A text that could not be foreseen; it chooses other runs, as the hash does.",
    ),
    run_code: bool = typer.Option(
        False, "--run-code", help="Run the files of the submitter. Read them first."
    ),
    workers: int | None = typer.Option(None, "--workers", "-j", help="Processes; 0 for none."),
    limit: float | None = typer.Option(
        None, "--limit", help="Seconds: a run that takes longer fails."
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Check a submission: its files, its scores by its traces, and one run of six made again."""
    from quickstudy.base.hardware import pin_threads

    pin_threads()  # before NumPy is imported, so that runs have the bits of those of workers
    from quickstudy.runs.options import ExecuteOptions
    from quickstudy.runs.verification import Demands
    from quickstudy.runs.verification import verify as check

    name_data(data)
    include_files(include)
    options = ExecuteOptions(workers=workers, limit_seconds=limit)
    found = check(folder, Demands(seeds, root, salt, run_code), options, include)
    if json:
        print_json(found.as_facts())
        raise typer.Exit(0 if found.holds else 1)
    for fault in found.faults[:_MOST_SAID]:
        say(fault)
    if (more := len(found.faults) - _MOST_SAID) > 0:
        say(f"and {more} more")
    if not found.holds:
        say(f"{found.submission.name} is refused")
        raise typer.Exit(1)
    ways = [one.how for one in found.checked]
    said = {
        "bits": "equal to the last bit",
        "rounding": "equal up to rounding",
        "interval": "as the other seeds let one expect",
    }
    again = ", ".join(f"{ways.count(how)} {words}" for how, words in said.items() if how in ways)
    runs, scores = counted(found.runs, "run"), counted(found.scores, "score")
    say(
        f"{found.submission.name} holds: {runs}, {scores} as computed from their traces;"
        f" {counted(len(ways), 'run')} made again: {again}"
    )


_MOST_SAID = 20
