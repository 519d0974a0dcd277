"""`quickstudy score replies`: judge answers to questions of the curriculum one by one."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import CONVENTION, JSON, print_json, print_table


def replies(
    file: pathlib.Path = typer.Argument(
        ..., help="JSON lines with task, question, expected and reply."
    ),
    convention: str = CONVENTION,
    json: bool = JSON,
) -> None:
    """Judge replies to questions of the curriculum: whether each is finished and correct, and its
    reward.

    A reply is read byte by byte, as in a run. It is judged at its first period; in tasks 1 to 5 as
    soon as it has the length of the expected answer. The bytes after that are ignored.
    """
    from quickstudy.api.score.replies import judged_replies

    table = [["task", "reply", "finished", "correct", "reward"]]
    for found, judged in judged_replies(file, convention):
        if json:
            print_json(judged)
        else:
            words = ["yes" if judged[name] else "no" for name in ("finished", "correct")]
            table.append([found["task"], repr(found["reply"]), *words, f"{judged['reward']:+d}"])
    if not json:
        print_table(table)
