"""What was run is what is named: every piece of a user's code that a number rests on is part of its
identity.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import py_compile
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.code_identity import Origin, file_origin, look_again
from quickstudy.base.errors import UsageError
from quickstudy.base.registry import include, included_files
from quickstudy.base.script_identity import object_origin
from quickstudy.learners.learner_spec import bring, bring_all, choose_learner
from quickstudy.runs import provenance
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.plan import make_plan
from quickstudy.runs.run_spec import Setting

WRAPPER = """
from net import Net


class Make(Net):
    def predict(self, inputs):
        from late import ANSWER

        return np.eye(self.outputs)[np.full(len(inputs), ANSWER)]


import numpy as np
"""
NET = """
WIDTH = {width}


class Net:
    def __init__(self, brief, seed, width=WIDTH, rate=0.5):
        self.outputs, self.width = brief.outputs.size, width

    def learn(self, inputs, targets): ...
"""


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def folder(place, width=1, answer=0):
    return write(place, wrapper=WRAPPER, net=NET.format(width=width), late=f"ANSWER = {answer}\n")


def chosen(place, rest=""):
    return choose_learner(f"{place}/wrapper.py:Make{rest}", "corrected")


def test_a_file_imports_what_lies_beside_it_and_two_folders_are_not_mixed_up(tmp_path):
    one, two = folder(tmp_path / "one", width=1), folder(tmp_path / "two", width=2)
    modules = [include(place / "wrapper.py") for place in (one, two)]
    assert [module.Net.__init__.__defaults__[0] for module in modules] == [1, 2]
    assert "net" not in sys.modules
    assert str(one) not in sys.path
    assert include(one / "net.py").Net is modules[0].Net  # one file is one module


def test_paths_that_read_alike_are_two_files(tmp_path):
    (tmp_path / "a").mkdir()
    first = include(write(tmp_path / "a_b", c="x = 1\n") / "c.py")
    second = include(write(tmp_path / "a" / "b", c="x = 2\n") / "c.py")
    assert (first.x, second.x) == (1, 2)


def test_packages_are_found_too(tmp_path):
    write(
        tmp_path / "models",
        __init__="",
        deep="from models.base import WIDTH\nfrom . import other\n",
        base="WIDTH = 7\n",
    )
    write(tmp_path / "models", other="import models.base\nTWICE = 2 * models.base.WIDTH\n")
    write(tmp_path / "plain", inner="N = 3\n")
    write(
        tmp_path,
        top="from models import deep\nfrom plain.inner import N\nimport models.other as o\n",
    )
    module = include(tmp_path / "top.py")
    assert (module.deep.WIDTH, module.deep.other.TWICE, module.o.TWICE, module.N) == (7, 14, 14, 3)


def test_imports_within_packages_are_those_of_python(tmp_path):
    """Relative ones of two levels, a star, modules that import each other, and ones that are
    missing.
    """
    write(tmp_path / "kit", __init__="from .a import *\n", a="__all__ = ['X']\nX, Y = 1, 2\n")
    deeper = "from ..a import Y\nfrom .. import b\nfrom . import other\nZ = Y + b.W\n"
    write(tmp_path / "kit" / "deep", __init__="", c=deeper, other="import kit.deep.c\n")
    write(tmp_path / "kit", b="W = 5\n", star="__all__ = ['q']\n")
    write(tmp_path, first="import second\nN = 1\n", second="import first\nM = 2\n")
    write(tmp_path, top="import kit.deep.c as c\nfrom kit import X\nimport first\n")
    module = include(tmp_path / "top.py")
    assert (module.X, module.c.Z, module.first.second.M) == (1, 7, 2)
    assert module.c.other.kit.deep.c is module.c
    for name, text, words in (
        ("gone", "import kit.nothing\n", "No module named 'kit.nothing'"),
        ("none", "from kit import nothing\n", "cannot import name 'nothing'"),
        ("alone", "from . import kit\n", "attempted relative import with no known parent package"),
        ("above", "import kit.deep.d\n", "attempted relative import beyond top-level package"),
    ):
        write(tmp_path / "kit" / "deep", d="from .... import x\n")
        write(tmp_path, **{name: text})
        with pytest.raises(UsageError, match=words):
            include(tmp_path / f"{name}.py")


def test_a_stored_compilation_is_never_used(tmp_path):
    """One of the same size and second would pass for that of the edited text."""
    source = write(tmp_path, late="ANSWER = 1\n", top="import late\n") / "late.py"
    py_compile.compile(str(source))
    now = source.stat()
    source.write_text("ANSWER = 2\n")
    os.utime(source, ns=(now.st_atime_ns, now.st_mtime_ns))
    assert include(tmp_path / "top.py").late.ANSWER == 2


@pytest.mark.parametrize("change", [{"width": 2}, {"answer": 1}])
def test_a_change_in_a_file_that_is_imported_is_another_learner(tmp_path, change):
    same, other, again = (
        folder(tmp_path / "a"),
        folder(tmp_path / "b", **change),
        folder(tmp_path / "c"),
    )
    versions = [chosen(place).what["version"] for place in (same, other, again)]
    assert versions[0] == versions[2] != versions[1]


@pytest.mark.parametrize(
    "edited", ["utils.py", "nets/utils.py", "nets/net.py", "nets/deep/utils.py"]
)
def test_files_of_one_name_in_several_folders_all_count(tmp_path, edited):
    files = {
        "wrapper.py": WRAPPER + "from utils import WIDTH\nfrom nets.net import X\n",
        "utils.py": "WIDTH = 1\n",
        "nets/__init__.py": "",
        "nets/net.py": "from .utils import X\n",
        "nets/utils.py": "from .deep import utils\nX = 2\n",
        "nets/deep/__init__.py": "",
        "nets/deep/utils.py": "Y = 3\n",
    }
    origins = []
    for name, change in (("a", ""), ("b", "Z = 4\n"), ("c", "")):
        place = folder(tmp_path / name)
        (place / "nets" / "deep").mkdir(parents=True)
        for file, text in files.items():
            (place / file).write_text(text + (change if file == edited else ""))
        origins.append(chosen(place).origins[0])
    assert origins[0].version == origins[2].version != origins[1].version
    assert set(origins[0].sources) == {*files, "net.py", "late.py"}
    assert origins[1].sources[edited].decode() == files[edited] + "Z = 4\n"


@pytest.mark.parametrize(
    "text", ["importlib.import_module('far')", "import_module('far')", "__import__('far')"]
)
def test_what_is_imported_by_a_call_counts_too(tmp_path, text):
    wrapper = (
        "import importlib\nfrom importlib import import_module\nclass Make:\n    def use(self):"
        f" return {text}\n"
    )
    versions = []
    for answer in (1, 2):
        place = write(tmp_path / str(answer), wrapper=wrapper, far=f"ANSWER = {answer}\n")
        versions.append(file_origin(str(place / "wrapper.py")).version)
    assert versions[0] != versions[1]


def test_a_file_that_is_gone_is_no_longer_asked_for(tmp_path):
    include(write(tmp_path, away="x = 1\n") / "away.py")
    assert str(tmp_path / "away.py") in included_files()
    (tmp_path / "away.py").unlink()
    assert str(tmp_path / "away.py") not in included_files()


def test_an_edit_within_the_same_second_is_seen(tmp_path):
    place = folder(tmp_path / "a", answer=3)
    look_again()
    before = chosen(place)
    folder(place, answer=4, width=5)
    assert chosen(place).what == before.what  # a run that goes on is not disturbed
    look_again()
    after = chosen(place)
    assert after.what["version"] != before.what["version"]
    assert after.what["parameters"]["width"] == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "x = 1\nimport nowhere_at_all\n",
            r"ModuleNotFoundError: No module named 'nowhere_at_all' \(.*broken\.py:2\)",
        ),
        ("x = 1\n\ndef f(:\n", r"SyntaxError: .* \(.*broken\.py:3\)"),
        ("import bad\n", r"SyntaxError: .* \(.*bad\.py:2\)"),
        ("import sys\nsys.exit(3)\n", r"SystemExit: 3 \(.*broken\.py:2\)"),
        ("import bad.deeper\n", r"SyntaxError"),
    ],
)
def test_what_cannot_be_imported_is_named_with_its_line(tmp_path, text, words):
    write(tmp_path, broken=text, bad="\n)\n")
    with pytest.raises(UsageError, match=f"broken.py cannot be imported: {words}"):
        include(tmp_path / "broken.py")


SCRIPT = """
import numpy as np
ANSWER = {answer}
TABLE = {{"rate": [{rate}]}}
WEIGHTS = np.arange({count})
def helper(x):
    return deeper(x)
