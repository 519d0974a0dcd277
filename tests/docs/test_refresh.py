"""New numbers get into the pages, and into the right places."""

from __future__ import annotations

import pathlib
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHOWN = """before

```console no-run
$ quickstudy run a \\
    --seeds 2
...
 esn   0.027 ±0.007   never
10 ok in ...
$ make test
7 passed
```

after
"""
PRINTED = [" lstm  0.100 ±0.001  3,648 ", " esn  −0.5 ±0.100  3,648 ", "10 ok in 12 s"]


def test_commands_are_found(pages: Any) -> None:
    block = pages.Block(1, "console", {}, "$ first \\\n    --option\nprinted\n$ second\n")
    assert [(command.line, command.printed) for command in pages.commands(block)] == [
        ("first --option", ["printed"]),
        ("second", []),
    ]


def test_numbers_are_renewed(refresh: Any, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text(SHOWN)
    asked = []

    def run(command: str) -> list[str]:
        asked.append(command)
        return PRINTED

    monkeypatch.setattr(refresh, "_run", run)
    monkeypatch.setattr(refresh, "ROOT", tmp_path)
    assert refresh.refresh(page) == []
    assert asked == ["quickstudy run a --seeds 2"]
    assert page.read_text() == SHOWN.replace(
        " esn   0.027 ±0.007   never", " esn  −0.5 ±0.100  3,648"
    )


def test_a_line_that_is_not_printed_any_more_is_named(
    refresh: Any, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    page = tmp_path / "page.md"
    page.write_text(SHOWN)
    monkeypatch.setattr(refresh, "_run", lambda command: PRINTED[:1])
    monkeypatch.setattr(refresh, "ROOT", tmp_path)
    assert refresh.refresh(page) == [
        "page.md, line 4: no longer printed:  esn   0.027 ±0.007   never",
        "page.md, line 4: no longer printed: 10 ok in ...",
    ]
    assert page.read_text() == SHOWN


TWO = """```console no-run
$ echo "esn 0.5"; echo "LearnerFault: loss is nan"; exit 1
esn 0.1
$ touch after-it
```

```console no-run
$ echo "lstm 0.25"; test -e after-it
lstm 0.2
```
"""


def test_a_command_that_fails_is_named_and_the_others_go_on(
    refresh: Any, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    page = tmp_path / "page.md"
    page.write_text(TWO)
    for name in ("ROOT", "WORK"):
        monkeypatch.setattr(refresh, name, tmp_path)
    (fault,) = refresh.refresh(page)
    first, *tail = fault.splitlines()
    assert first.startswith("page.md, line 2: kept, since echo ")
    assert first.endswith("exit 1 ended with status 1:")
    assert tail == ["    esn 0.5", "    LearnerFault: loss is nan"]
    # The block of the failed command is as it was, numbers too; the other one has its new number.
    assert page.read_text() == TWO.replace("lstm 0.2\n", "lstm 0.25\n")


def test_a_failed_command_is_the_exit_status(
    refresh: Any, tmp_path: pathlib.Path, monkeypatch: Any, capsys: Any
) -> None:
    page = tmp_path / "page.md"
    page.write_text(TWO)
    (tmp_path / "README.md").write_text("")
    (tmp_path / "components.md").write_text("")
    monkeypatch.setattr(refresh, "COMPONENTS", tmp_path / "components.md")
    for name in ("ROOT", "WORK"):
        monkeypatch.setattr(refresh, name, tmp_path)
    monkeypatch.setattr("sys.argv", ["refresh.py", str(page)])
    assert refresh.main() == 1
    assert "page.md, line 2: kept, since echo " in capsys.readouterr().err
    page.write_text(TWO.replace("; exit 1", ""))
    assert refresh.main() == 0
    assert "esn 0.5\n" in page.read_text()


def test_the_command_behind_make_run_is_known(refresh: Any) -> None:
    command = refresh.made_by("run")
    assert command == "quickstudy profile esn --quick --seeds 6"
    assert "$" not in command


def test_the_page_of_components_names_all_there_is(refresh: Any) -> None:
    text = refresh.COMPONENTS.read_text()
    assert refresh.with_ids(text) == text, "type: python docs/refresh.py --ids"
    assert {"qa", "periodic"} <= set(refresh.inside()["tasks of `language/`"])
    assert "qa-oracle" in refresh.inside()["oracles"]
    assert all(f"| {kind} | `" in text for kind in refresh.inside())


def test_many_ids_that_begin_alike_are_one(refresh: Any) -> None:
    assert refresh._shortened(["mso-1", "mso-2", "mso-3", "xor", "xor-far"]) == [
        f"`{name}`" for name in ("mso-1", "mso-2", "mso-3", "xor", "xor-far")
    ]
    assert refresh._shortened(["arm", *(f"mso-{number}" for number in range(4))]) == [
        "`arm`",
        "`mso*` (4)",
    ]


def test_a_missing_id_is_put_in(refresh: Any) -> None:
    made = refresh.with_ids("| tasks of `language/` | `old` |\n| families | `old` |\n")
    assert "`qa`" in made
    assert made.endswith(" |\n| families | `old` |\n")
