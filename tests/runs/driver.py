"""A run in a process of its own, to be killed or interrupted: driver.py FOLDER WORKERS TASKS
LEARNERS SEEDS.
"""

import json
import pathlib
import sys

from quickstudy.base.registry import include
from quickstudy.runs.engines import Begun, Done
from quickstudy.runs.execute import Stopping, execute
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import make_plan

if __name__ == "__main__":
    folder, workers, tasks, learners, seeds = sys.argv[1:]
    path = pathlib.Path(__file__).with_name("specimens.py")
    specimens = include(path)
    settings = [
        specimens.Specimen(task, learner)
        for task in tasks.split(",")
        for learner in learners.split(",")
    ]
    plan = make_plan(settings, int(seeds), includes=[path], examiner=specimens.EXAMINER)

    def say(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    def report(event: object) -> None:
        if isinstance(event, Begun | Done | Stopping):
            say(type(event).__name__)

    execution = execute(plan, folder, ExecuteOptions(workers=int(workers), progress=report))
    say(json.dumps({"ok": execution.ok, "found": sum(execution.found.values())}))
    sys.exit(execution.exit_status)