def deeper(x):
    return x + {deep}
class Mine:
    kind = {kind}
    def __init__(self, brief, seed): ...
    def learn(self, inputs, targets): ...
    def predict(self, inputs):
        return [ANSWER, TABLE["rate"], helper(1), WEIGHTS]
{rest}
"""
USUAL = {"answer": 14, "rate": 1, "count": 3, "deep": 0, "kind": 1, "rest": ""}


def typed(**changes):
    """The version of a class of a script, as if its module were the running one."""
    module = type(sys)("quickstudy_test_script")
    sys.modules[module.__name__] = module
    exec(SCRIPT.format(**{**USUAL, **changes}), vars(module))
    return object_origin(module.Mine).version


@pytest.mark.parametrize(
    "change",
    [{"answer": 0}, {"rate": 2}, {"count": 4}, {"deep": 1}, {"kind": 2}],
    ids=lambda one: next(iter(one)),
)
def test_what_a_class_of_a_script_uses_is_part_of_it(change):
    assert typed() == typed() == typed(rest="seeds = 3\n") != typed(**change)


KINDS = """
import collections, datetime, decimal, enum, fractions, functools, importlib.util, json
import operator, pathlib, re, threading, types
import numpy as np, optax
from dataclasses import dataclass
from quickstudy.base.script_identity import object_origin
def first(): return 1
def second(): return 0
def enclosing(n): return lambda: n
def annotated(f): return functools.wraps(f)(lambda: f())
@dataclass(slots=True)
class Slotted:
    n: int
