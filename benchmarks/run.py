"""How fast the hot paths are, as ratios in one run: against a peer from PyPI, against a plain
reference of our own, and against the arithmetic floor of this machine. `make bench` installs the
peers and runs this.
"""

import quickstudy.jax_gateway  # noqa: F401, I001  # first, so that JAX is set to one thread

import numpy as np
import torch
from clock import product_rate, seconds
from reservoirpy.nodes import Reservoir
from scipy.sparse import csr_array, csr_matrix
from sklearn.linear_model import SGDClassifier

from quickstudy.base.learner import Brief
from quickstudy.base.exchange import Lesson
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.cores.recurrent import LSTM
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.adam import Adam
from quickstudy.learners.features import TOGETHER, rows_at
from quickstudy.learners.lanes import stack_lanes
from quickstudy.learners.online_readouts import OnlineLogistic
from quickstudy.measures.curve import threshold_times
from quickstudy.measures.wade import paper
from quickstudy.tasks.language.qa import Qa
from quickstudy.tasks.sampling import draw_unique

torch.set_num_threads(1)
STREAMS = Streams(0, "benchmark", 0)


def echo_state():
    """Features after 64 sequences of 20 tokens: 1,800 units, 10 inputs each from other units."""
    core = EchoState().build(Tokens(16), STREAMS.numpy("core"))
    tokens = STREAMS.numpy("data").integers(16, size=(20, TOGETHER))
    stacked = stack_lanes([core])
    first = np.cumsum([0, *[part.shape[1] for part in core.sources]])[:-1]
    rows = np.concatenate(
        [
            np.tile(np.arange(part.shape[1]) + at, len(part))
            for part, at in zip(core.sources, first, strict=True)
        ]
    )
    columns = np.concatenate([np.asarray(part).ravel() for part in core.sources])
    values = np.concatenate([np.asarray(part).ravel() for part in core.strengths])
    matrix = csr_array((values, (rows, columns)), shape=(1800, 1800))
    matrix.eliminate_zeros()  # the padding
    inputs, bias = np.asarray(core.inputs.weights), np.asarray(core.bias)
    peer = Reservoir(W=csr_matrix(matrix), Win=inputs.T, bias=bias, lr=1.0)
    one_hot = np.eye(16)[tokens]

    asked = jnp.stack([jnp.full(TOGETHER, 19), jnp.arange(TOGETHER)], axis=1)[None]
    shown = jnp.asarray(tokens)[None]

    def ours():
        return np.asarray(rows_at(stacked, shown, asked, 1))[0]

    def plain():
        state = np.zeros((1800, TOGETHER), np.float32)
        for step in tokens:
            state = np.tanh(matrix @ state + inputs[step].T + bias[:, None])
        return state.T

    def reservoirpy():
        states = []
        for column in range(2):
            states.append(peer.run(one_hot[:, column])[-1])
            peer.reset()
        return np.stack(states)

    assert np.abs(ours() - plain()).max() < 1e-2
    assert np.abs(ours()[:2] - reservoirpy()).max() < 0.05  # float64 there, and differences grow
    mine, reference, other = seconds(ours, plain, reservoirpy, rounds=8)
    work = tokens.size * 18_000
    return [
        ("echo-state features against NumPy and SciPy (CSR)", reference / mine, work / mine),
        ("echo-state features against reservoirpy 0.4.2", other / mine * TOGETHER / 2, None),
    ]


def lstm():
    """One Adam update of the published LSTM of task 5: 186 units, 8 sequences."""
    examples = draw_unique(Qa(), STREAMS.numpy("data"), 960)
    order = STREAMS.numpy("order").permutation(960)[None]
    lesson = Lesson([examples], order)
    brief = Brief(Tokens(16), Tokens(16), "cross-entropy", examples.steps, 960)
    pupil = Adam(total="sum").begin(LSTM(sizing="published"), brief, [STREAMS])
    sequences = [examples.sequence(index) for index in order[0, :64]]
    network = torch.nn.LSTM(16, 186)
    head = torch.nn.Linear(186, 16)
    optimiser = torch.optim.Adam([*network.parameters(), *head.parameters()], lr=1e-3)

    def ours():
        pupil.learn(lesson, 0, 64)

    def published_style():
        for first in range(0, 64, 8):
            optimiser.zero_grad()
            for ids, asked in sequences[first : first + 8]:
                features, _ = network(torch.eye(16)[torch.tensor(ids[:-1])])
                scores = head(features[torch.tensor(asked) - 1])
                torch.nn.functional.cross_entropy(
                    scores, torch.tensor(ids)[torch.tensor(asked)]
                ).backward()
            optimiser.step()

    mine, other = seconds(ours, published_style)
    # Forward and backward: three products of (8, 186) with (186, 744) a step, one of them per
    # sequence instead.
    work = 8 * 3 * examples.steps * 8 * 186 * 744
    return [
        (
            "LSTM updates against PyTorch 2.13, one sequence at a time, as published",
            other / mine,
            work / mine,
        )
    ]


