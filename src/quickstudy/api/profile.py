"""The profile of a learner: all five families, one report card."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.api.options import RunOptions, gather_options, takes_options
from quickstudy.api.study import run_stages
from quickstudy.base.blocks import Page, Strips, Text
from quickstudy.base.canonical import plain
from quickstudy.base.energy import read_energy, spent
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import alternatives, check_convention
from quickstudy.base.study import Study, StudyRow, find_study
from quickstudy.learners.learner_spec import bring, choose_learner, fitted, place, without_place
from quickstudy.pages.page import page_of
from quickstudy.pages.profile.index import INDEX, card_name, read_index
from quickstudy.pages.profile.tuning import AS_GIVEN, TUNED, asked_on, family_of
from quickstudy.pages.study_request import Request, by_protocol
from quickstudy.render.html import blocks_html
from quickstudy.render.latex import as_latex
from quickstudy.render.write_page import write_page
from quickstudy.report.build import gather
from quickstudy.report.page import write_report
from quickstudy.runs.execute import Execution
from quickstudy.runs.folder import prepare_folder, write_aside

BUDGETS = ("quick", "standard", "full", "context")


@dataclass(frozen=True)
class Card:
    """A report card. page: its blocks. path: of its HTML file; next to it are its tables (CSV,
    LaTeX), pictures and a JSON file of its facts. execution: how the runs went.
    """

    page: Page
    path: pathlib.Path
    execution: Execution
    request: Request

    @property
    def facts(self) -> Mapping[str, Any]:
        """Everything on the card in plain JSON types."""
        found: Mapping[str, Any] = plain(self.page.facts["card"])
        return found

    def __repr__(self) -> str:
        """What the card is of, and where it is."""
        return f"Card({self.page.title!r}: {self.path})"

    def show(self) -> None:
        """The card on the screen."""
        from rich.console import Console

        from quickstudy.render.terminal import show

        show(screen_page(self.page), Console())

    def open(self) -> None:
        """The page in a browser."""
        webbrowser.open(self.path.absolute().as_uri())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(blocks_html(screen_page(self.page).blocks))


@takes_options("profile")
def profile(learner: Any, options: RunOptions | None = None, **named: Any) -> Card:
    """Examine one learner in all five families under a fixed budget, or what is missing of that,
    and make its card.

    The budget is a study of its own with a version (`profile-quick`, ...); its cards share a
    folder. The cards of tuned learners are in another one, and so are those of a new version of the
    study if the first folder has cards of an old one: these are never mixed. With `tuned`, the
    settings of the learner are chosen in each family on a task and seeds that are not reported:
    those that the name lists (`lstm:rate=0.001|0.01`), or three learning rates around the
    usual one; the card has what that costs. The time limit is that of the study unless one is
    given.

    A learner that fails in one family still has the others. Raises UsageError for a name or value
    that cannot be, before anything is run.

    learner:
        A name (`esn`, `lstm:units=64,rate=0.003`, `my_model.py:Class`), a host class or a learner
        object. One name means that core in every family; a parameter that the training of a family
        does not have is left out there, and the card lists it.
    """
    options = gather_options("profile", options, named)
    request = request_profile(learner, options)
    settings = request.study.settings
    prepare_folder(request.folder)
    _note(request)
    before = read_energy()
    options = dataclasses.replace(options, measure_cost=True)
    if options.limit_seconds is None:
        options = dataclasses.replace(options, limit_seconds=settings.get("limit_seconds"))
    if not isinstance(learner, str):
        options = options.in_this_process()
    execution, _ = run_stages(request, options)
    after = read_energy()
    request = _with(request, energy_unknown=dict(after.unknown))
    if execution.ok:
        request = _with(request, energy=_note(request, spent(before, after)))
    page = page_of(request, options.command)
    page = dataclasses.replace(
        page,
        title=(
            f"{without_place(settings['examined'])}: {request.study.title}, {settings['ruleset']}"
        ),
        under=[page.facts["card"]["made_of"]],
        eyebrow="quickstudy card",
    )
    name = settings["card"]
    path = write_page(page, request.folder, name)
    facts = json.dumps(plain(page.facts["card"]), indent=1).encode()
    for ending, content in (
        ("json", facts),
        ("tex", as_latex(page).encode(errors="backslashreplace")),
    ):
        _write(request.folder / f"{name}.{ending}", content)
    if request.shelf.reading().records:
        whole = gather(request.shelf.table(), options.command or None)
        write_report(whole, request.folder / "report.html", replaces=False)
    return Card(page, path, execution, request)


def request_profile(learner: Any, options: RunOptions | None = None, **named: Any) -> Request:
    """What `profile` would make, without making it."""
    options = gather_options("profile", options, named)
    budget, tuned, root = options.budget, options.tuned, options.root
    if budget not in BUDGETS:
        raise UsageError(f'no budget "{budget}"; {nearest(budget, BUDGETS)}')
    study = _only(find_study(f"profile-{budget}"), options.families)
    seeds = study.seeds if options.seeds is None else options.seeds
    check_convention(study.convention)
    typed = place(bring(learner))
    ruleset = TUNED if tuned else AS_GIVEN
    if not tuned and len(alternatives(typed)) > 1:
        raise UsageError(
            f"{typed} names several learners; give --tuned to have one of them chosen, or name one"
        )
    folder = _usual_folder(study, ruleset) if options.out is None else pathlib.Path(options.out)
    index = read_index(folder)
    if index and (index["study"], index["version"], index["ruleset"]) != (
        study.id,
        study.version,
        ruleset,
    ):
        raise UsageError(
            f"{folder} has cards of {index['study']} version {index['version']},"
            f" {index['ruleset']}; they are not mixed with {study.id} version {study.version},"
            f" {ruleset}: give another folder by --out"
        )
    beside = [one for one in index.get("learners", []) if one != typed and _known(one)]
    request = Request(study, folder, study.convention, seeds, root)
    request = _with(
        request,
        examined=typed,
        ruleset=ruleset,
        beside=beside,
        energy=index.get("energy", {}).get(typed),
        card=card_name(typed),
    )
    asked = [asked_on(row.task, row.protocol, study.convention) for row in request.rows]
    _check_parameters(typed, study, asked)
    rows = [
        dataclasses.replace(
            row, learners={typed: fitted(alternatives(typed)[0], study.convention, one).name}
        )
        for row, one in zip(request.rows, asked, strict=True)
    ]
    whole = by_protocol(dataclasses.replace(request.study, rows=tuple(rows)), study.convention, {})
    return dataclasses.replace(request, study=whole)


def _usual_folder(study: Study, ruleset: str) -> pathlib.Path:
    """Default folder of the cards: a folder per version, so that two versions never mix."""
    folder = pathlib.Path("results", study.runs + ("-tuned" if ruleset == TUNED else ""))
    index = read_index(folder)
    other = (
        index
        and (index["study"], index["ruleset"]) == (study.id, ruleset)
        and index["version"] != study.version
    )
    return folder.with_name(f"{folder.name}-version-{study.version}") if other else folder


def _only(study: Study, families: Sequence[str]) -> Study:
    known = list(dict.fromkeys(map(family_of, study.rows)))
    for family in families:
        if family not in known:
            raise UsageError(f'no family "{family}" in {study.id}; {nearest(family, known)}')
    rows: Sequence[StudyRow] = [
        row for row in study.rows if not families or family_of(row) in families
    ]
    return dataclasses.replace(study, rows=tuple(rows))


def _check_parameters(typed: str, study: Study, asked: Sequence[str]) -> None:
    """Raise UsageError for a parameter that no family has, which is a slip, or a value that cannot
    be.
    """
    for one in alternatives(typed):
        found = [fitted(one, study.convention, what) for what in dict.fromkeys(asked)]
        lost = set.intersection(*(set(each.left_out) for each in found))
        for each, what in zip(found, dict.fromkeys(asked), strict=True):
            # Where all are without it, the whole name is refused with the nearest parameter.
            choose_learner(one if lost else each.name, study.convention, None, what)


def _known(learner: str) -> bool:
    """Whether a learner of earlier can be named here: one of a script that is over, or of a lost
    file, cannot.
    """
    try:
        choose_learner(alternatives(learner)[0], "corrected")
    except UsageError as error:
        return "no parameter" in str(error)
    return True


def _with(request: Request, **settings: Any) -> Request:
    study = dataclasses.replace(request.study, settings={**request.study.settings, **settings})
    return dataclasses.replace(request, study=study)


def _note(request: Request, energy: Mapping[str, float] | None = None) -> dict[str, float]:
    """Write down who was examined, and what energy that took, in joules by source; gives the energy
    of all its runs.
    """
    study = request.study
    learner = study.settings["examined"]
    with _alone_in(request.folder):
        index = read_index(request.folder)
        known = dict(index.get("energy", {}))
        total = dict(known.get(learner, {}))
        for source, joules in (energy or {}).items():
            total[source] = total.get(source, 0.0) + joules
        if total:
            known[learner] = total
        facts = {
            "study": study.id,
            "version": study.version,
            "ruleset": study.settings["ruleset"],
            "learners": list(dict.fromkeys([*index.get("learners", []), learner])),
            "energy": known,
        }
        _write(request.folder / INDEX, json.dumps(facts, indent=1).encode())
    return total


def _write(path: pathlib.Path, content: bytes) -> None:
    write_aside(path, str(os.getpid()), lambda file: file.write(content))


@contextlib.contextmanager
def _alone_in(folder: pathlib.Path) -> Iterator[None]:
    """Several learners may be examined in one folder at the same time: what one has read of its
    index, no other changes until it has written. Where a system has no such locks, the last one
    stands; each writes again with its next run.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            place = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, place)  # which gives the lock back
            fcntl.flock(place, fcntl.LOCK_EX)
        yield


def screen_page(page: Page) -> Page:
    """What a terminal shows of a card: the chart, one sentence and what limits it."""
    chart = [one for one in page.blocks if isinstance(one, Strips)]
    return dataclasses.replace(
        page, blocks=[*chart, *(one for one in page.blocks if isinstance(one, Text) and one.kind)]
    )
