#!/usr/bin/env python3
"""Writes the characters that a PP-OCR recogniser's classes stand for, one a line: metadata of its ONNX file.

characters.py MODEL.onnx -o FILE
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import onnx


def characters(model: onnx.ModelProto) -> list[str]:
    """The characters in the order of the classes: without the blank before them and the space after them."""
    values = [entry.value for entry in model.metadata_props if entry.key == "character"]
    if len(values) != 1:
        raise ValueError("the model's metadata has no 'character'")
    found = values[0].splitlines()
    if not all(found):
        raise ValueError("an empty character")
    return found


def main() -> int:
    """Writes the file, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    found = characters(onnx.load(options.model, load_external_data=False))
    partial = options.output.with_suffix(".partial")
    partial.write_text("".join(f"{character}\n" for character in found), encoding="utf-8")
    partial.replace(options.output)
    print(f"  {options.output.name}: {len(found)} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
