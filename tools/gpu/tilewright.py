"""The command line program, called the way a user calls it. Shared by the parts of the suite."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

Arrays = dict[str, np.ndarray]


class Tilewright:
    """The prebuilt program; plans and arrays go to the folder `work`."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.folder, self.work = folder, work
        self._built: dict[tuple, Path] = {}
        self._options: dict[str, str] = {}

    def call(self, *arguments: str, timeout: int = 300) -> str:
        """Runs a subcommand; its output. Raises with its words when it fails."""
        done = subprocess.run(
            [str(self.folder / "tilewright"), *arguments], capture_output=True, text=True, timeout=timeout
        )
        if done.returncode != 0:
            words = done.stderr.strip()[-2000:] or f"exit code {done.returncode}"
            raise RuntimeError(f"tilewright {arguments[0]}: {words}")
        return done.stdout

    def has_option(self, command: str, option: str) -> bool:
        """Whether the command takes the option in this build."""
        if command not in self._options:
            self._options[command] = self.call(command, "--help")
        return re.search(rf"{option}\b", self._options[command]) is not None

    def build(
        self,
        model: Path,
        precision: str,
        shapes: str = "",
        *,
        target: str = "sm_90",
        name: str = "",
        timed: bool = True,
        auxiliary: int | None = None,
    ) -> Path:
        """The plan of a model, built once in the life of this object."""
        key = (model, precision, shapes, target, timed, auxiliary)
        if key in self._built:
            return self._built[key]
        tag = shapes.split(",")[0].split(":")[-1]
        words = [name or model.stem, tag, target, precision, "" if timed else "untimed"]
        words.append(f"{auxiliary}_auxiliary" if auxiliary is not None else "")
        plan = self.work / ("_".join(w for w in words if w) + ".plan")
        options = ["--target", target, "--precision", precision]
        if shapes:
            options += ["--shapes", shapes]
        if target != "cpu":
            options += ["--timing-cache", str(self.work / "timings.txt")] if timed else ["--untimed"]
        if auxiliary is not None:
            options += ["--max-aux-streams", str(auxiliary)]
        begin = time.time()
        self.call("build", str(model), "-o", str(plan), *options, timeout=550)
        print(f"  built {plan.name} in {time.time() - begin:.0f} s", flush=True)
        self._built[key] = plan
        return plan

    def run(self, plan: Path, inputs: Arrays) -> Arrays:
        """The outputs by name; characters of names that are no letters or digits are '_'."""
        folder = Path(tempfile.mkdtemp(dir=self.work))
        self.call("run", str(plan), *self._saved(inputs, folder), "--output-dir", str(folder / "out"))
        found = {p.stem: np.load(p) for p in (folder / "out").glob("*.npy")}
        shutil.rmtree(folder)
        return found

    def bench(self, plan: Path, inputs: Arrays, text: Path, *options: str) -> dict[str, object]:
        """The figures of `bench`; what it prints goes to the file `text`."""
        folder = Path(tempfile.mkdtemp(dir=self.work))
        figures = folder / "bench.json"
        if "--duration-s" not in options:
            options = (*options, "--duration-s", "1")
        arguments = self._saved(inputs, folder)
        text.write_text(self.call("bench", str(plan), *arguments, *options, "--json", str(figures)))
        found = json.loads(figures.read_text())
        shutil.rmtree(folder)
        return found

    def reports(self, plan: Path) -> list[str]:
        """The sentences of `explain`."""
        return json.loads(self.call("explain", str(plan), "--json"))["reports"]

    def on_host(self, plan: Path) -> list[str]:
        """Of a GPU plan: what the host does in it and why, a sentence each."""
        marker = ": runs on the host: "
        found = [": ".join(r.split(marker, 1)) for r in self.reports(plan) if marker in r]
        steps = json.loads(self.call("inspect", str(plan), "--json"))["procedure_steps"]
        found += [
            f"{n} {kind}: the host decides between programs"
            for kind, n in steps.items()
            if kind in ("if", "loop", "scan")
        ]
        return found

    @staticmethod
    def _saved(inputs: Arrays, folder: Path) -> list[str]:
        arguments = []
        for i, (name, value) in enumerate(inputs.items()):
            np.save(folder / f"{i}.npy", value)
            arguments += ["--input", f"{name}={folder / f'{i}.npy'}"]
        return arguments


@dataclass
class Suite:
    """What every part is given, and where it says what failed."""

    ours: Tilewright
    out: Path
    models_dir: Path
    options: argparse.Namespace
    failures: list[str] = field(default_factory=list)

    def check(self, holds: bool, sentence: str) -> bool:
        """Notes a failure when it does not hold, and says so at once; whether it holds."""
        if not holds:
            self.failures.append(sentence)
            print(f"  FAILED {sentence}", flush=True)
        return holds
