"""Part `flat`: gpu_flat (tests/gpu/gpu_flat.cpp) over three plans.

A tiny one comes and goes ten thousand times; a net of many kernels and one in which the host takes part, fewer times.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tilewright import Suite

NOT_HERE = 77


@dataclass(frozen=True)
class FlatCase:
    """A plan and how often it comes and goes: `share` of the cycles that were asked for."""

    name: str
    file: str  # below the folder of models; '': the tiny one
    shapes: str
    share: float
    sizes: str
    fill: tuple[str, ...] = ()


CASES = (
    FlatCase("tiny", "", "x:Nx3x16x16", 1.0, "1,2,3,4,8"),
    FlatCase("cls", "ppocr/cls.onnx", "x:Nx3x48x192", 0.05, "1,2,4"),
    FlatCase("silero", "silero/silero_vad.onnx", "input:Nx576,state:2xNx128", 0.05, "1,2,4", ("sr=16000",)),
)


def tiny_model(path: Path) -> Path:
    """A convolution, a mean and a product: what makes a kernel each, little work."""
    random = np.random.default_rng(4)
    weights = {
        "filter": random.standard_normal((8, 3, 3, 3)),
        "matrix": random.standard_normal((8, 16)),
        "offset": random.standard_normal(16),
    }
    nodes = [
        helper.make_node("Conv", ["x", "filter"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "matrix", "offset"], ["g"]),
        helper.make_node("Softmax", ["g"], ["y"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 16])],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())
    return path


def run_case(suite: Suite, case: FlatCase) -> dict[str, object]:
    """One plan; what gpu_flat wrote."""
    ours = suite.ours
    model = suite.models_dir / case.file if case.file else tiny_model(ours.work / "tiny.onnx")
    if not model.is_file():
        print(f"  {case.name}: not here: {model}", flush=True)
        return {"name": case.name, "status": "not here"}
    plan = ours.build(model, "fp16", case.shapes, name=f"flat_{case.name}", timed=False)
    figures = ours.work / f"flat_{case.name}.json"
    figures.unlink(missing_ok=True)
    cycles = max(400, round(case.share * suite.options.flat_cycles))
    words = [str(ours.folder / "gpu_flat"), str(plan), "--cycles", str(cycles), "--sizes", case.sizes]
    for fill in case.fill:
        words += ["--fill", fill]
    done = subprocess.run([*words, "--json", str(figures)], capture_output=True, text=True, timeout=500)
    said = (done.stdout + done.stderr).strip()
    print(f"  {said.removeprefix(str(plan.parent) + '/')}", flush=True)
    found = json.loads(figures.read_text()) if figures.is_file() else {"said": said}
    status = {0: "passed", NOT_HERE: "not here"}.get(done.returncode, "failed")
    suite.check(status != "failed", f"flat {case.name}: {said}")
    return {"name": case.name, "status": status, **found}


def check_flat(suite: Suite) -> list[dict]:
    """A line a plan."""
    return [run_case(suite, case) for case in CASES]