class Bare:
    __slots__ = ("n",)
    def __init__(self, n): self.n = n
class Hiding:
    def __init__(self, n): self.n = n
    def __getstate__(self): return {}
class Lazy(Hiding):
    @functools.cached_property
    def x(self): return self.n
def dispatched(answer):
    @functools.singledispatch
    def f(x): return answer
    @f.register
    def _(x: int): return 3
    return f
class Color(enum.Enum):
    RED, BLUE = 1, 2
Point = collections.namedtuple("Point", "x")
one, two = lambda: 1, lambda: 0
def branch(which):
    if which:
        class Same:
            def answer(self): return 1
    else:
        class Same:
            def answer(self): return 0
    return Same
pairs = {
    "float, int": (1, 1.0),
    "bool": (1, True),
    "negative zero": (0.0, -0.0),
    "set": ({"a", "b", "c"}, {"a", "b", "d"}),
    "universal function": (np.tanh, np.exp),
    "builtin": (max, min),
    "builtin type": (int, float),
    "library class": (collections.OrderedDict, collections.Counter),
    "library function": (np.stack, np.vstack),
    "module": (operator, fractions),
    "operator": (operator.add, operator.mul),
    "getter": (operator.itemgetter(0), operator.itemgetter(1)),
    "dtype": (np.dtype("int32"), np.dtype("float32")),
    "scalar type": (np.float32, np.float64),
    "scalar": (np.float32(1), np.float32(2)),
    "array": (np.arange(3), np.arange(3) + 1),
    "shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "objects": (np.array([Slotted(1)], object), np.array([Slotted(2)], object)),
    "masked": (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0])),
    "fraction": (fractions.Fraction(1, 2), fractions.Fraction(1, 3)),
    "decimal": (decimal.Decimal("0.1"), decimal.Decimal("0.2")),
    "path": (pathlib.Path("a"), pathlib.Path("b")),
    "slots": (Slotted(1), Slotted(2)),
    "bare slots": (Bare(1), Bare(2)),
    "hiding": (Hiding(1), Hiding(2)),
    "order": ([first, second], [second, first]),
    "table": ({"x": first, "y": second}, {"x": second, "y": first}),
    "lambdas": (one, two),
    "lambdas in order": ([one, two], [two, one]),
    "closure": (enclosing(1), enclosing(2)),
    "wrapped": (annotated(first), annotated(second)),
    "cached": (functools.cache(first), functools.cache(second)),
    "bound": (Slotted(1).__repr__, Slotted(2).__repr__),
    "bound builtin": ([1].append, [2].append),
    "generator": (np.random.default_rng(1), np.random.default_rng(2)),
    "slice": (slice(0, 1), slice(0, 2)),
    "expression": (re.compile("a"), re.compile("b")),
    "flags": (re.compile("a"), re.compile("a", re.I)),
    "bytes": (bytearray(b"a"), bytearray(b"b")),
    "keys": ({(1, 2): 5}, {(1, 3): 5}),
    "time": (datetime.timedelta(1), datetime.timedelta(2)),
    "enumeration": (Color.RED, Color.BLUE),
    "named": (Point(1), Point(2)),
    "subclass": (collections.Counter("aab"), collections.Counter("abb")),
    "default": (collections.defaultdict(int, a=1), collections.defaultdict(float, a=1)),
    "view": (types.MappingProxyType({1: 2}), types.MappingProxyType({1: 3})),
    "partial": (functools.partial(first, 1), functools.partial(first, 2)),
    "closure of a library": (optax.adam(0.1), optax.adam(0.2)),
    "classes of one name": (branch(True), branch(False)),
    "instance": (types.SimpleNamespace(n=1), types.SimpleNamespace(n=2)),
    "alias": (list[int], list[float]),
    "lazy": (Lazy(1), Lazy(2)),
    "dispatched": (dispatched(1), dispatched(2)),
    "lock": (threading.Lock(), threading.RLock()),
}
if importlib.util.find_spec("torch"):
    import torch
    def linear(n):
        torch.manual_seed(n)
        return torch.nn.Linear(2, 2)
    pairs |= {
        "tensor": (torch.ones(2), torch.zeros(2)),
        "half": (torch.ones(2).bfloat16(), torch.zeros(2).bfloat16()),
        "torch class": (torch.nn.LSTM, torch.nn.GRU),
        "torch function": (torch.nn.functional.relu, torch.sigmoid),
        "torch dtype": (torch.float32, torch.float64),
        "network": (linear(1), linear(2)),
        "frozen": (linear(1), linear(1).requires_grad_(False)),
    }
