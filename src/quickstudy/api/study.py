"""Run a study, such as a published table or figure, and make its page."""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from quickstudy.api.options import DEFAULT_SEEDS, RunOptions, gather_options, takes_options
from quickstudy.base.blocks import Page
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import check_convention
from quickstudy.base.renaming import Renaming
from quickstudy.base.study import find_study
from quickstudy.learners.outside import reached_by_study
from quickstudy.pages.page import page_of
from quickstudy.pages.study_request import (
    Request,
    Stage,
    blocks_of,
    by_protocol,
    changed_protocol,
    stages_of,
)
from quickstudy.render.html import blocks_html
from quickstudy.render.write_page import write_page

if TYPE_CHECKING:
    from quickstudy.runs.execute import Execution
    from quickstudy.runs.merge import Reading
    from quickstudy.runs.plan import Plan

PACKED = "runs.zip"
"""What `quickstudy pack` made of a results folder, where one is stored so."""
MOST_UNPACKED, MOST_TIMES = 1 << 28, 200
"""An archive that unpacks to more bytes than the first is refused where it grows by more than the
second: journals shrink to a thirtieth."""


@dataclass(frozen=True)
class StudyPage:
    """The result of making a study. page: its blocks. path: of its HTML file; tables and pictures
    are in the same folder. execution: how the runs went. repetitions: of its settings, in each
    stage that ran some. request: what was asked for.
    """

    page: Page
    path: pathlib.Path
    execution: Execution
    repetitions: Sequence[int]
    request: Request

    @property
    def facts(self) -> Mapping[str, Any]:
        """Everything on the page in plain JSON types."""
        return self.page.facts

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(blocks_html(self.page.blocks))


@takes_options("reproduce")
def reproduce(study: str, options: RunOptions | None = None, **named: Any) -> StudyPage:
    """Run a study, or what is missing of it, and make its page: published and measured numbers next
    to each other, or what else its kind has.

    With `only`, the page has these rows, and all others that the folder has runs of. Raises
    UsageError for a name or value that cannot be, before anything is run.

    study:
        Its name, such as `wade-table4`, or a file.toml of yours. `quickstudy show STUDY` has the
        publication's own number of repetitions.
    """
    options = gather_options("reproduce", options, named)
    request = request_study(study, options)
    if (found := reached_by_study(request.study)) and not options.trust:
        raise UsageError(
            f"{request.study.id} reaches outside this package: {', '.join(found)}; if you trust it,"
            " add --trust (in Python trust=True)"
        )
    execution, repetitions = run_stages(request, options)
    folder = request.folder
    # All rows of which there are runs: a few must not take the place of a page that showed more.
    wider = request.widened()
    page = page_of(wider, options.command)
    path = write_page(page, folder, wider.name)
    if not page.whole:
        from quickstudy.report.build import gather
        from quickstudy.report.page import write_report

        write_report(
            gather(wider.shelf.table(), options.command),
            folder / "report.html",
        )
    return StudyPage(page, path, execution, repetitions, wider)


def run_stages(request: Request, options: RunOptions) -> tuple[Execution, list[int]]:
    """Run what a request lacks, stage by stage; how that went, and the repetitions of each stage
    that had any.
    """
    from quickstudy.runs.execute import Execution

    execution, repetitions = Execution(), list[int]()
    if request.study.settings.get("measure_cost"):
        options = replace(options, measure_cost=True)
    for stage in (stage for stage in stages_of(request) if stage.settings):
        # Here: a study of computed quantities runs nothing, and needs none of it.
        from quickstudy.api.run import defined_here
        from quickstudy.runs.execute import execute

        if defined_here():
            options = options.in_this_process()
        reading = request.shelf.reading()
        plan = plan_stage(request, stage)
        done = execute(plan, request.folder, options, reading=reading)
        execution = done.after(execution)
        repetitions.append(stage.seeds)
        if execution.interrupted:
            break
    return execution, repetitions


