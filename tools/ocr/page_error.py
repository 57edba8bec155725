#!/usr/bin/env python3
"""The character error rate of a reading of the made page. Exit code 1 when it is above the limit.

page_error.py READING.json TRUTH.json [--limit 0.02]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from lines import page_error, read_lines


def main() -> int:
    """Prints each line that was read wrong, and the rate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reading", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--limit", type=float, default=0.02)
    options = parser.parse_args()
    error = page_error(read_lines(options.reading), read_lines(options.truth))
    for wanted, found in error.worst:
        print(f"  wanted {wanted!r}\n   found {found!r}")
    verdict = "ok" if error.rate <= options.limit else "FAILED"
    share = f"{error.rate:.2%} ({error.errors} of {error.characters})"
    print(f"  character error rate {share}, limit {options.limit:.0%}: {verdict}")
    return 0 if error.rate <= options.limit else 1


if __name__ == "__main__":
    sys.exit(main())
