"""What a checker says: one finding per promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.wording import described

Promise = tuple[str, Callable[[], str | None]]
"""A promise in words, and its check: it gives a detail or nothing, and raises `Broken` (or anything) if it fails."""


@dataclass(frozen=True)
class Finding:
    """ok: the promise is kept. what: the promise, in words. detail: what was seen; always there when it is broken."""

    ok: bool
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'}  {self.what}" + (f": {self.detail}" if self.detail else "")


class Broken(Exception):
    """A promise is broken; the message is the detail of the finding."""


def examine_all(promises: Iterable[Promise], doors: int = 1) -> list[Finding]:
    """The findings of a table of promises, in its order.

    The first ones are doors: where one is broken, all that follow would complain of the same in words that say less,
    and are left out.
    """
    findings: list[Finding] = []
    for number, (what, check) in enumerate(promises):
        findings.append(examine(what, check))
        if number < doors and not findings[-1].ok:
            break
    return findings


def under(title: str, findings: Iterable[Finding]) -> list[Finding]:
    """So that it is clear what a finding is about where there are several things."""
    return [replace(finding, what=f"{title}: {finding.what}") for finding in findings]


def examine(what: str, check: Callable[[], str | None]) -> Finding:
    """The finding of one check."""
    try:
        detail = check()
    except Broken as fault:
        return Finding(False, what, str(fault))
    except Exception as error:  # whatever a component does, its report goes on
        return Finding(False, what, describe(error))
    return Finding(True, what, detail or "")


def describe(error: BaseException) -> str:
    """An unexpected exception in one line, with the place where it was raised; what we say ourselves, as it is."""
    return str(error).partition("\n")[0] if isinstance(error, QuickstudyError) else described(error)
