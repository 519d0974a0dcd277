"""Count the phrases that make our prose hard to read: `python docs/plain_english.py`.

The table has one row per room and one column per pattern, in occurrences per 1,000 lines.
`--rooms NAME ...` lists every occurrence in these rooms as `file:line: pattern: text`.
"""

from __future__ import annotations

import ast
import io
import pathlib
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "quickstudy"

PATTERNS = {
    "says": r"\b(said|says)\b",
    "beside": r"\bbeside\b",
    "stands": r"\bstands? (in|on|for|at|there|here|behind|before)\b",
    "whoever": r"\b([Nn]obody|[Ss]omebody|[Ee]verybody|[Ww]hoever|[Ww]hatever)\b",
    "is no": r"(?<![Tt]here )\b(is|are|was|were) no\b(?! (longer|more|less|better|worse)\b)",
    "as it is": r"\bas (it|they) (is|are|was|were)\b(?! \w+ed\b)",
    "is told": r"\b(is|are|be|was|were|been) told\b",
    "is there": r"(?<!^)(?<![.:;(] )\b(is|are|was|were) there\b(?! (a|an|no|any)\b)",
    "of ours": r"\bof (ours|a user's own|one's own)\b",
    "behind": r"\bbehind\b",
    "for want of": r"\bfor want of\b",
    "mend": r"\bmend(s|ed|ing)?\b",
    "reckoned": r"\b(worked out|reckon(s|ed|ing)?)\b",
    "anew": r"\b([Aa]new|drawn again)\b",
    "give back": r"\b(gives?|given|giving|gave) back\b",
    "foretell": r"\bforet(ell|old)\w*\b",
    "newborn": r"\b(newborns?|heat)\b(?! maps?)",
    "lives": r"\b(a life|lives|lived)\b",
    "What is": r"(?:^|[.;:] )What (is|was|are|were|has|had)\b(?![^.?!]*\?)",
    "Who": r"(?:^|[.;:] )(Who|Whose)\b(?![^.?!]*\?)",
    "guest": r"\b([Gg]uests?|[Ss]trangers?|newcomers?)\b",
    "hand in": r"(?<!the )\b(hand(s|ed|ing)? in|shel(f|ves)|blind actions?)\b",
}
"""Patterns by a short name: phrases that readers outside the project had to read twice."""


def main() -> None:
    """Print the table, or the occurrences in the rooms named after `--rooms`."""
    if "--rooms" in sys.argv:
        names = sys.argv[sys.argv.index("--rooms") + 1 :]
        write("\n".join(line for name in names for line in occurrences(name)))
    else:
        write(table(counts()))


def write(text: str) -> None:
    """Write to standard output."""
    sys.stdout.write(text + "\n")


def counts() -> dict[str, tuple[int, Counter[str]]]:
    """For each room: its number of lines, and the occurrences of each pattern."""
    found: dict[str, tuple[int, Counter[str]]] = {}
    for path in files():
        lines, counter = found.get(room(path), (0, Counter()))
        text = path.read_text(encoding="utf-8")
        counter.update(name for name, _, _ in matches(path))
        found[room(path)] = (lines + text.count("\n"), counter)
    return dict(sorted(found.items()))


def per_1000(lines: int, counter: Counter[str]) -> float:
    """Occurrences of all patterns per 1,000 lines; a smaller room counts as 1,000 lines."""
    return 1000 * counter.total() / max(lines, 1000)


def table(found: dict[str, tuple[int, Counter[str]]]) -> str:
    """The counts as a Markdown table: a row per room, and one for all rooms."""
    head = ["room", "lines", "found", "per 1,000", "most frequent"]
    rows = [head, [":--", "--:", "--:", "--:", ":--"]]
    for name, (lines, counter) in [*found.items(), ("all", total(found))]:
        most = ", ".join(f"{pattern} {count}" for pattern, count in counter.most_common(3))
        rows.append([name, str(lines), str(counter.total()), f"{per_1000(lines, counter):.1f}"])
        rows[-1].append(most)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def total(found: dict[str, tuple[int, Counter[str]]]) -> tuple[int, Counter[str]]:
    """Lines and occurrences of all rooms together."""
    together: Counter[str] = Counter()
    for _, counter in found.values():
        together.update(counter)
    return sum(lines for lines, _ in found.values()), together


def occurrences(name: str) -> list[str]:
    """Every occurrence in a room, as `file:line: pattern: text around it`."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {pattern}: {around}"
        for path in files()
        if room(path) == name or room(path).startswith(f"{name}/")
        for pattern, line, around in matches(path)
    ]


def files() -> Iterator[pathlib.Path]:
    """The files that users and contributors read."""
    yield from sorted(PACKAGE.rglob("*.py"))
    yield from sorted(PACKAGE.rglob("*.toml"))
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.suffix in (".md", ".py") and path != pathlib.Path(__file__).resolve():
            yield path
    yield from sorted((ROOT / "examples").rglob("*.py"))
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))


def room(path: pathlib.Path) -> str:
    """The room of a file: a folder of the package or of the docs; each task family is a room."""
    if path.is_relative_to(PACKAGE):
        parts = path.relative_to(PACKAGE).parts
        deep = 2 if parts[0] == "tasks" and len(parts) > 2 else 1
        return "/".join(parts[:deep]) if len(parts) > 1 else "top"
    parts = path.relative_to(ROOT).parts
    if parts[-1] == "results.md":
        return "docs/reference/results.md"
    return "/".join(parts[: 2 if parts[0] == "docs" and len(parts) > 2 else 1])


def matches(path: pathlib.Path) -> list[tuple[str, int, str]]:
    """Name of the pattern, line and text around it, for each occurrence in a file."""
    found = []
    for line, written in prose(path):
        text = re.sub(r"\n[ \t]+", "\n", written)
        for name, pattern in PATTERNS.items():
            for match in re.finditer(pattern.replace(" ", r"\s"), text, re.MULTILINE):
                if text[match.end() : match.end() + 1] in (":", "="):
                    continue  # the name of a parameter, not a word of the sentence
                around = text[max(0, match.start() - 90) : match.end() + 90]
                number = line + text.count("\n", 0, match.start())
                found.append((name, number, " ".join(around.split())))
    return found


def prose(path: pathlib.Path) -> list[tuple[int, str]]:
    """First line and text of each docstring, comment and message of a program; of a page, all
    text but code.
    """
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        plain = re.sub(
            r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S
        )
        return [(1, re.sub(r"`[^`\n]*`", "`...`", plain))]
    if path.suffix == ".toml":  # without keys and names of learners
        plain = re.sub(r"^(\[.*|[\w\"' +-]+= *\[.*|.*[:=]\w+=.*)$", "", text, flags=re.M)
        return [(1, plain)]
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            found.append((token.start[0], token.string.lstrip("# ")))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            found.append((node.lineno, node.value))
    return found


if __name__ == "__main__":
    main()
