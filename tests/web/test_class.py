"""A class on the page to play on: the room code, consent, names, and nobody sent away."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from browser import FLAGS, chromium, served
from quickstudy.base.errors import UsageError
from quickstudy.play.keeping import Invitation
from quickstudy.report.build import gather
from quickstudy.report.class_chart import class_chart
from quickstudy.report.tables import marks_of
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.merge import read_results
from quickstudy.web import door as doors
from quickstudy.web.class_page import class_route
from quickstudy.web.door import Door, names_of
from quickstudy.web.playing import player
from quickstudy.web.room import Room, Rules

__all__ = ["chromium"]
WORD, OWN, CODE, CONSENT = "a-word", "an-own-word", "KX47QP", "Your answers are kept. I agree."
RULES = Rules(CONSENT, named=True, most=3, keeps=True)


@pytest.fixture
def room(tmp_path):
    return Room(Invitation("language/qa"), tmp_path / "results", RULES)


@pytest.fixture
def address(room):
    door = Door(CODE)
    more = [*door.routes(WORD), class_route(room, OWN, door.shown)]
    with served(player(room, WORD, ["127.0.0.1"], more)) as found:
        yield found


def ask(address, path, body=None, **headers):
    content = None if body is None else json.dumps(body).encode()
    named = {"Origin": address, "Content-Type": "application/json", **headers}
    request = urllib.request.Request(f"{address}/{path}", content, named)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            text = error.read()
            return error.code, json.loads(text) if text.startswith(b"{") else text


def sit(address, name=""):
    return ask(address, f"{WORD}/sit", {"agreed": True, "name": name})


def played(address, name="", answers=1):
    """A session with some answers that is then stopped."""
    seat = sit(address, name)[1]
    for turn in range(answers):
        ask(address, f"{WORD}/seat/{seat['name']}/answer", {"turn": turn, "line": "a"})
    return ask(address, f"{WORD}/seat/{seat['name']}/stop", {})[1]


@pytest.mark.parametrize("typed", ["KX47QP", "kx4-7qp", " kx4 7qp "])
def test_the_room_code_leads_to_the_page(address, typed):
    assert ask(address, "enter", {"code": typed}) == (200, {"address": f"/{WORD}/"})


@pytest.mark.parametrize("typed", ["", "KX47Q", "KX47QPP", "\ud83d\ude00", 7, None])
def test_another_code_does_not(address, typed):
    status, found = ask(address, "enter", {"code": typed})
    assert (status, found["fault"]) == (403, "this is not the room code")
    assert WORD not in json.dumps(found)


def test_after_five_wrong_codes_in_a_minute_the_right_one_has_to_wait(address, monkeypatch):
    statuses = [ask(address, "enter", {"code": f"WRONG{n}"})[0] for n in range(6)]
    assert statuses == [403] * 5 + [429]
    assert ask(address, "enter", {"code": CODE})[0] == 429
    monkeypatch.setattr(doors, "MINUTE", 0.0)
    assert ask(address, "enter", {"code": CODE})[0] == 200


def test_wrong_codes_from_many_addresses_are_counted_together():
    door = Door(CODE)
    statuses = []
    for number in range(doors.MOST_WRONG_OF_ALL + 1):
        with pytest.raises(doors.HTTPException) as refused:
            door.check("WRONG", f"10.0.0.{number}")
        statuses.append(refused.value.status_code)
    assert statuses == [403] * doors.MOST_WRONG_OF_ALL + [429]


def test_codes_differ_and_have_no_signs_that_look_alike():
    codes = {Door().code for _ in range(200)}
    assert len(codes) == 200
    assert not set("ILOU01") & set("".join(codes))


@pytest.mark.parametrize("host", ["rebound.example", "127.0.0.1.rebound.example", "localhost"])
def test_it_answers_to_the_name_that_it_was_given_alone(address, host):
    assert ask(address, "", Host=host)[0] == 400
    status, _ = ask(address, "enter", {"code": CODE}, Host=host, Origin=f"http://{host}")
    assert status == 400


@pytest.mark.parametrize("origin", ["", "null", "http://elsewhere.example"])
def test_a_code_is_taken_from_its_own_page_alone(address, origin):
    assert ask(address, "enter", {"code": CODE}, Origin=origin)[0] == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "*", "no-such-name.invalid"])
def test_an_address_that_is_none_is_refused(host):
    with pytest.raises(UsageError, match=r"name the one address|IPv4 address"):
        names_of(host)


def test_nobody_plays_without_agreeing_and_what_was_agreed_to_is_in_the_record(address, room):
    assert ask(address, f"{WORD}/sit", {})[0] == 403
    assert ask(address, f"{WORD}/sit", {"agreed": "yes"})[0] == 403
    assert not room.places()
    ended = played(address, "ann", answers=2)
    assert ended["person"] == "ann"
    (record,) = read_results(room.folder).records.values()
    assert record.where["consent"] == CONSENT
    assert "consent" not in record.what
    seconds = load_trace(room.folder, record).arrays["answer_seconds"]
    assert len(seconds) == 2
    assert (seconds >= 0).all()


def test_two_of_one_name_are_two_people_and_a_name_may_be_left_out(address):
    ids = [sit(address, name)[1]["person"] for name in ("ann", "ann", "")]
    assert ids[0] == "ann"
    assert re.fullmatch("ann-[0-9a-f]{8}", ids[1])
    assert re.fullmatch("[0-9a-f]{8}", ids[2])
    status, found = sit(address, "<b>")
    assert (status, found["fault"][:22]) == (422, "a name has 1 to 40 let")


def test_the_id_of_another_player_is_no_ticket(address):
    first = sit(address, "ann")[1]
    status, found = ask(
        address, f"{WORD}/sit", {"ticket": first["person"], "name": "ann", "agreed": True}
    )
    assert (status, found["person"] == "ann") == (200, False)
    again = ask(address, f"{WORD}/sit", {"ticket": first["ticket"]})[1]
    assert again["person"] == "ann"


def test_a_full_class_sends_nobody_away(address, room, monkeypatch):
    monkeypatch.setattr("quickstudy.web.room.IDLE_SECONDS", 0.0)
    seats = [sit(address)[1]["name"] for _ in range(3)]
    for name in seats:
        ask(address, f"{WORD}/seat/{name}/answer", {"turn": 0, "line": "a"})
    assert sit(address)[0] == 503
    assert all(ask(address, f"{WORD}/seat/{name}")[0] == 200 for name in seats)
    ask(address, f"{WORD}/seat/{seats[0]}/stop", {})
    assert sit(address)[0] == 200
    assert len(read_results(room.folder).records) == 1


def test_thirty_play_at_once_and_what_goes_on_is_kept_in_the_end(tmp_path):
    room = Room(Invitation("language/qa"), tmp_path, Rules(CONSENT, most=100, keeps=True))
    with served(player(room, WORD, ["127.0.0.1"])) as address:

        def play():
            name = sit(address)[1]["name"]
            for turn in range(3):
                ask(address, f"{WORD}/seat/{name}/answer", {"turn": turn, "line": "a"})

        threads = [threading.Thread(target=play) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert room.close() == 30
    records = read_results(tmp_path).records.values()
    assert len({record.labels["learner"] for record in records}) == 30
    assert all(len(load_trace(tmp_path, one).arrays["answer_seconds"]) == 3 for one in records)


def test_the_page_of_the_teacher_and_the_chart(address, room):
    for name in ("ann", "bob"):
        played(address, name)
    going = sit(address, "cleo")[1]
    ask(address, f"{WORD}/seat/{going['name']}/answer", {"turn": 0, "line": "a"})
    with urllib.request.urlopen(f"{address}/{OWN}/") as answer:
        text = answer.read().decode()
        assert (
            "unsafe-inline" not in answer.headers["Content-Security-Policy"].split("script-src")[1]
        )
    assert all(words in text for words in ("KX4-7QP", "ann", "finished", "cleo", "plays"))
    assert "median of the class" in text
    data = gather([room.folder])
    (table,) = data.tables
    (chart,) = class_chart(table, marks_of(data), "class")
    (panel,) = chart.panels
    assert panel.series[0].tells[0].startswith("person:name=ann: ")
    assert len(panel.series[0].x) == 2


def test_a_class_in_a_browser_from_the_link_to_the_question_of_consent(chromium, address, tmp_path):
    command = [chromium, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [*command, f"{address}/#{CODE}"], capture_output=True, text=True, timeout=90, check=True
    )
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    form = re.search(r'<form id="join".*?</form>', done.stdout, re.S)
    assert form is not None
    assert "hidden" not in form[0].partition(">")[0]
    assert CONSENT in form[0]
    assert 'id="name"' in form[0]
    assert 'id="game" hidden' in done.stdout
