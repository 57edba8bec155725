"""How far two float32 runs of a model may lie apart, from the model itself.

    bound = eps * sqrt(K * L) * sqrt(2 ln n) * size

eps: the machine epsilon of the output's dtype. K: the longest sum in the model, read off its weights. L: how many
matmuls, convolutions, recurrences, norms and reductions lie one behind the other on the longest path. Rounding
errors have random signs, so a sum of K products is off by about eps * sqrt(K) of its size, and L such errors,
which normalised networks pass on without growth, add up to sqrt(L) of one. n: the number of elements; the largest
of n such errors is about sqrt(2 ln n) times the usual one. size: the largest |reference|, and at least 1 for what
a sigmoid or softmax yields, since these round to eps of their range. Integers and booleans must be equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

SUMS_OVER_WEIGHTS = {"MatMul", "Gemm", "Conv", "ConvTranspose", "LSTM", "GRU", "RNN"}
SUMS = SUMS_OVER_WEIGHTS | {
    "LayerNormalization", "BatchNormalization", "InstanceNormalization", "Softmax", "ReduceSum", "ReduceMean",
    "ReduceL2", "GlobalAveragePool", "AveragePool",
}  # fmt: skip


SHARES = {"Sigmoid", "HardSigmoid", "Softmax"}
SAME_VALUES = {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Concat", "ReduceMean", "Cast", "Slice"}


@dataclass(frozen=True)
class Sums:
    """K and L of a model, and the outputs that lie between 0 and 1 by construction."""

    longest: int
    depth: int
    shares: frozenset[str]

    def bound(self, name: str, reference: np.ndarray) -> float:
        """The largest difference that rounding explains; 0 for integers."""
        if reference.dtype.kind != "f" or reference.size == 0:
            return 0.0
        size = float(np.abs(np.nan_to_num(reference.astype(np.float64))).max())
        if name in self.shares:
            size = max(size, 1.0)
        usual = float(np.finfo(reference.dtype).eps) * math.sqrt(self.longest * self.depth) * size
        return usual * math.sqrt(2 * math.log(max(reference.size, 2)))


def _length(kind: str, shape: tuple[int, ...]) -> int:
    """How many products a sum over a weight of this shape has."""
    if kind in ("Conv", "LSTM", "GRU", "RNN"):
        return math.prod(shape[1:]) if kind == "Conv" else shape[-1]
    if kind == "ConvTranspose":
        return shape[0]
    return max(shape[-2:]) if len(shape) >= 2 else 1


class _Walk:
    """Follows a graph and its subgraphs in order."""

    def __init__(self) -> None:
        self.longest = 1
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.depths: dict[str, int] = {}
        self.shares: set[str] = set()

    def graph(self, graph: onnx.GraphProto) -> int:
        """The depth of a graph's deepest output."""
        self.shapes |= {w.name: tuple(w.dims) for w in graph.initializer}
        deepest = max((self.node(node) for node in graph.node), default=0)
        return max([deepest, *(self.depths.get(v.name, 0) for v in graph.output)])

    def node(self, node: onnx.NodeProto) -> int:
        """The depth at a node's outputs."""
        depth = max((self.depths.get(name, 0) for name in node.input), default=0)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                depth = max(depth, self.graph(attribute.g))
                inner = zip(node.output, attribute.g.output, strict=False)
                self.shares |= {outer for outer, value in inner if value.name in self.shares}
            if node.op_type == "Constant" and attribute.name == "value":
                self.shapes[node.output[0]] = numpy_helper.to_array(attribute.t).shape
        if node.op_type in SUMS_OVER_WEIGHTS:
            weights = [self.shapes[name] for name in node.input[1:3] if len(self.shapes.get(name, ())) >= 2]
            self.longest = max([self.longest, *(_length(node.op_type, shape) for shape in weights)])
        if node.op_type in SHARES or (node.op_type in SAME_VALUES and node.input and node.input[0] in self.shares):
            self.shares |= set(node.output)
        depth += node.op_type in SUMS
        self.depths |= dict.fromkeys(node.output, depth)
        return depth


def sums_of(model: Path) -> Sums:
    """What a model file says of its rounding."""
    walk = _Walk()
    depth = walk.graph(onnx.load(model).graph)
    return Sums(walk.longest, max(depth, 1), frozenset(walk.shares))


@dataclass(frozen=True)
class Verdict:
    """How one output compares."""

    difference: float
    bound: float
    note: str = ""

    @property
    def ok(self) -> bool:
        """Within the bound, and of the right dtype and shape."""
        return not self.note and self.difference <= self.bound


def judge(name: str, found: np.ndarray, reference: np.ndarray, sums: Sums) -> Verdict:
    """Compares an output with onnxruntime's. A NaN or infinity must stand where the reference has the same."""
    bound = sums.bound(name, reference)
    if found.dtype != reference.dtype or found.shape != reference.shape:
        wanted = f"{reference.dtype}{list(reference.shape)}"
        return Verdict(math.inf, bound, f"expected {wanted}, found {found.dtype}{list(found.shape)}")
    if reference.size == 0:
        return Verdict(0.0, bound)
    a, b = found.astype(np.float64), reference.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return Verdict(math.inf, bound, "not finite at the same places")
    return Verdict(float(np.abs(a - b)[finite].max(initial=0.0)), bound)
