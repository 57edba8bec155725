"""The torch functions that ONNX's operators are, for onnx_torch.py: those that the nets of PP-OCR use, and Gemm."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

import onnx
import torch
import torch.nn.functional as F
from torch import fx

if TYPE_CHECKING:
    from onnx_torch import Reader


def _clip(reader: Reader, node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """Bounds are constants."""
    bounds = [reader.operand(n) if n else None for n in node.input[1:]] or [attr.get("min"), attr.get("max")]
    return reader.call(torch.clamp, x, *bounds)


def _hardsigmoid(reader: Reader, _node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """PyTorch's own has a slope of one sixth."""
    slope, middle = attr.get("alpha", 0.2), attr.get("beta", 0.5)
    if math.isclose(slope, 1 / 6, rel_tol=1e-5) and middle == 0.5:
        return reader.call(F.hardsigmoid, x)
    scaled = reader.call(operator.add, reader.call(operator.mul, x, slope), middle)
    return reader.call(torch.clamp, scaled, 0.0, 1.0)


def _globalaveragepool(reader: Reader, _node: onnx.NodeProto, _attr: dict, x: fx.Node) -> fx.Node:
    """Over height and width."""
    return reader.call(F.adaptive_avg_pool2d, x, 1)


def _pool(reader: Reader, function: Callable, attr: dict, x: fx.Node, **more: object) -> fx.Node:
    """Windows with the same padding on both sides."""
    pads, kernel = attr.get("pads", [0, 0, 0, 0]), attr["kernel_shape"]
    if pads[:2] != pads[2:] or attr.get("auto_pad", "NOTSET") != "NOTSET":
        raise NotImplementedError(f"a pool with pads {pads}")
    strides = tuple(attr.get("strides", (1, 1)))
    ceil = bool(attr.get("ceil_mode", 0))
    return reader.call(function, x, tuple(kernel), stride=strides, padding=tuple(pads[:2]), ceil_mode=ceil, **more)


def _averagepool(reader: Reader, _node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """Means of windows."""
    return _pool(reader, F.avg_pool2d, attr, x, count_include_pad=bool(attr.get("count_include_pad", 0)))


def _maxpool(reader: Reader, _node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """Largest of windows."""
    return _pool(reader, F.max_pool2d, attr, x, dilation=tuple(attr.get("dilations", (1, 1))))


def _resize(reader: Reader, node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """Nearest, floor(i / scale): what PyTorch calls nearest."""
    how = (attr.get("mode"), attr.get("coordinate_transformation_mode"), attr.get("nearest_mode"))
    if how != ("nearest", "asymmetric", "floor"):
        raise NotImplementedError(f"node '{node.name}': a resize by {how}")
    sizes = reader.ints(node, 3)
    if sizes is None:
        scales = reader.constants[node.input[2]]
        sizes = [math.floor(d * float(s)) for d, s in zip(reader.sizes(x), scales, strict=True)]
    return reader.call(F.interpolate, x, size=tuple(sizes[2:]), mode="nearest")


def _concat(reader: Reader, node: onnx.NodeProto, attr: dict, _x: fx.Node) -> fx.Node:
    """Of tensors."""
    return reader.call(torch.cat, [reader.operand(n) for n in node.input], attr["axis"])


def _slice(reader: Reader, node: onnx.NodeProto, _attr: dict, x: fx.Node) -> fx.Node:
    """Starts, ends, axes and steps are constants."""
    starts, ends = reader.ints(node, 1, "starts"), reader.ints(node, 2, "ends")
    axes = reader.ints(node, 3, "axes") or list(range(len(starts)))
    steps = reader.ints(node, 4) or [1] * len(starts)
    window = [slice(None)] * len(reader.sizes(x))
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        window[axis] = slice(start, end, step)
    return reader.call(operator.getitem, x, tuple(window))


def _reshape(reader: Reader, node: onnx.NodeProto, _attr: dict, x: fx.Node) -> fx.Node:
    """0 keeps a size."""
    wanted = [reader.sizes(x)[i] if d == 0 else d for i, d in enumerate(reader.ints(node, 1))]
    return reader.call(torch.reshape, x, tuple(wanted))


def _transpose(reader: Reader, _node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """A view."""
    return reader.call(torch.permute, x, tuple(attr.get("perm") or reversed(range(len(reader.sizes(x))))))


def _squeeze(reader: Reader, node: onnx.NodeProto, _attr: dict, x: fx.Node) -> fx.Node:
    """As a reshape, since sizes are known."""
    sizes = reader.sizes(x)
    axes = reader.ints(node, 1, "axes") or [i for i, d in enumerate(sizes) if d == 1]
    gone = {a % len(sizes) for a in axes}
    return reader.call(torch.reshape, x, tuple(d for i, d in enumerate(sizes) if i not in gone))


def _reducemean(reader: Reader, node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """Over the given axes."""
    axes = reader.ints(node, 1, "axes") or list(range(len(reader.sizes(x))))
    return reader.call(torch.mean, x, tuple(axes), bool(attr.get("keepdims", 1)))


def _softmax(reader: Reader, node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """Over the last axis, where opsets before 13 mean the same."""
    axis, rank = attr.get("axis", -1 if reader.opset >= 13 else 1), len(reader.sizes(x))
    if reader.opset < 13 and axis % rank != rank - 1:
        raise NotImplementedError(f"node '{node.name}': a softmax over axis {axis} of {rank} before opset 13")
    return reader.call(torch.softmax, x, axis)


def _gemm(reader: Reader, node: onnx.NodeProto, attr: dict, x: fx.Node) -> fx.Node:
    """Bias + alpha * a * b."""
    a = reader.call(torch.t, x) if attr.get("transA") else x
    b = reader.operand(node.input[1])
    b = reader.call(torch.t, b) if attr.get("transB") else b
    made = reader.call(torch.matmul, a, b)
    if attr.get("alpha", 1.0) != 1.0:
        made = reader.call(operator.mul, made, attr["alpha"])
    if len(node.input) < 3:
        return made
    return reader.call(torch.add, made, reader.operand(node.input[2]), alpha=attr.get("beta", 1.0))


# A call of the operator's inputs as they are.
BINARY = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mul": operator.mul,
    "Div": operator.truediv,
    "Pow": operator.pow,
    "MatMul": torch.matmul,
}
UNARY = {"Relu": F.relu, "Sigmoid": torch.sigmoid, "Sqrt": torch.sqrt, "Exp": torch.exp}
# What needs attributes or constants: (reader, node, attributes, first input) -> result.
CALLS: dict[str, Callable[[Reader, onnx.NodeProto, dict, fx.Node], fx.Node]] = {
    "Clip": _clip,
    "HardSigmoid": _hardsigmoid,
    "GlobalAveragePool": _globalaveragepool,
    "AveragePool": _averagepool,
    "MaxPool": _maxpool,
    "Resize": _resize,
    "Concat": _concat,
    "Slice": _slice,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Squeeze": _squeeze,
    "ReduceMean": _reducemean,
    "Softmax": _softmax,
    "Gemm": _gemm,
}
