"""Check every link and picture of the pages, and build the documentation site in site/ with MkDocs.
Ends with status 1 if anything is wrong.

The site can be browsed and searched from disk: open site/index.html.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
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


def build(site: pathlib.Path = SITE) -> subprocess.CompletedProcess[str]:
    """Build the site with MkDocs, which treats its warnings as errors (`strict` in mkdocs.yml)."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(site)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def main() -> int:
    """The exit status."""
    found = faults()
    built = build()
    if built.returncode:
        found.append(f"mkdocs: {built.stdout}{built.stderr}")
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if not found:
        count = sum(1 for _ in SITE.rglob("*.html"))
        sys.stdout.write(f"{count} pages: site/index.html\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
