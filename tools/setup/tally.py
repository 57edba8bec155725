#!/usr/bin/env python3
"""Adds up what ./check ran and prints the closing line `N passed, N failed, N skipped`.

Reads a folder: ctest.xml (JUnit, from ctest) and, for each step NAME run on its own, NAME.code and NAME.txt.
A GoogleTest program or a unittest file counts with each of its tests, anything else as one.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

GTEST_RAN = re.compile(r"^\[=+\] (\d+) tests? from \d+ test suites? ran", re.MULTILINE)
GTEST_PART = r"^\[\s+{}\s+\] (\d+) tests?[.,]"
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
UNITTEST_PART = r"{}=(\d+)"


@dataclass(frozen=True)
class Tally:
    """How many passed, failed, were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def _sum(pattern: str, text: str) -> int:
    return sum(int(count) for count in re.findall(pattern, text, re.MULTILINE))


def count(output: str, succeeded: bool) -> Tally:
    """What a program's output says it ran. A program that fails counts at least one failure."""
    tally = Tally()
    if GTEST_RAN.search(output):
        passed, failed, skipped = (_sum(GTEST_PART.format(p), output) for p in ("PASSED", "FAILED", "SKIPPED"))
        tally = Tally(passed, failed, skipped)
    elif UNITTEST_RAN.search(output):
        ran = sum(map(int, UNITTEST_RAN.findall(output)))
        failed = _sum(UNITTEST_PART.format("failures"), output) + _sum(UNITTEST_PART.format("errors"), output)
        skipped = _sum(UNITTEST_PART.format("skipped"), output)
        tally = Tally(ran - failed - skipped, failed, skipped)
    elif succeeded:
        return Tally(passed=1)
    if not succeeded and tally.failed == 0:
        return tally + Tally(failed=1)
    return tally


def count_ctest(report: Path) -> Tally:
    """The sum over the tests of a JUnit report; no report is a failure."""
    if not report.exists():
        return Tally(failed=1)
    total = Tally()
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        if case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            total += Tally(skipped=1)
        else:
            total += count(output, case.get("status") == "run")
    return total


def main() -> int:
    """Prints the closing line; 1 when anything failed."""
    folder = Path(sys.argv[1])
    total = count_ctest(folder / "ctest.xml")
    for code in sorted(folder.glob("*.code")):
        total += count(code.with_suffix(".txt").read_text(errors="replace"), int(code.read_text()) == 0)
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
