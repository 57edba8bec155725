"""Part `models`: encoders and ResNet-50 of seeded weights, the same weights in ours and in PyTorch."""

from __future__ import annotations

import copy
import functools
from pathlib import Path

import numpy as np
from bert_graph import MINILM_L6, BertConfig, build_model, random_weights, serialise
from peers import Row, peer_times, relative_error, row_of
from tilewright import Arrays, Suite

BERT_BASE = BertConfig(vocab=30522, hidden=768, layers=12, heads=12, intermediate=3072)
BERT_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


@functools.cache
def bert_onnx(work: Path, name: str) -> tuple[BertConfig, Arrays, Path]:
    """'bert' (base, no pooling) or 'minilm': configuration, weights and the file of its graph."""
    config = MINILM_L6 if name == "minilm" else BERT_BASE
    weights = random_weights(config, 5)
    graph = build_model(config, weights, name)
    if name == "bert":  # the peer has no pooling either
        del graph.graph.output[1]
    model = work / f"{name}.onnx"
    model.write_bytes(serialise(graph))
    return config, weights, model


def bert_shapes(batch: int | str, length: int | str) -> str:
    """The value of --shapes for an encoder; letters keep a size open."""
    return ",".join(f"{name}:{batch}x{length}" for name in BERT_INPUTS)


@functools.cache
def resnet_onnx(work: Path) -> tuple[object, Path]:
    """torchvision's ResNet-50 with seeded weights on the CPU, and the file of its graph (input x, output y)."""
    import torch
    import torchvision

    torch.manual_seed(3)
    module = torchvision.models.resnet50().eval()
    for layer in module.modules():  # statistics of a trained net are not 0 and 1
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.running_mean.normal_(0, 0.1)
            layer.running_var.uniform_(0.8, 1.2)
            layer.weight.data.uniform_(0.5, 0.9)
    model = work / "resnet50.onnx"
    torch.onnx.export(
        module,
        (torch.randn(1, 3, 224, 224),),
        str(model),
        input_names=["x"],
        output_names=["y"],
        dynamic_axes={"x": {0: "n"}, "y": {0: "n"}},
        dynamo=False,
    )
    return module, model


def resnet_input(batch: int) -> np.ndarray:
    """Normal pixels, the same every time."""
    return np.random.default_rng(2).standard_normal((batch, 3, 224, 224)).astype(np.float32)


def lowered(module: object, precision: str) -> object:
    """A copy in fp16 or bf16; the module itself stays exact."""
    copied = copy.deepcopy(module)
    return copied.half() if precision == "fp16" else copied.bfloat16()


def bert_cases(suite: Suite, name: str, precision: str, modes: list[str], sizes: list[tuple]) -> list[Row]:
    """An encoder at each batch and length, against transformers."""
    import torch
    from transformers import BertConfig as TheirConfig
    from transformers import BertModel

    ours = suite.ours
    config, weights, model = bert_onnx(ours.work, name)
    exact = BertModel(
        TheirConfig(
            hidden_size=config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.intermediate,
            vocab_size=config.vocab,
            attn_implementation="sdpa",
        ),
        add_pooling_layer=False,
    ).eval()
    exact.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()}, strict=False)
    exact = exact.cuda().float()
    low = lowered(exact, precision)
    rows = []
    for batch, length in sizes:
        ids = np.random.default_rng(1).integers(0, 30000, (batch, length))
        mask = np.ones_like(ids)
        tokens = torch.from_numpy(ids).cuda()
        with torch.no_grad():
            want = exact(tokens, torch.from_numpy(mask).cuda()).last_hidden_state.cpu().numpy()
        plan = ours.build(model, precision, bert_shapes(batch, length))
        inputs = dict(zip(BERT_INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))
        error = relative_error(ours.run(plan, inputs)["last_hidden_state"], want)
        figures = ours.bench(plan, inputs, suite.out / f"{name}_b{batch}_s{length}_{precision}.txt")
        with torch.no_grad():
            peer_error = relative_error(low(tokens).last_hidden_state.float().cpu().numpy(), want)
            peers = peer_times(low, (tokens,), modes)
        rows.append(row_of(f"{name} b{batch} s{length}", precision, figures, error, peer_error, peers))
    return rows


def resnet_cases(suite: Suite, precision: str, modes: list[str], batches: list[int]) -> list[Row]:
    """ResNet-50 at each batch, against torchvision."""
    import torch

    ours = suite.ours
    module, model = resnet_onnx(ours.work)
    exact = copy.deepcopy(module).cuda()
    low = lowered(exact, precision).to(memory_format=torch.channels_last)
    rows = []
    for batch in batches:
        x = resnet_input(batch)
        with torch.no_grad():
            want = exact(torch.from_numpy(x).cuda()).cpu().numpy()
        plan = ours.build(model, precision, f"x:{batch}x3x224x224")
        error = relative_error(ours.run(plan, {"x": x})["y"], want)
        figures = ours.bench(plan, {"x": x}, suite.out / f"resnet50_b{batch}_{precision}.txt")
        given = torch.from_numpy(x).cuda().to(next(low.parameters()).dtype).to(memory_format=torch.channels_last)
        with torch.no_grad():
            peer_error = relative_error(low(given).float().cpu().numpy(), want)
            peers = peer_times(low, (given,), modes)
        rows.append(row_of(f"resnet50 b{batch}", precision, figures, error, peer_error, peers))
    return rows


def measure_models(suite: Suite) -> list[dict]:
    """The rows of the models that were asked for; one that fails leaves the others be."""
    options = suite.options
    modes = [m for m in options.peers.split(",") if m]
    sizes = [tuple(int(v) for v in s.split("x")) for s in options.bert_sizes.split(",")]
    rows: list[Row] = []
    for name in options.models.split(","):
        try:
            if name == "resnet":
                batches = [int(b) for b in options.resnet_batches.split(",")]
                rows += resnet_cases(suite, options.precision, modes, batches)
            else:
                rows += bert_cases(suite, name, options.precision, modes, [(1, 128)] if name == "minilm" else sizes)
        except Exception as error:
            suite.check(False, f"models {name}: {error}")
    return [row.figures() for row in rows]
