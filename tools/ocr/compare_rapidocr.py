#!/usr/bin/env python3
"""Compares a reading of a page with RapidOCR's own program: the same lines, the same text, boxes with IoU >= 0.9.

compare_rapidocr.py READING.json PICTURE [--iou 0.9]        exit code 1 when something differs
compare_rapidocr.py --write READING.json PICTURE            writes RapidOCR's own reading
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rapidocr_onnxruntime import RapidOCR
from shapely.geometry import Polygon

sys.path.insert(0, str(Path(__file__).parent))

from lines import Line, read_lines


def rapidocr_lines(picture: Path) -> list[dict[str, Any]]:
    """What RapidOCR reads with its default settings."""
    found, _ = RapidOCR()(str(picture))
    return [{"text": text, "quad": quad, "confidence": float(score)} for quad, text, score in found or []]


def overlap(a: Line, b: Line) -> float:
    """Intersection over union of two quads."""
    first, second = Polygon(a.quad), Polygon(b.quad)
    return first.intersection(second).area / first.union(second).area


def differences(ours: list[Line], theirs: list[Line], limit: float) -> list[str]:
    """A sentence for each line that only one side has, reads otherwise, or places elsewhere."""
    found, left = [], list(ours)
    for line in theirs:
        best = max(left, key=lambda other: overlap(line, other), default=None)
        if best is None or overlap(line, best) == 0:
            found.append(f"missing: {line.text!r}")
            continue
        left.remove(best)
        if best.text != line.text:
            found.append(f"RapidOCR reads {line.text!r}, we read {best.text!r}")
        if overlap(line, best) < limit:
            found.append(f"{line.text!r}: IoU {overlap(line, best):.3f}, wanted {limit}")
    return found + [f"only ours: {line.text!r}" for line in left]


def main() -> int:
    """Compares, or writes the reading to compare with."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reading", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--iou", type=float, default=0.9)
    parser.add_argument("--write", action="store_true", help="write RapidOCR's reading to READING.json")
    options = parser.parse_args()
    lines = rapidocr_lines(options.picture)
    if options.write:
        options.reading.write_text(json.dumps({"schema_version": 1, "lines": lines}, indent=1) + "\n")
        return 0
    theirs = [Line(line["text"], line["quad"]) for line in lines]
    found = differences(read_lines(options.reading), theirs, options.iou)
    print("\n".join(f"  {sentence}" for sentence in found) or f"  {len(theirs)} lines: same text, IoU >= {options.iou}")
    return 1 if found or not theirs else 0


if __name__ == "__main__":
    sys.exit(main())
