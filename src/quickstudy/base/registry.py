"""One generic, lazy registry for every kind of component.

A component enters in one of three ways, none of which edits a list: a decorator in a file of this
package, a decorator in a module that an installed package names under the entry point group
`quickstudy`, or a decorator in a file that the user includes. Names, versions and summaries are
read from the source text, so that listing them imports no implementation; a component's module is
imported when the component is first asked for.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import importlib.util
import pathlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.text import described, short_path
from quickstudy.base.user_code import note_component, user_code
from quickstudy.base.user_imports import import_file, module_name

T = TypeVar("T")
ENTRY_POINT_GROUP = "quickstudy"
_included: list[str] = []

# `@task("family/name", version=1` at the start of a line, then everything up to the end of the
# spec sheet.
_DECORATOR = re.compile(
    r'^@(?:\w+\.)?(?P<kind>\w+)\(\s*"(?P<id>[^"]+)",\s*version=(?P<version>\d+)'
    r'(?:,\s*alias="(?P<alias>[^"]+)")?.*?"""(?P<sheet>.*?)"""',
    re.MULTILINE | re.DOTALL,
)
# `task.variant("family/other", version=1, of=Task, summary="What it is.", ...)` at the start of a
# line.
_VARIANT = re.compile(
    r'^(?:\w+\.)?(?P<kind>\w+)\.variant\(\s*"(?P<id>[^"]+)",\s*version=(?P<version>\d+),'
    r'\s*of=\w+,\s*summary=\(?\s*(?P<summary>"[^"]*"(?:\s*"[^"]*")*)',
    re.MULTILINE,
)
_SENTENCE_END = re.compile(r"[.?](?=\s|$)")


def split_sheet(sheet: str) -> tuple[str, str]:
    r"""The summary of a spec sheet, and the rest: its first line, and what is missing to the end of
    the sentence that it breaks off in.

    >>> split_sheet("Repeat a string. Sees a string\n    and a bar. Chance: 0.\n    longest: ...")
    ('Repeat a string. Sees a string and a bar.', ' Chance: 0.\n    longest: ...')
    """
    sheet = sheet.strip()
    first = sheet.partition("\n")[0].rstrip()
    paragraph = sheet.partition("\n\n")[0]
    found = _SENTENCE_END.search(paragraph, max(len(first) - 1, 0))
    end = found.end() if found else len(paragraph)
    return " ".join(sheet[:end].split()), sheet[end:]


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One version of one component. `module` is imported to get it; `target` is the component once
    it exists; alias: the id that it had first; renames: something of it may have an earlier name.
    """

    id: str
    version: int
    summary: str
    origin: str
    module: str | None = None
    target: T | None = None
    alias: str = ""
    renames: bool = False


