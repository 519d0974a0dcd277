"""Trials, and properties after learning, go on from where they were interrupted."""

from __future__ import annotations

from drawer import check_resumes
from quickstudy.base import registries
from quickstudy.base.seeds import Streams
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.protocols.properties import PropertiesProtocol
from quickstudy.protocols.trials import TrialsProtocol


def learner_on(name, task, asked):
    return choose_learner(name, "corrected", task, asked).make(task)


def test_trials_are_resumed():
    task = registries.typed_task("dynamics/van-der-pol-trial")
    learner = learner_on("esn+cma:units=4,candidates=3", task, "fitness")
    protocol, streams = TrialsProtocol(trials=9, every=3), [Streams(0, task.id, 0)]
    check_resumes(lambda kept: protocol.examine(task, learner, streams, kept), least=3)


def test_properties_are_measured_after_a_resumed_lesson():
    task = registries.typed_task("dynamics/memory:washout=20,training=120,test=60,delays=4")
    learner = learner_on("esn:units=6", task, "reals")
    sizes = {"degrees": 2, "budget": 20, "streams": 4, "length": 20, "shared": 10, "delays": 5}
    protocol = PropertiesProtocol(**sizes, after="dynamics/narma-10")
    streams = [Streams(0, task.id, 0)]
    check_resumes(lambda kept: protocol.examine(task, learner, streams, kept), least=1)
