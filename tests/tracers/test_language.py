"""One LSTM and one ESN through a language task under the language protocol, from their names to
their records.
"""

from __future__ import annotations

import pytest

from quickstudy.base.record import OK
from quickstudy.runs.run_one import Outcome, examine
from quickstudy.runs.run_spec import Setting

TASK = "language/periodic:longest=6,length=40"


def outcome(learner: str) -> Outcome:
    return next(iter(examine(Setting(TASK, learner, protocol={"sequences": 80}), [0])))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    learners = [
        "esn+rls:units=150,terms=4",
        "lstm:units=16,rate=0.01,passes=5",
        "majority",
        "oracle",
    ]
    return {name.partition(":")[0]: outcome(name) for name in learners}


def final(outcome: Outcome) -> float:
    assert outcome.record.status == OK, outcome.record.reason
    assert outcome.trace is not None
    return float(outcome.trace.arrays["accuracy"][-1])


def test_reservoir_and_network_learn_what_the_control_cannot(outcomes: dict[str, Outcome]) -> None:
    assert final(outcomes["oracle"]) == 1.0
    assert final(outcomes["esn+rls"]) > final(outcomes["majority"]) + 0.2
    assert final(outcomes["lstm"]) > final(outcomes["majority"]) + 0.05
    wade = {
        name: one.record.scores["wade-above-chance"]["values"]["wade-above-chance"]
        for name, one in outcomes.items()
    }
    assert wade["esn+rls"] > wade["majority"]


def test_all_learners_of_a_seed_see_the_same_material(outcomes: dict[str, Outcome]) -> None:
    facts = [one.trace.facts for one in outcomes.values() if one.trace is not None]
    assert (
        len(
            {
                (f["training_sequences"], f["test_questions"], f["tokens_per_sequence"])
                for f in facts
            }
        )
        == 1
    )


def test_parameters_are_counted(outcomes: dict[str, Outcome]) -> None:
    # LSTM: 4 gates of 16 units with 2 inputs, 16 recurrent, 2 biases; head 16 x 2 + 2. ESN: readout
    # 2 x (150 + 1).
    assert outcomes["lstm"].record.cost["trained_parameters"] == 4 * 16 * (2 + 16 + 2) + 34
    assert outcomes["esn+rls"].record.cost["trained_parameters"] == 302
