"""A room: the players of an invitation, and the session of each."""

from __future__ import annotations

import dataclasses
import pathlib
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException

from quickstudy.base.canonical import plain
from quickstudy.base.errors import UsageError
from quickstudy.play.keeping import Invitation, Sitting, is_name
from quickstudy.render.markup import joined
from quickstudy.render.svg import drawn
from quickstudy.report.words import counted

MOST_SEATS = 50
"""Sessions at once on a page without a room code."""
MOST_IN_CLASS = 300
"""Sessions at once in a class."""
IDLE_SECONDS = 1800.0
"""From then on a session in which nothing happens may give way to another; what was played is
kept.
"""


@dataclass(frozen=True)
class Rules:
    """The rules for players, and the questions to them.

    consent: the text that a player must agree to before the first session; "": nothing is asked.
    named: players may type a name, by which their runs are then kept.
    most: sessions at once; 0 for the usual number.
    keeps: no session with an answer ever gives way to a new one, however long it rests.
    """

    consent: str = ""
    named: bool = False
    most: int = 0
    keeps: bool = False


@dataclass
class Place:
    """One session. log: what was shown and answered so far. kept: what became of it, in words;
    scores: by name. touched: when it was last asked for, by the clock of this process.
    """

    sitting: Sitting
    touched: float = field(default_factory=time.monotonic)
    log: list[dict[str, Any]] = field(default_factory=list)
    kept: str = ""
    scores: list[tuple[str, float]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def person(self) -> str:
        """The id of who plays."""
        return self.sitting.invitation.name

    @property
    def idle(self) -> float:
        """Seconds since it was last asked for."""
        return time.monotonic() - self.touched

    def gives_way(self, keeps: bool = False) -> tuple[int, float] | None:
        """The order in which sessions give way to new ones: those that are over, those without an
        answer, those in which nothing has happened for long; None for one that is being played.

        keeps: one with an answer never does, and one without only after a long rest.
        """
        idle = self.idle
        if self.sitting.seat.over:
            return 0, -idle
        if not self.log and (not keeps or idle > IDLE_SECONDS):
            return 1, -idle
        return (2, -idle) if idle > IDLE_SECONDS and not keeps else None

    def answer(self, turn: int, line: str) -> None:
        """Take an answer to what was shown in a turn; one that comes a second time changes
        nothing.
        """
        with self.lock:
            seat = self.sitting.seat
            if turn != len(self.log) or seat.over:
                return
            shown = seat.shown().text
            said = self.sitting.answer(line)
            self.log.append({"shown": shown, "typed": line, "said": said.text, "good": said.good})
            self._end()

    def stop(self) -> None:
        """The person leaves."""
        with self.lock:
            if not self.sitting.seat.over:
                if left := self.sitting.seat.stop():
                    self.log.append({"shown": left, "typed": "", "said": "", "good": None})
                self._end()

    def _end(self) -> None:
        seat, folder = self.sitting.seat, self.sitting.folder
        if not seat.over:
            return
        if not seat.scored:
            self.kept = "Too little was answered to be scored."
            return
        kept = self.sitting.keep()
        records = kept or [outcome.record for outcome in self.sitting.outcomes()]
        # The summary has the mean of several runs.
        entries = [] if len(records) > 1 else list(records[0].scores.values())
        self.scores = [
            (name, value) for entry in entries for name, value in entry["values"].items()
        ]
        self.kept = (
            f"Kept as {counted(len(kept), 'run')}. To see it with those of learners: quickstudy"
            f" serve {folder}"
            if kept
            else "Not kept: start with --out results to keep sessions."
        )

    def facts(self) -> dict[str, Any]:
        """All that the page shows, in plain types."""
        with self.lock:
            seat = self.sitting.seat
            found = {
                "turn": len(self.log),
                "over": seat.over,
                "progress": seat.progress,
                "log": self.log,
                "reference": seat.reference,
                "explained": seat.explained,
                "person": self.person,
                "title": seat.title,
            }
            if seat.over:
                return {
                    **found,
                    "summary": seat.summary(),
                    "kept": self.kept,
                    "scores": plain(self.scores),
                }
            shown = self.sitting.shown()
            picture = joined(*(part for block in shown.picture for part in drawn(block)))
            return {
                **found,
                "text": shown.text,
                "ask": shown.ask,
                "choices": shown.choices,
                "picture": picture,
                "paced": shown.paced,
                "seconds": shown.seconds,
            }


class Room:
    """The players of an invitation. folder: where sessions are kept; None: nowhere.

    Every browser is a person with an id of its own, by which sessions are kept, and with a secret
    ticket, by which the browser is known again. Without a name, the first person has that of the
    invitation, if it has one; all others have a random id after it.
    """

    def __init__(
        self, invitation: Invitation, folder: pathlib.Path | None, rules: Rules | None = None
    ) -> None:
        self.invitation, self.folder = invitation, folder
        self.rules = rules or Rules()
        self._places: dict[str, Place] = {}
        self._people: dict[str, str] = {}
        self._lock = threading.Lock()

    def sit(self, ticket: str = "", name: str = "", agreed: bool = False) -> tuple[str, str]:
        """Begin a session; gives its name and the ticket of its player.

        Args:
            ticket: what a browser was given before; one that was not given here is replaced.
            name: what a new player typed, where players may have names.
            agreed: whether a new player agrees to what the rules ask.

        Raises HTTPException without consent, and where there is no room; UsageError for a name
        that cannot be one.

        """
        with self._lock:
            if ticket not in self._people:
                if self.rules.consent and not agreed:
                    raise HTTPException(403, "agree first, or close this page")
                ticket = self._admitted(name.strip() if self.rules.named else "")
            person = self._people[ticket]
            own = {name: place for name, place in self._places.items() if place.person == person}
            for name in [name for name, place in own.items() if not place.log]:
                del self._places[name]  # it was only looked at: its data are still unseen
            self._make_room()
            taken = {
                number
                for place in own.values()
                if place.log
                for number in place.sitting.repetitions
            }
            invitation = dataclasses.replace(self.invitation, name=person)
            sitting = Sitting.after_all(invitation, self.folder, taken)
            sitting.consent = self.rules.consent
            name = secrets.token_urlsafe(9)
            self._places[name] = Place(sitting)
            return name, ticket

    def _admitted(self, name: str) -> str:
        """The ticket of a new player. Of two with the same name, the second has an id after it."""
        taken, own = set(self._people.values()), name or self.invitation.name
        if name and not is_name(name):
            raise UsageError("a name has 1 to 40 letters, digits, spaces, points or hyphens")
        alone = own and own not in taken and (name or not (taken or self.rules.keeps))
        person = own if alone else f"{own[:30]}{'-' if own else ''}{secrets.token_hex(4)}"
        ticket = secrets.token_urlsafe(12)
        self._people[ticket] = person
        return ticket

    def _make_room(self) -> None:
        most = self.rules.most or MOST_SEATS
        while len(self._places) >= most:
            ways = {
                name: way
                for name, place in self._places.items()
                if (way := place.gives_way(self.rules.keeps)) is not None
            }
            if not ways:
                raise HTTPException(503, f"{most} people are playing already; try again later")
            leaving = self._places.pop(min(ways, key=ways.__getitem__))
            if leaving.log:
                leaving.stop()  # which keeps what was played

    def place(self, name: str) -> Place:
        """One session. Raises HTTPException where there is none of that name."""
        try:
            place = self._places[name]
        except KeyError:
            raise HTTPException(404, "there is no such session; begin another") from None
        place.touched = time.monotonic()
        return place

    def places(self) -> list[Place]:
        """All sessions of now, by player."""
        with self._lock:
            return sorted(self._places.values(), key=lambda place: place.person.casefold())

    def close(self) -> int:
        """End all sessions, and keep what was played; gives how many were still going on."""
        going = [place for place in self.places() if place.log and not place.sitting.seat.over]
        for place in going:
            place.stop()
        return len(going)
