"""Check every link and picture of the pages, and copy them to site/. Ends with status 1 if anything
is wrong.
"""

from __future__ import annotations

import pathlib
import shutil
import sys

from pages import ROOT, anchors, links, pages

SITE = ROOT / "site"
LARGEST_PICTURE = 200_000


def faults() -> list[str]:
    """Targets that do not exist, pictures that are too large, and pages that no page leads to."""
    found: list[str] = []
    reached = {ROOT / "README.md"}
    for page in pages():
        for line, target in links(page):
            if target.startswith(("http://", "https://")):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            reached.add(file)
            where = f"{page.relative_to(ROOT)}, line {line}: {target}"
            if not file.exists():
                found.append(f"{where} does not exist")
            elif anchor and anchor not in anchors(file):
                found.append(f"{where}: {file.name} has no heading #{anchor}")
            elif file.suffix in (".svg", ".png") and file.stat().st_size > LARGEST_PICTURE:
                found.append(
                    f"{where} has {file.stat().st_size} bytes, at most {LARGEST_PICTURE} are"
                    " allowed"
                )
    return found + [
        f"no page leads to {page.relative_to(ROOT)}" for page in pages() if page not in reached
    ]


def copy() -> int:
    """Copy the pages and pictures to site/, in the same folders, without the programs. Return
    their number.
    """
    shutil.rmtree(SITE, ignore_errors=True)
    files = [*pages(), *(ROOT / "docs" / "images").iterdir(), *(ROOT / "examples").glob("*.py")]
    for file in files:
        target = SITE / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return len(files)


def main() -> int:
    """The exit status."""
    found = faults()
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if not found:
        sys.stdout.write(
            f"{len(pages())} pages, every link good; {copy()} files in {pathlib.Path(SITE).name}/\n"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
