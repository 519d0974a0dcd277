"""What an engine for several machines is made of: files that travel, results that come back, runs
that are found, and which worker a job goes to.
"""

import dataclasses
import json
import os
import pathlib
import threading
import types

import pytest

import quickstudy as qs
from clusters import COUNTED, GIVEN, HELPER
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.registry import include
from quickstudy.runs.engines import Bundle, Lost, Note, cluster, hand_back, remote, sent_files
from quickstudy.runs.engines.messages import RELAYED, message_line, read_message
from quickstudy.runs.execute import Started
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.progress import PlainProgress
from quickstudy.runs.run_spec import Setting


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A bundle that needs two files, as a driver makes it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "counted.py").write_text(COUNTED)
    (tmp_path / "here" / "helper.py").write_text(HELPER)
    path = str(tmp_path / "here" / "counted.py")
    include(path)
    setting = Setting("language/qa", f"{path}:Counted")
    return Bundle(setting, (0,), ("key",), str(tmp_path), includes=(path,), room=("module",))


def test_files_that_are_there_are_used_where_they_are(bundle):
    paths = sent_files.files_of(bundle)
    assert [os.path.basename(path) for path in paths] == ["counted.py", "helper.py"]
    places = sent_files.receive_files(sent_files.pack_files(paths))
    assert places == {path: path for path in paths}
    received = sent_files.moved(bundle, places, "hash")
    assert received == dataclasses.replace(bundle, room=("hash",))


@pytest.mark.parametrize("loss", ["gone", "changed"])
def test_files_that_are_not_there_are_written_next_to_each_other(bundle, tmp_path, loss):
    packed = sent_files.pack_files(sent_files.files_of(bundle))
    helper = tmp_path / "here" / "helper.py"
    helper.unlink() if loss == "gone" else helper.write_text("SCALE = 7.0\n")
    places = sent_files.receive_files(packed)
    received = sent_files.moved(bundle, places, "hash")
    (file,) = received.includes
    assert file.startswith(str(tmp_path / "cache" / "quickstudy" / "sent"))
    assert received.setting.learner == f"{file}:Counted"
    assert pathlib.Path(file).read_text() == COUNTED
    assert pathlib.Path(file).with_name("helper.py").read_text() == HELPER
    # The same learner: a run there has the key that was planned here.
    parts = [setting.resolve().learner for setting in (bundle.setting, received.setting)]
    assert parts[0].what == parts[1].what
    assert parts[0].label == parts[1].label
    # A damaged copy is written again.
    os.truncate(file, 10)
    assert sent_files.receive_files(packed) == places
    assert pathlib.Path(file).read_text() == COUNTED


