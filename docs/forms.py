"""Count in how many forms the package carries out one idea: python docs/forms.py [--where].

Each count is of syntax, not of meaning: it finds the same forms before and after a change.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "quickstudy"
OVER_TIME = {"unroll", "unroll_at", "unroll_packed"}
ANSWERS = ("answer", "scor", "judge", "values", "streamed")
LOOPS = {"scan", "while_loop", "fori_loop"}
Functions = (ast.FunctionDef, ast.AsyncFunctionDef)


def called(node: ast.AST) -> str:
    """The last name of what is called; nothing where the node is not a call."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def receiver(node: ast.AST) -> str:
    """What a method is called on, as text."""
    return (
        ast.unparse(node.func.value)
        if isinstance(getattr(node, "func", None), ast.Attribute)
        else ""
    )


def adam_updates(tree: ast.Module, room: str) -> Iterator[ast.AST]:
    """`steps, moments = optimiser.update(gradient, moments)`."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and called(node.value) == "update"
            and isinstance(node.targets[0], ast.Tuple)
        ):
            yield node


def snapshot_pairs(tree: ast.Module, room: str) -> Iterator[ast.AST]:
    """Classes with a `snapshot` and a `restore` of their own; protocols only declare them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
            own = {part.name for part in node.body if isinstance(part, Functions)}
            if {"snapshot", "restore"} <= own:
                yield node


def models(tree: ast.Module, room: str) -> Iterator[ast.AST]:
    """Modules of learners/ that hold a core, or are a `Speaker`: a core and what reads it."""
    for node in ast.walk(tree):
        if room == "learners" and isinstance(node, ast.ClassDef):
            fields = {
                getattr(part.target, "id", "")
                for part in node.body
                if isinstance(part, ast.AnnAssign)
            }
            bases = set(map(ast.unparse, node.bases))
            if bases & {"Speaker", "Model"} or ("eqx.Module" in bases and fields & {"core", "net"}):
                yield node


def over_time(tree: ast.Module, room: str) -> Iterator[ast.AST]:
    """Calls that run a core over time, outside cores/."""
    for node in ast.walk(tree):
        if room != "cores" and called(node) in OVER_TIME and "core" in receiver(node).lower():
            yield node


def compiled_answers(tree: ast.Module, room: str) -> Iterator[ast.AST]:
    """Compiled functions of learners/ that by their name, or that of what makes them, answer."""

    def inside(node: ast.AST, within: str) -> Iterator[ast.AST]:
        for part in ast.iter_child_nodes(node):
            name = within
            if isinstance(part, Functions):
                name = f"{within} {part.name}"
                compiled = any("jit" in ast.unparse(one) for one in part.decorator_list)
                if compiled and any(word in name for word in ANSWERS):
                    yield part
            yield from inside(part, name)

    if room == "learners":
        yield from inside(tree, "")


def episode_loops(tree: ast.Module, room: str) -> Iterator[ast.AST]:
    """Functions of a module that have a compiled loop and, in it, a world's step."""
    for top in tree.body:
        for node in top.body if isinstance(top, ast.ClassDef) else [top]:
            if isinstance(node, Functions):
                parts = list(ast.walk(node))
                names = {ast.unparse(one) for one in parts if isinstance(one, ast.Attribute)}
                steps = names & {"world.step", "rehearsal.world.step", "slots.step"}
                steps |= {"turns"} & set(map(called, parts))  # one step of `learners.rollout`
                if steps and any(called(one) in LOOPS for one in parts):
                    yield node


def asked_by_name(tree: ast.Module, room: str) -> Iterator[ast.AST]:
    """`hasattr` and `getattr` with a name written out: a typo there is a silent 'no'."""
    for node in ast.walk(tree):
        if called(node) in ("hasattr", "getattr") and isinstance(node.args[1], ast.Constant):
            yield node


FORMS: dict[str, Callable[[ast.Module, str], Iterator[ast.AST]]] = {
    "Adam updates written out": adam_updates,
    "snapshot and restore pairs": snapshot_pairs,
    "classes of a core and what reads it": models,
    "sites that run a core over time": over_time,
    "compiled ways to answer": compiled_answers,
    "compiled loops that play episodes": episode_loops,
    "hasattr and getattr with a name": asked_by_name,
}


def main() -> None:
    """Print the counts, and with --where the places."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--where", action="store_true", help="print every place")
    where = parser.parse_args().where
    files = sorted(PACKAGE.rglob("*.py"))
    trees = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in files]
    for name, form in FORMS.items():
        found = [
            f"{path.relative_to(PACKAGE)}:{node.lineno}"
            for path, tree in trees
            for node in form(tree, path.relative_to(PACKAGE).parts[0])
        ]
        lines = [f"{len(found):4}  {name}", *(f"        {place}" for place in found if where)]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
