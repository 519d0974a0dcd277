"""The page to play on: by a plain client that may not be what it says, and in a real browser, to
the end.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

from browser import FLAGS, chromium, served
from quickstudy.play.keeping import Invitation
from quickstudy.report.build import gather
from quickstudy.runs.merge import read_results
from quickstudy.web.playing import player
from quickstudy.web.room import MOST_SEATS, Room

__all__ = ["chromium"]
SCRIPT = "<script>document.title='hit'</script>"
WORD = "a-word"
# Types what it is given, one answer after another, as soon as the next question stands there.
HAND = """(async () => {
  const at = (id) => document.getElementById(id), answers = ANSWERS;
  for (let sent = 0; at("end").hidden; ) {
    await new Promise((done) => setTimeout(done, 30));
    at("board").querySelector("button")?.click();
    if (Number(at("board").textContent.split(":")[0]) !== sent + 1) continue;
    if (document.activeElement !== at("line")) continue;
    at("line").value = answers[sent % answers.length];
    at("form").requestSubmit();
    sent += 1;
  }
})();"""


@contextlib.contextmanager
def playing(invitation, folder=None, answers=()):
    """A server; gives its address. answers: what a script types into every page that is opened."""
    app = player(Room(invitation, folder), WORD)
    hand = HAND.replace("ANSWERS", json.dumps(list(answers)).replace("<", "\\u003c"))

    async def helped(scope, receive, send):
        async def altered(message):
            if message["type"] == "http.response.start":
                message["headers"] = [
                    pair for pair in message["headers"] if pair[0] != b"content-length"
                ]
            elif answers and scope["path"] == f"/{WORD}/":
                text = message["body"].decode()
                nonce = re.search(r'<script nonce="([^"]+)"', text)[1]
                message["body"] = text.replace(
                    "</body>", f'<script nonce="{nonce}">{hand}</script></body>'
                ).encode()
            await send(message)

        await app(scope, receive, altered)

    with served(helped) as address:
        yield address


def ask(address, path, body=None, **headers):
    """Status and JSON of an answer. body: sent from the server's own page, unless headers say
    otherwise.
    """
    own = {"Content-Type": "application/json", "Origin": address} if body is not None else {}
    sent = {name.replace("_", "-"): value for name, value in {**own, **headers}.items() if value}
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{address}/{WORD}/{path}", data=data, headers=sent)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            text = error.read()
            return error.code, json.loads(text) if text.startswith(b"{") else text


def seen(binary, profile, address, budget=20000):
    command = [
        binary,
        *FLAGS,
        f"--virtual-time-budget={budget}",
        f"--user-data-dir={profile}",
        "--dump-dom",
        address,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_the_whole_human_game_in_a_browser(chromium, tmp_path):
    """One answer is wrong, ten in a row are right: the game is over, kept, and scored like any
    run.
    """
    invitation = Invitation("language/qa", root=3, name="ann")
    seat = invitation.seat()
    answers = ["b" if "[a]" in seat.truth else "a"]
    seat.answer(answers[0])
    while not seat.over:
        answers.append(" ".join(word[1:-1] for word in seat.truth.split() if word.startswith("[")))
        seat.answer(answers[-1])
    with playing(invitation, tmp_path / "results", answers) as address:
        dom, console = seen(chromium, tmp_path / "profile", f"{address}/{WORD}/")
    assert console == []
    assert "<title>hit" not in dom
    assert "You play as ann<" in dom
    assert f"(you: {answers[0]})" in dom
    assert "10 in a row after 11 sequences, 10 right" in dom
    shown = float(re.search(r"<dt>wade</dt><dd>([\d.]+)</dd>", dom)[1])
    (table,) = gather([tmp_path / "results"]).tables
    (row,) = table.rows
    assert (row.learner, row.role) == ("person:name=ann", "person")
    assert shown == pytest.approx(row.scores["wade"].mean, abs=5e-5)
    assert row.scores["wade"].mean == pytest.approx(seat.game.score(seat.right))


def test_a_span_in_a_browser(chromium, tmp_path):
    """Symbols come one by one and are gone when the answer is typed; the rounds are runs, the page
    has their span.
    """
    invitation = Invitation("span/parity", name="ann", amount=2)
    seat, answers = invitation.seat(), []
    while not seat.over:
        trial = seat._trial
        answers.append(trial.words[trial.hidden[0]] if trial.hidden[0] <= 5 else "0")
        seat.answer(answers[-1])
    with playing(invitation, tmp_path / "results", answers) as address:
        dom, console = seen(chromium, tmp_path / "profile", f"{address}/{WORD}/", budget=120_000)
    assert console == []
    assert seat.summary() in dom
    assert "Kept as 2 runs." in dom
    assert len(read_results(tmp_path / "results").records) == 2


def test_two_browsers_play_for_themselves(chromium, tmp_path):
    found = {}
    with playing(Invitation("language/qa", amount=4), tmp_path / "results", ["a"]) as address:

        def look(number):
            found[number] = seen(chromium, tmp_path / f"profile-{number}", f"{address}/{WORD}/")

        threads = [threading.Thread(target=look, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(console == [] for _, console in found.values())
    assert all("stopped after 4 sequences" in dom for dom, _ in found.values())
    records = list(read_results(tmp_path / "results").records.values())
    assert [record.what["repetition"] for record in records] == [
        0,
        0,
    ]  # the data that machines of this seed have
    assert len({record.labels["learner"] for record in records}) == 2


def test_an_answer_counts_once_and_a_session_can_be_gone_on_with(tmp_path):
    with playing(Invitation("language/qa"), tmp_path) as address:
        _, sat = ask(address, "sit", {})
        name = sat["name"]
        status, first = ask(address, f"seat/{name}/answer", {"turn": 0, "line": "a"})
        assert (status, first["turn"]) == (200, 1)
        assert ask(address, f"seat/{name}/answer", {"turn": 0, "line": "a"})[1]["turn"] == 1
        assert ask(address, f"seat/{name}")[1] == first
        _, ended = ask(address, f"seat/{name}/stop", {})
        assert ended["over"]
        assert ask(address, f"seat/{name}/answer", {"turn": 1, "line": "a"})[1] == ended
        assert ask(address, f"seat/{name}/stop", {})[1] == ended
    assert len(read_results(tmp_path).records) == 1


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("sit", {}, {"Origin": ""}, 403),
        ("sit", {}, {"Origin": "http://elsewhere.example"}, 403),
        ("sit", {}, {"Origin": "null"}, 403),
        ("sit", {}, {"Sec_Fetch_Site": "cross-site"}, 403),
        ("sit", {}, {"Host": "rebound.example", "Origin": "http://rebound.example"}, 400),
        ("sit", {}, {"Content_Type": "text/plain"}, 415),
        ("sit", None, {}, 405),
        ("sit", b"[]", {}, 400),
        ("sit", b"{", {}, 400),
        ("sit", b'{"x": "' + b"x" * 30_000 + b'"}', {}, 413),
        ("seat/nobody", None, {}, 404),
        ("seat/nobody/answer", {"turn": 0, "line": ""}, {}, 404),
        ("seat/HERE/answer", {"turn": "0", "line": ""}, {}, 400),
        ("seat/HERE/answer", {"turn": 0, "line": "x" * 5000}, {}, 400),
        ("seat/HERE/answer", {"turn": False, "line": "a"}, {}, 400),
        ("seat/HERE/answer", b'{"turn": 0, "line": "\\ud800"}', {}, 400),
        ("sit", b'{"x":' * 3000 + b"1" + b"}" * 3000, {}, 400),
        ("seat/HERE/answer", {"turn": 0, "line": "help"}, {}, 422),
        ("seat/HERE/stop", {}, {"Origin": "http://127.0.0.1:1"}, 403),
        ("../sit", {}, {}, 404),
        ("../other-word/", None, {}, 404),
    ],
)
def test_what_does_not_come_from_the_page_changes_nothing(tmp_path, path, body, headers, status):
    with playing(Invitation("language/qa"), tmp_path) as address:
        _, sat = ask(address, "sit", {})
        del sat["ticket"]  # given once
        assert ask(address, path.replace("HERE", sat["name"]), body, **headers)[0] == status
        assert ask(address, f"seat/{sat['name']}")[1] == sat
    assert not read_results(tmp_path).records


def test_every_browser_is_a_person_with_an_id_of_its_own(tmp_path):
    with playing(Invitation("language/qa", name="ann"), tmp_path) as address:
        first, second = (ask(address, "sit", {})[1] for _ in range(2))
        assert first["person"] == "ann"
        assert re.fullmatch("ann-[0-9a-f]{8}", second["person"])
        for seat in (first, second):
            ask(address, f"seat/{seat['name']}/answer", {"turn": 0, "line": "a"})
            ask(address, f"seat/{seat['name']}/stop", {})
        again = ask(address, "sit", {"ticket": second["ticket"]})[1]
        assert again["person"] == second["person"]
        ask(address, f"seat/{again['name']}/answer", {"turn": 0, "line": "a"})
        ask(address, f"seat/{again['name']}/stop", {})
        assert ask(address, "sit", {"ticket": "somebody else"})[1]["person"] not in (
            "somebody else",
            "ann",
        )
    kept = {
        (one.labels["learner"], one.what["repetition"])
        for one in read_results(tmp_path).records.values()
    }
    other = f"person:name={second['person']}"
    assert kept == {("person:name=ann", 0), (other, 0), (other, 1)}


def test_a_page_that_is_only_opened_uses_up_nothing(tmp_path):
    with playing(Invitation("language/qa"), tmp_path) as address:
        looked = ask(address, "sit", {})[1]
        played = ask(address, "sit", {"ticket": looked["ticket"]})[1]
        assert played["text"] == looked["text"]
        ask(address, f"seat/{played['name']}/answer", {"turn": 0, "line": "a"})
        ask(address, f"seat/{played['name']}/stop", {})
    assert [one.what["repetition"] for one in read_results(tmp_path).records.values()] == [0]


def test_who_plays_stays_and_who_has_ended_or_only_looked_gives_way(tmp_path, monkeypatch):
    with playing(Invitation("language/qa"), tmp_path) as address:
        busy, ended = (ask(address, "sit", {})[1]["name"] for _ in range(2))
        for name in (busy, ended):
            ask(address, f"seat/{name}/answer", {"turn": 0, "line": "a"})
        ask(address, f"seat/{ended}/stop", {})
        names = [ask(address, "sit", {})[1]["name"] for _ in range(MOST_SEATS + 5)]
        assert ask(address, f"seat/{busy}")[0] == 200
        assert ask(address, f"seat/{ended}")[0] == ask(address, f"seat/{names[0]}")[0] == 404
        assert len(read_results(tmp_path).records) == 1
        monkeypatch.setattr("quickstudy.web.room.IDLE_SECONDS", -1.0)
        monkeypatch.setattr("quickstudy.web.room.MOST_SEATS", 1)
        ask(address, "sit", {})
        assert ask(address, f"seat/{busy}")[0] == 404
    assert len(read_results(tmp_path).records) == 2  # what was played is kept


def test_where_all_are_playing_nobody_is_sent_away(monkeypatch):
    monkeypatch.setattr("quickstudy.web.room.MOST_SEATS", 1)
    with playing(Invitation("language/qa")) as address:
        name = ask(address, "sit", {})[1]["name"]
        ask(address, f"seat/{name}/answer", {"turn": 0, "line": "a"})
        status, said = ask(address, "sit", {})
        assert (status, "are playing already" in said["fault"]) == (503, True)
        assert ask(address, f"seat/{name}")[0] == 200


def test_what_is_no_answer_is_told():
    with playing(Invitation("grammar/an-bn", plain=True)) as address:
        names = [ask(address, "sit", {})[1]["name"]]
        status, told = ask(address, f"seat/{names[-1]}/answer", {"turn": 0, "line": SCRIPT})
        assert status == 422
        assert "is not an answer; the letters are # a b" in told["fault"]
        with urllib.request.urlopen(f"{address}/{WORD}/") as answer:
            policy = answer.headers["Content-Security-Policy"]
        assert "unsafe-inline" not in policy
        assert "default-src 'none'" in policy
