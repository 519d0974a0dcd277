"""An API key is read from an environment variable, sent only where it belongs, and written
nowhere.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

import quickstudy as qs
from loopback import Loopback
from quickstudy.adapters.api_key import concealed, read_key
from quickstudy.adapters.server_url import ServerUrl
from quickstudy.base.errors import UsageError
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_spec import Setting

TASK = "language/periodic:length=20,longest=3"
SECRET = "sk-abcdef1234567890"
GIVEN = {"seeds": 1, "protocol": {"sequences": 6}, "workers": 0, "controls": False}


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    made = Loopback()
    yield made
    made.close()


def written(folder) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def cli(*arguments: str, cwd) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quickstudy", "run", TASK, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def test_a_key_that_is_typed_is_refused_before_anything_runs(server, tmp_path):
    ended = cli(
        "-l", f"openai:url={server.url},model=toy,key={SECRET}", "--seeds", "1", cwd=tmp_path
    )
    assert ended.returncode == 2
    assert "key must be the name of an environment variable" in ended.stderr
    assert SECRET not in ended.stdout + ended.stderr
    assert not (tmp_path / "results").exists()
    assert server.seen == []


@pytest.mark.parametrize("key", [SECRET, "AWS_SECRET_ACCESS_KEY", "deadbeefdeadbeef", "PATH"])
def test_only_names_of_api_keys_are_read(server, monkeypatch, key):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(UsageError, match="ends in API_KEY") as caught:
        qs.run(TASK, f"openai:url={server.url},model=toy,key={key}", **GIVEN)
    assert key not in str(caught.value)
    assert server.seen == []


def test_a_variable_that_is_not_set_is_named_before_anything_runs(server, tmp_path, monkeypatch):
    monkeypatch.delenv("MY_API_KEY", raising=False)
    with pytest.raises(UsageError, match="environment variable MY_API_KEY is not set"):
        qs.run(TASK, f"openai:url={server.url},model=toy,key=MY_API_KEY", **GIVEN)
    assert server.seen == []
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    "url", ["http://me:{secret}@{host}/v1", "http://{host}/v1?key={secret}", "{secret}@{host}"]
)
def test_a_password_in_the_url_is_refused_and_not_repeated(server, url):
    url = url.format(secret=SECRET, host=server.url.removeprefix("http://").removesuffix("/v1"))
    with pytest.raises(UsageError, match="url must not hold") as caught:
        qs.run(TASK, f'openai:url="{url}",model=toy', **GIVEN)
    assert SECRET not in str(caught.value)
    assert server.seen == []


def test_blanks_around_a_key_are_left_out(server, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", f" {SECRET}\n")
    done = qs.run(TASK, f"openai:url={server.url},model=toy,key=MY_API_KEY", **GIVEN)
    assert done.execution.ok == 1
    assert {headers["Authorization"] for _, headers in server.seen} == {f"Bearer {SECRET}"}
    assert SECRET.encode() not in written(tmp_path)


def test_a_key_with_a_line_break_inside_is_refused_without_its_text(server, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", f"{SECRET}\nX-Other: 1")
    with pytest.raises(UsageError, match="MY_API_KEY holds a character that no key has") as caught:
        qs.run(TASK, f"openai:url={server.url},model=toy,key=MY_API_KEY", **GIVEN)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "fault", ["echo-refused", "echo-nonsense", "echo-status", "echo-cut", "echo-answer"]
)
def test_a_key_that_the_server_repeats_is_written_nowhere(
    server, tmp_path, monkeypatch, fault, capsys
):
    monkeypatch.setenv("MY_API_KEY", SECRET)
    server.always = fault
    name = f"openai:url={server.url},model=toy,key=MY_API_KEY,retries=0"
    done = qs.run(TASK, name, **GIVEN)
    done.show()
    done.report("a command")
    record = done.records[0]
    assert (record.status == "failed") == (fault != "echo-answer"), record.reason
    assert SECRET[:12].encode() not in written(tmp_path)
    printed = capsys.readouterr()
    assert SECRET[:12] not in printed.out + printed.err


def test_concealed_by_hand():
    assert concealed("no: sk-abcdef1234567890!", SECRET) == "no: [key]!"
    assert concealed("cut off: sk-abcdef123", SECRET) == "cut off: [key]"
    assert concealed("of another: sk-zzz", SECRET) == "of another: sk-zzz"
    assert concealed("x is short", "x") == "[key] is short"
    assert concealed("nothing to hide", "") == "nothing to hide"


def test_the_usual_key_goes_to_its_own_server_and_to_this_machine_only(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for url, sent in (
        ("https://api.openai.com/v1", SECRET),
        ("http://api.openai.com/v1", ""),
        ("http://127.0.0.1:8000/v1", SECRET),
        ("http://[::1]:8000/v1", SECRET),
        ("http://localhost/v1", SECRET),
        ("https://elsewhere.example/v1", ""),
        ("https://api.openai.com.elsewhere.example/v1", ""),
        ("https://127.0.0.1.elsewhere.example/v1", ""),
    ):
        assert read_key("", ServerUrl.read(url)) == sent, url
    assert read_key("OPENAI_API_KEY", ServerUrl.read("https://elsewhere.example/v1")) == SECRET


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("openai", "which server and model"),
        ("openai:url=127.0.0.1:8105,model=m", "url must be as http"),
        ("openai:url=ftp://x,model=m", "url must be as http"),
        ("openai:url=http://x:port,model=m", "no port"),
        ("openai:url=http://x:99999,model=m", "no port"),
        ("openai:url=http://x/a b,model=m", "url must be as http"),
    ],
)
def test_a_server_that_cannot_be_is_found_out_before_anything_runs(
    server, tmp_path, learner, words
):
    with pytest.raises(UsageError, match=words):
        qs.run(TASK, learner, **{**GIVEN, "controls": True})
    assert not (tmp_path / "results").exists()


def test_another_server_with_the_same_model_is_another_run(server, tmp_path):
    other = Loopback()
    try:
        first, second = (
            qs.run(TASK, f"openai:url={one.url},model=toy", **GIVEN) for one in (server, other)
        )
    finally:
        other.close()
    assert (second.execution.found, second.execution.ok) == ({}, 1)
    assert first.records[0].key != second.records[0].key
    assert len(other.seen) > 10


def test_one_server_is_one_run_however_its_url_is_spelled():
    keys = {
        make_plan([Setting("language/periodic", f"openai:url={url},model=m")], 1).cells[0].key
        for url in ("http://Here:80/v1", "http://here/v1/", "http://here:80/v1//")
    }
    assert len(keys) == 1
