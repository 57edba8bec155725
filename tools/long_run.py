#!/usr/bin/env python3
"""The part of `./check --long` that takes hours: the sanitizer builds with all their tests, then every fuzzer.

Fuzzers are the programs behind the tests labelled fuzz or fuzz_smoke; each takes --seconds N and is run under
ASan/UBSan for ten minutes. Writes bench/results/long.json; exit code 1 when anything failed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "setup"))

from tally import Tally, count, count_ctest  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "long.json"
SANITIZERS = {"dev": "ASan and UBSan", "tsan": "TSan"}


@dataclass(frozen=True)
class Row:
    """What one part of the long run did."""

    name: str
    seconds: float
    tally: Tally

    def __str__(self) -> str:
        return f"  {self.name}: {self.tally} in {self.seconds:.0f} s"


def environment() -> dict[str, str]:
    """The sanitizers' settings: any report ends the test; reports inside libgomp and libdnnl alone are suppressed."""
    suppressions = ROOT / "tools" / "setup" / "tsan.supp"
    return os.environ | {
        "TSAN_OPTIONS": f"halt_on_error=1:second_deadlock_stack=1:suppressions={suppressions}",
        "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def run_logged(command: list[str], log: Path) -> bool:
    """Runs a command with its output in a file of its own; whether it succeeded."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        done = subprocess.run(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    return done.returncode == 0


def run_sanitizer(preset: str, logs: Path) -> Row:
    """Builds a preset and runs all its tests."""
    began = time.monotonic()
    built = run_logged(["cmake", "--preset", preset], logs / f"{preset}-configure.txt") and run_logged(
        ["cmake", "--build", f"build/{preset}", "-j", str(os.cpu_count())], logs / f"{preset}-build.txt"
    )
    tally = Tally(failed=1)
    if built:
        report = logs / f"{preset}.xml"
        command = ["ctest", "--test-dir", f"build/{preset}", "-LE", "^(fuzz|bench_smoke)$", "--output-on-failure"]
        command += ["--test-output-size-passed", "200000", "--output-junit", str(report)]
        run_logged(command, logs / f"{preset}-ctest.txt")
        tally = count_ctest(report)
    return Row(f"tests under {SANITIZERS[preset]}", time.monotonic() - began, tally)


def fuzzers(preset: str) -> list[str]:
    """The programs of the tests labelled fuzz or fuzz_smoke."""
    command = ["ctest", "--test-dir", f"build/{preset}", "-L", "^fuzz(_smoke)?$", "--show-only=json-v1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        return []
    tests = json.loads(done.stdout)["tests"]
    return sorted({test["command"][0] for test in tests if "command" in test})


def run_fuzzer(program: str, seconds: int, logs: Path) -> Row:
    """One fuzzer for its time."""
    began, name = time.monotonic(), Path(program).name
    log = logs / f"{name}.txt"
    succeeded = run_logged([program, "--seconds", str(seconds)], log)
    return Row(f"fuzzer {name}", time.monotonic() - began, count(log.read_text(errors="replace"), succeeded))


def cpu_name() -> str:
    """The processor as the kernel names it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def write_results(rows: list[Row], seconds: int) -> None:
    """The results file."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    results = {
        "schema_version": 1,
        "date": datetime.date.today().isoformat(),
        "commit": commit,
        "cpu": cpu_name(),
        "command": "./check --long",
        "seconds_a_fuzzer": seconds,
        "rows": [{"name": r.name, "seconds": round(r.seconds), **asdict(r.tally)} for r in rows],
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def main() -> int:
    """Runs every part, printing a row for each as it ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fuzz-seconds", type=int, default=600, help="time for each fuzzer")
    options = parser.parse_args()
    logs = ROOT / "build" / "long"
    rows: list[Row] = []
    for preset in SANITIZERS:
        rows.append(run_sanitizer(preset, logs))
        print(rows[-1], flush=True)
    for program in fuzzers("dev"):
        rows.append(run_fuzzer(program, options.fuzz_seconds, logs))
        print(rows[-1], flush=True)
    write_results(rows, options.fuzz_seconds)
    total = sum((row.tally for row in rows), Tally())
    print(f"  long run: {total}; logs in build/long, results in {RESULTS.relative_to(ROOT)}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
