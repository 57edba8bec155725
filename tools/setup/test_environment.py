"""Tests of the virtual environment that the two commands make."""

from __future__ import annotations

import os
import unittest
from pathlib import Path


class Environment(unittest.TestCase):
    """What every Python of .venv/ finds."""

    def test_telemetry_is_off_before_onnxruntime_is_imported(self) -> None:
        """Set by the environment itself, not by whoever starts a program."""
        self.assertEqual(os.environ.get("ORT_DISABLE_TELEMETRY"), "1")
        home = Path.home() / ".cache" / "Microsoft"
        was_there = home.exists()
        import onnxruntime  # noqa: F401

        self.assertEqual(home.exists(), was_there)


if __name__ == "__main__":
    unittest.main()
