"""Part `jitter`: ResNet-50 at batch 1 in f16, ten thousand times: how steady it is and what the host spends on one."""

from __future__ import annotations

import math

from networks import resnet_input, resnet_onnx
from tilewright import Suite

INFERENCES = 10_000


def measure_jitter(suite: Suite) -> dict[str, float]:
    """On the device's clock inference after inference, and from call to answer with copies of input and output."""
    ours, x = suite.ours, {"x": resnet_input(1)}
    _, model = resnet_onnx(ours.work)
    plan = ours.build(model, "fp16", "x:1x3x224x224")
    text = suite.out / "jitter_resnet50_b1_fp16.txt"
    options = ["--warmup-ms", "500"]
    if ours.has_option("bench", "--device-runs"):
        options += ["--device-runs", str(INFERENCES)]
    # Calls are counted by time: a short look says how long ten thousand take.
    mean_ms = float(ours.bench(plan, x, text, "--duration-s", "0.5")["latency_mean_ms"])
    seconds = math.ceil(1.2 * INFERENCES * mean_ms / 1e3 + 0.5)
    figures = ours.bench(plan, x, text, *options, "--duration-s", str(seconds))
    nan = math.nan
    found = {
        "device_runs": figures.get("device_runs", 0),
        "device_p50_us": figures.get("device_median_us", nan),
        "device_p99_us": figures.get("device_p99_us", nan),
        "host_enqueue_p50_us": figures.get("host_enqueue_median_us", nan),
        "host_enqueue_p99_us": figures.get("host_enqueue_p99_us", nan),
        "calls": figures["n_runs"],
        "call_p50_us": 1e3 * figures["latency_median_ms"],
        "call_p99_us": 1e3 * figures["latency_p99_ms"],
        "call_max_us": 1e3 * figures["latency_max_ms"],
    }
    for what in ("device", "call"):
        found[f"{what}_p99_over_p50"] = found[f"{what}_p99_us"] / found[f"{what}_p50_us"]
    for what, count, name in (("device", "device_runs", "on the device"), ("call", "calls", "calls with copies")):
        p50, p99 = found[f"{what}_p50_us"], found[f"{what}_p99_us"]
        print(f"  {name}: {found[count]} runs, p50 {p50:.1f} us, p99 {p99:.1f} us, p99/p50 {p99 / p50:.3f}")
    enqueue, tail = found["host_enqueue_p50_us"], found["host_enqueue_p99_us"]
    besides = found["call_p50_us"] - found["device_p50_us"]
    print(f"  host: {enqueue:.1f} us to enqueue an inference (p99 {tail:.1f}); a call takes {besides:.1f} us", end=" ")
    print("besides the device's work", flush=True)
    for count in ("device_runs", "calls"):
        suite.check(found[count] >= INFERENCES, f"jitter: {found[count]} {count}, expected {INFERENCES}")
    return found
