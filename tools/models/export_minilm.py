#!/usr/bin/env python3
"""Writes models/minilm/model.onnx from the safetensors of all-MiniLM-L6-v2, or a tiny model of random weights.

Inputs input_ids, attention_mask, token_type_ids: int64 [batch, sequence]. Outputs last_hidden_state
[batch, sequence, hidden] and sentence_embedding [batch, hidden] (mean over the mask, L2 norm 1).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

import onnx
from bert_graph import MINILM_L6, TINY, BertConfig, build_model, random_weights, serialise
from safetensors.numpy import load_file

ROOT = Path(__file__).resolve().parents[2]
MINILM = ROOT / "models" / "minilm"


def read_config(folder: Path) -> BertConfig:
    """The sizes in config.json; refuses what the graph writer does not express."""
    config = json.loads((folder / "config.json").read_text())
    pooling = json.loads((folder / "pooling.json").read_text())
    if config["hidden_act"] != "gelu" or config["position_embedding_type"] != "absolute":
        raise ValueError("config.json: expected hidden_act gelu and absolute positions")
    if not pooling["pooling_mode_mean_tokens"]:
        raise ValueError("pooling.json: expected mean pooling")
    return BertConfig(
        vocab=config["vocab_size"],
        hidden=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        intermediate=config["intermediate_size"],
        positions=config["max_position_embeddings"],
        token_types=config["type_vocab_size"],
        eps=config["layer_norm_eps"],
    )


def export_minilm(folder: Path = MINILM) -> onnx.ModelProto:
    """The model of the fetched weights."""
    config = read_config(folder)
    if config != MINILM_L6:
        raise ValueError(f"config.json: expected {MINILM_L6}, found {config}")
    return build_model(config, load_file(folder / "model.safetensors"), "minilm")


def tiny_model(config: BertConfig = TINY, seed: int = 1) -> onnx.ModelProto:
    """A model of the same graph with random weights: for tests that download nothing."""
    return build_model(config, random_weights(config, seed), "tiny_bert")


def write(data: bytes, path: Path) -> None:
    """Writes a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_bytes(data)
    os.replace(partial, path)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, help="default: models/minilm/model.onnx")
    parser.add_argument("--tiny", action="store_true", help="random weights; sizes by the options below")
    parser.add_argument("--seed", type=int, default=1)
    for field in ("vocab", "hidden", "layers", "heads", "intermediate", "positions"):
        parser.add_argument(f"--{field}", type=int, default=getattr(TINY, field))
    options = parser.parse_args()
    if options.tiny and options.output is None:
        parser.error("--tiny needs --output")
    return options


def main() -> int:
    """Exports one model and says its size and hash."""
    options = parse_arguments()
    if options.tiny:
        config = BertConfig(
            options.vocab, options.hidden, options.layers, options.heads, options.intermediate, options.positions
        )
        model = tiny_model(config, options.seed)
    else:
        model = export_minilm()
    data = serialise(model)
    path = options.output or MINILM / "model.onnx"
    write(data, path)
    print(f"  {path.name}: {len(model.graph.node)} nodes, {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