class Mine:
    def predict(self, inputs): return VALUE
found = {}
for name, pair in pairs.items():
    found[name] = []
    for VALUE in pair:
        found[name].append(object_origin(Mine).version)
        assert object_origin(Mine).version == found[name][-1], name  # a look leaves no trace
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """The versions of a class by what its one global is, as two processes say that hash strings
    differently.
    """
    script = tmp_path_factory.mktemp("kinds") / "kinds.py"
    script.write_text(KINDS)
    said = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-W", "ignore", script]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        said.append(json.loads(done.stdout))
    return said


def test_every_kind_of_global_is_part_of_a_class(kinds):
    assert len(kinds[0]) > 45
    assert [name for name, (one, other) in kinds[0].items() if one == other] == []


def test_the_same_global_is_the_same_in_another_process(kinds):
    assert {name: kinds[0][name] for name in kinds[0] if kinds[0][name] != kinds[1][name]} == {}


def test_what_nothing_tells_apart_is_run_anew():
    running = (number for number in range(3))

    class Mine:
        def predict(self, inputs):
            return running

    before = object_origin(Mine).version
    assert object_origin(Mine).version == before  # within a run it is one learner
    look_again()
    assert object_origin(Mine).version != before


class Shy:
    """Fails whoever looks into it."""

    dtype = "float32"

    def tobytes(self):
        raise RuntimeError("on another device")


