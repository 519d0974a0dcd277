"""The messages of quickstudy when something is wrong: what it was, the value, what to do.

A message is one or two lines and complete in itself: the command line prints it as it stands,
without a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

FAR = 0.35
"""Names that are less alike than this (`difflib`) are not offered."""
MOST_NAMED = 24
"""A longer list is not read."""


class QuickstudyError(Exception):
    """Anything quickstudy reports by itself. Exit status 1 unless a subclass has another."""

    exit_status = 1


class UsageError(QuickstudyError):
    """The user asked for something that cannot be: a wrong name, value, file or folder. Exit status
    2.
    """

    exit_status = 2


class Stopped(QuickstudyError):
    """Ctrl-C, outside of a run, which hears it itself. Exit status 130."""

    exit_status = 130

    def __init__(self) -> None:
        super().__init__("stopped")


class MissingExtra(UsageError):
    """A library is not installed that this part of quickstudy needs."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(
            f"{library} is not installed; type: pip install -e '.[{extra}]' in the repository"
        )


class LearnerFault(QuickstudyError):
    """A learner broke the protocol (wrong shape, not finite, raised, too slow): its run fails, the
    others go on.
    """


class Unavailable(LearnerFault):
    """What a learner needs is not there now (a server that does not answer, a budget that is
    spent), which is not the learner's fault: its run fails, and the same command makes it
    again.
    """


class NotApplicable(QuickstudyError):
    """A learner lacks the face that an examination needs: no fault, and recorded with its
    reason.
    """


class TooManyLanes(QuickstudyError):
    """A call of several lanes does not fit the memory of the device: it is made again with fewer.

    fit: how many would, where that is known.
    """

    def __init__(self, reason: str, fit: int | None = None) -> None:
        super().__init__(reason)
        self.fit = fit


def was_interrupted(error: BaseException | None) -> bool:
    """Whether an error comes of Ctrl-C: libraries that are being imported make other errors of
    it.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest known one, or the list when none is
    near (of very many names, those that are the least far).

    >>> nearest("langauge/qa", ["language/qa", "language/periodic"])
    'did you mean "language/qa"?'
    >>> nearest("micro-1", ["curriculum/micro-1", "dynamics/mso-1"])
    'did you mean "curriculum/micro-1"?'
    """
    known = sorted(known)
    spelled = {one.lower(): one for one in reversed(known)}
    # A name without its family is the task, however near other names are.
    whole = [one.lower() for one in known if name and one.lower().endswith(f"/{name.lower()}")]
    close = whole[:1] or difflib.get_close_matches(name.lower(), spelled, n=1, cutoff=0.6)
    if close:
        return f'did you mean "{spelled[close[0]]}"?'
    if len(known) > MOST_NAMED:
        families = sorted({one.partition("/")[0] for one in known if "/" in one})
        family, slash, _ = name.partition("/")
        if slash and families and family not in families:
            return f"families are {', '.join(families)}"
        near = difflib.get_close_matches(name.lower(), spelled, n=MOST_NAMED // 2, cutoff=FAR)
        listed = ", ".join(spelled[one] for one in near)
        return (
            f"nearest of {len(known)}: {listed}"
            if near
            else f"none of the {len(known)} known names is near"
        )
    return f"known: {', '.join(known)}" if known else "none is known"
