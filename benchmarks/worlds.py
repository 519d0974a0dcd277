"""How fast the curriculum's environment is: in process with a trivial learner, as runs use it; many
worlds as pure functions; with a core that learns by reward; and over the wire.

The original environment made 28,000 to 80,000 steps a second in process, and about 1,000 over
ZeroMQ. Best of several pieces, in CPU seconds of this process; over the wire in wall seconds, since
the other process works too.
"""

import pathlib
import socket
import sys
import tempfile
import time

sys.path.pop(0)  # a file beside this one has the name of a package that Numba looks for

from quickstudy.base import registries
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import jax, lax
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.curriculum import perfect_steps
from quickstudy.protocols.examination import Clock
from quickstudy.protocols.lifetime import Lifetime

AGENT = """
import sys, zmq
door = zmq.Context().socket(zmq.PAIR)
door.connect("tcp://127.0.0.1:" + sys.argv[1])
door.send_string("hello goodbye")
while door.recv_string() != "goodbye":
    door.send_string(door.recv_string())
"""
LINES = "import sys\nfor line in sys.stdin:\n    print(line.split()[1], flush=True)\n"


def task(name):
    return configure(name, registries.task.get(f"curriculum/{name}"), {})


def lived(name, learner, steps=10_000, pieces=25, clock=time.process_time):
    """Steps a second through the protocol that runs use, the best of some pieces."""
    made = task(name)
    chosen = choose_learner(learner, "corrected", made, "reward").make(made)
    brief = Brief(made.inputs, made.outputs, "reward", made.horizon, steps)
    pupil = chosen.begin(brief, [Streams(0, "learner", 0)])
    life = Lifetime(pupil, made, [Streams(0, made.id, 0)], Clock())
    life.go_on(100)
    best = 0.0
    for _ in range(pieces):
        began = clock()
        done = len(life.go_on(steps)[0].actions)
        best = max(best, done / (clock() - began))
    getattr(pupil, "close", lambda: None)()
    return best


def as_pure_functions(name, worlds=256, steps=1000, pieces=5):
    """Steps a second of many worlds as pure functions in one JAX program, whose learners are
    silent.
    """
    made = task(name)

    def step(state, _):
        state, turn = jax.vmap(lambda one: made.step(None, one, 32))(state)
        return state, turn.reward.sum()

    keys = jax.random.split(Streams(0, made.id, 0).jax("data"), worlds)
    state = jax.jit(jax.vmap(lambda key: made.reset(key)[0]))(keys)
    program = jax.jit(lambda state: lax.scan(step, state, None, length=steps)[1])
    jax.block_until_ready(program(state))
    best = 0.0
    for _ in range(pieces):
        began = time.process_time()
        jax.block_until_ready(program(state))
        best = max(best, worlds * steps / (time.process_time() - began))
    return best


def main():
    for name in (
        *(f"micro-{number}" for number in ("1", "2", "3", "4", "5.1", "5.5", "7.2", "20")),
        "mini-1",
    ):
        print(f"{name:<10} silent {lived(name, 'silent-byte') / 1e6:6.2f} million steps/s")
    for name in ("micro-1", "micro-3", "micro-5.5"):
        print(
            f"{name:<10} 256 worlds as pure functions {as_pure_functions(name) / 1e6:6.2f} million"
            " steps/s"
        )
    for learner in ("lstm", "esn", "gru:units=16"):
        rate = lived("micro-5.1", learner, 2_000, 5)
        print(f"micro-5.1  {learner:<13} {rate:7.0f} steps/s, learning by reward in one program")
    began = time.process_time()
    steps = sum(perfect_steps(task("round1"), Streams(0, "curriculum/round1", 0)))
    print(f"round1     perfect learner: {steps} steps in {time.process_time() - began:.2f} s")
    with tempfile.TemporaryDirectory() as folder, socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = door.getsockname()[1]
        door.close()
        agent, lines = pathlib.Path(folder, "agent.py"), pathlib.Path(folder, "lines.py")
        agent.write_text(AGENT)
        lines.write_text(LINES)
        for name in (
            f"zeromq:port={port},command={sys.executable} {agent}",
            f"lines:command={sys.executable} {lines}",
        ):
            rate = lived("micro-7.2", name, 2_000, 5, time.perf_counter)
            print(f"micro-7.2  {name.partition(':')[0]:<7}{rate:8.0f} steps/s in lock step")


if __name__ == "__main__":
    main()
