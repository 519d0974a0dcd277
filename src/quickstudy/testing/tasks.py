"""What every task promises."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import catalogue
from quickstudy.base.canonical import canonical
from quickstudy.base.errors import nearest
from quickstudy.base.examples import Examples, Series
from quickstudy.base.learner import Brief
from quickstudy.base.lesson import Exam
from quickstudy.base.parameters import CONVENTIONS, configure, parameters_of
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.base.task import ExampleTask, SeriesTask, spaces_of
from quickstudy.learners.host import Hosted
from quickstudy.runs.job import protocol_of
from quickstudy.testing.finding import Broken, Finding, examine
from quickstudy.testing.global_state import undisturbed

COUNT = 40


def check_task(task: Any) -> list[Finding]:
    """One finding per promise of a task; a class stands for itself with its default parameters."""
    with undisturbed() as watch:
        if isinstance(task, type):
            made = examine("can be made with its defaults", lambda: str(configure(task.__name__, task, {})))
            if not made.ok:
                return [made]
            task = configure(task.__name__, task, {})
        declared = examine("is a frozen dataclass", lambda: _is_frozen(task))
        if not declared.ok:  # the other checks would complain of it too, in words that say less
            return [declared]
        findings = [
            examine("has a spec sheet", lambda: _spec_sheet(task)),
            examine("its parameters survive JSON", lambda: check_parameters(task)),
            examine("its conventions can be made", lambda: check_conventions(type(task))),
            examine("draws what its spaces say", lambda: _draws(task)),
        ]
        if findings[-1].ok:
            findings += [
                examine("same stream, same data", lambda: _same(task)),
                examine("another repetition, other data", lambda: _other(task)),
                examine("can be sent to another process", lambda: _pickled(task)),
            ]
        if isinstance(task, ExampleTask):
            findings.append(examine("draws as many as are asked for", lambda: _counts(task)))
        if getattr(task, "id", "") in catalogue.task:
            findings.append(examine("has a protocol", lambda: protocol_of(task)))
        findings.append(examine("names controls that exist", lambda: _controls(task)))
        findings.append(examine("names its oracle, or why there is none", lambda: _oracle(task)))
        if findings[-1].ok and not _reason(task) and isinstance(task, ExampleTask):
            findings.append(examine("its oracle is always right", lambda: _oracle_is_right(task)))
        findings.append(examine("touches no global randomness", lambda: report_touched(watch.touched)))
    return findings


def check_parameters(component: Any) -> None:
    """Parameters written as JSON and read again make an equal component, with the same key."""
    written = canonical(parameters_of(component))
    again = configure(type(component).__name__, type(component), json.loads(written))
    if again != component:
        raise Broken(f"{component} comes back as {again}")
    if canonical(parameters_of(again)) != written:
        raise Broken(f"{written} comes back as {canonical(parameters_of(again))}; give defaults the type they declare")


def check_conventions(component: type) -> str:
    """Every preset belongs to a convention that exists and makes a component."""
    presets = getattr(component, "conventions", {})
    unknown = [name for name in presets if name not in CONVENTIONS]
    if unknown:
        raise Broken(f'no convention "{unknown[0]}"; {nearest(unknown[0], CONVENTIONS)}')
    for convention in CONVENTIONS:
        configure(component.__name__, component, presets.get(convention, {}), convention)
    return ", ".join(CONVENTIONS)


def report_touched(touched: list[str]) -> None:
    """Broken if any shared generator was touched."""
    if touched:
        raise Broken(f"the state of {' and '.join(touched)} changed; draw from the generator that is handed in")


def _is_frozen(task: Any) -> None:
    if not dataclasses.is_dataclass(task):
        raise Broken("write @dataclass(frozen=True) above the class, below @task(...): its fields are the parameters")
    kind: Any = type(task)
    if not kind.__dataclass_params__.frozen:
        raise Broken("write @dataclass(frozen=True): a task keeps no state, and is a constant of what is run on it")


def _spec_sheet(task: Any) -> str:
    text = (type(task).__doc__ or "").strip()
    if not text or text.startswith(f"{type(task).__name__}("):  # what @dataclass writes by itself
        raise Broken("the class has no docstring; say what is seen, what is asked, how it is scored, chance and source")
    return text.split("\n")[0]


def _stream(task: Any, repetition: int = 0) -> np.random.Generator:
    return Streams(0, getattr(task, "id", type(task).__name__), repetition).numpy("data")


def _draw(task: Any, repetition: int = 0) -> Examples | Series:
    if isinstance(task, ExampleTask):
        return task.sample(_stream(task, repetition), COUNT)
    if isinstance(task, SeriesTask):
        return task.drive(_stream(task, repetition))
    raise Broken("neither sample(rng, count) nor drive(rng): nothing can be drawn")


def _bytes(drawn: Examples | Series) -> list[bytes]:
    if isinstance(drawn, Series):
        return [drawn.inputs.tobytes(), drawn.targets.tobytes()]
    return [array.tobytes() for array in (drawn.inputs, drawn.targets, drawn.asked, drawn.lengths)]


def _draws(task: Any) -> None:
    check_drawn(_draw(task), task)


def check_drawn(drawn: Any, task: Any) -> None:
    """Broken unless what a task has drawn is what its spaces say, and every example asks something."""
    inputs, outputs = spaces_of(task)
    if isinstance(drawn, Series):
        _within("inputs", drawn.inputs, inputs)
        return _within("targets", drawn.targets, outputs)
    if not isinstance(drawn, Examples):
        raise Broken(f"sample(rng, count) must give Examples, got {type(drawn).__name__}")
    inside = np.arange(drawn.steps)[:, None] < drawn.lengths
    if (drawn.asked & ~inside).any():
        raise Broken("something is asked in the padding, after the end of an example")
    silent = np.flatnonzero(~drawn.asked.any(axis=0))
    if len(silent):
        raise Broken(f"example {silent[0]} asks nothing; every example needs a question")
    _within("inputs", drawn.inputs[inside], inputs)
    return _within("targets", drawn.targets[drawn.asked], outputs)


def _within(name: str, values: NDArray[Any], space: Space) -> None:
    if isinstance(space, Tokens):
        if not np.issubdtype(values.dtype, np.integer):
            raise Broken(f"{name} must be integer tokens, got {values.dtype}")
        if values.min() < 0 or values.max() >= space.size:
            raise Broken(f"{name} must be tokens 0..{space.size - 1}, got {values.min()}..{values.max()}")
    elif values.shape[-1] != space.width:
        raise Broken(f"{name} must be {space.width} wide, got {values.shape[-1]}")
    elif not np.isfinite(values).all():
        raise Broken(f"{name} must be finite")


def _same(task: Any) -> None:
    first = _bytes(_draw(task))
    _draw(task, 1)
    if _bytes(_draw(task)) != first:
        raise Broken("two draws from equal streams differ; a task keeps no state and draws from its stream only")


def _other(task: Any) -> None:
    if _bytes(_draw(task)) == _bytes(_draw(task, 1)):
        raise Broken("two repetitions give equal data; draw from the generator that is handed in")


def _pickled(task: Any) -> None:
    again = pickle.loads(pickle.dumps(task))
    if again != task:
        raise Broken(f"{task} arrives as {again}")
    if _bytes(_draw(again)) != _bytes(_draw(task)):
        raise Broken("what arrives draws other data")


def _counts(task: ExampleTask) -> None:
    for count in (1, 2, 7):
        found = task.sample(_stream(task), count).count
        if found != count:
            raise Broken(f"sample(rng, {count}) gives {found}")


def _controls(task: Any) -> str:
    names = list(getattr(task, "controls", ()))
    if not names:
        raise Broken('a score means little alone; name the rules it must beat: controls=["majority"]')
    for name in names:
        if name not in catalogue.control:
            raise Broken(f'no control "{name}"; {nearest(name, catalogue.control.names())}')
    return ", ".join(names)


def _reason(task: Any) -> bool:
    return " " in (getattr(task, "oracle", None) or "")


def _oracle(task: Any) -> str:
    name = getattr(task, "oracle", None)
    if not name:
        raise Broken('give oracle="its name", or in a few words why nobody knows the best answer')
    if not _reason(task) and name not in catalogue.control:
        raise Broken(f'no oracle "{name}"; {nearest(name, catalogue.control.names())}')
    return str(name)


def _oracle_is_right(task: Any) -> str:
    oracle = catalogue.control.get(task.oracle)
    inputs, outputs = spaces_of(task)
    streams = Streams(0, getattr(task, "id", type(task).__name__), 1)
    exam = Exam([task.sample(streams.numpy("data"), 5 * COUNT)])
    brief = Brief(inputs, outputs, "cross-entropy", exam.examples[0].steps, 0)
    scores = Hosted(lambda brief, seed: oracle(task, brief, seed)).begin(brief, [streams]).answer(exam)
    wrong = np.argwhere(scores[0].argmax(axis=-1) != exam.targets[0])
    # A task that gives wrong labels of its own says how high the best can get; four standard errors are allowed it.
    questions, ceiling = exam.targets.shape[1], float(getattr(task, "ceiling", 1.0))
    if len(wrong) > questions * (1 - ceiling) + 4 * np.sqrt(questions * ceiling * (1 - ceiling)):
        time, example = exam.positions[0, wrong[0, 0]]
        raise Broken(
            f"{task.oracle} is wrong on {len(wrong)} of {exam.targets.shape[1]} questions, "
            f"first after step {time} of {exam.examples[0].inputs[:, example].tolist()}"
        )
    return f"{exam.targets.shape[1]} questions"