def test_what_cannot_be_looked_into_does_no_harm():
    shy, nested = Shy(), [[]]
    for _ in range(5000):
        nested = [nested]

    class Mine:
        def predict(self, inputs):
            return shy, nested

    assert object_origin(Mine).version == object_origin(Mine).version


def make(answer):
    class P:
        def __init__(self, brief, seed): ...

        def learn(self, inputs, targets): ...

        def predict(self, inputs):
            return answer

    return P


class Host:
    def __init__(self, brief, seed, answer=14, rate=0.5, layers=None): ...

    def learn(self, inputs, targets): ...

    def predict(self, inputs): ...


def test_what_a_factory_encloses_is_part_of_a_class():
    versions = []
    for answer in (14, 0, 14):
        versions.append(choose_learner(bring(make(answer)), "corrected").what["version"])
    assert versions[0] == versions[2] != versions[1]


def test_two_learners_of_one_name_are_refused(tmp_path):
    with pytest.raises(
        UsageError, match='two learners are called "P"; give each class a name of its own'
    ):
        qs.run("language/qa", [make(14), make(0)], out=tmp_path)
    with pytest.raises(UsageError, match='"esn" is a built-in learner'):
        qs.run("language/qa", type("esn", (Host,), {}), out=tmp_path)
    one, two = folder(tmp_path / "a", width=1), folder(tmp_path / "b", width=2)
    with pytest.raises(
        UsageError, match=r'two learners are called "wrapper.py:Make": .*a/wrapper.py:Make and .*b/'
    ):
        qs.run("language/qa", [f"{one}/wrapper.py:Make", f"{two}/wrapper.py:Make"], out=tmp_path)


def test_a_partial_is_its_function_with_parameters():
    names = bring_all(
        [functools.partial(Host, answer=1), functools.partial(Host, answer=0, layers=[3, 4]), Host]
    )
    assert names == ["Host:answer=1", "Host:answer=0,layers=3/4", "Host"]
    choices = [choose_learner(name, "corrected") for name in names]
    assert [choice.label for choice in choices] == names
    assert choices[1].what["parameters"] == {"answer": 0, "rate": 0.5, "layers": [3, 4]}
    with pytest.raises(UsageError, match="a partial gives parameters by name"):
        bring(functools.partial(Host, None, 3))
    weights = [
        choose_learner(bring(functools.partial(Host, layers=np.arange(n))), "corrected")
        for n in (3, 4, 3)
    ]
    assert weights[0].what == weights[2].what != weights[1].what


def test_a_label_says_no_address():
    given = [
        make,
        max,
        np.float32,
        lambda: 1,
        lambda: 0,
        np.arange(3),
        np.arange(4),
        [make, 3],
        {"width": 3},
    ]
    names = bring_all([functools.partial(Host, layers=one) for one in given])
    assert names[:3] == ["Host:layers=make", "Host:layers=max", "Host:layers=float32"]
    assert [name[: name.index("-")] for name in names[3:]] == [
        *["Host:layers=lambda"] * 2,
        *["Host:layers=ndarray"] * 2,
        "Host:layers=list",
        "Host:layers=dict",
    ]
    choices = [choose_learner(name, "corrected") for name in names]
    assert [choice.label for choice in choices] == names
    assert len({str(choice.what) for choice in choices}) == len(given)


