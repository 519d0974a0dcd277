"""What an engine costs for every job, besides the work.

    python benchmarks/engines.py [RUNS] [ENGINE ...]

Makes 5,000 runs of some milliseconds each (a rule that never learns, on ten short sequences), or as
many as are named, by each engine: by default the process pool and a Dask cluster on this machine,
with two workers each. Every run is a job of its own, which is the worst case: `quickstudy run` puts
runs of one setting into few jobs, and the last column has these. The work itself is measured in
this process, and taken off: workers x seconds - work, for each run. The start of the engine is
apart: seconds until the first run is done.
"""

import dataclasses
import pathlib
import sys
import tempfile
import time

from quickstudy.runs.engines import Done, choose_engine, connection
from quickstudy.runs.execute import _bundle, cut, execute
from quickstudy.runs.folder import prepare_folder
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_spec import Setting

RUNS = 5000
ENGINES = ("process?workers=2", "dask://local?workers=2")
SETTING = Setting("language/periodic", "majority", protocol={"sequences": 10})


def measure(name, count, single):
    """Seconds until the first run is done, and from there to the last; and how many workers and
    jobs there were.
    """
    plan = make_plan([SETTING], count)
    spec, began, first = choose_engine(engine=name), time.monotonic(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        engine = spec.open()
        prepare_folder(pathlib.Path(folder))
        pieces = [[cell] for cell in plan.cells] if single else cut(plan.cells, engine.workers)
        done = 0
        for piece in pieces:
            bundle = _bundle(piece, plan, folder, ExecuteOptions())
            engine.submit(dataclasses.replace(bundle, seconds=0.01 * len(piece)))
        for message in engine.results():
            if isinstance(message, Done):
                assert message.status == "ok", message
                first = first or time.monotonic() - began
                done += 1
        seconds = time.monotonic() - began - first
        workers = engine.workers
        engine.shutdown()
    assert done == count
    return first, seconds, workers, len(pieces)


def main(words):
    count = int(words[0]) if words and words[0].isdigit() else RUNS
    engines = [word for word in words if not word.isdigit()] or ENGINES
    quiet = ExecuteOptions(engine="serial", progress=False)
    with tempfile.TemporaryDirectory() as folder:
        few = make_plan([SETTING], some := min(count, 200))
        execute(few, pathlib.Path(folder, "warm"), quiet)
        began = time.monotonic()
        execute(few, pathlib.Path(folder, "runs"), quiet)
        work = (time.monotonic() - began) / some
    print(f"the work of a run: {1000 * work:.1f} ms; {count:,} runs")
    print(f"{'engine':<28}{'start':>9}{'a job a run':>26}{'as quickstudy cuts them':>30}")
    for name in engines:
        texts = []
        for single in (True, False):
            first, seconds, workers, jobs = measure(name, count, single)
            beyond = 1000 * (workers * seconds / count - work)
            texts.append(f"{seconds:.1f} s, {beyond:+.1f} ms a run, {jobs} jobs")
        print(f"{name:<28}{first:>7.1f} s{texts[0]:>32}{texts[1]:>32}", flush=True)
    connection._close_all()


if __name__ == "__main__":
    main(sys.argv[1:])
