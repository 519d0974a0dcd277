"""Lanes by what is asked for and by the memory of the device: on a CPU that says it is a GPU."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from quickstudy.base import hardware
from quickstudy.base.errors import TooManyLanes, UsageError
from quickstudy.learners import lanes as lanes_module
from quickstudy.learners.lanes import check_room
from quickstudy.learners.learner_spec import bring, choose_learner
from quickstudy.learners.resolved_learner import LANES, fewer_lanes, lanes_for
from quickstudy.runs.engines import Begun
from quickstudy.runs.execute import execute
from quickstudy.runs.merge import read_results
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_one import examine
from quickstudy.runs.run_spec import Setting

SMALL = {"sequences": 60}


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr("quickstudy.jax_gateway.device_kind", lambda: "gpu")
    monkeypatch.setattr(hardware, "has_gpu", lambda: True)


def test_lanes_are_few_sizes_that_hold_what_is_asked_for_and_halve():
    for asked in range(1, 300):
        lanes = lanes_for(asked)
        assert lanes in LANES
        assert lanes >= min(asked, 100)
        assert lanes < 2.2 * max(asked, 1), "one seed does not cost a hundred"
    sizes = [100]
    while sizes[-1] > 1:
        sizes.append(fewer_lanes(sizes[-1]))
    assert sizes == [100, 50, 25, 12, 6, 3, 2, 1]
    assert [fewer_lanes(100, fit) for fit in (0, 1, 5, 49, 99, 1000)] == [1, 1, 3, 25, 50, 50]


@dataclass(frozen=True)
class Hungry:
    """A readout whose device holds only so many lanes, and says so as XLA does."""

    room: int = 2
    begun: ClassVar[list[int]] = []
    compiled: ClassVar[bool] = True

    def begin(self, brief, streams):
        self.begun.append(len(streams))
        if len(streams) > self.room:
            raise RuntimeError(
                "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 60129542144 bytes."
            )
        return choose_learner("esn:units=10", "corrected").make(None).begin(brief, streams)


@pytest.mark.parametrize(
    ("room", "begun"), [(3, [6, 3, 3]), (2, [6, 3, 2, 2, 2]), (0, [6, 3, 2, *[1] * 5])]
)
@pytest.mark.slow
def test_a_call_that_does_not_fit_is_halved_and_the_record_says_its_lanes(
    gpu, tmp_path, room, begun
):
    Hungry.begun.clear()
    setting = Setting("language/qa", bring(Hungry(room)), protocol=SMALL)
    events = []
    execution = execute(
        make_plan([setting], 5), tmp_path, ExecuteOptions(workers=0, progress=events.append)
    )
    assert Hungry.begun == begun
    calls = [len(event.keys) for event in events if isinstance(event, Begun)]
    assert calls == [5, *(min(begun[-1], 5 - first) for first in range(begun[-1], 5, begun[-1]))]
    records = sorted(
        read_results(tmp_path).records.values(), key=lambda record: record.what["repetition"]
    )
    assert {record.where["lanes"] for record in records} == {begun[-1]}
    if room:
        assert execution.ok == 5
        assert (
            len({record.scores["accuracy"]["values"]["final-accuracy"] for record in records}) > 1
        )
    else:
        assert {(record.status, "RESOURCE_EXHAUSTED" in record.reason) for record in records} == {
            ("failed", True)
        }


def test_more_seeds_later_may_have_other_lanes(gpu, tmp_path):
    setting = Setting("language/qa", "esn:units=10", protocol=SMALL)
    for seeds in (2, 8):
        execute(make_plan([setting], seeds), tmp_path, ExecuteOptions(workers=0))
    lanes = {
        record.what["repetition"]: record.where["lanes"]
        for record in read_results(tmp_path).records.values()
    }
    assert lanes == {0: 2, 1: 2, **dict.fromkeys(range(2, 8), 12)}


def test_what_is_missing_has_the_lanes_that_the_whole_has(gpu, tmp_path):
    """An interrupted run goes on with the same numbers: the lanes do not depend on what is there
    already.
    """
    setting = Setting("language/qa", "esn:units=10", protocol=SMALL)
    plan = make_plan([setting], 5)
    execute(plan, tmp_path / "whole", ExecuteOptions(workers=0))
    execute(replace(plan, cells=plan.cells[:2]), tmp_path / "parts", ExecuteOptions(workers=0))
    execute(plan, tmp_path / "parts", ExecuteOptions(workers=0))
    scores = [
        {
            key: (record.scores, record.where["lanes"])
            for key, record in read_results(tmp_path / name).records.items()
        }
        for name in ("whole", "parts")
    ]
    assert scores[0] == scores[1]
    assert {lanes for _, lanes in scores[0].values()} == {6}


@pytest.mark.slow
def test_features_that_would_fill_the_memory_are_held_in_fewer_lanes(gpu, monkeypatch):
    """Published order: a readout holds the features of the whole lesson."""
    asked = []

    def counting(lanes, bytes_of_lane):
        if not asked:  # room for three lanes, and nothing to spare
            monkeypatch.setattr(
                lanes_module, "device_memory", lambda: int(bytes_of_lane * 3 * 3 / 2) + 100
            )
        asked.append((lanes, bytes_of_lane))
        check_room(lanes, bytes_of_lane)

    monkeypatch.setattr("quickstudy.learners.features.check_room", counting)
    few = {"sequences": 30, "schedule": "thinned"}
    setting = Setting("language/qa", "esn:units=50", "published", protocol=few)
    outcomes = list(examine(setting, range(6)))
    assert [(outcome.record.status, outcome.record.where["lanes"]) for outcome in outcomes] == [
        ("ok", 3)
    ] * 6
    assert [lanes for lanes, _ in asked].count(6) == 1, (
        "refused once, before anything was allocated"
    )
    assert asked[0][1] > 24 * 50 * 4  # a question of each sequence, as float32
    assert len({outcome.trace.arrays["correct"].tobytes() for outcome in outcomes}) > 1


def test_room_is_asked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(lanes_module, "device_memory", lambda: 2_000_000_000)
    check_room(2, 600_000_000)
    check_room(1, 10**12)  # one lane cannot be made less: the device decides
    with pytest.raises(
        TooManyLanes, match=r"100 lanes of 0.60 GB are too many for 2.0 GB"
    ) as refused:
        check_room(100, 600_000_000)
    assert refused.value.fit == 2


def test_a_training_may_want_fewer_lanes(monkeypatch):
    from quickstudy.learners.online_readouts import OnlineSoftmax

    monkeypatch.setattr(OnlineSoftmax, "most_lanes", 20, raising=False)
    assert choose_learner("esn", "corrected").lanes(100, "gpu") == 12
    assert choose_learner("relearning:learner=esn", "corrected").lanes(100, "gpu") == 12
    assert choose_learner("lstm", "corrected").lanes(100, "gpu") == 100


@pytest.mark.parametrize(
    ("total", "given", "workers", "share", "at_once"),
    [
        (8e9, None, 3, 8e9 / 3 - 0.75e9, "true"),
        (150e9, "8", 3, 8e9 / 3 - 0.75e9, "true"),
        (150e9, "8", 1, 7.25e9, "true"),
        (150e9, None, 3, 49.25e9, "false"),
        (8e9, "100", 1, 7.25e9, "true"),
    ],
)
def test_workers_share_the_memory_of_a_gpu(gpu, monkeypatch, total, given, workers, share, at_once):
    monkeypatch.setattr(hardware, "_gpu_bytes", lambda: total)
    monkeypatch.setattr(hardware, "_user_set", False)
    # What the driver has taken for itself, as it has imported JAX: not what the user wants for the
    # workers.
    monkeypatch.setenv("XLA_CLIENT_MEM_FRACTION", "0.5")
    if given is not None:
        monkeypatch.setenv(hardware.MEMORY_VARIABLE, given)
    told = hardware.gpu_memory(workers)
    assert float(told["XLA_CLIENT_MEM_FRACTION"]) * total == pytest.approx(share, rel=1e-3)
    assert told["XLA_PYTHON_CLIENT_PREALLOCATE"] == at_once


def test_memory_that_is_no_number_or_too_little_is_refused(gpu, monkeypatch):
    monkeypatch.setattr(hardware, "_user_set", False)
    monkeypatch.setattr(hardware, "_gpu_bytes", lambda: 8e9)
    monkeypatch.setenv(hardware.MEMORY_VARIABLE, "much")
    with pytest.raises(
        UsageError, match="QUICKSTUDY_GPU_MEMORY must be a number of GB, got 'much'"
    ):
        hardware.gpu_memory(1)
    monkeypatch.setenv(hardware.MEMORY_VARIABLE, "2")
    with pytest.raises(UsageError, match="2 GB of GPU memory are too few for 3 workers"):
        hardware.gpu_memory(3)
    monkeypatch.setattr(hardware, "_user_set", True)
    assert hardware.gpu_memory(3) == {}
