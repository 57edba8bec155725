#!/usr/bin/env python3
"""Writes models/resnet50/resnet50.onnx: the graph of ResNet-50 (v1.5) with random weights, equal for equal seeds.

Input x: float32 [batch, 3, 224, 224]; output logits: float32 [batch, 1000]. Weights are He-normal, and each batch
normalisation has about the statistics that its input would show, so that activations keep their size over 50 layers.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from bert_graph import serialise
from export_minilm import ROOT, write
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
EXPANSION = 4  # a bottleneck's last convolution is this much wider than its first
BRANCH_GAIN = 0.5  # what a residual branch adds to values of about 1


@dataclass(frozen=True)
class ResNetConfig:
    """Sizes; the defaults are ResNet-50's."""

    width: int = 64
    blocks: tuple[int, ...] = (3, 4, 6, 3)
    pixels: int = 224
    classes: int = 1000


TINY = ResNetConfig(width=8, blocks=(1, 2), pixels=33, classes=10)


class ResNetWriter:
    """Appends nodes and weights. A value is its name and channels; `power` is its mean square, as weights make it."""

    def __init__(self, config: ResNetConfig, seed: int) -> None:
        self.config = config
        self.random = np.random.Generator(np.random.PCG64(seed))
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, value: np.ndarray) -> str:
        """A named initialiser."""
        self.weights.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def op(self, kind: str, inputs: list[str], name: str, **attributes: int | list[int]) -> str:
        """A node whose one output has its name."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def conv_norm(self, x: str, power: float, sizes: tuple[int, int, int, int], name: str, gain: float = 1.0) -> str:
        """Convolution (channels in, out, kernel, stride) and batch normalisation to mean square `gain` squared."""
        n_in, n_out, kernel, stride = sizes
        normal, uniform = self.random.standard_normal, self.random.uniform
        filters = normal((n_out, n_in, kernel, kernel)) * np.sqrt(2 / (n_in * kernel * kernel))
        pad = kernel // 2
        conv = self.op(
            "Conv",
            [x, self.weight(f"{name}.weight", filters)],
            f"{name}/conv",
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[pad, pad, pad, pad],
        )
        variance = 2 * power * uniform(0.8, 1.25, n_out)
        statistics = {
            "gamma": gain * uniform(0.8, 1.2, n_out),
            "beta": 0.1 * gain * normal(n_out),
            "mean": 0.1 * np.sqrt(variance) * normal(n_out),
            "var": variance,
        }
        return self.op(
            "BatchNormalization",
            [conv, *(self.weight(f"{name}.norm.{part}", value) for part, value in statistics.items())],
            f"{name}/norm",
        )

    def bottleneck(self, x: str, power: float, sizes: tuple[int, int, int], name: str) -> tuple[str, float]:
        """One residual block (channels in, width, stride) and the mean square of what it gives."""
        n_in, width, stride = sizes
        n_out = EXPANSION * width
        y = self.op("Relu", [self.conv_norm(x, power, (n_in, width, 1, 1), f"{name}.1")], f"{name}.1/relu")
        y = self.op("Relu", [self.conv_norm(y, 0.5, (width, width, 3, stride), f"{name}.2")], f"{name}.2/relu")
        y = self.conv_norm(y, 0.5, (width, n_out, 1, 1), f"{name}.3", gain=BRANCH_GAIN)
        added = BRANCH_GAIN**2
        if n_in != n_out or stride != 1:
            x = self.conv_norm(x, power, (n_in, n_out, 1, stride), f"{name}.shortcut")
            power = (1 + added) / 2  # Relu takes half of what has both signs
        else:
            power += added / 2  # x has no negative values
        return self.op("Relu", [self.op("Add", [y, x], f"{name}/sum")], f"{name}/relu"), power

    def model(self) -> onnx.ModelProto:
        """The whole network."""
        config = self.config
        x = self.op("Relu", [self.conv_norm("x", 1.0, (3, config.width, 7, 2), "stem")], "stem/relu")
        x = self.op("MaxPool", [x], "stem/pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        channels, power = config.width, 1.0
        for stage, blocks in enumerate(config.blocks):
            width = config.width << stage
            for block in range(blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                x, power = self.bottleneck(x, power, (channels, width, stride), f"stage{stage + 1}.{block}")
                channels = EXPANSION * width
        x = self.op("Flatten", [self.op("GlobalAveragePool", [x], "head/pool")], "head/flatten", axis=1)
        matrix = self.random.standard_normal((config.classes, channels)) * np.sqrt(1 / channels)
        bias = 0.1 * self.random.standard_normal(config.classes)
        self.op("Gemm", [x, self.weight("head.weight", matrix), self.weight("head.bias", bias)], "logits", transB=1)
        image = ["batch", 3, config.pixels, config.pixels]
        graph = helper.make_graph(
            self.nodes,
            "resnet50",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, image)],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", config.classes])],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR_VERSION
        return model


def build_model(config: ResNetConfig = ResNetConfig(), seed: int = 1) -> onnx.ModelProto:
    """The ONNX model."""
    return ResNetWriter(config, seed).model()


def main() -> int:
    """Writes the model and says its size and hash."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "models" / "resnet50" / "resnet50.onnx")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model = build_model(seed=options.seed)
    data = serialise(model)
    write(data, options.output)
    digest = hashlib.sha256(data).hexdigest()
    print(f"  {options.output.name}: {len(model.graph.node)} nodes, {len(data)} bytes, sha256 {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
