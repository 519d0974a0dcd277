"""Score a file from elsewhere by its kind, or the stored traces of a results folder again.

A kind of file is one module of this package with a function of its name, which gives the scores as
plain data. Nothing lists them: `quickstudy.score("language", "language.json")` and
`quickstudy score language language.json` find the module.
"""

from __future__ import annotations

import importlib
import inspect
import pathlib
import pkgutil
from collections.abc import Sequence
from typing import Any

from quickstudy.base.errors import UsageError, nearest


def kinds() -> list[str]:
    """The kinds of file, by the names of the modules; none of them is imported."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__))


def score(
    what: str | pathlib.Path,
    file: str | pathlib.Path | None = None,
    *,
    measures: str | Sequence[str] = (),
    **options: Any,
) -> Any:
    """Score a file from elsewhere, or a results folder again.

    Parameters
    ----------
    what:
        A kind of file, such as wade, language, grammar, capacity or dynamics; or a results folder.
    file:
        The file, for a kind. The scores come back as a mapping.
    measures:
        For a folder: ids of measures; by default all that can read its traces and have no score
        yet. Returns a Scoring.
    options:
        Those of the kind: `help(quickstudy.api.score.wade.wade)`.

    Raises UsageError for a kind, a folder, an option or a file that cannot be.

    """
    if file is None:
        from quickstudy.runs.scoring import score_again

        if not pathlib.Path(what).is_dir():
            names = ", ".join(kinds())
            raise UsageError(f'"{what}" is not a folder; a file needs its kind first: {names}')
        return score_again(what, measures, **options)
    if what not in kinds():
        raise UsageError(f'cannot score "{what}" from a file; {nearest(str(what), kinds())}')
    function = getattr(importlib.import_module(f"{__name__}.{what}"), str(what))
    known = list(inspect.signature(function).parameters)[1:]
    for name in options:
        if name not in known:
            raise UsageError(f'{what} has no option "{name}"; {nearest(name, known)}')
    return function(pathlib.Path(file), **options)
