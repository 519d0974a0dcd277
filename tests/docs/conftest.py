from __future__ import annotations

import importlib.util
import pathlib
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def load(name: str) -> Any:
    """A program of docs/, which is no package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def pytest_generate_tests(metafunc: Any) -> None:
    if "page" in metafunc.fixturenames:
        found = load("pages").pages()
        metafunc.parametrize(
            "page", found, ids=[path.relative_to(ROOT).as_posix() for path in found]
        )


@pytest.fixture(scope="session")
def pages() -> Any:
    return load("pages")


@pytest.fixture(scope="session")
def build(pages: Any) -> Any:
    return load("build")


@pytest.fixture(scope="session")
def notebooks() -> Any:
    return load("notebooks")


@pytest.fixture(scope="session")
def results(pages: Any) -> Any:
    return load("results")


@pytest.fixture(scope="session")
def shortcuts(pages: Any) -> Any:
    return load("shortcuts")


@pytest.fixture(scope="session")
def refresh(pages: Any, results: Any) -> Any:
    return load("refresh")


@pytest.fixture(scope="session")
def norms() -> Any:
    load("anchors")
    load("planes")
    return load("norms")
