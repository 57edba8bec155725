"""Tests of tally.py: no failure may be lost in the sum."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tally import Tally, count, count_ctest

GTEST = "[==========] 4 tests from 2 test suites ran. (3 ms total)\n[  PASSED  ] 2 tests.\n"


class Count(unittest.TestCase):
    """One program's output."""

    def test_a_googletest_program_counts_with_each_test(self) -> None:
        """Passed, skipped and failed are read from its closing lines."""
        output = GTEST + "[  SKIPPED ] 1 test, listed below:\n[  FAILED  ] 1 test, listed below:\n"
        self.assertEqual(count(output, succeeded=False), Tally(2, 1, 1))

    def test_a_unittest_file_counts_with_each_test(self) -> None:
        """Failures and errors are both failures."""
        output = "Ran 6 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=2)\n"
        self.assertEqual(count(output, succeeded=False), Tally(2, 2, 2))

    def test_a_crash_after_green_tests_is_a_failure(self) -> None:
        """A sanitizer report at exit comes after the last test."""
        self.assertEqual(count(GTEST, succeeded=False).failed, 1)
        self.assertEqual(count("", succeeded=False), Tally(failed=1))

    def test_other_programs_count_as_one(self) -> None:
        """Only the exit code speaks."""
        self.assertEqual(count("12 files checked\n", succeeded=True), Tally(passed=1))


class Report(unittest.TestCase):
    """A ctest report."""

    def test_cases_are_added_up(self) -> None:
        """One passes with two tests, one fails, one is skipped."""
        cases = f'<testcase name="a" status="run"><system-out>{GTEST}</system-out></testcase>'
        cases += '<testcase name="b" status="fail"><failure/><system-out/></testcase>'
        cases += '<testcase name="c" status="notrun"><skipped/><system-out/></testcase>'
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "ctest.xml"
            report.write_text(f"<testsuite>{cases}</testsuite>")
            self.assertEqual(count_ctest(report), Tally(2, 1, 1))

    def test_no_report_is_a_failure(self) -> None:
        """A ctest that did not start leaves none."""
        self.assertEqual(count_ctest(Path("/nonexistent")), Tally(failed=1))


if __name__ == "__main__":
    unittest.main()
