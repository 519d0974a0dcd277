"""How fast reservoirs are harvested, trained and measured, beside reservoirpy 0.4.2 and rcbench
1.0.10 in one run: the least CPU seconds of each over rounds in which they take turns, on one
thread, so that a busy machine slows all alike. `python benchmarks/reservoir.py` writes a table;
what is compared must agree first. With --check a ratio below its
least one in `targets.toml` is an error.
"""

import logging
import pathlib
import sys
import tomllib

from clock import product_rate, seconds

from quickstudy.base.hardware import pin_threads

sys.path.pop(0)  # a file beside this one has the name of a package that Numba looks for
pin_threads()

import numpy as np  # noqa: E402
from rcbench.tasks.ipc import IPCEvaluator  # noqa: E402
from rcbench.tasks.memorycapacity import MemoryCapacityEvaluator  # noqa: E402
from reservoirpy.nodes import Reservoir, Ridge  # noqa: E402
from reservoirpy.observables import memory_capacity  # noqa: E402
from scipy.sparse import csr_array  # noqa: E402

from quickstudy.base import registries  # noqa: E402
from quickstudy.base.parameters import configure  # noqa: E402
from quickstudy.base.seeds import Streams  # noqa: E402
from quickstudy.base.spaces import Reals  # noqa: E402
from quickstudy.cores.esn import EchoState  # noqa: E402
from quickstudy.jax_gateway import double, jax, jnp  # noqa: E402
from quickstudy.learners.learner_spec import choose_learner  # noqa: E402
from quickstudy.learners.reservoir_population import Substrate  # noqa: E402
from quickstudy.measures.memory import Harvest  # noqa: E402
from quickstudy.measures.memory_terms import processing_capacity  # noqa: E402
from quickstudy.protocols.dynamics import DynamicsProtocol  # noqa: E402

logging.disable(logging.INFO)
STREAMS = Streams(0, "benchmark", 0)
DENSITY, BATCH = 0.1, 32
LANES = 25
RUNS, NARMA = 100, {"washout": "200", "training": "2800", "validation": "0", "test": "1000"}


def core_of(units, precision="float64"):
    """An echo-state network with a tenth of its weights, and its twin in reservoirpy: the same
    weights.
    """
    made = EchoState(
        units=units, terms=DENSITY * units, radius=0.9, input_scale=0.1, precision=precision
    )
    core = made.build(Reals(1), STREAMS.numpy("core"))
    with double():
        matrix = np.asarray(core.matrix(), np.float64)
    return core, Reservoir(
        W=csr_array(matrix),
        Win=np.asarray(core.inputs.weights, np.float64).T,
        bias=np.asarray(core.bias),
        lr=1.0,
    )


@jax.jit
def states_of(core, inputs):
    """(time, stream, unit)."""
    return core.unroll(core.start(inputs.shape[1], 1), inputs)[1]


