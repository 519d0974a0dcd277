"""What one seed of the published language experiments costs on one core.

    python benchmarks/seeds.py [MODEL ...]

Measures what is not yet in results/speed.jsonl (remove that file to begin anew) and prints two
tables of all that is there. A cell is a whole run, from drawing the data to the last test, in CPU
seconds. It runs again with nothing kept but compiled programs: what the first run takes more is
compilation.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from clock import product_rate

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "results" / "speed.jsonl"
TASKS = {1: "periodic", 3: "symbol-counting", 5: "qa", 10: "adjective-qa-counting"}
LARGE = {2: "increasing-period", 4: "pattern-counting", 10: "adjective-qa-counting"}
RULES = {1: 34, 2: 35, 3: 37, 4: 99, 5: 206, 10: 36}
# Schedules with which memory is measured: the exact one where it does not take minutes, and for the
# largest network.
EXAMINED = dict.fromkeys(("esn", "reca", "lstm"), ("thinned", "every")) | dict.fromkeys(
    ("rnn", "transformer"), ("thinned",)
)
MODELS = ("esn", "reca", "rnn", "lstm", "transformer")


def setting(model, task, schedule):
    """What is run: the published settings of a model on a task, by its number."""
    from quickstudy.runs.run_spec import Setting

    learner = f"reca:rule={RULES[task]}" if model == "reca" else model
    name = {**TASKS, **LARGE}[task]
    return Setting(f"language/{name}", learner, "published", 0, {"schedule": schedule})


def run(chosen):
    """CPU seconds of a run, and its outcome. Nothing that an earlier run has drawn is used."""
    from quickstudy.protocols import examination
    from quickstudy.runs.run_one import examine

    examination._drawn.cache_clear()
    began = time.process_time()
    (outcome,) = examine(chosen, [0])
    if outcome.record.status != "ok":
        raise RuntimeError(outcome.record.reason)
    return time.process_time() - began, outcome


def multiply_adds(model, chosen, outcome):
    """Multiply-adds that the model cannot do without: padding, sampling and elementwise functions
    are not counted.
    """
    from quickstudy.base.seeds import Streams
    from quickstudy.base.spaces import Tokens
    from quickstudy.learners.batching import needed_steps
    from quickstudy.protocols.examination import draw_material

    parts = chosen.resolve()
    material = draw_material(
        parts.task, Streams(0, parts.task.id, 0), parts.protocol.sequences, parts.protocol.share
    )
    symbols = len(parts.task.vocabulary)
    tests = len(outcome.trace.arrays["step"])
    updates = outcome.record.cost["updates"]
    steps = [needed_steps(part) for part in material]
    if model in ("esn", "reca"):
        reading = 18_000 * sum(part.sum() for part in steps) if model == "esn" else 0
        return reading + 1800 * symbols * (2 * updates + tests * material.test.questions)
    core = parts.learner.make(parts.task).core
    if model == "transformer":
        # Keys and values of every step, looked up by symbol and place in a test; all else at the
        # questions.
        width, hidden = core.embedding, core.hidden
        lengths, asked = zip(
            *((part.lengths + 1, part.asked.sum(axis=0)) for part in material), strict=True
        )
        each = 2 * width * (width + hidden)
        work = [
            (own * (each + 2 * width * steps)).sum()
            for steps, own in zip(lengths, asked, strict=True)
        ]
        work[0] += 2 * width**2 * lengths[0].sum()
    else:
        import numpy as np

        units = core.build(Tokens(symbols), np.random.default_rng(0)).units
        work = [part.sum() * core.gates * units**2 for part in steps]
    passes = updates * 8 / material.train.count
    return 3 * passes * work[0] + tests * work[1]


def measured(model, task, schedule, compiled):
    """One row of the table. compiled: the programs have been compiled by an earlier row."""
    chosen = setting(model, task, schedule)
    first = None if compiled else run(chosen)[0]
    best, outcome = min(
        (run(chosen) for _ in range(1 if compiled else 2)), key=lambda both: both[0]
    )
    return {
        "model": model,
        "task": task,
        "schedule": schedule,
        "seconds": best,
        "compilation": None if first is None else max(0.0, first - best),
        "tests": len(outcome.trace.arrays["step"]),
        "floor": float(multiply_adds(model, chosen, outcome) / product_rate()),
    }


def memory(model, task, schedule):
    """Peak resident memory, in gigabytes, of a fresh process that runs one seed."""
    command = [sys.executable, __file__, "--peak", model, str(task), schedule]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {
        "model": model,
        "task": task,
        "schedule": f"memory, {schedule}",
        "gigabytes": float(done.stdout),
    }


def peak(model, task, schedule):
    """Print what `memory` asks for."""
    run(setting(model, int(task), schedule))
    # Not by getrusage: its peak includes that of the process this one was started from.
    status = pathlib.Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    print(int(line.split()[1]) * 1024 / 1e9)


def main(arguments):
    """Measure what is missing, and print the tables."""
    if arguments[:1] == ["--peak"]:
        return peak(*arguments[1:])
    rows = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    known = {(row["model"], row["task"], row["schedule"]) for row in rows}
    for model in arguments or MODELS:
        cells = [(task, schedule) for task in TASKS for schedule in ("thinned", "every")]
        cells += [(task, f"memory, {schedule}") for task in LARGE for schedule in EXAMINED[model]]
        for task, schedule in cells:
            if (model, task, schedule) in known:
                continue
            compiled = schedule == "every" and any(
                row["model"] == model and row["task"] == task for row in rows[-1:]
            )
            plain, _, kind = schedule.partition(", ")
            row = memory(model, task, kind) if kind else measured(model, task, plain, compiled)
            rows.append(row)
            ROWS.parent.mkdir(exist_ok=True)
            with ROWS.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)
    print("\n".join([*_table(rows), "", *_memory(rows)]))
    return None


def _table(rows):
    numbers = "thinned", "exact", "compilation", "floor, thinned", "floor, exact"
    yield f"| model | task | {' | '.join(numbers)} |"
    yield f"|---|---|{'---:|' * len(numbers)}"
    by_key = {(row["model"], row["task"], row["schedule"]): row for row in rows}
    for model in MODELS:
        for task, name in TASKS.items():
            thin, exact = (by_key.get((model, task, schedule)) for schedule in ("thinned", "every"))
            cells = [
                model,
                f"{task} {name}",
                *(f"{row['seconds']:.2f}" if row else "" for row in (thin, exact)),
            ]
            cells.append(
                f"{thin['compilation']:.1f}" if thin and thin["compilation"] is not None else ""
            )
            cells += [f"{row['floor']:.2f}" if row else "" for row in (thin, exact)]
            yield f"| {' | '.join(cells)} |"


def _memory(rows):
    found = {(row["model"], row["task"], row["schedule"]): row.get("gigabytes") for row in rows}
    yield f"| model | {' | '.join(f'{task} {name}' for task, name in LARGE.items())} |"
    yield f"|---|{'---:|' * len(LARGE)}"
    for model in MODELS:
        both = [
            [found.get((model, task, f"memory, {kind}")) for kind in ("thinned", "every")]
            for task in LARGE
        ]
        cells = [" / ".join(f"{value:.2f}" for value in pair if value is not None) for pair in both]
        yield f"| {model} | {' | '.join(cells)} |"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        os.environ["JAX_COMPILATION_CACHE_DIR"] = empty  # what is compiled is compiled here
        import quickstudy.jax_gateway  # noqa: F401  # first, so that JAX is set to one thread

        main(sys.argv[1:])
