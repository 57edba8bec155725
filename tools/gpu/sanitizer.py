"""Part `sanitizer`: kernels under compute-sanitizer's tools, side by side, where the machine's runtime lets it work.

Whether it does is found out with a single small test. Where it does not, the part says why and checks nothing; that is
no failure, and the JSON holds the reason. A tool makes kernels 10 to 100 times as slow: each has a filter of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field

from tilewright import Suite

PROBE = "SoftmaxOnDevice.*"
WITH_BARRIERS = "SoftmaxOnDevice.*:NormOnDevice.*:ReduceOnDevice.*:*OnDevice.TheEpilogue*"
# Tool: the tests that it watches, and into how many processes they are dealt out.
TOOLS = {
    "memcheck": ("-*EveryTile*:*EveryVariant*:*InEveryTile:*Resnet*:*Bert*", 10),
    "racecheck": (WITH_BARRIERS, 1),
    "synccheck": (WITH_BARRIERS, 1),
    "initcheck": ("SoftmaxOnDevice.*:NormOnDevice.*:GatherOnDevice.*", 1),
}
SUMMARY = re.compile(r"========= ERROR SUMMARY: (\d+) error|========= RACECHECK SUMMARY: (\d+) hazard")
SECONDS = 120  # of a process


@dataclass
class Finding:
    """What a tool said."""

    tool: str
    passed: int = 0
    errors: int | None = None  # none: it did not come to a summary
    first: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        errors = "no summary" if self.errors is None else f"{self.errors} errors"
        return "\n    ".join([f"  {self.tool}: {errors}, {self.passed} tests passed", *self.first])


def watch_shard(suite: Suite, tool: str, tests: str, shard: int, shards: int) -> str:
    """Runs a part of the task tests under a tool; what it says, up to where its time was over."""
    program = suite.ours.folder / "gpu_tasks_test"
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", str(program), f"--gtest_filter={tests}"]
    environment = os.environ | {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment)
        return done.stdout + done.stderr
    except subprocess.TimeoutExpired as expired:
        return "".join(t.decode() if isinstance(t, bytes) else t or "" for t in (expired.stdout, expired.stderr))


def watch(suite: Suite, tool: str, tests: str, shards: int = 1) -> Finding:
    """Runs task tests under a tool; its log goes to the folder of results."""
    with ThreadPoolExecutor(shards) as pool:
        texts = list(pool.map(lambda shard: watch_shard(suite, tool, tests, shard, shards), range(shards)))
    text = "".join(texts)
    (suite.out / f"sanitizer_{tool}.txt").write_text(text)
    finding = Finding(tool, text.count("[       OK ]"))
    if all(SUMMARY.search(part) for part in texts):
        finding.errors = sum(int(a or b) for a, b in SUMMARY.findall(text))
    lines = [line for line in text.splitlines() if line.startswith("=========")]
    finding.first = [line for line in lines if "SUMMARY" not in line and line != "========= COMPUTE-SANITIZER"][:6]
    return finding


def check_sanitizer(suite: Suite) -> dict[str, object]:
    """A line a tool. An error that it finds is a failure, and so is a tool that ends without a summary."""
    if shutil.which("compute-sanitizer") is None:
        print("  compute-sanitizer is not installed: nothing is checked")
        return {"works": False, "why": "not installed"}
    probe = watch(suite, "memcheck", PROBE)
    if probe.errors is None or not probe.passed:
        why = "; ".join(probe.first) or "it ends without a summary"
        print(f"  compute-sanitizer does not work on this machine: {why}: nothing is checked")
        return {"works": False, "why": why}
    with ThreadPoolExecutor(len(TOOLS)) as pool:
        findings = list(pool.map(lambda tool: watch(suite, tool, *TOOLS[tool]), TOOLS))
    for finding in findings:
        print(finding, flush=True)
        suite.check(finding.errors == 0 and finding.passed > 0, f"sanitizer: {finding}")
    return {"works": True, "tools": [asdict(finding) for finding in findings]}
