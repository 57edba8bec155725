#!/usr/bin/env python3
"""Warns of headers over 250 lines, sources over 500, functions over 60; exit code 1 at twice that. No exceptions."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("include", "src", "tests", "bench", "examples", "python")
LIMITS = {".h": 250, ".cuh": 250, ".cpp": 500, ".cu": 500}
FUNCTION_LIMIT = 60

# Comments, raw strings, strings and characters: what a brace may hide in.
HIDDEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^\s*#[^\n]*',
    re.DOTALL | re.MULTILINE,
)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|concept)\b[^()=]*$|extern\s*$")
FUNCTION = re.compile(
    r"\)\s*((const|noexcept|override|final|mutable|&&?|->[^;{]*|:[^;]*|requires[^;]*)\s*)*$", re.DOTALL
)


def blank(match: re.Match[str]) -> str:
    """The same number of lines, nothing in them."""
    return "\n" * match.group().count("\n")


def functions(text: str) -> Iterator[tuple[int, int]]:
    """First line and length of every outermost function body and lambda outside functions."""
    code = HIDDEN.sub(blank, text)
    stack: list[bool] = []  # for each open brace: whether it opened a measured function
    line, head_from, opened = 1, 0, 0
    for at, character in enumerate(code):
        if character == "\n":
            line += 1
        elif character == "{":
            head = code[head_from:at]
            is_function = not any(stack) and not SCOPE.search(head) and bool(FUNCTION.search(head))
            stack.append(is_function)
            if is_function:
                opened = line
        elif character == "}" and stack and stack.pop():
            yield opened, line - opened + 1
        if character in ";{}":
            head_from = at + 1


def findings(path: Path) -> Iterator[tuple[float, str]]:
    """How many times the limit, and a sentence, for everything over its limit in a file."""
    name, text = path.relative_to(ROOT), path.read_text(errors="replace")
    lines, limit = text.count("\n"), LIMITS[path.suffix]
    if lines > limit:
        yield lines / limit, f"{name}: {lines} lines, wanted at most {limit}"
    for first, length in functions(text):
        if length > FUNCTION_LIMIT:
            yield (
                length / FUNCTION_LIMIT,
                f"{name}:{first}: a function of {length} lines, wanted at most {FUNCTION_LIMIT}",
            )


def main() -> int:
    """Checks every C++ and CUDA file of the tree."""
    files = sorted(p for f in FOLDERS for p in (ROOT / f).rglob("*") if p.suffix in LIMITS)
    found = [finding for path in files for finding in findings(path)]
    for ratio, sentence in found:
        print("error:" if ratio > 2 else "warning:", sentence)
    print(f"{len(files)} files, {len(found)} over a limit")
    return 1 if any(ratio > 2 for ratio, _ in found) else 0


if __name__ == "__main__":
    sys.exit(main())
