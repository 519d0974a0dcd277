"""Everything that the pages tell a reader to type works, and prints what they say it prints."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys
import types
from typing import Any

import pytest

from quickstudy.cli.main import main

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(sys.executable).parent


def test_what_a_page_says_happens(
    page: pathlib.Path, pages: Any, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "80")
    blocks = pages.blocks(page)
    for block in blocks:
        if "needs" in block.options:
            pytest.importorskip(block.options["needs"])
    session = Session(tmp_path, [block for block in blocks if is_script(block)])
    for number, block in enumerate(blocks):
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        place = f"{page.relative_to(ROOT)}, line {block.line}"
        if "file" in block.options:
            pathlib.Path(block.options["file"]).write_text(block.text, encoding="utf-8")
        elif is_script(block):
            printed = session.run(block)
            if following is not None and following.language == "text":
                compare(printed, following.text, place)
        elif block.language == "console":
            try_console(pages.commands(block), block.options, place)


def try_console(commands: list[Any], options: dict[str, str], place: str) -> None:
    assert commands, f"{place}: no line begins with $"
    for number, command in enumerate(commands):
        here = f"{place}: {command.line}"
        if "no-run" in options:
            if command.line.startswith("quickstudy run "):
                assert dry_run(command.line) == 0, here
            continue
        wanted = int(options.get("exit", 0)) if number == len(commands) - 1 else 0
        status, printed = shell(command.line)
        assert status == wanted, f"{here}\nstatus {status}, not {wanted}\n{printed}"
        assert "Traceback" not in printed, f"{here}\n{printed}"
        if "varies" not in options:
            compare(printed, "\n".join(command.printed), here)


def shell(command: str) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1800,
        check=False,
    )
    return done.returncode, done.stdout


def dry_run(command: str) -> int:
    """The status of a long command that only says what it would do. In this process, to load JAX
    once.
    """
    before = dict(os.environ)
    try:
        with contextlib.redirect_stdout(io.StringIO()), pytest.raises(SystemExit) as ending:
            main([*shlex.split(command)[1:], "--dry-run"])
    finally:
        os.environ.clear()
        os.environ.update(before)
    return int(ending.value.code or 0)


def is_script(block: Any) -> bool:
    return block.language == "python" and "file" not in block.options


class Session:
    """The Python blocks of a page in one module, whose file has each of them at its own line: code
    can be found.
    """

    def __init__(self, folder: pathlib.Path, blocks: list[Any]) -> None:
        self.path = folder / "blocks_of_the_page.py"
        self.module = types.ModuleType(f"page_{folder.name}")
        self.module.__file__ = str(self.path)
        lines: list[str] = []
        for block in blocks:
            lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run(self, block: Any) -> str:
        target = io.StringIO()
        sys.modules[self.module.__name__] = self.module
        with contextlib.redirect_stdout(target):
            source = "\n" * (block.line - 1) + block.text
            exec(compile(source, str(self.path), "exec", dont_inherit=True), vars(self.module))
        return target.getvalue()


def compare(printed: str, expected: str, place: str) -> None:
    """Equal but for spaces and empty lines; `...` stands for anything, a line of it for any
    lines.
    """
    pattern = ""
    for line in tidy(expected):
        pattern += (
            r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*?") + r"\n"
        )
    actual = "".join(f"{line}\n" for line in tidy(printed))
    assert re.fullmatch(pattern, actual), f"{place}\nexpected:\n{expected}\nprinted:\n{printed}"


def tidy(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line and set(line) != {"─"}]


def test_the_comparison_can_fail() -> None:
    compare("a  b\n\nc 1.5 s\nd\n", "a b\n...\nd", "")
    compare("ok in 5 s\n", "ok in ... s", "")
    for wrong in ("a b\nd", "a b\n...\ne", "...\na b"):
        with pytest.raises(AssertionError):
            compare("a  b\n\nc 1.5 s\nd\n", wrong, "")
