"""`quickstudy play`: answer a task yourself, in the terminal or in the browser."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import textwrap
import time
from typing import Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import CONVENTION, INCLUDE, check_target, include_files, say, write_text


def play(
    task: str = typer.Argument(
        ...,
        help=(
            "A task, as span/copy, language/qa, grammar/an-bn, games/listener,"
            " curriculum/micro-5.1."
        ),
    ),
    ask: str = typer.Option(
        "", "--ask", help="Curriculum: when to ask: gaps (two spaces), steps (always), periods."
    ),
    steps: int | None = typer.Option(
        None,
        "--steps",
        min=1,
        help=(
            "At most so many bytes or sequences (1000), strings (20), episodes (1), rounds of a"
            " span (4)."
        ),
    ),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    out: pathlib.Path | None = typer.Option(
        None, "--out", help="Results folder to store the session in, as a run."
    ),
    name: str = typer.Option("", "--name", help="The player's name in the report."),
    record: pathlib.Path | None = typer.Option(
        None, "--record", help="Write the session to this file, for replay or score."
    ),
    plain: bool = typer.Option(
        False, "--plain", help="Show the task's own words and symbols, not random letters."
    ),
    browser: bool = typer.Option(
        False, "--browser", help="Play in the browser, on this machine alone, or with --host."
    ),
    host: str = typer.Option(
        "",
        "--host",
        help="With --browser: the address of this machine by which a class reaches it.",
    ),
    named: bool = typer.Option(
        False, "--names", help="With --host: players may type a name; else they get a number."
    ),
    consent: str | None = typer.Option(
        None, "--consent", help="With --host: what a player must agree to first."
    ),
    port: int = typer.Option(
        0, min=0, max=65535, help="With --browser: the port; 0 for a free one."
    ),
    open_it: bool = typer.Option(True, "--open/--no-open", help="With --browser: open the page."),
    convention: str = CONVENTION,
    include: list[str] = INCLUDE,
) -> None:
    """Play a task: be examined like a learner. With --out the session is stored as a run, next to
    the runs of learners.

    A task of words is played as people did for the paper: every word is a random letter, the
    answers are hidden, you type them with spaces between, and ten right ones in a row (five with
    --convention published) end the game. What cannot be an answer is not counted. The score is
    WADE. Of a language you see some strings and predict longer ones; in a referential game you are
    the listener.

    An item of the battery of spans, as span/copy, shows sequences symbol by symbol and hides them;
    they become longer until two in a row have a mistake. Four such rounds take about five minutes
    and give your span with an interval.

    A task of the curriculum goes byte by byte: a line that you type is sent so, an empty one is
    silence. With --ask gaps you are asked after two spaces, with steps at every byte, with periods
    after every period. End with Ctrl-D.

    A class plays at once with --browser --host ADDRESS, where ADDRESS is that of this machine in
    the network of the room. Players need the room code that is printed, and agree to a line first.
    """
    from quickstudy.play.keeping import Invitation, Sitting
    from quickstudy.report.words import counted
    from quickstudy.runs.folder import RUNS, prepare_folder

    include_files(include)
    check_target(record)
    if out is not None:  # what cannot be written is found out before the session, not after it
        prepare_folder(out)
        if not os.access(out / RUNS, os.W_OK):
            raise UsageError(f"cannot write into {out / RUNS}; choose another folder with --out")
    invitation = Invitation(task, convention, seed, steps, ask, plain, name)
    if not browser and (host or named or consent is not None):
        raise UsageError("--host, --names and --consent are for a class; give --browser as well")
    if browser and not host and (named or consent is not None):
        raise UsageError("--names and --consent are for a class; give --host ADDRESS as well")
    if browser:
        if record is not None:
            raise UsageError(
                "--record is for the terminal; --out keeps what is played in the browser"
            )
        _serve(invitation, out, port, open_it, host, named, consent)
        return
    sitting = Sitting.after_all(invitation, out)
    seat = sitting.seat
    if sys.stdin.isatty():
        warned = "" if out or record else " This session is not kept; --out results keeps it."
        say(_wrapped(f"{seat.explained} Ctrl-D ends it.{warned}"))
    if seat.reference:
        say(seat.reference)
    before = None
    while not seat.over:
        shown = sitting.shown()
        seen = shown == before or not shown.paced or _present(shown)
        before = shown
        say(shown.text)
        if sys.stdin.isatty() and shown.ask:
            say(shown.ask)
        line = _typed() if seen else None
        if line is None:
            if left := seat.stop():
                say(left)
            break
        try:
            said = sitting.answer(line)
        except UsageError as error:
            say(str(error), err=True)
            continue
        if said.text:
            say(said.text)
    say(seat.summary())
    if record is not None:
        _record(record, sitting)
    if out is not None:
        kept = sitting.keep()
        say(
            f"kept in {out} as {counted(len(kept), 'run')}; see it: quickstudy report {out}"
            if kept
            else "too little was answered to be scored: not kept"
        )
    elif record is None and sys.stdin.isatty():
        say("not kept; --out results keeps a session")


def _wrapped(text: str) -> str:
    """A text in lines of the terminal's width, broken between words."""
    return textwrap.fill(text, max(20, shutil.get_terminal_size().columns))


