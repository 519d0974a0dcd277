"""Who may import whom, and what nobody may do. Reads the source text, so that nothing is left
out.
"""

from __future__ import annotations

import ast
import pathlib
import subprocess
import sys
from functools import cache

import pytest

import quickstudy

ROOT = pathlib.Path(quickstudy.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# A part imports from parts of a lower rank only, or from itself.
RANKS = {
    **dict.fromkeys(("base", "norms"), 0),
    **dict.fromkeys(("jax_gateway", "numba_gateway", "data"), 1),
    "compiled": 2,
    **dict.fromkeys(("tasks", "cores", "measures", "machines", "stats"), 2),
    "learners": 3,
    "protocols": 4,
    "runs": 5,
    **dict.fromkeys(("render", "testing", "play"), 6),
    "report": 7,
    "figures": 8,
    "pages": 9,
    "studies": 10,
    "api": 10,
    "web": 13,
    **dict.fromkeys(("adapters", "cli"), 14),
    "__main__": 15,
}
# A stream makes JAX keys when it is asked for one.
EXCEPTIONS = {("base/seeds.py", "jax_gateway")}

# What makes a generator of its own; everything else in numpy.random is, or changes, the one that
# all share.
LEGACY = "tasks/grammar/released.py"
"""The one file that rebuilds released data from NumPy's legacy generator, with a seed of its
own.
"""
OWN_GENERATORS = {"Generator", "PCG64", "SeedSequence", "default_rng", "BitGenerator"}
WATCHERS = {"testing/check_result.py"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree):
    """Every module that is named in an import, wherever it stands."""
    return tuple(_imported(tree))


@cache
def _nodes(tree):
    return tuple(ast.walk(tree))


def _imported(tree):
    for node in _nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module
            if node.module == "quickstudy":
                yield from (
                    f"quickstudy.{alias.name}"
                    for alias in node.names
                    if (ROOT / alias.name).exists()
                )


def part_of(module):
    return module.split(".")[1] if module.count(".") else None


def test_every_part_has_its_place():
    parts = {name_of(path).partition("/")[0].removesuffix(".py") for path in FILES} - {"__init__"}
    assert parts <= set(RANKS)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_one_way(path):
    own = name_of(path).partition("/")[0].removesuffix(".py")
    for module in imported(tree_of(path)):
        part = part_of(module) if module.partition(".")[0] == "quickstudy" else None
        if part is None or part == own or (name_of(path), part) in EXCEPTIONS or own == "__init__":
            continue
        assert RANKS[part] < RANKS[own], f"{name_of(path)} imports {module}"


def test_no_learner_knows_a_family():
    """What a learner needs of a world or a task, that declares: `base.task` has the faces."""
    families = {path.name for path in (ROOT / "tasks").iterdir() if path.is_dir()}
    known = {
        (name_of(path), module.split(".")[2])
        for path in FILES
        if name_of(path).startswith("learners/")
        for module in imported(tree_of(path))
        if module.startswith("quickstudy.tasks.") and module.split(".")[2] in families
    }
    # A certificate is a proof about one language.
    assert known == {
        ("learners/mdl/certificate.py", "grammar"),
    }


def test_base_needs_the_standard_library_and_numpy_only():
    for path in FILES:
        if name_of(path).startswith("base/"):
            outside = {module.partition(".")[0] for module in imported(tree_of(path))} - {
                "quickstudy",
                "numpy",
            }
            assert outside <= set(sys.stdlib_module_names), name_of(path)


def test_jax_comes_through_the_gateway():
    for path in FILES:
        if name_of(path) != "jax_gateway.py":
            found = {module.partition(".")[0] for module in imported(tree_of(path))}
            assert not found & {"jax", "jaxlib", "equinox", "optax"}, name_of(path)


def test_numba_comes_through_its_door():
    for path in FILES:
        if name_of(path) != "numba_gateway.py":
            assert "numba" not in {
                module.partition(".")[0] for module in imported(tree_of(path))
            }, name_of(path)


def test_nobody_draws_from_a_shared_generator():
    for path in FILES:
        if name_of(path) in WATCHERS:
            continue
        tree = tree_of(path)
        # A faulty specimen seeds it, once, to be caught.
        legacy = {"testing/specimens.py": {"seed"}, LEGACY: {"RandomState"}}.get(
            name_of(path), set()
        )
        assert "random" not in set(imported(tree)), name_of(path)
        for node in _nodes(tree):
            of_module = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)
            if of_module and ast.unparse(node.value) in ("np.random", "numpy.random"):
                assert node.attr in OWN_GENERATORS | legacy, (
                    f"{name_of(path)}:{node.lineno} {ast.unparse(node)}"
                )
            if isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
                assert {alias.name for alias in node.names} <= OWN_GENERATORS, name_of(path)


def test_only_the_command_line_prints():
    for path in FILES:
        calls = [node for node in _nodes(tree_of(path)) if isinstance(node, ast.Call)]
        prints = [
            call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"
        ]
        assert not prints or name_of(path).startswith("cli/"), name_of(path)


def modules_after(statement):
    """Top-level modules that a statement brings into a fresh interpreter."""
    program = (
        f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) -"
        " before))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return {module.partition(".")[0] for module in found.stdout.split()}


def test_importing_the_package_imports_the_standard_library_only():
    assert modules_after("import quickstudy") - {"quickstudy"} <= set(sys.stdlib_module_names)


def test_tasks_and_host_learners_do_not_need_jax():
    program = "from quickstudy.testing import check_learner; check_learner('majority')"
    assert not modules_after(program) & {"jax", "equinox", "optax", "numba", "rich", "typer"}


def test_listing_imports_no_implementation():
    kinds = "task, core, learner, control, training, protocol, measure"
    program = (
        f"from quickstudy.base.registries import {kinds}; [kind.entries() for kind in ({kinds})]"
    )
    found = modules_after(program)
    assert not found & {"jax", "equinox", "optax", "numba", "scipy", "rich"}
    text = f"import sys; {program}; print(*[m for m in sys.modules if m.startswith('quickstudy.')])"
    loaded = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert {part_of(module) for module in loaded.split()} == {"base"}
