"""An ONNX graph as a PyTorch module for one set of input sizes, so that PyTorch's compilers can be the peer.

The graph is read once. Constants and all arithmetic on shapes are worked out then, in Python; what is left are calls of
torch functions on tensors, kept as a torch.fx graph, which torch.compile traces without a break and which prints as
code (`module.code`). As engineers do before they serve a net, batch norms and factors and offsets of a channel behind a
convolution are folded into its weights. Weights are parameters: .half(), .cuda() and memory formats work as ever.

  onnx_torch.py MODEL.onnx x=1x3x48x320    compares with onnxruntime on the CPU, prints how many calls are left
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_calls import BINARY, CALLS, UNARY
from torch import fx, nn

Sizes = tuple[int, ...]
Operand = fx.Node | float


def attributes(node: onnx.NodeProto) -> dict[str, object]:
    """The attributes by name, strings as str."""
    values = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in values.items()}


class Reader:
    """Turns the nodes of one graph into calls, in order."""

    def __init__(self, model: onnx.ModelProto, sizes: dict[str, Sizes]) -> None:
        self.model, self.opset = model, model.opset_import[0].version
        self.root, self.graph = nn.Module(), fx.Graph()
        self.constants = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
        self.values: dict[str, fx.Node] = {}
        self.samples: dict[fx.Node, torch.Tensor] = {}  # what a node gives for inputs of zeros: its sizes
        self.absorbed: set[str] = set()  # results that went into a convolution's weights
        self.consumers: dict[str, list[onnx.NodeProto]] = {}
        for node in model.graph.node:
            for name in node.input:
                self.consumers.setdefault(name, []).append(node)
        for output in model.graph.output:
            self.consumers.setdefault(output.name, []).append(onnx.NodeProto())
        for value in model.graph.input:
            if value.name in self.constants:
                continue
            self.values[value.name] = self.graph.placeholder(value.name)
            self.samples[self.values[value.name]] = torch.zeros(sizes[value.name])

    def module(self) -> fx.GraphModule:
        """The whole graph."""
        for node in self.model.graph.node:
            self.fold(node)
        with torch.no_grad():
            for node in self.model.graph.node:
                name = node.output[0]
                if name in self.values or name in self.absorbed or self.fold(node):
                    continue
                made = self.translate(node)
                if name not in self.absorbed:
                    self.values[name] = made
        results = tuple(self.values[o.name] for o in self.model.graph.output)
        self.graph.output(results[0] if len(results) == 1 else results)
        self.graph.eliminate_dead_code()
        self.graph.lint()
        return fx.GraphModule(self.root, self.graph).eval()

    # Constants.

    def fold(self, node: onnx.NodeProto) -> bool:
        """Works the node out when it depends on no input's elements; whether its results are constants."""
        if node.output[0] in self.constants:
            return True
        if node.op_type == "Shape" and node.input[0] in self.values:
            self.constants[node.output[0]] = np.array(self.sizes(self.values[node.input[0]]), np.int64)
            return True
        names = [n for n in node.input if n]
        if not all(n in self.constants for n in names):
            return False
        infos = [helper.make_empty_tensor_value_info(n) for n in dict.fromkeys(names)]
        graph = helper.make_graph([node], "one", infos, [helper.make_empty_tensor_value_info(n) for n in node.output])
        one = ReferenceEvaluator(helper.make_model(graph, opset_imports=self.model.opset_import))
        found = one.run(None, {n: self.constants[n] for n in names})
        self.constants.update(zip(node.output, (np.asarray(v) for v in found), strict=True))
        return True

    def ints(self, node: onnx.NodeProto, i: int, attribute: str = "") -> list[int] | None:
        """Input i as Python ints, in older opsets an attribute; None when left out."""
        if len(node.input) > i and node.input[i]:
            return [int(v) for v in self.constants[node.input[i]].reshape(-1)]
        return attributes(node).get(attribute)

    def parameter(self, name: str, value: np.ndarray) -> fx.Node:
        """The array as a weight of the module."""
        target = "w_" + "".join(c if c.isalnum() else "_" for c in name)
        if not hasattr(self.root, target):
            tensor = torch.from_numpy(np.array(value, np.float32))
            self.root.register_parameter(target, nn.Parameter(tensor, requires_grad=False))
        node = self.graph.get_attr(target)
        self.samples[node] = getattr(self.root, target)
        return node

    def operand(self, name: str) -> Operand:
        """A tensor, or a number where the constant is one."""
        if name in self.values:
            return self.values[name]
        value = self.constants[name]
        return float(value.reshape(-1)[0]) if value.size == 1 and value.ndim <= 1 else self.parameter(name, value)

    # Calls.

    def sizes(self, node: fx.Node) -> Sizes:
        """The sizes of what the node gives."""
        return tuple(self.samples[node].shape)

    def call(self, function: Callable, *args: object, **kwargs: object) -> fx.Node:
        """Appends a call, and makes it once to know its sizes."""
        node = self.graph.call_function(function, args, kwargs)
        known = fx.node.map_arg((args, kwargs), lambda n: self.samples[n])
        self.samples[node] = function(*known[0], **known[1])
        return node

    def translate(self, node: onnx.NodeProto) -> fx.Node:
        """The call or calls for a node."""
        kind, attr = node.op_type, attributes(node)
        if kind in ("Conv", "ConvTranspose"):
            return self.convolution(node, attr)
        if kind in BINARY:
            return self.call(BINARY[kind], *(self.operand(n) for n in node.input))
        x = self.operand(node.input[0])
        if kind in UNARY:
            return self.call(UNARY[kind], x)
        if kind in ("Identity", "Cast"):  # casts of tensors are between floats
            return x
        if kind not in CALLS:
            raise NotImplementedError(f"node '{node.name}': no torch function for {kind}")
        return CALLS[kind](self, node, attr, x)

    def convolution(self, node: onnx.NodeProto, attr: dict) -> fx.Node:
        """The convolution with what scales and shifts its channels; names of folded results point to it."""
        weight = self.constants[node.input[1]].astype(np.float64)
        transposed = node.op_type == "ConvTranspose"
        groups = attr.get("group", 1)
        channels = weight.shape[1] * groups if transposed else weight.shape[0]
        bias = np.zeros(channels)
        if len(node.input) > 2:
            bias = bias + self.constants[node.input[2]]
        result, has_bias = node.output[0], len(node.input) > 2
        along = (1, -1, 1, 1) if transposed else (-1, 1, 1, 1)
        while not (transposed and groups > 1) and (affine := self.affine_behind(result, channels)):
            self.absorbed.add(result)
            result, factor, offset = affine
            weight, bias, has_bias = weight * factor.reshape(along), bias * factor + offset, True
        pads = attr.get("pads", [0, 0, 0, 0])
        x, padding = self.values[node.input[0]], tuple(pads[:2])
        if pads[:2] != pads[2:]:
            x, padding = self.call(F.pad, x, (pads[1], pads[3], pads[0], pads[2])), (0, 0)
        made = self.call(
            F.conv_transpose2d if transposed else F.conv2d,
            x,
            self.parameter(node.output[0] + ".weight", weight),
            self.parameter(node.output[0] + ".bias", bias) if has_bias else None,
            stride=tuple(attr.get("strides", (1, 1))),
            padding=padding,
            dilation=tuple(attr.get("dilations", (1, 1))),
            groups=groups,
        )
        self.values[result] = made
        return made

    def affine_behind(self, name: str, channels: int) -> tuple[str, np.ndarray, np.ndarray] | None:
        """The node that alone reads `name`, as its result, a factor and an offset a channel; None when it is none."""
        readers = self.consumers.get(name, [])
        if len(readers) != 1:
            return None
        node = readers[0]
        if node.op_type == "BatchNormalization":
            scale, shift, mean, variance = (self.constants[n].astype(np.float64) for n in node.input[1:5])
            factor = scale / np.sqrt(variance + attributes(node).get("epsilon", 1e-5))
            return node.output[0], factor, shift - mean * factor
        if node.op_type not in ("Mul", "Add"):
            return None
        others = [self.constants[n] for n in node.input if n in self.constants]
        if len(others) != 1:
            return None
        value = others[0].astype(np.float64)
        if value.size != 1 and (value.size != channels or value.ndim < 3 or value.shape[-3] != channels):
            return None
        value = np.broadcast_to(value.reshape(-1), (channels,))
        if node.op_type == "Mul":
            return node.output[0], value, np.zeros(channels)
        return node.output[0], np.ones(channels), value


def torch_module(model: Path, sizes: dict[str, Sizes]) -> fx.GraphModule:
    """The model in the file for inputs of these sizes, in f32 on the CPU."""
    return Reader(onnx.load(model), sizes).module()


def main(words: Iterable[str]) -> None:
    """See the top of the file."""
    import onnxruntime
    from equal_cases import page

    path, *inputs = words
    sizes = {name: tuple(int(d) for d in dims.split("x")) for name, dims in (i.split("=") for i in inputs)}
    module = torch_module(Path(path), sizes)
    given = {name: page(np.random.default_rng(1), dims) for name, dims in sizes.items()}
    want = onnxruntime.InferenceSession(path).run(None, given)[0]
    with torch.no_grad():
        found = module(*(torch.from_numpy(v) for v in given.values())).numpy()
    calls = sum(node.op == "call_function" for node in module.graph.nodes)
    error = np.abs(found - want).max() / np.abs(want).max()
    print(f"{path}: {len(onnx.load(path).graph.node)} nodes, {calls} calls, error {error:.1e}")


if __name__ == "__main__":
    main(sys.argv[1:])