def _record(path: pathlib.Path, sitting: Any) -> None:
    """The session as JSON lines: what `replay` reads, or of a game of words what `score wade`
    does.
    """
    import json

    from quickstudy.base.canonical import plain
    from quickstudy.play.bytes import BytesSeat
    from quickstudy.play.words import WordsSeat

    seat = sitting.seat
    traces = sitting.traces()
    if isinstance(seat, BytesSeat):
        lines, again = seat.sessions(), f"see it again: quickstudy replay {path}"
    else:
        told = {
            "task": seat.task.id,
            "version": seat.task.version,
            "convention": sitting.invitation.convention,
        }
        lines = [
            {**told, "root": seat.streams.root, **trace.facts, **trace.arrays} for trace in traces
        ]
        again = f"a trace of the kind {traces[0].kind}" if traces else "nothing in it can be scored"
        if isinstance(seat, WordsSeat):
            lines[0] |= {"given": seat.given, "wade": seat.game.score(seat.right)}
            again = f"score it again: quickstudy score wade {path} --thresholds {seat.game.series}"
    write_text(path, "".join(json.dumps(plain(line)) + "\n" for line in lines))
    say(f"wrote {path}; {again}")


CONSENT = (
    "Your answers are kept on the computer of whoever runs this page, with the time and how long"
    " each took, under the name or number that the page shows. Nothing else about you is kept."
    " Taking part is voluntary: you can stop at any time, and ask for your answers to be removed."
    " I agree."
)
"""What a player agrees to, unless --consent says something else."""
NOT_KEPT = "Your answers are not kept; whoever runs this page sees how far you are. I agree."


def _serve(
    invitation: Any,
    out: pathlib.Path | None,
    port: int,
    open_it: bool,
    host: str,
    named: bool,
    consent: str | None,
) -> None:
    try:
        from quickstudy.web.room import MOST_IN_CLASS, Rules
        from quickstudy.web.serving import play_forever, teach_forever
    except ModuleNotFoundError as error:
        raise UsageError(
            f"play --browser needs {error.name}; pip install -e '.[web]' in the repository"
        ) from error
    if not host:
        play_forever(invitation, out, port, open_it, say)
        return
    asked = (CONSENT if out else NOT_KEPT) if consent is None else consent.strip()
    if not asked:
        raise UsageError("--consent must say what players agree to, got an empty text")
    rules = Rules(asked, named, MOST_IN_CLASS, keeps=True)
    teach_forever(invitation, out, host, port, rules, open_it, say)


def _present(shown: Any) -> bool:
    """Show the symbols to remember one by one, and hide them. Return whether the player is
    still there.

    Where no terminal is connected, a program answers: it is given them on one line.
    """
    if not sys.stdin.isatty():
        say(" ".join(shown.paced))
        return True
    say("Enter shows the next sequence.")
    if _typed() is None:
        return False
    wide = max(map(len, shown.paced))
    for symbol in shown.paced:
        # A blank between two symbols makes two of two equal ones.
        for text, part in ((symbol, 0.8), ("", 0.2)):
            sys.stdout.write(f"\r  {text:<{wide}}")
            sys.stdout.flush()
            time.sleep(part * shown.seconds)
    sys.stdout.write("\r")
    return True


def _typed() -> str | None:
    """The next line of a person, None at the end."""
    if sys.stdin.isatty():
        sys.stdout.write("> ")
        sys.stdout.flush()
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None
