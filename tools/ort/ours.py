"""Runs the command line program on a case."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from ort.cases import ROOT, Case, Feeds

CLI = ROOT / "build" / "release" / "bin" / "tilewright"


class CliError(Exception):
    """The program failed; its last line on stderr."""


class Tilewright:
    """The program, with plans kept in a folder for as long as this object lives."""

    def __init__(self, cli: Path = CLI, build_options: tuple[str, ...] = ()) -> None:
        self.cli = cli
        self.build_options = build_options
        self._folder = tempfile.TemporaryDirectory(prefix="tilewright-")
        self._plans: dict[tuple[Path, str], Path] = {}

    def _call(self, *arguments: str | Path) -> str:
        done = subprocess.run([self.cli, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise CliError(f"{arguments[0]}: {lines[-1]}")
        return done.stdout

    def version(self) -> str:
        """The first line of --version."""
        return self._call("--version").splitlines()[0]

    def plan(self, case: Case) -> Path:
        """The plan of a case's model and shapes, built once."""
        key = (case.model, case.shapes)
        if key not in self._plans:
            path = Path(self._folder.name) / f"{case.model.stem}-{len(self._plans)}.plan"
            self._call("build", case.model, "-o", path, "--shapes", case.shapes, *self.build_options)
            self._plans[key] = path
        return self._plans[key]

    def _inputs(self, feeds: Feeds, folder: Path) -> list[str]:
        arguments = []
        for i, (name, value) in enumerate(feeds.items()):
            path = folder / f"input_{i}.npy"
            np.save(path, value)
            arguments += ["--input", f"{name}={path}"]
        return arguments

    def run(self, case: Case, feeds: Feeds, output_names: list[str], *options: str) -> list[np.ndarray]:
        """The outputs of one run, in the order of `output_names`."""
        plan = self.plan(case)
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
            outputs = Path(folder) / "outputs"
            self._call("run", plan, *self._inputs(feeds, Path(folder)), "--output-dir", outputs, *options)
            return [np.load(outputs / (re.sub(r"[^0-9A-Za-z]", "_", name) + ".npy")) for name in output_names]

    def bench(self, case: Case, threads: int, seconds: float) -> dict[str, Any]:
        """The JSON of `tilewright bench` on a case's inputs."""
        plan = self.plan(case)
        with tempfile.TemporaryDirectory(dir=self._folder.name) as folder:
            report = Path(folder) / "bench.json"
            timing = ["--threads", str(threads), "--duration-s", str(seconds), "--json", str(report)]
            self._call("bench", plan, *self._inputs(case.feeds, Path(folder)), *timing)
            return json.loads(report.read_text())