def plan_stage(request: Request, stage: Stage, stored: pathlib.Path | None = None) -> Plan:
    """What a stage of a request would run, without running it.

    stored: a folder whose runs would be taken over first.
    """
    from quickstudy.base.registry import included_files
    from quickstudy.runs.plan import make_plan

    reading = request.shelf.reading()
    if stored is not None:
        records = {**read_stored(stored).records, **reading.records}
        reading = replace(reading, records=records)
    return make_plan(stage.settings, stage.seeds, reading=reading, includes=included_files())


def request_study(study: str, options: RunOptions | None = None, **named: Any) -> Request:
    """What `reproduce` would make, without making it."""
    options = gather_options("reproduce", options, named)
    found = find_study(study)
    if found.scores:
        found = replace(found, scores=tuple(map(Renaming().score, found.scores)))
    convention = options.convention or found.convention
    check_convention(convention)
    blocks_of(found)
    given, exact = options.protocol, options.exact
    whole = by_protocol(found, convention, given, exact)
    asked = whole.only(options.only)
    if asked.scores:
        from quickstudy.runs.scoring import check_scores

        check_scores(asked)
    folder = pathlib.Path("results", asked.runs) if options.out is None else options.out
    return Request(
        asked,
        pathlib.Path(folder),
        convention,
        options.seeds or DEFAULT_SEEDS,
        options.root,
        bool(options.controls),
        whole,
        changed_protocol(found, convention, given, exact),
    )


def read_stored(stored: pathlib.Path) -> Reading:
    """What `take_over` would bring, without a file in any results folder."""
    from quickstudy.runs.merge import read_results

    with tempfile.TemporaryDirectory() as aside:
        folder = pathlib.Path(aside) / "stored"
        take_over(stored, folder)
        return read_results(folder)


def take_over(stored: pathlib.Path, folder: pathlib.Path) -> int:
    """Copy journals and traces of a stored folder into a results folder, where they are not there
    yet: how many files.

    stored: a results folder, or one with what `quickstudy pack` made of such a folder (`runs.zip`).
    Folders merge by copying, so your own runs are not touched. Raises UsageError where nothing is
    stored, or it is damaged.
    """
    packed = stored / PACKED
    try:
        if packed.is_file():
            with zipfile.ZipFile(packed) as archive:
                unpacked = sum(entry.file_size for entry in archive.infolist())
            if unpacked > max(MOST_UNPACKED, MOST_TIMES * packed.stat().st_size):
                raise UsageError(
                    f"{packed} unpacks to {unpacked:,} bytes, far more than runs take; get it again"
                )
        return _taken_over(zipfile.Path(packed) if packed.is_file() else None, stored, folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"{packed} cannot be unpacked ({error}); get it again") from error


def _taken_over(archive: zipfile.Path | None, stored: pathlib.Path, folder: pathlib.Path) -> int:
    from quickstudy.runs.folder import RUNS, TRACES, prepare_folder, write_aside

    rooms: list[Any] = [*archive.iterdir()] if archive else [stored]
    files = [path for room in rooms for name in (RUNS, TRACES) for path in _files(room / name)]
    if not files:
        raise UsageError(
            f"{stored} has no runs to take over: a results folder, with {RUNS}/ in it, is asked for"
        )
    prepare_folder(folder)
    targets = {folder / path.parent.name / path.name: path for path in files}
    missing = {target: path for target, path in targets.items() if not target.exists()}
    for target, path in missing.items():
        with path.open("rb") as content:
            write_aside(target, str(os.getpid()), partial(shutil.copyfileobj, content))
    return len(missing)


def _files(room: Any) -> list[Any]:
    """The files of a folder on disk or in an archive, in the order of their names; none where it is
    not there.
    """
    found = [path for path in room.iterdir() if path.is_file()] if room.is_dir() else []
    return sorted(found, key=lambda path: str(path.name))
