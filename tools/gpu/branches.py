"""Part `branches`: the same model with its branches on 1, 2 and 4 streams of a graph: equal bits, and what it gains."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from equal_cases import CASES
from networks import bert_onnx, bert_shapes, resnet_input, resnet_onnx
from tilewright import Arrays, Suite

AUXILIARY = (0, 1, 3)
FROM_FILES = {"det", "rec", "cls", "magika"}


@dataclass
class Outcome:
    """A model at one size; device time and launches by the number of auxiliary streams."""

    name: str
    shapes: str
    device_us: dict[int, float] = field(default_factory=dict)
    different: list[str] = field(default_factory=list)  # outputs whose bits are not those of one stream

    def __str__(self) -> str:
        times = ", ".join(f"{1 + n}: {us:.1f} us" for n, us in self.device_us.items())
        verdict = "equal bits" if not self.different else "DIFFERENT " + ", ".join(self.different)
        return f"  {self.name} {self.shapes[:40]} | streams {times} | {verdict}"


def models(suite: Suite) -> list[tuple[str, Path, str, Arrays]]:
    """Name, file, shapes and inputs; each at fixed sizes."""
    work = suite.ours.work
    found = [("resnet50", resnet_onnx(work)[1], "x:1x3x224x224", {"x": resnet_input(1)})]
    ids = np.random.default_rng(3).integers(1000, 30000, (1, 128))
    tokens = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    for name in ("bert", "minilm"):
        found.append((name, bert_onnx(work, name)[2], bert_shapes(1, 128), tokens))
    for case in CASES:
        path = suite.models_dir / case.file
        if case.name in FROM_FILES and len(case.sizes) == 1 and path.exists():
            inputs = case.inputs(np.random.default_rng(5), case.sizes[0], 0, {})
            found.append((case.name, path, case.shapes, inputs))
    return found


def measure_branches(suite: Suite) -> list[dict]:
    """A line a model; bits that differ from those of one stream are a failure."""
    outcomes = []
    for name, path, shapes, inputs in models(suite):
        outcome = Outcome(name, shapes)
        expected: Arrays = {}
        for auxiliary in AUXILIARY:
            plan = suite.ours.build(path, suite.options.precision, shapes, name=name, auxiliary=auxiliary)
            text = suite.out / f"branches_{plan.stem}.txt"
            figures = suite.ours.bench(plan, inputs, text)
            outcome.device_us[auxiliary] = float(figures.get("device_median_us", float("nan")))
            answers = suite.ours.run(plan, inputs)
            expected = expected or answers
            outcome.different += [
                f"{key} on {1 + auxiliary}" for key in answers if answers[key].tobytes() != expected[key].tobytes()
            ]
        print(outcome, flush=True)
        suite.check(not outcome.different, f"branches: {name} {shapes}: {outcome.different}")
        outcomes.append(asdict(outcome))
    return outcomes
