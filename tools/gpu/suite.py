#!/usr/bin/env python3
"""Everything that needs a GPU, run on a machine that has CUDA 13 and PyTorch and nothing of ours but prebuilt programs.

A part is a file; it checks before it times, prints tables and gives JSON:

  tasks       every task on the device against the CPU executor (gpu_tasks_test)
  ops         every op case against its reference in each precision (gpu_ops_test)
  models      BERT, ResNet-50 and MiniLM of seeded weights against PyTorch, answers and times
  equal       PP-OCR, Silero VAD, MiniLM and Magika on the GPU against our CPU backend; what ran on the host and why
  ocr         the PP-OCR nets against the same graphs in PyTorch
  jitter      ResNet-50 ten thousand times: p99 over p50, host time of an inference
  branches    branches on 1, 2 and 4 streams: equal bits, and times
  batch_bits  rows of a batch have the bits that they have alone
  flat        engines and sessions come and go ten thousand times, memory stays flat (gpu_flat)
  sanitizer   kernels under compute-sanitizer, where it works on the machine

  suite.py --bin FOLDER --out FOLDER [--models-dir FOLDER] [--parts tasks,ops,models] [--models bert,resnet,minilm]

A part that raises fails the suite; the others still run. suite.json in the --out folder holds all figures.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import math
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "models")]

from tilewright import Suite, Tilewright  # noqa: E402  (after the path)

# Part: the function that runs it. Loaded when asked for, since some need packages that others do without.
PARTS = {
    "tasks": "shards:check_tasks",
    "ops": "shards:check_ops",
    "models": "networks:measure_models",
    "equal": "equal:check_equal",
    "ocr": "ocr:measure_ocr",
    "jitter": "jitter:measure_jitter",
    "branches": "branches:measure_branches",
    "batch_bits": "batch_bits:check_batch_bits",
    "flat": "flat:check_flat",
    "sanitizer": "sanitizer:check_sanitizer",
}
KEYS = {"models": "rows"}  # where a part's figures stand in suite.json, when not under its name


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True, help="the folder of tilewright, gpu_tasks_test ...")
    parser.add_argument("--out", type=Path, required=True, help="reports and suite.json go here")
    parser.add_argument("--models-dir", type=Path, default=HERE.parents[1] / "models", help="ppocr/, silero/ ...")
    parser.add_argument("--parts", default="tasks,ops,models", help=", ".join(PARTS) + "; or all")
    parser.add_argument("--models", default="bert,resnet,minilm")
    parser.add_argument("--peers", default="eager,reduce-overhead")
    parser.add_argument("--precision", default="fp16")
    parser.add_argument("--bert-sizes", default="1x128,1x512,32x128")
    parser.add_argument("--resnet-batches", default="1,128")
    parser.add_argument("--equal", default="", help="only these models: det,rec,cls,silero,minilm,magika")
    parser.add_argument("--ocr-peers", default="eager,reduce-overhead,max-autotune")
    parser.add_argument("--flat-cycles", type=int, default=10000)
    options = parser.parse_args()
    options.parts = list(PARTS) if options.parts == "all" else [p for p in options.parts.split(",") if p]
    if unknown := [p for p in options.parts if p not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    return options


def describe_machine() -> dict[str, object]:
    """The device and PyTorch, where they are here."""
    try:
        import torch

        return {
            "device": torch.cuda.get_device_name(0),
            "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version(),
        }
    except Exception as error:
        return {"device": f"unknown: {error}"}


def run_part(part: str, suite: Suite) -> object:
    """Its figures, or None when it raises."""
    module, function = PARTS[part].split(":")
    try:
        return getattr(importlib.import_module(module), function)(suite)
    except Exception as error:
        traceback.print_exc()
        suite.check(False, f"{part}: {type(error).__name__}: {error}")
        return None


def finite(value: object) -> object:
    """The same without what JSON has no words for."""
    if isinstance(value, dict):
        return {str(k): finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main() -> int:
    """Runs the parts that were asked for, in their order."""
    options = parse_arguments()
    work = Path("/tmp/tilewright_suite")
    work.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    suite = Suite(Tilewright(options.bin.resolve(), work), options.out, options.models_dir, options)
    result: dict[str, object] = {
        "schema_version": 1,
        "date": datetime.date.today().isoformat(),
        "version": suite.ours.call("--version").strip(),
        "seconds": {},
    }
    for part in options.parts:
        print(f"== {part}", flush=True)
        begin = time.time()
        figures = run_part(part, suite)
        seconds = round(time.time() - begin, 1)
        print(f"== {part}: {seconds:.0f} s", flush=True)
        result[KEYS.get(part, part)] = figures
        result["seconds"][part] = seconds
        if part not in ("tasks", "ops"):
            result |= describe_machine()
        result["failures"] = suite.failures
        # After every part: a run that is cut short leaves what it has.
        (options.out / "suite.json").write_text(json.dumps(finite(result), indent=1) + "\n")
    for sentence in suite.failures:
        print(f"FAILED {sentence}")
    print(f"{len(options.parts)} parts in {sum(result['seconds'].values()):.0f} s, {len(suite.failures)} failures")
    return 1 if suite.failures else 0


if __name__ == "__main__":
    sys.exit(main())
