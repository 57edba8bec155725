#!/usr/bin/env python3
"""The part of `./check --long` that takes hours: the sanitizer builds with all their tests, every fuzzer, the soak.

Fuzzers are the programs behind the tests labelled fuzz; each takes --seconds N and is run under ASan/UBSan for ten
minutes. The soak runs in the release build: a sanitizer keeps memory for itself. Writes bench/results/long.json after
each part; with --part its rows take the place of older ones of the same name. Exit code 1 when anything failed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "setup"))

from tally import Tally, count, count_ctest  # noqa: E402

RESULTS = ROOT / "bench" / "results" / "long.json"
SANITIZERS = {"dev": "ASan and UBSan", "tsan": "TSan"}


@dataclass(frozen=True)
class Row:
    """What one part of the long run did; `said` are the lines that it ended with."""

    name: str
    seconds: float
    tally: Tally
    said: tuple[str, ...] = ()

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
        command += ["-j", str(os.cpu_count())]
        command += ["--test-output-size-passed", "8000000", "--output-junit", str(report)]
        run_logged(command, logs / f"{preset}-ctest.txt")
        tally = count_ctest(report)
    return Row(f"tests under {SANITIZERS[preset]}", time.monotonic() - began, tally)


def fuzzers(preset: str) -> list[str]:
    """The programs of the tests labelled fuzz."""
    command = ["ctest", "--test-dir", f"build/{preset}", "-L", "^fuzz$", "--show-only=json-v1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        return []
    tests = json.loads(done.stdout)["tests"]
    return sorted({test["command"][0] for test in tests if "command" in test})


def run_program(name: str, command: list[str], logs: Path) -> Row:
    """A program that says in its last lines what it did."""
    began = time.monotonic()
    log = logs / f"{Path(command[0]).name}.txt"
    succeeded = run_logged(command, log)
    output = log.read_text(errors="replace")
    said = tuple(output.strip().splitlines()[-4:]) if succeeded else ()
    return Row(name, time.monotonic() - began, count(output, succeeded), said)


def run_fuzzer(program: str, seconds: int, logs: Path) -> Row:
    """One fuzzer for its time."""
    return run_program(f"fuzzer {Path(program).name}", [program, "--seconds", str(seconds)], logs)


def run_soak(cycles: int, logs: Path) -> Row:
    """Thousands of turns in the release build, which ./check has made."""
    logs.mkdir(parents=True, exist_ok=True)
    run_logged(["cmake", "--build", "build/release", "--target", "soak"], logs / "soak-build.txt")
    return run_program("soak", ["build/release/bin/soak", "--cycles", str(cycles)], logs)


def cpu_name() -> str:
    """The processor as the kernel names it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def row_json(row: Row) -> dict[str, object]:
    """A row as the results file holds it, with the commit and the day that it is of."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    fields: dict[str, object] = {"name": row.name, "commit": done.stdout.strip()}
    fields |= {"date": datetime.date.today().isoformat(), "seconds": round(row.seconds), **asdict(row.tally)}
    return fields | ({"said": list(row.said)} if row.said else {})


def kept_rows() -> list[dict[str, object]]:
    """The rows of the results file."""
    return json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []


def write_results(rows: list[dict[str, object]]) -> None:
    """The results file; of rows of one name the last."""
    results = {
        "schema_version": 1,
        "command": "./check --long, or part by part tools/long_run.py --part",
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "rows": list({row["name"]: row for row in rows}.values()),
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def run_parts(options: argparse.Namespace, logs: Path) -> Iterator[Row]:
    """A row for each part, as it ends."""
    for preset in SANITIZERS:
        if options.part in ("all", preset):
            yield run_sanitizer(preset, logs)
    if options.part not in (*SANITIZERS, "soak"):
        for program in fuzzers("dev"):
            if options.part in ("all", "fuzz", Path(program).name):
                yield run_fuzzer(program, options.fuzz_seconds, logs)
    if options.part in ("all", "soak"):
        yield run_soak(options.soak_cycles, logs)


def main() -> int:
    """Runs every part, printing a row for each as it ends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", default="all", help="dev, tsan, fuzz, a fuzzer's name or soak")
    parser.add_argument("--fuzz-seconds", type=int, default=600, help="time for each fuzzer")
    parser.add_argument("--soak-cycles", type=int, default=12000, help="turns of each part of the soak")
    options = parser.parse_args()
    if options.part == "all":
        RESULTS.unlink(missing_ok=True)
    total = Tally()
    for row in run_parts(options, ROOT / "build" / "long"):
        print(row, flush=True)
        write_results([*kept_rows(), row_json(row)])
        total += row.tally
    print(f"  long run: {total}; logs in build/long, results in {RESULTS.relative_to(ROOT)}")
    return 1 if total.failed or total == Tally() else 0


if __name__ == "__main__":
    sys.exit(main())
