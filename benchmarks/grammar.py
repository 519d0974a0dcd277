"""How fast strings are learned and read, on one core: an LSTM of 32 units as published, its test of
10,000 strings with n up to 10,020, the same at margin 0, and Baby-NTM with 2,050 rows and with as
many as the longest string needs. Each is a process of its own, so that its memory can be told.
`python benchmarks/grammar.py` writes a line for each.

Seconds are those of the process, so that others on the machine change little; what is compiled is
compiled before.
"""

import json
import resource
import subprocess
import sys
import time

HERE = sys.path.pop(0)  # a file beside this one has the name of a package that Numba looks for

TAPE = 8
"""Strings, the longest, that Baby-NTM reads here; the time of all follows from the steps."""


def main():
    """Print a line for each."""
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(globals()[f"_{sys.argv[1]}"](*sys.argv[2:])))
        return
    train, read, early = (_apart(name) for name in ("train", "read", "early"))
    floor = read["steps"] * (8 * 32**2 + 8 * 32 + 2 * 32 * 3) / (2 * read["rate"])
    _say(f"LSTM-32, 1,000 epochs on 100 strings: {train['seconds']:.2f} s, original 7.4 s", train)
    _say(
        f"LSTM-32 on 10,000 strings, {read['steps']:,} steps: {read['seconds']:.1f} s, original"
        " 870 s",
        read,
    )
    _say(
        f"  {read['seconds'] / floor:.1f} times the floor, {floor:.1f} s at the rate of one large"
        " product",
        read,
    )
    _say(
        f"  the same at margin 0: {1000 * early['seconds']:.0f} ms, wrong among {early['strings']}"
        " strings",
        early,
    )
    for rows in ("2050", "none"):
        found = _apart("tape", rows)
        each = found["seconds"] / found["steps"]
        # The rows of a tape that is large enough grow with the string, and its work with their
        # product.
        whole = each * read["steps"] * (1 if rows == "2050" else 2 / 3)
        _say(
            f"Baby-NTM, {found['rows']:,} rows: {1e6 * each:.0f} us a step, original with 2,050"
            " rows 34,000 us",
            found,
        )
        _say(f"  all {read['steps']:,} steps, worked out: {whole / 60:.0f} min", found)


def _apart(*arguments):
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, check=True)
    return json.loads(done.stdout)


def _say(line, found):
    sys.stdout.write(f"{line}; {found['memory']:.2f} GB\n")
    sys.stdout.flush()


def _pupil(name, passes):
    """A pupil before its lesson, the lesson, and the task; 100 released strings."""
    import numpy as np

    from quickstudy.base.exchange import Lesson
    from quickstudy.base.learner import Brief
    from quickstudy.base.seeds import Streams
    from quickstudy.learners.learner_spec import choose_learner
    from quickstudy.runs.run_spec import make_task

    task = make_task("grammar/an-bn", "published")
    examples = task.released(100, 100)
    order = np.tile(np.arange(100), passes)[None]
    learner = choose_learner(name, "published", task, "strings").make(task)
    brief = Brief(task.inputs, task.outputs, "cross-entropy", examples.steps, order.shape[1])
    return learner.begin(brief, [Streams(0, "benchmark", 0)]), Lesson([examples], order), task


def _lstm():
    pupil, lesson, task = _pupil(
        "lstm+adam:units=32,batch=0,passes=1000,rate=0.001,total=questions", 1000
    )
    pupil.learn(lesson, 0, 100)  # compiles
    began = time.process_time()
    pupil.learn(lesson, 100, 100_000)
    return pupil, task, time.process_time() - began


def _memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _train():
    _, _, seconds = _lstm()
    return {"seconds": seconds * 1000 / 999, "memory": _memory()}


def _outcomes(pupil, task, count, enough=lambda lane, so_far: False, start=20):
    from quickstudy.protocols.marking import Marking
    from quickstudy.protocols.outcomes import outcomes
    from quickstudy.tasks.grammar.lists import TestList

    strings = TestList(task, "released", start, count)
    began = time.process_time()
    (found,) = outcomes(pupil, strings, task.grammar, Marking("det"), enough)
    return found, time.process_time() - began


def _read():
    sys.path.append(HERE)
    from clock import product_rate

    pupil, task, _ = _lstm()
    pupil.same = lambda *states: (
        False
    )  # of some networks states come back, which takes a third of the time: not here
    _outcomes(pupil, task, 2000)  # compiles
    found, seconds = _outcomes(pupil, task, 10_000)
    memory = _memory()
    return {
        "steps": int(found["steps"].sum()),
        "seconds": seconds,
        "memory": memory,
        "rate": product_rate(),
    }


def _early():
    pupil, task, _ = _lstm()
    wrong = lambda lane, so_far: bool(so_far["wrong"].any())  # noqa: E731
    _outcomes(pupil, task, 10_000, wrong)  # compiles
    found, seconds = _outcomes(pupil, task, 10_000, wrong)
    return {"strings": len(found["steps"]), "seconds": seconds, "memory": _memory()}


def _tape(rows):
    """On the longest strings. What they share, their a's, is read once, and counted with the
    steps.
    """
    pupil, _, task = _pupil("baby-ntm" if rows == "none" else f"baby-ntm:rows={rows}", 1)
    size = pupil.start(1, 20_042).memory
    from quickstudy.jax_gateway import jax

    tape = max(leaf.shape[-2] for leaf in jax.tree.leaves(size) if leaf.ndim > 2)
    _outcomes(pupil, task, TAPE, start=10_020 - TAPE)  # compiles
    found, seconds = _outcomes(pupil, task, TAPE, start=10_020 - TAPE)
    steps = int(found["steps"].sum()) + 10_020
    return {"rows": tape, "steps": steps, "seconds": seconds, "memory": _memory()}


if __name__ == "__main__":
    main()