@dataclass
class Registry(Generic[T]):
    """Components of one kind by id and version.

    kind: the word of the decorator and of the messages. sources: gives the modules to look through,
    as (module name, file); asked once, when something is first looked up. use: how the decorator is
    used, which `help` shows.
    """

    kind: str
    sources: Callable[[], Iterator[tuple[str, pathlib.Path]]]
    use: str = ""
    _entries: dict[tuple[str, int], Entry[T]] = field(default_factory=dict)
    _current: dict[str, str] = field(default_factory=dict)
    _scanned: bool = False

    def __post_init__(self) -> None:
        self.__doc__ = self.use or type(self).__doc__

    def __repr__(self) -> str:
        return f"@{self.kind}"

    def __call__(self, id: str, *, version: int | None = None, **facts: Any) -> Callable[[T], T]:
        """The decorator: `@task("family/name", version=1, controls=[...])`. Facts become attributes
        of the target. alias: right after the version, the id that it had first.
        """
        if not isinstance(version, int):
            raise UsageError(
                f'@{self.kind}("{id}") must say its version, a whole number: version=1'
            )

        def register(target: T) -> T:
            for name, value in facts.items():
                setattr(target, name, value)
            target.id, target.version = id, version  # type: ignore[attr-defined]
            self.add(id, version, target)
            return target

        return register

    def variant(self, id: str, *, version: int, of: Any, summary: str, **defaults: Any) -> Any:
        """A component under an id of its own that differs from another in defaults alone, as
        published settings do.

        of: a frozen dataclass. summary: the first line of its spec sheet; the rest is that of `of`.
        defaults: of its parameters, or class attributes. The class is also put into the module of
        `of`, so that it can be pickled.
        """
        name = "".join(part.capitalize() for part in re.split(r"\W+", id.partition("/")[2] or id))
        known = {field.name: field for field in dataclasses.fields(of)}
        body: dict[str, Any] = {
            "__doc__": summary + split_sheet(of.__doc__ or "")[1],
            "__module__": of.__module__,
            "__annotations__": {
                parameter: known[parameter].type for parameter in defaults if parameter in known
            },
        }
        for parameter, value in defaults.items():
            metadata = known[parameter].metadata if parameter in known else None
            body[parameter] = (
                value if metadata is None else dataclasses.field(default=value, metadata=metadata)
            )
        made: Any = dataclasses.dataclass(frozen=True)(type(name, (of,), body))
        setattr(sys.modules[of.__module__], name, made)
        return self(id, version=version, variant_of=of)(made)

    def add(self, id: str, version: int, target: T) -> None:
        """Enter a component that is already there. The same id and version from elsewhere is an
        error.
        """
        module = getattr(target, "__module__", "")
        source = sys.modules.get(module)
        origin = f"{getattr(source, '__file__', None) or module}"
        known = self._entries.get((id, version))
        if known is not None and known.origin != origin:
            raise self._twice(known, origin)
        summary = known.summary if known else split_sheet(getattr(target, "__doc__", None) or "")[0]
        alias = str(getattr(target, "__dict__", {}).get("alias") or "")
        entry = Entry(id, version, summary, origin, module, target, alias, renames=True)
        self._entries[id, version] = entry
        self._note_alias(entry)

    def entries(self) -> list[Entry[T]]:
        """The newest version of every component, by id. Imports no implementation."""
        self._scan()
        newest: dict[str, Entry[T]] = {}
        for (id, _), entry in sorted(self._entries.items()):
            newest[id] = entry
        return list(newest.values())

    def names(self) -> list[str]:
        """All ids, sorted."""
        return [entry.id for entry in self.entries()]

    def find(self, name: str) -> Entry[T]:
        """The entry for `id`, or for `id@version`. Raises UsageError with the nearest name."""
        self._scan()
        id, _, version = name.partition("@")
        id = self.current(id)
        versions = sorted(number for known, number in self._entries if known == id)
        if not versions:
            raise UsageError(f'no {self.kind} "{id}"; {nearest(id, self.names())}')
        if version and (not version.isdigit() or int(version) not in versions):
            raise UsageError(
                f'{self.kind} "{id}" has no version "{version}"; versions:'
                f" {', '.join(map(str, versions))}"
            )
        return self._entries[id, int(version) if version else versions[-1]]

    def current(self, id: str) -> str:
        """The present id of a component, if this is the one that it had first."""
        self._scan()
        return self._current.get(id, id)

    def _note_alias(self, entry: Entry[T]) -> None:
        if not entry.alias:
            return
        taken = {id for id, _ in self._entries if id == entry.alias}
        if taken or self._current.setdefault(entry.alias, entry.id) != entry.id:
            raise UsageError(
                f'{self.kind} "{entry.id}": its alias "{entry.alias}" is the name of another one'
            )

    def get(self, name: str) -> T:
        """The component itself; its module is imported now if it was not."""
        entry = self.find(name)
        if entry.target is None and entry.module is not None:
            importlib.import_module(entry.module)
            entry = self._entries[entry.id, entry.version]
        if entry.target is None:
            raise UsageError(
                f'{self.kind} "{entry.id}" is announced in {entry.origin} but not registered there'
            )
        note_component(entry.target)
        return entry.target

    def __contains__(self, name: str) -> bool:
        self._scan()
        wanted, _, version = name.partition("@")
        wanted = self.current(wanted)
        return any(id == wanted and version in ("", str(number)) for id, number in self._entries)

    def _scan(self) -> None:
        if self._scanned:
            return
        self._scanned = True
        for entry in _announced(self.sources).get(self.kind, ()):
            self._announce(entry)

    def _announce(self, entry: Entry[T]) -> None:
        known = self._entries.setdefault((entry.id, entry.version), entry)
        self._note_alias(entry)
        if known.origin != entry.origin:
            # A file included before the first look must not quietly take the place of what is
            # announced.
            self._scanned = False
            raise self._twice(known, entry.origin)

    def _twice(self, known: Entry[T], origin: str) -> UsageError:
        return UsageError(
            f'{self.kind} "{known.id}" version {known.version} is registered twice: {known.origin}'
            f" and {origin}"
        )


