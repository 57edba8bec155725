#!/usr/bin/env python3
"""Checks that no file of the tree names a path of one machine or the host of a package registry. Exit code 1 if so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A home or mount that only one machine has. System paths (/usr, /etc, /proc, /dev) are the same everywhere.
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(?:root|home|work|workspace|Users|mnt)/\w")
# Packages come from wherever the machine's own settings say: a host that serves packages has no place in the tree.
REGISTRY_HOST = re.compile(
    r"\b(?:(?:deb|security|snapshot|ftp|files|archive|registry|index|proxy|mirrors?|download)(?:\.[\w-]+)+|pypi|crates)\.(?:org|io|net)\b"
)


def tracked_files() -> list[Path]:
    """The files git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def complaints(path: Path) -> list[str]:
    """One sentence for each line of a text file that breaks a rule."""
    data = path.read_bytes()
    if b"\0" in data[:8192]:
        return []
    found = []
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        place = f"{path.relative_to(ROOT)}:{number}"
        if match := MACHINE_PATH.search(line):
            found.append(f"{place}: a path of one machine: {match.group()}")
        if match := REGISTRY_HOST.search(line):
            found.append(f"{place}: the host of a registry: {match.group()}")
    return found


def main() -> int:
    """Checks the whole tree."""
    files = tracked_files()
    found = [sentence for path in files for sentence in complaints(path)]
    print("\n".join(found) or f"{len(files)} files: no machine's path, no registry's host")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
