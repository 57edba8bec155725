"""Tests of the model tools: the exported graph against onnxruntime and against a forward pass in numpy."""

from __future__ import annotations

import math
import sys
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(Path(__file__).parent))

from bert_graph import TINY, BertConfig, Weights, random_weights, serialise
from export_minilm import MINILM, export_minilm, read_config, tiny_model
from export_resnet50 import TINY as TINY_RESNET
from export_resnet50 import ResNetConfig
from export_resnet50 import build_model as build_resnet
from safetensors.numpy import load_file
from wordpiece import WordPiece, split_words

ERF = np.vectorize(math.erf, otypes=[np.float64])


class NumpyBert:
    """BERT's forward pass in float64, written from the model's definition and not from the graph."""

    def __init__(self, config: BertConfig, weights: Weights) -> None:
        self.config = config
        self.w = {name: value.astype(np.float64) for name, value in weights.items()}

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        """x * W^T + b."""
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        """Layer normalisation over the last axis."""
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred**2).mean(-1, keepdims=True)
        return centred / np.sqrt(variance + self.config.eps) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def attend(self, x: np.ndarray, mask: np.ndarray, prefix: str) -> np.ndarray:
        """Multi-head self-attention, one head at a time."""
        q, k, v = (self.linear(x, f"{prefix}self.{n}") for n in ("query", "key", "value"))
        heads = []
        for i in range(self.config.heads):
            part = slice(i * self.config.head_dim, (i + 1) * self.config.head_dim)
            scores = q[..., part] @ k[..., part].swapaxes(1, 2) / math.sqrt(self.config.head_dim)
            scores = np.where(mask[:, np.newaxis, :] == 1, scores, -np.inf)
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            heads.append(shares / shares.sum(-1, keepdims=True) @ v[..., part])
        dense = self.linear(np.concatenate(heads, -1), prefix + "output.dense")
        return self.norm(dense + x, prefix + "output.LayerNorm")

    def run(self, feeds: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """last_hidden_state and sentence_embedding."""
        ids, mask = feeds["input_ids"], feeds["attention_mask"]
        x = self.w["embeddings.word_embeddings.weight"][ids]
        x = x + self.w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self.norm(
            x + self.w["embeddings.token_type_embeddings.weight"][feeds["token_type_ids"]], "embeddings.LayerNorm"
        )
        for i in range(self.config.layers):
            layer = f"encoder.layer.{i}."
            attended = self.attend(x, mask, layer + "attention.")
            wide = self.linear(attended, layer + "intermediate.dense")
            wide = wide * (1 + ERF(wide / math.sqrt(2))) / 2
            x = self.norm(self.linear(wide, layer + "output.dense") + attended, layer + "output.LayerNorm")
        mean = (x * mask[..., np.newaxis]).sum(1) / mask.sum(1, keepdims=True)
        return x, mean / np.linalg.norm(mean, axis=1, keepdims=True)


def random_feeds(config: BertConfig, lengths: list[int], seed: int) -> dict[str, np.ndarray]:
    """Random ids, one row for each length, padded at the end."""
    generator = np.random.Generator(np.random.PCG64(seed))
    shape = (len(lengths), max(lengths))
    mask = (np.arange(shape[1])[np.newaxis, :] < np.array(lengths)[:, np.newaxis]).astype(np.int64)
    return {
        "input_ids": generator.integers(0, config.vocab, shape),
        "attention_mask": mask,
        "token_type_ids": generator.integers(0, config.token_types, shape),
    }


class ExportedGraph(unittest.TestCase):
    """What the graph computes."""

    def assert_equal_to_numpy(self, data: bytes, config: BertConfig, weights: Weights, lengths: list[int]) -> None:
        """onnxruntime on the graph against numpy, at the rows that are attended."""
        feeds = random_feeds(config, lengths, seed=7)
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        hidden, embedding = session.run(None, feeds)
        wanted_hidden, wanted_embedding = NumpyBert(config, weights).run(feeds)
        attended = feeds["attention_mask"] == 1
        # A layer norm brings each layer back to the size of its scale, so errors add up and do not multiply:
        # eps for each of ~8 roundings a layer of values of that size, times sqrt(longest sum).
        bound = np.finfo(np.float32).eps * 8 * config.layers * math.sqrt(config.intermediate)
        bound *= np.abs(wanted_hidden[attended]).max()
        self.assertLess(np.abs(hidden - wanted_hidden)[attended].max(), bound)
        self.assertLess(np.abs(embedding - wanted_embedding).max(), bound)

    def test_tiny_model_equals_numpy(self) -> None:
        """Odd lengths, a batch with padding, a single token."""
        data, weights = serialise(tiny_model()), random_weights(TINY, 1)
        for lengths in ([5, 9, 1], [1], [64]):
            with self.subTest(lengths=lengths):
                self.assert_equal_to_numpy(data, TINY, weights, lengths)

    def test_equal_weights_give_equal_bytes(self) -> None:
        """The export is a function of its input."""
        self.assertEqual(serialise(tiny_model(seed=3)), serialise(tiny_model(seed=3)))
        self.assertNotEqual(serialise(tiny_model(seed=3)), serialise(tiny_model(seed=4)))

    @unittest.skipUnless((MINILM / "model.safetensors").exists(), "models/minilm is not fetched")
    def test_minilm_equals_numpy(self) -> None:
        """The real weights."""
        weights = load_file(MINILM / "model.safetensors")
        self.assert_equal_to_numpy(serialise(export_minilm()), read_config(MINILM), weights, [3, 17])


class ExportedResNet(unittest.TestCase):
    """The convolutional network of random weights."""

    def activations(self, config: ResNetConfig) -> dict[str, np.ndarray]:
        """What every Relu gives, and the logits, for a normal image."""
        model = build_resnet(config)
        onnx.checker.check_model(model)
        names = [node.output[0] for node in model.graph.node if node.op_type == "Relu"] + ["logits"]
        del model.graph.output[:]
        model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
        session = onnxruntime.InferenceSession(serialise(model), providers=["CPUExecutionProvider"])
        image = np.random.Generator(np.random.PCG64(7)).standard_normal((2, 3, config.pixels, config.pixels))
        return dict(zip(names, session.run(names, {"x": image.astype(np.float32)}), strict=True))

    def test_activations_keep_their_size_to_the_last_layer(self) -> None:
        """None vanishes, none explodes, and the two images of a batch differ."""
        for name, value in self.activations(TINY_RESNET).items():
            with self.subTest(name):
                self.assertTrue(0.05 < float(np.sqrt((value**2).mean())) < 20)
        self.assertGreater(np.abs(np.diff(value, axis=0)).max(), 0.01)

    def test_sizes_are_resnet50s(self) -> None:
        """53 convolutions and the published number of parameters, running statistics apart."""
        graph = build_resnet().graph
        self.assertEqual(sum(node.op_type == "Conv" for node in graph.node), 53)
        learnt = [w for w in graph.initializer if not w.name.endswith((".mean", ".var"))]
        self.assertEqual(sum(math.prod(w.dims) for w in learnt), 25_557_032)

    def test_equal_seeds_give_equal_bytes(self) -> None:
        """The export is a function of its seed."""
        self.assertEqual(serialise(build_resnet(TINY_RESNET)), serialise(build_resnet(TINY_RESNET)))


class Tokens(unittest.TestCase):
    """What the tokenizer yields."""

    def test_words_lose_case_and_accents_and_punctuation_stands_alone(self) -> None:
        """The basic tokenizer."""
        self.assertEqual(split_words("Caf\u00e9, na\u00efve!"), ["cafe", ",", "naive", "!"])
        self.assertEqual(split_words("a\u4e2db"), ["a", "\u4e2d", "b"])

    @unittest.skipUnless((MINILM / "vocab.txt").exists(), "models/minilm is not fetched")
    def test_ids_of_a_known_sentence(self) -> None:
        """BERT's published ids of 'hello world', and of a word in pieces."""
        tokenizer = WordPiece(MINILM / "vocab.txt")
        self.assertEqual(tokenizer.encode("Hello world!"), [101, 7592, 2088, 999, 102])
        self.assertEqual(tokenizer.encode("embeddings"), [101, 7861, 8270, 4667, 2015, 102])


if __name__ == "__main__":
    unittest.main()
