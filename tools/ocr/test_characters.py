"""Tests of the list of characters: a lost or doubled entry would shift every character behind it."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).parent))

from characters import characters


def model_with(metadata: dict[str, str]) -> onnx.ModelProto:
    """A model that is nothing but metadata."""
    model = onnx.ModelProto()
    onnx.helper.set_model_props(model, metadata)
    return model


class Characters(unittest.TestCase):
    """What the metadata says."""

    def test_each_line_is_a_character(self) -> None:
        """A wide space is one too."""
        self.assertEqual(characters(model_with({"character": "a\n\u3000\n\u00e9\n"})), ["a", "\u3000", "\u00e9"])

    def test_a_model_without_them_is_refused(self) -> None:
        """The detector has none."""
        with self.assertRaisesRegex(ValueError, "no 'character'"):
            characters(model_with({"other": "a"}))

    def test_an_empty_line_is_refused(self) -> None:
        """It would stand for no character."""
        with self.assertRaisesRegex(ValueError, "empty"):
            characters(model_with({"character": "a\n\nb"}))


if __name__ == "__main__":
    unittest.main()
