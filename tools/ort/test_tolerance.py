"""Tests of the comparison with onnxruntime: rounding passes, a wrong answer does not."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from ort.tolerance import Sums, judge, sums_of

MODELS = Path(__file__).resolve().parents[2] / "models"


class Judge(unittest.TestCase):
    """One output against its reference."""

    def setUp(self) -> None:
        """A model with sums of 1536 products, 44 deep."""
        self.sums = Sums(1536, 44, frozenset())
        self.reference = np.random.default_rng(1).standard_normal((4, 384)).astype(np.float32)

    def test_rounding_passes(self) -> None:
        """A few units in the last place."""
        found = self.reference * np.float32(1 + 4e-7)
        self.assertTrue(judge("y", found, self.reference, self.sums).ok)

    def test_a_cruder_function_fails(self) -> None:
        """The size of the difference between GELU and its tanh form."""
        self.assertFalse(judge("y", self.reference + np.float32(1e-3), self.reference, self.sums).ok)

    def test_other_dtype_shape_or_nan_fails(self) -> None:
        """None of these is a matter of rounding."""
        nan = self.reference.copy()
        nan[0, 0] = np.nan
        for found in (self.reference.astype(np.float64), self.reference[:3], nan):
            self.assertFalse(judge("y", found, self.reference, self.sums).ok)

    def test_integers_must_be_equal(self) -> None:
        """Off by one is wrong."""
        reference = np.arange(5)
        self.assertTrue(judge("y", reference, reference, self.sums).ok)
        self.assertFalse(judge("y", reference + 1, reference, self.sums).ok)


class SumsOfModels(unittest.TestCase):
    """What is read off a model."""

    @unittest.skipUnless((MODELS / "minilm/model.onnx").exists(), "models/minilm is not fetched")
    def test_minilm(self) -> None:
        """The longest sum is the feed-forward layer's; six layers of eight sums each, embedding and pooling."""
        sums = sums_of(MODELS / "minilm/model.onnx")
        self.assertEqual(sums.longest, 1536)
        self.assertGreater(sums.depth, 6 * 8)
        self.assertEqual(sums.shares & {"last_hidden_state", "sentence_embedding"}, set())

    @unittest.skipUnless((MODELS / "silero/silero_vad.onnx").exists(), "models/silero is not fetched")
    def test_shares_are_seen_through_branches(self) -> None:
        """Silero's probability is made by a sigmoid inside an If."""
        self.assertIn("output", sums_of(MODELS / "silero/silero_vad.onnx").shares)


if __name__ == "__main__":
    unittest.main()