def lstm_gradient():
    """The same gradient through the plain scan."""
    core = LSTM(sizing="published").build(Tokens(16), STREAMS.numpy("core"))
    tokens = jnp.asarray(STREAMS.numpy("data").integers(16, size=(20, 8)))

    def loss(core, unroll):
        return jnp.square(unroll(core, core.start(8, 20), tokens)[1]).sum()

    mine = eqx.filter_jit(eqx.filter_grad(lambda core: loss(core, type(core).unroll)))
    scan = eqx.filter_jit(
        eqx.filter_grad(lambda core: loss(core, super(type(core), core).unroll.__func__))
    )
    ours, plain = seconds(
        lambda: jax.block_until_ready(mine(core)),
        lambda: jax.block_until_ready(scan(core)),
        rounds=30,
    )
    return [("LSTM gradient against reverse mode through the scan", plain / ours, None)]


def logistic():
    """One pass of the published readout over 960 questions with 1,800 features, 16 classes of which
    10 occur.
    """
    examples = draw_unique(Qa(), STREAMS.numpy("data"), 960)
    lesson = Lesson([examples], np.arange(960)[None])
    brief = Brief(Tokens(16), Tokens(16), "cross-entropy", examples.steps, 960)
    pupil = OnlineLogistic().begin(EchoState(), brief, [STREAMS])
    features = STREAMS.numpy("noise").normal(size=(960, 1800)).astype(np.float32)
    targets = STREAMS.numpy("order").integers(10, size=960)

    def ours():
        pupil.learn(lesson, 0, 960)  # the features of the echo-state network included

    def scikit_learn():
        model = SGDClassifier(loss="log_loss", alpha=0.001, learning_rate="constant", eta0=0.001)
        for first in range(0, 960, 8):
            model.partial_fit(
                features[first : first + 8], targets[first : first + 8], classes=np.arange(10)
            )

    mine, other = seconds(ours, scikit_learn, rounds=3)
    return [
        ("readout, features included, against scikit-learn 1.9, features given", other / mine, None)
    ]


def first_passages():
    """WADE of a curve of 9,800 tests."""
    accuracy = np.maximum.accumulate(STREAMS.numpy("data").random(9800) * np.linspace(0, 1, 9800))
    steps, preset = np.arange(1, 9801), paper(100)

    def ours():
        return preset.score(steps, accuracy)

    def plain():
        thresholds = [k / 100 for k in range(1, 101)]
        times = [
            next((s for s, a in zip(steps, accuracy, strict=True) if a >= t), np.inf)
            for t in thresholds
        ]
        return sum(t / time for t, time in zip(thresholds, times, strict=True)) / sum(thresholds)

    assert abs(ours() - plain()) < 1e-12
    assert len(threshold_times(steps, accuracy, [0.5])) == 1
    mine, other = seconds(ours, plain, rounds=3)
    return [("WADE against a plain loop", other / mine, None)]


def main():
    """Print the table."""
    most = product_rate()
    print(
        f"one core: {most / 1e9:.1f} thousand million multiply-adds a second in a large float32"
        " product\n"
    )
    print(f"{'what':<75} {'times faster':>12}  {'share of the floor':>18}")
    for part in (echo_state, lstm, lstm_gradient, logistic, first_passages):
        for what, ratio, rate in part():
            share = f"{rate / most:.0%}" if rate else ""
            print(f"{what:<75} {ratio:>12.1f}  {share:>18}", flush=True)


if __name__ == "__main__":
    main()
