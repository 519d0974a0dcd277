"""Write the lock of the test environment: python docs/lock.py.

pip resolves `.[learners,report,dev]` under constraints.txt without installing anything; every
package is written with the SHA-256 of its file for this platform and this Python.
"""

from __future__ import annotations

import json
import pathlib
import platform
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
LOCK = ROOT / "requirements-test.lock"
EXTRAS = ".[learners,report,dev]"
HEADING = """\
# The test environment with the hash of every file, for {where}. Made by docs/lock.py.
# python -m pip install --require-hashes -r requirements-test.lock
# python -m pip install --no-deps --editable .
"""


def main() -> None:
    """Resolve, and write the lock."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        options = ["--dry-run", "--ignore-installed", "--report", report, "--quiet"]
        pip = [sys.executable, "-m", "pip", "install", "--constraint", "constraints.txt"]
        subprocess.run([*pip, *options, EXTRAS], cwd=ROOT, check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    lines = sorted(map(line, (one for one in found if "archive_info" in one["download_info"])))
    LOCK.write_text(HEADING.format(where=where) + "".join(lines), encoding="utf-8")


def line(package: dict[str, dict[str, dict[str, str]]]) -> str:
    """One package as a requirement with its hash."""
    metadata = package["metadata"]
    checksum = package["download_info"]["archive_info"]["hashes"]["sha256"]  # type: ignore[index]
    return f"{metadata['name']}=={metadata['version']} --hash=sha256:{checksum}\n"


if __name__ == "__main__":
    main()
