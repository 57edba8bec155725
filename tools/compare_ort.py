#!/usr/bin/env python3
"""Compares the command line program with onnxruntime, output by output. Exit code 1 when one is out of tolerance.

The tolerance is derived from each model (tools/ort/tolerance.py):
eps * sqrt(longest sum * depth) * sqrt(2 ln elements) * size.
With --bits also: a batch of N gives the bits of N batches of one, and 1 thread the bits of 2.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import onnxruntime

sys.path.insert(0, str(Path(__file__).parent))

from ort.cases import Case, Feeds, case_of_file, select
from ort.ours import CLI, CliError, Tilewright
from ort.tolerance import Verdict, judge, sums_of


def reference(case: Case) -> tuple[list[str], list[np.ndarray]]:
    """onnxruntime's output names and values."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(case.model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return names, session.run(names, case.feeds)


def row_of(case: Case, feeds: Feeds, i: int) -> Feeds:
    """Request `i` of a batch, as a batch of one."""
    return {n: v.take([i], axis=case.batch_inputs[n]) if n in case.batch_inputs else v for n, v in feeds.items()}


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal dtype, shape and bytes."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check_bits(case: Case, ours: Tilewright, names: list[str]) -> list[str]:
    """What differs between thread counts, and between a batch and its requests one by one."""
    whole = ours.run(case, case.feeds, names, "--threads", "1")
    two = ours.run(case, case.feeds, names, "--threads", "2")
    found = [
        f"{n}: 2 threads give other bits than 1"
        for n, a, b in zip(names, whole, two, strict=True)
        if not same_bits(a, b)
    ]
    if not case.batch_inputs:
        return found
    name, axis = next(iter(case.batch_inputs.items()))
    for i in range(case.feeds[name].shape[axis]):
        single = ours.run(case, row_of(case, case.feeds, i), names)
        for n, a, b in zip(names, whole, single, strict=True):
            if not same_bits(a[i : i + 1], b):
                found.append(f"{n}: request {i} has other bits alone than in its batch")
    return found


def print_row(case: Case, name: str, verdict: Verdict) -> None:
    """One line of the table."""
    share = f"{verdict.difference / verdict.bound:6.1%}" if verdict.bound else "     -"
    mark = "ok" if verdict.ok else f"FAILED {verdict.note}"
    print(f"{case.name:30} {name[:28]:28} {verdict.difference:10.3g} {verdict.bound:10.3g} {share} {mark}", flush=True)


def compare(case: Case, ours: Tilewright, bits: bool) -> int:
    """How many outputs of a case failed; a row for each."""
    names, wanted = reference(case)
    try:
        found = ours.run(case, case.feeds, names)
        differing = check_bits(case, ours, names) if bits else []
    except (CliError, OSError) as error:
        print(f"{case.name:30} FAILED {error}", flush=True)
        return 1
    sums = sums_of(case.model)
    verdicts = [judge(n, f, w, sums) for n, f, w in zip(names, found, wanted, strict=True)]
    for name, verdict in zip(names, verdicts, strict=True):
        print_row(case, name, verdict)
    for sentence in differing:
        print(f"{case.name:30} FAILED {sentence}", flush=True)
    return sum(not v.ok for v in verdicts) + len(differing)


def main() -> int:
    """Runs the selected cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path, help="an ONNX file; default: the cases of tools/ort/cases.py")
    parser.add_argument(
        "--shapes", action="append", default=[], help="input shapes for MODEL, name:2x3,...; repeatable"
    )
    parser.add_argument("--only", metavar="TEXT", help="cases whose name contains TEXT")
    parser.add_argument("--bits", action="store_true", help="also compare bits across threads and batches")
    parser.add_argument("--cli", type=Path, default=CLI)
    parser.add_argument("--build-option", action="append", default=[], help="passed to `tilewright build`; repeatable")
    options = parser.parse_args()
    cases = [case_of_file(options.model, s) for s in options.shapes] if options.model else select(options.only)
    if not cases:
        parser.error("no case is selected; a MODEL needs --shapes")
    print(f"{'case':30} {'output':28} {'difference':>10} {'bound':>10} {'share':>6}  ort {onnxruntime.__version__}")
    ours = Tilewright(options.cli, tuple(options.build_option))
    failed = sum(compare(case, ours, options.bits) for case in cases)
    print(
        f"{len(cases)} cases, {failed} failures; bound = eps * sqrt(longest sum * depth) * sqrt(2 ln elements) * size"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