def harvest():
    """Steps a second, by units, streams and precision."""
    for units, steps in ((100, 10_000), (500, 2000), (1000, 500)):
        core, peer = core_of(units)
        single = core_of(units, "float32")[0]
        inputs = STREAMS.numpy("data").uniform(-1, 1, (steps, BATCH, 1))
        with double():
            one, many = jnp.asarray(inputs[:, :1]), jnp.asarray(inputs[: max(50, steps // 10)])
            wanted = peer.run(inputs[:, 0])
            assert (
                np.abs(np.asarray(states_of(core, one))[:, 0] - wanted).max() < 1e-12
            )  # equal weights, equal states
            assert np.abs(np.asarray(states_of(single, one))[:, 0] - wanted).max() < 1e-4

            def ours(core, inputs=one):
                return lambda: states_of(core, inputs).block_until_ready()

            ways = (
                lambda peer=peer, inputs=inputs: peer.run(inputs[:, 0]),
                ours(core),
                ours(single),
            )
            found = seconds(*ways, ours(core, many), ours(single, many), rounds=4)
        counts = (steps, steps, steps, many.shape[0] * BATCH, many.shape[0] * BATCH)
        rates = [count / second for count, second in zip(counts, found, strict=True)]
        names = (
            "float64, one stream",
            "float32, one stream",
            f"float64, {BATCH} streams",
            f"float32, {BATCH} streams",
        )
        for name, rate in zip(names, rates[1:], strict=True):
            yield (
                f"harvest, {units} units, {name}",
                f"{rate:,.0f} steps/s",
                f"{rates[0]:,.0f} (reservoirpy)",
                rate / rates[0],
            )


def sweep():
    """A hundred runs of NARMA-10: data, weights, training and test, 4,000 steps each."""
    task = configure("dynamics/narma-10", registries.task.get("dynamics/narma-10"), NARMA)
    learner = choose_learner("esn:units=100", "corrected", task, "reals").make(task)
    protocol = DynamicsProtocol()
    errors = {"alone": [], "together": [], "theirs": []}

    def ours(name, size):
        for first in range(0, RUNS, size):
            streams = [Streams(0, task.id, first + lane) for lane in range(size)]
            for trace in protocol.examine(task, learner, streams).traces:
                errors[name].append(registries.measure.get("errors")(trace)["nrmse"])

    def theirs():
        for repetition in range(RUNS // 10):
            series = task.drive(Streams(0, task.id, repetition).numpy("data"))
            model = Reservoir(
                100, sr=0.9, lr=1.0, input_scaling=0.1, rc_connectivity=0.1, seed=repetition
            ) >> Ridge(1e-6)
            model.fit(series.inputs[:3000], series.targets[:3000], warmup=200)
            answer, target = (
                model.run(series.inputs[3000:]),
                series.targets[3000:],
            )  # its state goes on
            errors["theirs"].append(np.sqrt(np.mean((answer - target) ** 2) / target.var()))

    alone, together, other = seconds(
        lambda: ours("alone", 1), lambda: ours("together", LANES), theirs, rounds=3
    )
    other *= 10
    assert errors["alone"] == errors["together"]  # to the last bit
    medians = {name: np.median(found) for name, found in errors.items()}
    assert all(0.1 < median < 0.5 for median in medians.values()), medians
    for name, mine in ((f"{LANES} in a call", together), ("one in a call", alone)):
        beside = f"{other:.2f} s (reservoirpy)"
        yield f"{RUNS} runs of NARMA-10, 100 units, {name}", f"{mine:.2f} s", beside, other / mine


def capacities():
    """Memory and processing capacity of given states, and of a reservoir."""
    core, peer = core_of(100)
    inputs = STREAMS.numpy("capacity").uniform(-1, 1, 5100)
    states = peer.run(inputs[:, None])
    recorded, drive = states[100:], inputs
    held = MemoryCapacityEvaluator(inputs, states, max_delay=100)
    choice = {"feature_selection_method": "kbest", "num_features": "all", "modeltype": "Linear"}

    def ours():
        return Harvest(recorded).memory_split(drive, range(1, 101), 4000).sum()

    def theirs():
        return held.calculate_total_memory_capacity(**choice)["total_memory_capacity"]

    assert abs(ours() - theirs()) < 1e-3, (ours(), theirs())
    mine, other = seconds(ours, theirs, rounds=3)
    yield (
        "memory capacity, 100 delays, 100 states, 5,000 steps",
        f"{mine * 1e3:.1f} ms",
        f"{other * 1e3:.0f} ms (rcbench)",
        other / mine,
    )

    terms = IPCEvaluator(inputs, states, max_delay=10, max_degree=3)

    def processing():
        harvest = Harvest(recorded)
        return processing_capacity(harvest, drive, harvest.threshold(), [10, 10, 7])

    def theirs_too():
        return terms.calculate_total_capacity(**choice)

    count = len(processing().capacity)
    assert count >= len(terms.basis_functions) == 165
    linear = theirs_too()["linear_memory_capacity"]
    assert (
        abs(processing().capacity[1:11].sum() - linear) < 0.1 * linear
    )  # in-sample here, on other steps there
    mine, other = seconds(processing, theirs_too, rounds=3)
    name = f"processing capacity, {count} terms here and 165 there"
    yield name, f"{mine * 1e3:.1f} ms", f"{other * 1e3:.0f} ms (rcbench)", other / mine

    series, model = inputs[:2000, None], peer >> Ridge(ridge=1e-9)

    def whole():
        with double():
            found = np.asarray(states_of(core, jnp.asarray(series[:, None])))[:, 0]
        return Harvest(found[200:]).memory_split(series[:, 0], range(1, 201), 1400).sum()

    def theirs_whole():
        peer.reset()
        return memory_capacity(model, 200, series=series, test_size=400)

    assert abs(whole() - theirs_whole()) < 0.2 * theirs_whole(), (whole(), theirs_whole())
    mine, other = seconds(whole, theirs_whole, rounds=5)
    name = "memory capacity with its harvest, 200 delays, 2,000 steps"
    yield name, f"{mine * 1e3:.1f} ms", f"{other * 1e3:.0f} ms (reservoirpy)", other / mine


def generation():
    """A thousand reservoirs of 100 units characterised in one call, beside the products that this
    cannot do without at the rate of one large product, and beside the least that a core can do it
    in. No reservoir shares its matrix with another: its harvest is a chain of products with one
    vector, each of which reads the 40 kB of the matrix again.
    """
    task = configure("dynamics/charc", registries.task.get("dynamics/charc"), {})
    substrate = Substrate(EchoState(units=100, radius=0.9), task, [STREAMS], "charc", None, False)
    rng = STREAMS.numpy("genomes")
    genomes = [substrate.draw(rng) for _ in range(100)] * 10
    steps = sum(len(drive) for drive in substrate.drives[0])
    half, core = substrate.steps, core_of(100, "float32")[0]
    inputs = jnp.asarray(rng.uniform(-1, 1, (steps, 1, 1)), jnp.float32)
    states, others, weights = (
        rng.uniform(-1, 1, shape) for shape in ((half, 100), (half, 100), (100, 100))
    )
    few = [states[:150].T @ states[:150], others[:150].T @ others[:150]]

    def harvests():
        for _ in range(100):
            states_of(core, inputs).block_until_ready()

    def products():
        for _ in range(100):
            for part in (states, others):
                _ = part[:150].T @ part[:150]
            _ = states.T @ states, states.T @ others, others @ weights

    def eigenvalues():
        for _ in range(100):
            _ = [np.linalg.eigvalsh(part) for part in few]

    mine, *parts = seconds(
        lambda: substrate.behave([genomes]), harvests, products, eigenvalues, rounds=2
    )
    least = 10 * np.array(parts)
    # One product a step; Gram matrix, products with the targets and answers of the memory; two Gram
    # matrices of ranks.
    work = 1000 * (steps * 100**2 + 3 * half * 100**2 + 2 * 150 * 100**2)
    alone = work / product_rate()
    name = "a thousand reservoirs for CHARC"
    yield name, f"{mine:.1f} s", f"{alone:.1f} s (one large product)", alone / mine
    said = " + ".join(f"{part:.1f}" for part in least)
    yield (
        "the same, beside harvest, products, eigenvalues",
        f"{mine:.1f} s",
        f"{said} s alone",
        least.sum() / mine,
    )


def main():
    """Print the table; with --check, exit with status 1 where a ratio is below its least one."""
    check = "--check" in sys.argv
    chosen = [name for name in sys.argv[1:] if name != "--check"]
    targets = tomllib.loads((pathlib.Path(__file__).parent / "targets.toml").read_text())
    slow = []
    sys.stdout.write(f"{'what':<58} {'here':>18}  {'beside':<32} {'times':>6} {'goal':>6}\n")
    for part in chosen or ["harvest", "sweep", "capacities", "generation"]:
        for what, here, beside, ratio in globals()[part]():
            target = next((own for name, own in targets.items() if what.startswith(name)), {})
            goal = f"{target['goal']:g}" if target else ""
            sys.stdout.write(f"{what:<58} {here:>18}  {beside:<32} {ratio:>6.2f} {goal:>6}\n")
            sys.stdout.flush()
            if target and ratio < target["least"]:
                slow.append(f"{what}: {ratio:.2f} times, at least {target['least']:g} wanted")
    if check and slow:
        sys.exit("\n".join(slow))


if __name__ == "__main__":
    main()
