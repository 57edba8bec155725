#!/usr/bin/env python3
"""Speed of the CPU backend against onnxruntime: same inputs, same threads, turn by turn in one run.

onnxruntime runs with all graph optimisations, its default spinning threads, and inputs and outputs bound. Each turn
is a fresh process for both sides. A row's answer is checked before it is timed; a wrong answer has no row.
Writes bench/results/ort_cpu.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).parent))

from compare_ort import reference
from ort.cases import ROOT, Case, select
from ort.ours import CLI, CliError, Tilewright
from ort.tolerance import judge, sums_of

RESULTS = ROOT / "bench" / "results" / "ort_cpu.json"
MEDIAN_KEY = "latency_median_ms"  # in the JSON of `tilewright bench`


@dataclass(frozen=True)
class Row:
    """One case at one number of threads; medians over the turns."""

    case: str
    threads: int
    ours_ms: float
    onnxruntime_ms: float
    ours_turns_ms: list[float]
    onnxruntime_turns_ms: list[float]

    @property
    def ratio(self) -> float:
        """Above 1, we are faster."""
        return self.onnxruntime_ms / self.ours_ms


def time_session(model: str, feeds_file: str, threads: int, seconds: float) -> float:
    """The median of one turn of onnxruntime, in milliseconds. Runs in a process of its own."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, value in np.load(feeds_file).items():
        binding.bind_cpu_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name, "cpu")
    times: list[float] = []
    warm_until = time.perf_counter() + 0.2 * seconds
    end = warm_until + seconds
    while (began := time.perf_counter()) < end or not times:
        session.run_with_iobinding(binding)
        if began >= warm_until:
            times.append((time.perf_counter() - began) * 1e3)
    return statistics.median(times)


def onnxruntime_turn(case: Case, feeds_file: Path, threads: int, seconds: float) -> float:
    """Starts time_session in a fresh process."""
    command = [sys.executable, __file__, "--worker", str(case.model), str(feeds_file), str(threads), str(seconds)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def check_answer(case: Case, ours: Tilewright) -> str | None:
    """A sentence when the answer is wrong."""
    names, wanted = reference(case)
    found = ours.run(case, case.feeds, names)
    sums = sums_of(case.model)
    verdicts = [judge(n, f, w, sums) for n, f, w in zip(names, found, wanted, strict=True)]
    wrong = [n for n, verdict in zip(names, verdicts, strict=True) if not verdict.ok]
    return f"out of tolerance: {', '.join(wrong)}" if wrong else None


def measure(case: Case, threads: int, ours: Tilewright, turns: int, seconds: float) -> Row:
    """Alternates both sides; the side that begins changes with each turn."""
    ours_ms, theirs_ms = [], []
    with tempfile.TemporaryDirectory() as folder:
        feeds_file = Path(folder) / "feeds.npz"
        np.savez(feeds_file, **case.feeds)
        for turn in range(turns):
            sides = [
                lambda: ours_ms.append(float(ours.bench(case, threads, seconds)[MEDIAN_KEY])),
                lambda: theirs_ms.append(onnxruntime_turn(case, feeds_file, threads, seconds)),
            ]
            for side in sides if turn % 2 == 0 else reversed(sides):
                side()
    return Row(case.name, threads, statistics.median(ours_ms), statistics.median(theirs_ms), ours_ms, theirs_ms)


def cpu_name() -> str:
    """The processor as the kernel names it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def geometric_mean(values: list[float]) -> float:
    """The n-th root of the product."""
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Geometric mean and lowest ratio for each number of threads."""
    by_threads = {t: [row.ratio for row in rows if row.threads == t] for t in sorted({row.threads for row in rows})}
    return {
        f"main-job/ort-{t}t": {"geometric_mean_ratio": geometric_mean(ratios), "lowest_ratio": min(ratios)}
        for t, ratios in by_threads.items()
    }


def report(rows: list[Row], refused: list[str], ours: Tilewright, options: argparse.Namespace) -> dict[str, Any]:
    """What goes into the results file."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return {
        "schema_version": 1,
        "date": datetime.date.today().isoformat(),
        "cpu": cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "commit": commit,
        "command": f"tools/bench_ort.py --turns {options.turns} --seconds {options.seconds}",
        "versions": {"tilewright": ours.version(), "onnxruntime": onnxruntime.__version__, "numpy": np.__version__},
        "ratio": "onnxruntime median latency / ours; above 1 we are faster",
        "summary": summary(rows),
        "rows": [asdict(row) | {"ratio": row.ratio} for row in rows],
        "not_measured": refused,
    }


def run_all(options: argparse.Namespace, ours: Tilewright) -> tuple[list[Row], list[str]]:
    """Every timed case at every number of threads; prints a row each."""
    rows, refused = [], []
    for case in select(options.only, lambda c: c.timed):
        try:
            wrong = check_answer(case, ours)
            if wrong:
                raise CliError(wrong)
            for threads in options.threads:
                row = measure(case, threads, ours, options.turns, options.seconds)
                rows.append(row)
                print(
                    f"{case.name:22} {threads:7} {row.ours_ms:12.3f} {row.onnxruntime_ms:15.3f} {row.ratio:6.2f}x ok",
                    flush=True,
                )
        except (CliError, OSError) as error:
            refused.append(f"{case.name}: {error}")
            print(f"{case.name:22} FAILED {error}", flush=True)
    return rows, refused


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", help="cases whose name contains TEXT")
    parser.add_argument("--threads", type=int, action="append", help="default: 1 and 2")
    parser.add_argument("--turns", type=int, default=5, help="turns for each side")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn")
    parser.add_argument("--cli", type=Path, default=CLI)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    options.threads = options.threads or [1, 2]
    return options


def main() -> int:
    """Measures, prints the table, writes the results file. 1 when a case could not be measured."""
    if sys.argv[1:2] == ["--worker"]:
        model, feeds, threads, seconds = sys.argv[2:]
        print(time_session(model, feeds, int(threads), float(seconds)))
        return 0
    options = parse_arguments()
    ours = Tilewright(options.cli)
    print(f"{'case':22} {'threads':>7} {'ours, ms':>12} {'onnxruntime, ms':>15} {'ratio':>7}   {cpu_name()}")
    rows, refused = run_all(options, ours)
    for name, figures in summary(rows).items():
        print(f"{name}: geometric mean {figures['geometric_mean_ratio']:.2f}x, lowest {figures['lowest_ratio']:.2f}x")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report(rows, refused, ours, options), indent=1) + "\n")
    print(f"written: {options.output}")
    return 1 if refused or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