def test_two_workers_of_a_machine_may_write_them_at_once(bundle, tmp_path):
    packed = sent_files.pack_files(sent_files.files_of(bundle))
    (tmp_path / "here" / "helper.py").unlink()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(sent_files.receive_files(packed)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 8
    assert len(list((tmp_path / "cache" / "quickstudy" / "sent").iterdir())) == 1


def test_a_file_that_has_changed_on_its_way_is_refused(bundle):
    packed = json.loads(sent_files.pack_files(sent_files.files_of(bundle)))
    packed[0]["text"] += "import os\n"
    with pytest.raises(UsageError, match=r"counted\.py has changed on its way to the worker"):
        sent_files.receive_files(json.dumps(packed))


def test_runs_that_were_made_since_are_found_and_older_and_failed_ones_are_not(tmp_path):
    given = {"out": tmp_path, "engine": "serial", **GIVEN}
    (old,) = qs.run("language/qa", "majority", seeds=1, **given).records
    for path in (tmp_path / "runs").iterdir():
        os.utime(path, (1, 1))
    with Journal(tmp_path) as journal:
        probe = hand_back.Probe(journal)
        found = hand_back.FoundRuns(str(probe.path))
        assert found.of([old.key, "other"]) == {}
        new = {one.key for one in qs.run("language/qa", "majority", seeds=3, **given).records}
        new -= {old.key}
        assert found.of([*new, old.key]) == dict.fromkeys(new, "ok")
        record = read_results(tmp_path).records[old.key]
        journal.write(dataclasses.replace(record, status="failed", reason="out of luck"))
        assert old.key not in found.of([old.key])
        journal.write(record)
        assert found.of([old.key]) == {old.key: "ok"}
        assert hand_back.is_shared(str(probe.path), probe.secret)
        assert not hand_back.is_shared(str(probe.path), "another")
        probe.remove()
        assert not hand_back.is_shared(str(probe.path), probe.secret)


def test_a_line_that_was_changed_is_no_run_that_is_there(tmp_path):
    with Journal(tmp_path) as journal:
        (tmp_path / "runs").mkdir()
        probe = hand_back.Probe(journal)
        given = {"out": tmp_path, "engine": "serial", **GIVEN}
        (record,) = qs.run("language/qa", "majority", seeds=1, **given).records
        (path,) = (tmp_path / "runs").glob("*.jsonl")
        path.write_text(path.read_text().replace('"repetition":0', '"repetition":9'))
        assert hand_back.FoundRuns(str(probe.path)).of([record.key]) == {}


def test_results_come_back_whole_and_other_files_of_that_name_stay(lab, tmp_path):
    work = {"tasks": ["specimen/large"], "keep_learners": True}
    lab.run(tmp_path / "there", ["good"], 2, **work)
    content = hand_back.pack_results(tmp_path / "there")
    (tmp_path / "here" / "traces").mkdir(parents=True)
    key = next(iter(read_results(tmp_path / "there").records))
    (tmp_path / "here" / "traces" / f"{key}.npz").write_bytes(b"of another run")
    with Journal(tmp_path / "here") as journal:
        written = hand_back.write_results(content, journal)
    assert written == set(read_results(tmp_path / "there").records)
    assert lab.numbers(tmp_path / "here") == lab.numbers(tmp_path / "there")
    assert (tmp_path / "here" / "traces" / f"{key}.npz").read_bytes() == b"of another run"
    with Journal(tmp_path / "third") as journal, pytest.raises(QuickstudyError, match="readable"):
        hand_back.write_results(content[:-40], journal)


def test_names_that_lead_out_of_the_folder_are_refused(lab, tmp_path):
    lab.run(tmp_path / "there", ["good"], 1, tasks=["specimen/large"])
    (path,) = (tmp_path / "there" / "runs").iterdir()
    path.write_text(path.read_text().replace('"file":"traces/', '"file":"../../traces/'))
    with Journal(tmp_path / "here") as journal, pytest.raises(QuickstudyError, match="without its"):
        hand_back.write_results(hand_back.pack_results(tmp_path / "there"), journal)
    assert not (tmp_path.parent / "traces").exists()


class _Client:
    """Notes what is submitted."""

    def __init__(self):
        self.given = []

    def submit(self, function, *arguments, **options):
        self.given.append((function, arguments, options))
        return types.SimpleNamespace(add_done_callback=lambda _: None)


@pytest.mark.parametrize(("sharing", "asked"), [(2, {"GPU": 1}), (0, None)])
def test_compiled_learners_go_to_workers_with_a_gpu(tmp_path, sharing, asked):
    pytest.importorskip("jax")
    client = _Client()
    link = types.SimpleNamespace(client=client, expected=2, gpu_sharing=sharing)
    engine = cluster.ClusterEngine(link)
    engine._probe = types.SimpleNamespace(path=tmp_path / "probe", secret="secret")
    for learner in ("esn", "majority"):
        bundle = Bundle(Setting("language/qa", learner), (0,), ("key",), str(tmp_path))
        engine._give_out(cluster._Job(bundle))
    assert engine.on_gpu is bool(sharing)
    assert [options["resources"] for *_, options in client.given] == [asked, None]
    # What travels is text.
    for function, arguments, _ in client.given:
        assert function is remote.run_job
        assert [type(one) for one in arguments] == [str]
        assert Bundle.from_json(json.loads(arguments[0])["bundle"]).keys == ("key",)


def test_what_is_lost_comes_back_as_a_message_of_a_machine_only():
    line = message_line(Lost(("a", "b"), "worker died", 2.5))
    assert read_message(line, RELAYED) == Lost(("a", "b"), "worker died", 2.5)
    with pytest.raises(ValueError, match="not a message"):
        read_message(line)


def test_the_estimate_follows_the_workers_and_notes_are_shown(lab, capsys):
    from io import StringIO

    from quickstudy.runs.engines import Tick

    stream = StringIO()
    progress = PlainProgress(stream, lambda: 0.0)
    progress(Started(lab.plan(["good"], 4).cells, 0, 1))
    progress(Note("Dask dashboard: http://127.0.0.1:1/status"))
    progress(Tick(7))
    progress(Tick())
    assert progress._tally.remaining.workers == 7
    assert "Dask dashboard: http://127.0.0.1:1/status\n" in stream.getvalue()


def test_versions_are_compared_by_name():
    here = remote.installed()
    assert remote.differences(here, dict(here)) == ""
    assert remote.differences({"jax": "1", "numpy": "2"}, {"jax": "1", "numpy": "3"}) == (
        "numpy 2 here and 3 there"
    )
    assert "quickstudy" in remote.differences(here, {**here, "quickstudy": "0"})