@lru_cache
def _announced(
    sources: Callable[[], Iterator[tuple[str, pathlib.Path]]],
) -> dict[str, list[Entry[Any]]]:
    """Read the declarations in the sources, by kind: once for all registries of them."""
    found: dict[str, list[Entry[Any]]] = {}
    for module, path in sources():
        text = path.read_text(encoding="utf-8")
        if "version=" not in text:  # most files announce nothing, and to look for that is quick
            continue
        variants = _VARIANT.finditer(text) if ".variant(" in text else ()
        for match in (*_DECORATOR.finditer(text), *variants):
            said = match.groupdict()
            if "summary" in said:
                summary = "".join(re.findall('"([^"]*)"', said["summary"]))
            else:
                summary, _ = split_sheet(said["sheet"])
            entry: Entry[Any] = Entry(
                match["id"],
                int(match["version"]),
                summary,
                str(path),
                module,
                alias=match.groupdict().get("alias") or "",
                renames='alias="' in text,
            )
            found.setdefault(match["kind"], []).append(entry)
    return found


def package_sources(package: str) -> Iterator[tuple[str, pathlib.Path]]:
    """All modules of a package, found without importing any of them."""
    top, _, rest = package.partition(".")
    spec = importlib.util.find_spec(top)
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = pathlib.Path(location, *rest.split(".")) if rest else pathlib.Path(location)
        if folder.with_suffix(".py").is_file():
            yield package, folder.with_suffix(".py")
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join((package, *(part for part in parts if part != "__init__"))), path
    if spec and spec.origin and not spec.submodule_search_locations:
        yield top, pathlib.Path(spec.origin)


def installed_sources() -> Iterator[tuple[str, pathlib.Path]]:
    """Modules that installed packages announce under the entry point group `quickstudy`."""
    for entry_point in _entry_points():
        yield from package_sources(entry_point.module)


def _entry_points() -> Iterable[importlib.metadata.EntryPoint]:
    return importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)


def included_files() -> list[str]:
    """The files that were included in this process and are still there, so that workers can include
    them too.
    """
    return [path for path in _included if pathlib.Path(path).is_file()]


def others_have(module: str) -> bool:
    """Whether another process can get at a module from outside: by including its file, or as an
    installed package.
    """
    installed = {entry_point.module.partition(".")[0] for entry_point in _entry_points()}
    return module in map(module_of, _included) or module.partition(".")[0] in installed


def module_of(path: str | pathlib.Path) -> str:
    """The module's name of an included file: made from the whole path, so that it is the same in
    every process.
    """
    return module_name(pathlib.Path(path).expanduser().resolve())


def include(path: str | pathlib.Path) -> Any:
    """Import a user's file, so that its decorators register what is in it, and return the module.

    It may import the files next to it (`quickstudy.base.user_imports`). Raises UsageError with file
    and line if it cannot be imported.
    """
    file = pathlib.Path(path).expanduser().resolve()
    if not file.is_file():
        raise UsageError(f"no file {path} to include")
    if file.suffix != ".py":
        raise UsageError(f"{path} is not a Python file")
    known = module_of(file) in sys.modules
    try:
        with user_code():
            module = import_file(file)
    except UsageError:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        raise UsageError(
            f"{short_path(str(path))} cannot be imported: {described(error)}"
        ) from error
    if not known:
        _included.append(str(file))
    return module
