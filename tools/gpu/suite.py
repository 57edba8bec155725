#!/usr/bin/env python3
"""Everything that needs a GPU, run on a machine that has CUDA 13 and PyTorch and nothing of ours but prebuilt programs.

Checks first: every task on the device against the CPU executor (gpu_tasks_test), every op case against its reference
in each precision (gpu_ops_test), then whole models against PyTorch in f32. Then times: ours and PyTorch's (the peer)
in the same run, on random data, answers checked. Prints tables, writes JSON.

  suite.py --bin FOLDER --out FOLDER [--parts tasks,ops,models] [--models bert,resnet,minilm] [--peers eager]
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))

SHARDS = 12


@dataclass
class Row:
    """One measured case: ours and the best peer, in microseconds of device time."""

    name: str
    precision: str
    ours_us: float
    ours_p99_us: float
    launches: int
    max_error: float
    peer_error: float
    peers_us: dict[str, float] = field(default_factory=dict)

    @property
    def best_peer(self) -> float:
        """The fastest peer's time."""
        return min(self.peers_us.values(), default=float("nan"))

    def __str__(self) -> str:
        peers = ", ".join(f"{k} {v:.1f}" for k, v in self.peers_us.items())
        return (
            f"{self.name:24s} {self.precision}  ours {self.ours_us:8.1f} us (p99 {self.ours_p99_us:.1f}, "
            f"{self.launches} launches)  {self.best_peer / self.ours_us:5.2f}x  [{peers}]  "
            f"error {self.max_error:.2e} (peer {self.peer_error:.2e})"
        )


class Tilewright:
    """The prebuilt program."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.folder, self.work = folder, work

    def call(self, *arguments: str, timeout: int = 300) -> str:
        """Runs a subcommand; its output. Raises with its words when it fails."""
        done = subprocess.run(
            [str(self.folder / "tilewright"), *arguments], capture_output=True, text=True, timeout=timeout
        )
        if done.returncode != 0:
            raise RuntimeError(f"tilewright {arguments[0]}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def build(self, model: Path, precision: str, shapes: str) -> Path:
        """A plan for the GPU."""
        plan = self.work / f"{model.stem}_{shapes.split(',')[0].split(':')[1]}_{precision}.plan"
        options = ["--target", "sm_90", "--precision", precision, "--shapes", shapes]
        options += ["--timing-cache", str(self.work / "timings.txt")]
        begin = time.time()
        self.call("build", str(model), "-o", str(plan), *options)
        print(f"  built {plan.name} in {time.time() - begin:.0f} s", flush=True)
        return plan

    def run(self, plan: Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs by name."""
        arguments, out = [], self.work / "outputs"
        for name, value in inputs.items():
            np.save(self.work / f"{name}.npy", value)
            arguments += ["--input", f"{name}={self.work / name}.npy"]
        self.call("run", str(plan), *arguments, "--output-dir", str(out))
        return {p.stem: np.load(p) for p in out.glob("*.npy")}

    def bench(self, plan: Path, inputs: dict[str, np.ndarray], text: Path) -> dict[str, object]:
        """The figures of `bench`."""
        arguments = []
        for name in inputs:
            arguments += ["--input", f"{name}={self.work / name}.npy"]
        figures = self.work / "bench.json"
        shown = self.call("bench", str(plan), *arguments, "--duration-s", "1", "--json", str(figures))
        text.write_text(shown)
        return json.loads(figures.read_text())


def device_us(call: object, n: int = 200) -> float:
    """Median device time of one call, replayed back to back."""
    import torch

    for _ in range(20):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(n):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return float(np.median(times))


def peer_times(module: object, arguments: tuple, modes: list[str]) -> dict[str, float]:
    """Device time of the module in each mode of PyTorch."""
    import torch

    times = {}
    for mode in modes:
        begin = time.time()
        torch._dynamo.reset()
        call = module if mode == "eager" else torch.compile(module, mode=mode)
        try:
            times[mode] = device_us(lambda call=call: call(*arguments))
        except Exception as error:  # a peer that fails is reported, not hidden
            print(f"  peer {mode} failed: {str(error)[:200]}")
        print(
            f"  peer {mode}: {times.get(mode, float('nan')):.1f} us, set up in {time.time() - begin:.0f} s", flush=True
        )
    return times


