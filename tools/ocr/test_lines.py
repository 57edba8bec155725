"""Tests of the page comparison: no wrong or missing line may pass."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from compare_rapidocr import differences
from lines import Line, edit_distance, page_error


def line(text: str, x: float, y: float, width: float = 100, height: float = 20) -> Line:
    """An upright line."""
    return Line(text, [[x, y], [x + width, y], [x + width, y + height], [x, y + height]])


class PageErrors(unittest.TestCase):
    """The character error rate."""

    def test_edit_distance(self) -> None:
        """The textbook pair, and empty texts."""
        self.assertEqual(edit_distance("kitten", "sitting"), 3)
        self.assertEqual(edit_distance("", "abc"), 3)

    def test_missing_and_invented_lines_count_in_full(self) -> None:
        """Three characters missing, two that are not on the page."""
        truth = [line("abc", 0, 0), line("def", 0, 50)]
        error = page_error([line("def", 0, 50), line("xy", 300, 300)], truth)
        self.assertEqual((error.errors, error.characters), (5, 6))

    def test_a_line_in_two_pieces_is_joined_from_left_to_right(self) -> None:
        """A detector may split at a wide space."""
        found = [line("world", 60, 0, 40), line("hello", 0, 0, 50)]
        self.assertEqual(page_error(found, [line("hello world", 0, 0)]).errors, 0)


class Differences(unittest.TestCase):
    """The comparison with RapidOCR."""

    def test_equal_readings_have_none(self) -> None:
        """A pixel of shift is inside the limit."""
        self.assertEqual(differences([line("a", 1, 0)], [line("a", 0, 0)], 0.9), [])

    def test_each_kind_is_found(self) -> None:
        """Other text, other place, missing, invented."""
        self.assertEqual(len(differences([line("b", 0, 0)], [line("a", 0, 0)], 0.9)), 1)
        self.assertEqual(len(differences([line("a", 0, 10)], [line("a", 0, 0)], 0.9)), 1)
        self.assertEqual(len(differences([], [line("a", 0, 0)], 0.9)), 1)
        self.assertEqual(len(differences([line("a", 0, 0), line("c", 0, 90)], [line("a", 0, 0)], 0.9)), 1)


if __name__ == "__main__":
    unittest.main()
