"""Lines of text on a page: how two readings are matched and how far apart they are.

A reading is JSON: {"lines": [{"text": ..., "quad": [[x, y] * 4], "confidence": ...}, ...]}, quads clockwise from
the top left in pixels.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

Quad = list[list[float]]


@dataclass(frozen=True)
class Line:
    """One line of text and where it stands."""

    text: str
    quad: Quad

    @property
    def centre(self) -> tuple[float, float]:
        """The mean of the corners."""
        return sum(p[0] for p in self.quad) / 4, sum(p[1] for p in self.quad) / 4

    def holds(self, point: tuple[float, float]) -> bool:
        """Whether a point lies inside the (convex, clockwise) quad."""
        x, y = point
        edges = zip(self.quad, self.quad[1:] + self.quad[:1], strict=True)
        return all((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) >= 0 for (x0, y0), (x1, y1) in edges)


def read_lines(path: Path) -> list[Line]:
    """The lines of a reading or of a truth file."""
    return [Line(line["text"], line["quad"]) for line in json.loads(path.read_text())["lines"]]


def edit_distance(a: str, b: str) -> int:
    """Insertions, deletions and substitutions of characters between two texts."""
    row = list(range(len(b) + 1))
    for i, character in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (character != other))
    return row[-1]


def pair(found: list[Line], truth: list[Line]) -> tuple[list[list[Line]], list[Line]]:
    """For each true line the found lines whose centre it holds, from left to right; and the found lines left over."""
    groups: list[list[Line]] = [[] for _ in truth]
    stray: list[Line] = []
    for line in sorted(found, key=lambda l: l.centre[0]):
        home = next((i for i, true in enumerate(truth) if true.holds(line.centre)), None)
        (stray if home is None else groups[home]).append(line)
    return groups, stray


@dataclass(frozen=True)
class PageError:
    """How far a reading is from the truth."""

    errors: int
    characters: int
    worst: list[tuple[str, str]]

    @property
    def rate(self) -> float:
        """The character error rate."""
        return self.errors / max(self.characters, 1)


def page_error(found: list[Line], truth: list[Line]) -> PageError:
    """Edit distance over all lines; a line that is not on the page counts with all its characters."""
    groups, stray = pair(found, truth)
    texts = [" ".join(line.text for line in group) for group in groups]
    wrong = [(true.text, text) for true, text in zip(truth, texts, strict=True) if true.text != text]
    wrong += [("", line.text) for line in stray]
    errors = sum(edit_distance(a, b) for a, b in wrong)
    return PageError(errors, sum(len(true.text) for true in truth), wrong)
