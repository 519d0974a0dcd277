from __future__ import annotations

import hashlib
import os

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.hardware import cache_folder
from quickstudy.data.locate import DataSet, find, fingerprint

CONTENT = b"some numbers"


@pytest.fixture
def data(tmp_path):
    """A data set whose public home is a file on this machine."""
    home = tmp_path / "home" / "it.tar"
    home.parent.mkdir()
    home.write_bytes(CONTENT)
    checksum = hashlib.sha256(CONTENT).hexdigest()
    return DataSet("it", "the It set", ("it.csv", "it.tar"), home.as_uri(), "it.tar", checksum)


def put(folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("here")
    return folder / name


def test_the_users_folder_comes_before_the_cache(data, tmp_path, monkeypatch):
    kept = put(cache_folder() / "data", "it.csv")
    assert find(data) == kept
    named = put(tmp_path / "mine", "it.tar")
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path / "mine"))
    assert find(data) == named
    named.unlink()
    assert find(data) == kept


def test_the_first_layout_is_taken(data, tmp_path, monkeypatch):
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path / "mine"))
    put(tmp_path / "mine", "it.tar")
    first = put(tmp_path / "mine", "it.csv")
    assert find(data) == first


def test_the_cache_is_where_the_system_says(tmp_path, monkeypatch):
    assert cache_folder() == tmp_path / "cache" / "quickstudy"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "quickstudy"


def test_says_what_is_missing_where_it_is_and_what_to_type(data, tmp_path, monkeypatch):
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path))
    with pytest.raises(UsageError) as caught:
        find(data)
    assert (
        str(caught.value)
        == f"the It set: no it.csv or it.tar in {tmp_path} and {cache_folder() / 'data'}; it can be"
        f" had at {data.home}\ntype: export QUICKSTUDY_DATA=FOLDER, or give the command --data"
        " FOLDER, for the folder you put it in, or export QUICKSTUDY_DOWNLOAD=1 to have it"
        " fetched"
    )


def test_a_folder_that_is_none(data, monkeypatch):
    monkeypatch.setenv("QUICKSTUDY_DATA", "/no/such/folder")
    with pytest.raises(
        UsageError,
        match="QUICKSTUDY_DATA names no folder: /no/such/folder; give the folder that holds",
    ):
        find(data)


def test_nothing_is_fetched_without_leave(data):
    with pytest.raises(UsageError, match="the It set"):
        find(data)
    assert not (cache_folder() / "data").exists()


def test_what_is_fetched_is_kept(data, monkeypatch):
    monkeypatch.setenv("QUICKSTUDY_DOWNLOAD", "1")
    path = find(data)
    assert path == cache_folder() / "data" / "it.tar"
    assert path.read_bytes() == CONTENT
    monkeypatch.delenv("QUICKSTUDY_DOWNLOAD")
    assert find(data) == path


def test_a_wrong_checksum_is_refused_and_nothing_kept(data, tmp_path, monkeypatch):
    (tmp_path / "home" / "it.tar").write_bytes(b"another thing")
    monkeypatch.setenv("QUICKSTUDY_DOWNLOAD", "1")
    with pytest.raises(
        UsageError,
        match=f"not {data.checksum}; try again, or put the right file into QUICKSTUDY_DATA",
    ):
        find(data)
    assert list((cache_folder() / "data").iterdir()) == []


def test_a_home_that_does_not_answer(data, tmp_path, monkeypatch):
    (tmp_path / "home" / "it.tar").unlink()
    monkeypatch.setenv("QUICKSTUDY_DOWNLOAD", "1")
    with pytest.raises(UsageError, match=r"cannot be fetched: .*put the file into QUICKSTUDY_DATA"):
        find(data)


def test_fingerprint_of_a_file_is_of_its_bytes(tmp_path):
    path = put(tmp_path, "it.csv")
    assert fingerprint(path) == hashlib.sha256(b"here").hexdigest()


def test_fingerprint_of_a_folder_changes_with_its_files(tmp_path):
    path = put(tmp_path / "set" / "part", "a.txt")
    first = fingerprint(tmp_path / "set")
    assert fingerprint(tmp_path / "set") == first
    os.utime(path, ns=(1, 1))
    second = fingerprint(tmp_path / "set")
    path.rename(path.with_name("b.txt"))
    assert len({first, second, fingerprint(tmp_path / "set")}) == 3
