"""Part `ocr`: the three PP-OCR nets at batch 1 in f16 against the same graphs in PyTorch (onnx_torch.py).

Before anything is timed, the module in f32 is compared with onnxruntime on the CPU, then ours and the module in f16
with the same answers; tolerances are those of part `equal`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
from equal import products, tolerance_of
from equal_cases import CLS, DET, REC, EqualCase, page, pictures
from peers import Row, geometric_mean, peer_times, relative_error, row_of
from tilewright import Suite


@dataclass(frozen=True)
class OcrCase:
    """A net at the size that it is measured at."""

    name: str
    file: str
    sizes: tuple[int, int, int, int]

    @property
    def title(self) -> str:
        """'ocr det b1 736x1280'."""
        n, _, height, width = self.sizes
        return f"ocr {self.name} b{n} {height}x{width}"

    @property
    def shapes(self) -> str:
        """The value of --shapes."""
        return "x:" + "x".join(map(str, self.sizes))


CASES = (
    OcrCase("det", DET, (1, 3, 736, 1280)),
    OcrCase("rec", REC, (1, 3, 48, 320)),
    OcrCase("cls", CLS, (1, 3, 48, 192)),
)


def reference(model: bytes, x: np.ndarray) -> np.ndarray:
    """What onnxruntime gives on the CPU."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def measure_case(suite: Suite, case: OcrCase, modes: list[str]) -> Row:
    """Checks, then times."""
    import torch
    from onnx_torch import torch_module

    path = suite.models_dir / case.file
    x = page(np.random.default_rng(1), case.sizes)
    want = reference(path.read_bytes(), x)
    limits = EqualCase(case.name, case.file, case.shapes, (case.sizes,), pictures)
    bounds = products(onnx.load(path).graph)
    loose, tight = (tolerance_of(limits, p, *bounds) for p in ("fp16", "fp32"))

    exact = torch_module(path, {"x": case.sizes})
    with torch.no_grad():  # on the CPU, which has no tf32
        error = relative_error(exact(torch.from_numpy(x)).numpy(), want)
    suite.check(error <= tight, f"{case.title}: the module in f32 is off by {error:.1e}, tolerance {tight:.1e}")

    plan = suite.ours.build(path, "fp16", case.shapes, name=case.name)
    found = suite.ours.run(plan, {"x": x})
    ours_error = relative_error(next(iter(found.values())), want)
    suite.check(ours_error <= loose, f"{case.title}: ours is off by {ours_error:.1e}, tolerance {loose:.1e}")

    low = exact.half().cuda().to(memory_format=torch.channels_last)
    given = torch.from_numpy(x).cuda().half().to(memory_format=torch.channels_last)
    with torch.no_grad():
        peer_error = relative_error(low(given).float().cpu().numpy(), want)
        suite.check(peer_error <= loose, f"{case.title}: the peer is off by {peer_error:.1e}, tolerance {loose:.1e}")
        figures = suite.ours.bench(plan, {"x": x}, suite.out / f"{case.title.replace(' ', '_')}_fp16.txt")
        peers = peer_times(low, (given,), modes, fullgraph=True)
    return row_of(case.title, "fp16", figures, ours_error, peer_error, peers)


def measure_ocr(suite: Suite) -> dict[str, object]:
    """Rows of the nets that are here, and the geometric mean of how many times as fast ours are."""
    modes = [m for m in suite.options.ocr_peers.split(",") if m]
    rows: list[Row] = []
    for case in CASES:
        if not (suite.models_dir / case.file).is_file():
            print(f"  {case.title}: not here: {suite.models_dir / case.file}", flush=True)
            continue
        try:
            rows.append(measure_case(suite, case, modes))
        except Exception as error:
            suite.check(False, f"{case.title}: {error}")
    mean = geometric_mean([row.speedup for row in rows])
    print(f"  ocr: {mean:.2f}x the best peer, the geometric mean of {len(rows)} nets", flush=True)
    return {"rows": [row.figures() for row in rows], "geometric_mean_speedup": mean}
