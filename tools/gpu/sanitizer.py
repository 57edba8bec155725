"""Part `sanitizer`: kernels under compute-sanitizer, one tool after another, where the machine's runtime lets it work.

Whether it does is found out with a single small test. Where it does not, the part says why and checks nothing; that is
no failure, and the JSON holds the reason. A tool makes kernels 10 to 100 times as slow: each has a filter of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import asdict, dataclass, field

from tilewright import Suite

PROBE = "SoftmaxOnDevice.*"
WITH_BARRIERS = "SoftmaxOnDevice.*:NormOnDevice.*:ReduceOnDevice.*:*OnDevice.TheEpilogue*"
# Tool: the tests that it watches.
TOOLS = {
    "memcheck": "-*EveryTile*:*EveryVariant*:*InEveryTile:*Resnet*:*Bert*",
    "racecheck": WITH_BARRIERS,
    "synccheck": WITH_BARRIERS,
    "initcheck": "SoftmaxOnDevice.*:NormOnDevice.*:GatherOnDevice.*",
}
SUMMARY = re.compile(r"========= ERROR SUMMARY: (\d+) error|========= RACECHECK SUMMARY: (\d+) hazard")
SECONDS = 120  # of a tool


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


def watch(suite: Suite, tool: str, tests: str) -> Finding:
    """Runs the task tests under a tool; its log goes to the folder of results."""
    program = suite.ours.folder / "gpu_tasks_test"
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", str(program), f"--gtest_filter={tests}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        text = done.stdout + done.stderr
    except subprocess.TimeoutExpired as expired:
        text = "".join(t.decode() if isinstance(t, bytes) else t or "" for t in (expired.stdout, expired.stderr))
    (suite.out / f"sanitizer_{tool}.txt").write_text(text)
    finding = Finding(tool, text.count("[       OK ]"))
    if found := SUMMARY.findall(text):
        finding.errors = sum(int(a or b) for a, b in found)
    lines = [line for line in text.splitlines() if line.startswith("=========")]
    finding.first = [line for line in lines[:6] if "SUMMARY" not in line and line != "========= COMPUTE-SANITIZER"]
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
    findings = [watch(suite, tool, tests) for tool, tests in TOOLS.items()]
    for finding in findings:
        print(finding, flush=True)
        suite.check(finding.errors == 0 and finding.passed > 0, f"sanitizer: {finding}")
    return {"works": True, "tools": [asdict(finding) for finding in findings]}
