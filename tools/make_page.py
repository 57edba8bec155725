#!/usr/bin/env python3
"""Draws a photographed page whose text is known: a 1920x1080 PNG and its truth as JSON.

The sheet is set in Debian's fonts at twice the size, then seen by a tilted camera on a desk, with a shadow, uneven
light, a little blur and noise. Equal seeds give equal pixels. Truth: for each line its text and the quadrilateral
of its ink in the picture (top left, top right, bottom right, bottom left).
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from page_text import HEAD, LEFT, RIGHT, Lines
from PIL import Image, ImageDraw, ImageFilter, ImageFont

ROOT = Path(__file__).resolve().parents[1]
FONTS = Path("/usr/share/fonts/truetype")
WIDTH, HEIGHT = 1920, 1080
SHEET_WIDTH, SHEET_HEIGHT = 3000, 2040
COLUMN_WIDTH = 1300
COLUMN_EDGES = (160, 1560)

Point = tuple[float, float]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Style:
    """How a line is set, in pixels of the sheet."""

    font: str
    size: int
    advance: int
    ink: int


STYLES = {
    "title": Style("dejavu/DejaVuSerif-Bold.ttf", 100, 165, 20),
    "heading": Style("liberation/LiberationSans-Bold.ttf", 60, 118, 30),
    "text": Style("liberation/LiberationSerif-Regular.ttf", 52, 92, 34),
    "table": Style("dejavu/DejaVuSansMono.ttf", 46, 88, 38),
    "caption": Style("dejavu/DejaVuSans.ttf", 42, 100, 50),
}

# The sheet's corners in the picture, clockwise from the top left: the camera stands low and to the right.
CORNERS: list[Point] = [(232.0, 44.0), (1706.0, 78.0), (1792.0, 1046.0), (128.0, 1020.0)]


def homography(source: list[Point], target: list[Point]) -> np.ndarray:
    """The 3x3 matrix that carries four points onto four others."""
    rows, right = [], []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return np.append(np.linalg.solve(np.array(rows), np.array(right)), 1.0).reshape(3, 3)


def carry(matrix: np.ndarray, point: Point) -> list[float]:
    """A point after a homography, to a hundredth of a pixel."""
    x, y, w = matrix @ np.array([*point, 1.0])
    return [round(float(x / w), 2), round(float(y / w), 2)]


class Sheet:
    """The flat page, and each line with the box of its ink."""

    def __init__(self) -> None:
        self.image = Image.new("L", (SHEET_WIDTH, SHEET_HEIGHT), 244)
        self.boxes: list[tuple[str, Box]] = []
        self._draw = ImageDraw.Draw(self.image)

    def _put(self, text: str, x: float, y: float, style: Style, anchor: str) -> None:
        font = ImageFont.truetype(str(FONTS / style.font), style.size, layout_engine=ImageFont.Layout.BASIC)
        self._draw.text((x, y), text, fill=style.ink, font=font, anchor=anchor)
        self.boxes.append((text, self._draw.textbbox((x, y), text, font=font, anchor=anchor)))

    def set_column(self, lines: Lines, left: int, top: int) -> int:
        """Sets lines one below the other; where the next would stand."""
        for name, line in lines:
            style = STYLES[name]
            top += style.advance
            text, _, second = line.partition("\t")
            self._put(text, left, top, style, "ls")
            if second:
                self._put(second, left + COLUMN_WIDTH, top, style, "rs")
        if top > SHEET_HEIGHT - 40:
            raise ValueError(f"the last line stands at {top} of {SHEET_HEIGHT}")
        return top


def set_sheet() -> Sheet:
    """Head and columns."""
    sheet = Sheet()
    top = sheet.set_column(HEAD, COLUMN_EDGES[0], 40) + 20
    sheet.set_column(LEFT, COLUMN_EDGES[0], top)
    sheet.set_column(RIGHT, COLUMN_EDGES[1], top)
    return sheet


def desk(generator: np.random.Generator) -> np.ndarray:
    """A dark wooden surface: [HEIGHT, WIDTH, 3]."""
    rows = generator.standard_normal((HEIGHT, 1)).cumsum(axis=0)
    grain = np.asarray(rows - rows.mean()) * 0.5 + generator.standard_normal((HEIGHT, WIDTH)) * 2
    return np.array([92.0, 70.0, 54.0]) + grain[:, :, np.newaxis].clip(-14, 14)


def light() -> np.ndarray:
    """How bright each pixel is: a lamp at the upper right, a soft shadow at the lower left: [HEIGHT, WIDTH, 1]."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    lamp = 1.02 - 0.16 * np.hypot((x - 1400) / WIDTH, (y - 160) / HEIGHT)
    edge = (0.55 * x - y + 560) / 130.0
    shadow = 1 - 0.30 / (1 + np.exp(edge))
    return (lamp * shadow)[:, :, np.newaxis]


def photograph(sheet: Image.Image, matrix: np.ndarray, generator: np.random.Generator) -> Image.Image:
    """What the camera sees. `matrix` carries points of the sheet into the picture."""
    back = np.linalg.inv(matrix)
    coefficients = (back / back[2, 2]).ravel()[:8]
    softened = sheet.filter(ImageFilter.GaussianBlur(0.9))  # twice the scale: half a pixel of blur, and no aliasing
    size, method = (WIDTH, HEIGHT), Image.Transform.PERSPECTIVE
    seen = np.asarray(softened.transform(size, method, coefficients, Image.Resampling.BICUBIC), np.float64)
    blank = Image.new("L", sheet.size, 255)
    cover = np.asarray(blank.transform(size, method, coefficients, Image.Resampling.BILINEAR), np.float64) / 255
    paper = seen[:, :, np.newaxis] * np.array([1.0, 0.985, 0.945])
    picture = paper * cover[:, :, np.newaxis] + desk(generator) * (1 - cover[:, :, np.newaxis])
    picture = picture * light() + generator.normal(0.0, 4.0, picture.shape)
    return Image.fromarray(picture.round().clip(0, 255).astype(np.uint8))


def make_page(seed: int) -> tuple[Image.Image, dict[str, Any]]:
    """The picture and its truth."""
    sheet = set_sheet()
    flat = [
        (0.0, 0.0),
        (float(SHEET_WIDTH), 0.0),
        (float(SHEET_WIDTH), float(SHEET_HEIGHT)),
        (0.0, float(SHEET_HEIGHT)),
    ]
    matrix = homography(flat, CORNERS)
    picture = photograph(sheet.image, matrix, np.random.Generator(np.random.PCG64(seed)))
    lines = [
        {"text": text, "quad": [carry(matrix, p) for p in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))]}
        for text, (x0, y0, x1, y1) in sheet.boxes
    ]
    return picture, {"schema_version": 1, "width_px": WIDTH, "height_px": HEIGHT, "seed": seed, "lines": lines}


def main() -> int:
    """Writes NAME.png and NAME.json."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "models" / "pages" / "made.png")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    picture, truth = make_page(options.seed)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    picture.save(options.output)
    options.output.with_suffix(".json").write_text(json.dumps(truth, indent=1) + "\n")
    texts = [line["text"] for line in truth["lines"]]
    print(f"  {options.output.name}: {WIDTH}x{HEIGHT}, {len(texts)} lines, {sum(map(len, texts))} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