def relative_error(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, in the largest wanted magnitude."""
    difference = np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max()
    return float(difference / np.abs(wanted).max()) if np.isfinite(found).all() else float("inf")


def bert_cases(
    ours: Tilewright, out: Path, name: str, precision: str, modes: list[str], sizes: list[tuple]
) -> list[Row]:
    """BERT encoders of random weights: the same weights here and in transformers."""
    import torch
    from bert_graph import MINILM_L6, BertConfig, build_model, random_weights, serialise
    from transformers import BertConfig as TheirConfig
    from transformers import BertModel

    base = BertConfig(vocab=30522, hidden=768, layers=12, heads=12, intermediate=3072)
    config = MINILM_L6 if name == "minilm" else base
    weights = random_weights(config, 5)
    model = ours.work / f"{name}.onnx"
    graph = build_model(config, weights, name)
    if name == "bert":  # the peer has no pooling either
        del graph.graph.output[1]
    model.write_bytes(serialise(graph))
    theirs = BertModel(
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
    theirs.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()}, strict=False)
    exact = theirs.cuda().float()
    rows = []
    for batch, length in sizes:
        ids = np.random.default_rng(1).integers(0, 30000, (batch, length))
        mask = np.ones_like(ids)
        with torch.no_grad():
            want = exact(torch.from_numpy(ids).cuda(), torch.from_numpy(mask).cuda()).last_hidden_state.cpu().numpy()
        shapes = ",".join(f"{n}:{batch}x{length}" for n in ("input_ids", "attention_mask", "token_type_ids"))
        plan = ours.build(model, precision, shapes)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        error = relative_error(ours.run(plan, inputs)["last_hidden_state"], want)
        figures = ours.bench(plan, inputs, out / f"{name}_b{batch}_s{length}_{precision}.txt")
        low = theirs.half() if precision == "fp16" else theirs.bfloat16()
        tokens = torch.from_numpy(ids).cuda()
        with torch.no_grad():
            peer_error = relative_error(low(tokens).last_hidden_state.float().cpu().numpy(), want)
            peers = peer_times(low, (tokens,), modes)
        theirs.float()
        rows.append(row_of(f"{name} b{batch} s{length}", precision, figures, error, peer_error, peers))
    return rows


def resnet_cases(ours: Tilewright, out: Path, precision: str, modes: list[str], batches: list[int]) -> list[Row]:
    """ResNet-50 of torchvision with seeded weights."""
    import torch
    import torchvision

    torch.manual_seed(3)
    module = torchvision.models.resnet50().eval()
    for layer in module.modules():  # statistics of a trained net are not 0 and 1
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.running_mean.normal_(0, 0.1)
            layer.running_var.uniform_(0.8, 1.2)
            layer.weight.data.uniform_(0.5, 0.9)
    model = ours.work / "resnet50.onnx"
    torch.onnx.export(
        module,
        (torch.randn(1, 3, 224, 224),),
        str(model),
        input_names=["x"],
        output_names=["y"],
        dynamic_axes={"x": {0: "n"}, "y": {0: "n"}},
        dynamo=False,
    )
    rows = []
    module = module.cuda()
    for batch in batches:
        x = np.random.default_rng(2).standard_normal((batch, 3, 224, 224)).astype(np.float32)
        with torch.no_grad():
            want = module.float()(torch.from_numpy(x).cuda()).cpu().numpy()
        plan = ours.build(model, precision, f"x:{batch}x3x224x224")
        error = relative_error(ours.run(plan, {"x": x})["y"], want)
        figures = ours.bench(plan, {"x": x}, out / f"resnet50_b{batch}_{precision}.txt")
        low = (module.half() if precision == "fp16" else module.bfloat16()).to(memory_format=torch.channels_last)
        given = torch.from_numpy(x).cuda().to(next(low.parameters()).dtype).to(memory_format=torch.channels_last)
        with torch.no_grad():
            peer_error = relative_error(low(given).float().cpu().numpy(), want)
            peers = peer_times(low, (given,), modes)
        rows.append(row_of(f"resnet50 b{batch}", precision, figures, error, peer_error, peers))
    return rows


def row_of(name: str, precision: str, figures: dict, error: float, peer_error: float, peers: dict[str, float]) -> Row:
    """A row, printed as it is made."""
    row = Row(
        name,
        precision,
        figures.get("device_median_us", float("nan")),
        figures.get("device_p99_us", float("nan")),
        figures.get("device_launches", 0),
        error,
        peer_error,
        peers,
    )
    print(row, flush=True)
    return row


def run_shards(program: Path, out: Path) -> dict[str, object]:
    """A test program in shards; how many passed, failed, were skipped."""
    name = program.name.removesuffix("_test")
    running = []
    for shard in range(SHARDS):
        environment = os.environ | {"GTEST_TOTAL_SHARDS": str(SHARDS), "GTEST_SHARD_INDEX": str(shard)}
        log = (out / f"{name}_{shard}.txt").open("w")
        running.append((subprocess.Popen([str(program)], env=environment, stdout=log, stderr=log), log))
    for process, log in running:
        process.wait(timeout=400)
        log.close()
    text = "".join((out / f"{name}_{i}.txt").read_text() for i in range(SHARDS))
    for i in range(SHARDS):
        (out / f"{name}_{i}.txt").unlink()
    (out / f"{name}.txt").write_text(text)
    failed = sorted(
        {
            line.split("]")[1].split(",")[0].split("(")[0].strip()
            for line in text.splitlines()
            if line.startswith("[  FAILED  ] ") and "(" in line
        }
    )
    counts = {
        "passed": text.count("[       OK ]"),
        "failed": len(failed),
        "skipped": text.count("[  SKIPPED ] ") // 2,
        "crashed_shards": sum(p.returncode not in (0, 1) for p, _ in running),
        "failures": failed,
    }
    print(f"{name}: {counts}", flush=True)
    return counts


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parts", default="tasks,ops,models")
    parser.add_argument("--models", default="bert,resnet,minilm")
    parser.add_argument("--peers", default="eager,reduce-overhead")
    parser.add_argument("--precision", default="fp16")
    parser.add_argument("--bert-sizes", default="1x128,1x512,32x128")
    parser.add_argument("--resnet-batches", default="1,128")
    return parser.parse_args()


def main() -> int:
    """Runs the parts that were asked for."""
    options = parse_arguments()
    work = Path("/tmp/tilewright_suite")
    work.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    ours = Tilewright(options.bin.resolve(), work)
    result: dict[str, object] = {
        "schema_version": 1,
        "date": datetime.date.today().isoformat(),
        "version": ours.call("--version").strip(),
    }
    failed = False
    for part in ("tasks", "ops"):
        if part in options.parts.split(","):
            counts = run_shards(options.bin.resolve() / f"gpu_{part}_test", options.out)
            result[part] = counts
            failed |= bool(counts["failed"] or counts["crashed_shards"])
    if "models" in options.parts:
        import torch

        result["device"] = torch.cuda.get_device_name(0)
        result["torch"] = torch.__version__
        result["cudnn"] = torch.backends.cudnn.version()
        modes = [m for m in options.peers.split(",") if m]
        sizes = [tuple(int(v) for v in s.split("x")) for s in options.bert_sizes.split(",")]
        rows: list[Row] = []
        for name in options.models.split(","):
            try:
                if name == "resnet":
                    batches = [int(b) for b in options.resnet_batches.split(",")]
                    rows += resnet_cases(ours, options.out, options.precision, modes, batches)
                elif name == "minilm":
                    rows += bert_cases(ours, options.out, "minilm", options.precision, modes, [(1, 128)])
                else:
                    rows += bert_cases(ours, options.out, "bert", options.precision, modes, sizes)
            except Exception as error:
                failed = True
                print(f"{name}: {error}", flush=True)
        result["rows"] = [asdict(row) for row in rows]
    (options.out / "suite.json").write_text(json.dumps(result, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
