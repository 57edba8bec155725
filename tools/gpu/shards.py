"""Parts `tasks` and `ops`: a GoogleTest program in shards, several at a time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tilewright import Suite

SHARDS = 12


def run_shards(program: Path, out: Path) -> dict[str, object]:
    """How many tests passed, failed, were skipped; the log of all shards goes to `out`."""
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


def _checked(suite: Suite, part: str) -> dict[str, object]:
    counts = run_shards(suite.ours.folder / f"gpu_{part}_test", suite.out)
    wrong = counts["failed"] or counts["crashed_shards"] or not counts["passed"]
    suite.check(not wrong, f"{part}: {counts['failed']} failed, {counts['crashed_shards']} shards crashed")
    return counts


def check_tasks(suite: Suite) -> dict[str, object]:
    """Every task on the device against the CPU executor."""
    return _checked(suite, "tasks")


def check_ops(suite: Suite) -> dict[str, object]:
    """Every op case against its reference in each precision."""
    return _checked(suite, "ops")
