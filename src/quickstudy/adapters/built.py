"""What adapters have in common: a learner around a model that `build(brief)` makes, with parameters
of its own.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.learner import Brief

OPEN = inspect.Parameter.VAR_KEYWORD


class Built:
    """A learner around the model that `build` makes.

    Its parameters are those of the constructor and those of `build`:

        class Model(SequenceModel):
            def build(self, brief, width=64):
                ...

    is typed as `models.py:Model:width=32`. A subclass with a constructor of its own takes `**more`
    and hands it to `super().__init__`, so that the adapter's parameters stay available.

    Without a brief, `Model(width=32)` is the class with these parameters; `SequenceModel(build)` is
    the adapter with a function that builds.
    """

    model: ClassVar[str] = "a model"
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.__signature__ = _signature(cls)

    def __new__(cls, brief: Any = None, *rest: Any, **given: Any) -> Any:
        """The learner; without a brief, the class with these parameters."""
        if isinstance(brief, Brief):
            return super().__new__(cls)
        if brief is not None and not callable(brief):
            raise UsageError(
                f"{cls.__name__}: give a function of the brief that makes {cls.model}, got"
                f" {brief!r}"
            )
        usual = {one.name: one.default for one in cls.__signature__.parameters.values()}
        build = {} if brief is None else {"build": brief}
        if brief is not None:
            _check_names(brief, {name: value for name, value in given.items() if name not in usual})
        changed = {
            name: value
            for name, value in given.items()
            if name not in usual or value != usual[name]
        }
        return functools.partial(cls, **build, **changed)

    def build(self, brief: Brief) -> Any:
        """The model. Subclasses implement it."""
        raise UsageError(f"{type(self).__name__} has no build(brief) that makes {self.model}")

    def built(
        self, build: Callable[..., Any] | None, brief: Brief, parameters: dict[str, Any]
    ) -> Any:
        """The model of a function, or of the class itself. Raises UsageError for a parameter it
        does not have.
        """
        function = build or self.build
        _check_names(function, parameters)
        return function(brief, **parameters)


def _check_names(build: Any, given: dict[str, Any]) -> None:
    known = list(inspect.signature(build).parameters.values())[1:] if given else []
    if any(one.kind is OPEN for one in known):
        return
    for name in given:
        if name not in (names := [one.name for one in known]):
            called = getattr(build, "__name__", type(build).__name__)
            raise UsageError(f'{called} has no parameter "{name}"; {nearest(name, names)}')


def _signature(cls: Any) -> inspect.Signature:
    """Parameters of the constructors along the bases, as far as each takes `**more`, and then those
    of `build`.
    """
    found: dict[str, inspect.Parameter] = {}
    for kind in cls.__mro__:
        if kind is Built:
            own = list(inspect.signature(cls.build).parameters.values())
            # The bases of all adapters do not build: a function that is given has parameters of its
            # own.
            own = own[2:] if cls.build is not Built.build else [inspect.Parameter("of_build", OPEN)]
        elif "__init__" in vars(kind):
            own = list(inspect.signature(kind.__init__).parameters.values())[1:]
        else:
            continue
        for one in own:
            if one.kind not in (OPEN, one.VAR_POSITIONAL):
                found.setdefault(one.name, one)
        if kind is Built or all(one.kind is not OPEN for one in own):
            break
    first, seed, *rest = found.values()
    named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in rest]
    return inspect.Signature([first, seed, *named, *(one for one in own if one.kind is OPEN)])