@pytest.mark.parametrize("spelling", ["", ":answer=14", ":rate=0.5,answer=14", ":layers=none"])
def test_a_default_that_is_typed_is_the_same_learner(spelling):
    bring(Host)
    found, plain = (
        choose_learner(f"Host{spelling}", "corrected"),
        choose_learner("Host", "corrected"),
    )
    assert (found.what, found.label) == (plain.what, "Host")
    assert plain.what["parameters"] == {"answer": 14, "rate": 0.5, "layers": None}
    other = choose_learner("Host:rate=1", "corrected")
    assert (other.label, other.what["parameters"]["rate"]) == ("Host:rate=1.0", 1.0)


def test_a_record_says_what_the_run_rests_on_and_the_folder_keeps_the_code(tmp_path):
    place = folder(tmp_path / "own", answer=1)
    (place / "net.py").write_text("import duckdb\n" + NET.format(width=3))
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm one"):
        subprocess.run(["git", *command.split()], cwd=place, check=True)
    results = qs.run(
        "language/qa",
        f"{place}/wrapper.py:Make",
        seeds=2,
        out=tmp_path / "out",
        protocol={"sequences": 30},
        workers=0,
    )
    found = [one for one in results.records if one.labels["learner"] == "wrapper.py:Make"]
    where = found[0].where
    import duckdb

    assert where["versions"]["duckdb"] == duckdb.__version__
    assert len(where["repository"]["commit"]) == 40
    assert where["repository"]["changed"] is False
    assert set(where["sources"]) == {"wrapper.py", "net.py", "late.py"}
    for name, kept in where["sources"].items():
        assert (tmp_path / "out" / kept).read_text() == (place / name).read_text()
    assert len(list((tmp_path / "out" / "sources").iterdir())) == 3
    if pathlib.Path("/proc/cpuinfo").exists():
        assert (
            where["machine"].get("model")
            or "model name" not in pathlib.Path("/proc/cpuinfo").read_text()
        )
    rule = next(one for one in results.records if one.labels["role"] == "control")
    assert "sources" not in rule.where
    assert read_results(tmp_path / "out").damage == ()


def test_two_files_of_one_name_are_both_kept(tmp_path):
    """Of a task and of a learner, say, each with a `net.py` beside it."""
    origins = [
        Origin("1", {"net.py": b"x = 1"}),
        Origin("2", {"net.py": b"x = 2"}),
        Origin("3", {"net.py": b"x = 1"}),
    ]
    kept = provenance.code(origins, Journal(tmp_path))["sources"]
    assert sorted((tmp_path / name).read_bytes() for name in kept.values()) == [b"x = 1", b"x = 2"]
    assert (tmp_path / kept["net.py"]).read_bytes() == b"x = 1"


def test_changed_code_in_a_script_is_run_again(tmp_path):
    script = tmp_path / "script.py"
    text = """
        import numpy as np
        import quickstudy as qs
        ANSWER = {answer}
        class Constant:
            def __init__(self, brief, seed): self.outputs = brief.outputs.size
            def learn(self, inputs, targets): ...
            def predict(self, inputs): return np.eye(self.outputs)[np.full(len(inputs), ANSWER)]
        few = {{"sequences": 20}}
        asked = dict(seeds=1, out="out", protocol=few, controls=False)
        results = qs.run("language/periodic", Constant, **asked)
        print(results.execution.ok, sum(results.execution.found.values()))
    """
    printed = []
    for answer in (1, 1, 0):
        script.write_text(textwrap.dedent(text.format(answer=answer)))
        done = subprocess.run(
            [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        printed.append(done.stdout.strip())
    assert printed == ["1 0", "0 1", "1 0"]


def test_a_learner_of_a_file_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(folder(tmp_path / "own"))
    (cell,) = make_plan([Setting("language/qa", "wrapper.py:Make")], 1).cells
    monkeypatch.chdir(tmp_path)  # as a learner may do
    assert cell.setting.resolve().learner.label == cell.learner == "wrapper.py:Make"
