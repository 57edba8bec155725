"""A BERT sentence embedder as an ONNX graph, written node for node as PyTorch's exporter does at opset 17.

Shape arithmetic stays in the graph (Shape, Gather, Unsqueeze, Concat, Reshape), scalars are Constant nodes,
GELU is spelled with Erf, the mask is added as (1 - mask) * lowest float: an importer and its fusions meet
here what they meet in the wild. Equal weights give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8

Weights = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class BertConfig:
    """The sizes of a BERT model."""

    vocab: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int = 512
    token_types: int = 2
    eps: float = 1e-12

    @property
    def head_dim(self) -> int:
        """The width of one attention head."""
        return self.hidden // self.heads


MINILM_L6 = BertConfig(vocab=30522, hidden=384, layers=6, heads=12, intermediate=1536)
TINY = BertConfig(vocab=100, hidden=64, layers=2, heads=4, intermediate=128, positions=64)


def weight_shapes(config: BertConfig) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight that the graph reads, as Hugging Face names them."""
    h, m = config.hidden, config.intermediate
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config.vocab, h),
        "embeddings.position_embeddings.weight": (config.positions, h),
        "embeddings.token_type_embeddings.weight": (config.token_types, h),
        "embeddings.LayerNorm.weight": (h,),
        "embeddings.LayerNorm.bias": (h,),
    }
    for i in range(config.layers):
        layer = f"encoder.layer.{i}."
        linears = [("attention.self." + n, h, h) for n in ("query", "key", "value")]
        linears += [("attention.output.dense", h, h), ("intermediate.dense", m, h), ("output.dense", h, m)]
        for name, rows, columns in linears:
            shapes[f"{layer}{name}.weight"] = (rows, columns)
            shapes[f"{layer}{name}.bias"] = (rows,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{layer}{name}.weight"] = (h,)
            shapes[f"{layer}{name}.bias"] = (h,)
    return shapes


def random_weights(config: BertConfig, seed: int) -> dict[str, np.ndarray]:
    """Weights drawn from a seed, scaled so that activations keep the size they have in a trained model."""
    generator = np.random.Generator(np.random.PCG64(seed))
    weights = {}
    for name, shape in weight_shapes(config).items():
        scale = shape[-1] ** -0.5 if "dense" in name or "self" in name else 0.1
        centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
        weights[name] = (centre + scale * generator.standard_normal(shape)).astype(np.float32)
    return weights


class GraphWriter:
    """Collects nodes and weights; names every value after the module that it belongs to."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._uses: dict[str, int] = {}

    def op(self, kind: str, inputs: list[str], scope: str, **attributes: object) -> str:
        """Appends a node with one output; the name of that output."""
        base = f"/{scope}/{kind}"
        count = self._uses.get(base, 0)
        self._uses[base] = count + 1
        name = base if count == 0 else f"{base}_{count}"
        output = f"{name}_output_0"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=name, **attributes))
        return output

    def constant(self, value: float | int | list[int], scope: str) -> str:
        """Appends a Constant node: float32 for a float, int64 for ints."""
        dtype = np.float32 if isinstance(value, float) else np.int64
        return self.op("Constant", [], scope, value=numpy_helper.from_array(np.array(value, dtype)))

    def weight(self, name: str, value: np.ndarray) -> str:
        """Adds an initialiser; its name."""
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def rename_last(self, name: str) -> str:
        """Gives the last node's output the name of a graph output."""
        self.nodes[-1].output[0] = name
        return name


class BertExporter:
    """Writes the graph of one model."""

    def __init__(self, config: BertConfig, weights: Weights) -> None:
        self.config = config
        self.weights = weights
        self.g = GraphWriter()

    def model(self, name: str) -> onnx.ModelProto:
        """The whole model, checked by ONNX's own checker."""
        hidden = self._embeddings()
        mask = self._attention_mask()
        for i in range(self.config.layers):
            hidden = self._layer(hidden, mask, f"encoder/layer.{i}", f"encoder.layer.{i}.")
        hidden = self.g.rename_last("last_hidden_state")
        self._sentence_embedding(hidden)
        model = helper.make_model(
            self._graph(name),
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="tilewright",
            ir_version=IR_VERSION,
        )
        onnx.checker.check_model(model, full_check=True)
        return model

    def _graph(self, name: str) -> onnx.GraphProto:
        ids = [
            helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "sequence"])
            for n in ("input_ids", "attention_mask", "token_type_ids")
        ]
        width = self.config.hidden
        outputs = [
            helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", width]),
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", width]),
        ]
        return helper.make_graph(self.g.nodes, name, ids, outputs, self.g.initializers)

    def _dimension(self, value: str, axis: int, scope: str) -> str:
        """One dimension of a value as a 1-d tensor, the way traced `x.size(axis)` comes out."""
        shape = self.g.op("Shape", [value], scope)
        size = self.g.op("Gather", [shape, self.g.constant(axis, scope)], scope, axis=0)
        return self.g.op("Unsqueeze", [size, self.g.constant([0], scope)], scope)

    def _embeddings(self) -> str:
        g, scope = self.g, "embeddings"
        tables = {
            n: g.weight(f"{scope}.{n}.weight", self.weights[f"{scope}.{n}.weight"])
            for n in ("word_embeddings", "position_embeddings", "token_type_embeddings")
        }
        words = g.op("Gather", [tables["word_embeddings"], "input_ids"], f"{scope}/word_embeddings")
        types = g.op("Gather", [tables["token_type_embeddings"], "token_type_ids"], f"{scope}/token_type_embeddings")
        total = g.op("Add", [words, types], scope)
        all_positions = g.weight(
            f"{scope}.position_ids", np.arange(self.config.positions, dtype=np.int64)[np.newaxis, :]
        )
        length = self._dimension("input_ids", 1, scope)
        ends = [g.constant([0], scope), length, g.constant([1], scope), g.constant([1], scope)]
        positions = g.op("Slice", [all_positions, *ends], scope)
        places = g.op("Gather", [tables["position_embeddings"], positions], f"{scope}/position_embeddings")
        return self._layer_norm(g.op("Add", [total, places], scope), f"{scope}/LayerNorm", f"{scope}.LayerNorm.")

    def _attention_mask(self) -> str:
        """[batch, 1, 1, sequence]: 0 where attended, the lowest float where not."""
        g, scope = self.g, "mask"
        mask = g.op("Unsqueeze", ["attention_mask", g.constant([1], scope)], scope)
        mask = g.op("Unsqueeze", [mask, g.constant([2], scope)], scope)
        mask = g.op("Cast", [mask], scope, to=TensorProto.FLOAT)
        hidden = g.op("Sub", [g.constant(1.0, scope), mask], scope)
        return g.op("Mul", [hidden, g.constant(float(np.finfo(np.float32).min), scope)], scope)

    def _layer_norm(self, value: str, scope: str, prefix: str) -> str:
        scale = self.g.weight(prefix + "weight", self.weights[prefix + "weight"])
        bias = self.g.weight(prefix + "bias", self.weights[prefix + "bias"])
        return self.g.op("LayerNormalization", [value, scale, bias], scope, axis=-1, epsilon=self.config.eps)

    def _linear(self, value: str, scope: str, prefix: str) -> str:
        """x * W^T + b. The exporter folds the transpose into the weight and writes the bias first."""
        weight = self.g.weight(prefix + "weight_t", self.weights[prefix + "weight"].T)
        bias = self.g.weight(prefix + "bias", self.weights[prefix + "bias"])
        return self.g.op("Add", [bias, self.g.op("MatMul", [value, weight], scope)], scope)

    def _split_heads(self, value: str, scope: str, perm: list[int]) -> str:
        g, config = self.g, self.config
        sizes = [self._dimension(value, axis, scope) for axis in (0, 1)]
        sizes += [g.constant([config.heads], scope), g.constant([config.head_dim], scope)]
        split = g.op("Reshape", [value, g.op("Concat", sizes, scope, axis=0)], scope)
        return g.op("Transpose", [split], scope, perm=perm)

    def _attention(self, hidden: str, mask: str, scope: str, prefix: str) -> str:
        g = self.g
        q, k, v = (self._linear(hidden, f"{scope}/{n}", f"{prefix}{n}.") for n in ("query", "key", "value"))
        q = self._split_heads(q, scope, [0, 2, 1, 3])
        k = self._split_heads(k, scope, [0, 2, 3, 1])
        v = self._split_heads(v, scope, [0, 2, 1, 3])
        scores = g.op("MatMul", [q, k], scope)
        scores = g.op("Div", [scores, g.constant(float(self.config.head_dim) ** 0.5, scope)], scope)
        shares = g.op("Softmax", [g.op("Add", [scores, mask], scope)], scope, axis=-1)
        context = g.op("Transpose", [g.op("MatMul", [shares, v], scope)], scope, perm=[0, 2, 1, 3])
        sizes = [self._dimension(context, axis, scope) for axis in (0, 1)]
        sizes.append(g.constant([self.config.hidden], scope))
        return g.op("Reshape", [context, g.op("Concat", sizes, scope, axis=0)], scope)

    def _gelu(self, value: str, scope: str) -> str:
        g = self.g
        erf = g.op("Erf", [g.op("Div", [value, g.constant(2.0**0.5, scope)], scope)], scope)
        product = g.op("Mul", [value, g.op("Add", [erf, g.constant(1.0, scope)], scope)], scope)
        return g.op("Mul", [product, g.constant(0.5, scope)], scope)

    def _layer(self, hidden: str, mask: str, scope: str, prefix: str) -> str:
        g = self.g
        context = self._attention(hidden, mask, f"{scope}/attention/self", f"{prefix}attention.self.")
        dense = self._linear(context, f"{scope}/attention/output/dense", f"{prefix}attention.output.dense.")
        total = g.op("Add", [dense, hidden], f"{scope}/attention/output")
        attended = self._layer_norm(
            total, f"{scope}/attention/output/LayerNorm", f"{prefix}attention.output.LayerNorm."
        )
        wide = self._linear(attended, f"{scope}/intermediate/dense", f"{prefix}intermediate.dense.")
        wide = self._gelu(wide, f"{scope}/intermediate/intermediate_act_fn")
        narrow = self._linear(wide, f"{scope}/output/dense", f"{prefix}output.dense.")
        total = g.op("Add", [narrow, attended], f"{scope}/output")
        return self._layer_norm(total, f"{scope}/output/LayerNorm", f"{prefix}output.LayerNorm.")

    def _sentence_embedding(self, hidden: str) -> None:
        """Mean over the attended tokens, then divided by its L2 norm, as sentence-transformers does."""
        g, scope = self.g, "pooling"
        mask = g.op("Unsqueeze", ["attention_mask", g.constant([-1], scope)], scope)
        mask = g.op("Expand", [mask, g.op("Shape", [hidden], scope)], scope)
        mask = g.op("Cast", [mask], scope, to=TensorProto.FLOAT)
        total = g.op("ReduceSum", [g.op("Mul", [hidden, mask], scope), g.constant([1], scope)], scope, keepdims=0)
        count = g.op("ReduceSum", [mask, g.constant([1], scope)], scope, keepdims=0)
        mean = g.op("Div", [total, g.op("Clip", [count, g.constant(1e-9, scope)], scope)], scope)
        scope = "normalize"
        norm = g.op("ReduceL2", [mean], scope, axes=[1], keepdims=1)
        norm = g.op("Clip", [norm, g.constant(1e-12, scope)], scope)
        norm = g.op("Expand", [norm, g.op("Shape", [mean], scope)], scope)
        g.op("Div", [mean, norm], scope)
        g.rename_last("sentence_embedding")


def build_model(config: BertConfig, weights: Weights, name: str) -> onnx.ModelProto:
    """The ONNX model of `config` over `weights`."""
    for weight, shape in weight_shapes(config).items():
        if weight not in weights or weights[weight].shape != shape:
            found = weights[weight].shape if weight in weights else "nothing"
            raise ValueError(f"weight {weight}: expected shape {shape}, found {found}")
    return BertExporter(config, weights).model(name)


def serialise(model: onnx.ModelProto) -> bytes:
    """The bytes of a model; equal models give equal bytes."""
    return model.SerializeToString(deterministic=True)
