#!/usr/bin/env bash
# Runs the pinned clang-tidy over the host sources of a build: tools/tidy.sh [PRESET] [FILE...]
# A header that g++ precompiled is none for clang, which then reads the text it was made of.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}
shift || true
database=build/$preset/compile_commands.json
if [[ ! -e $database ]]; then
  echo "tidy: $database is missing; configure it with: cmake --preset $preset" >&2
  exit 1
fi
files=("$@")
if ((${#files[@]} == 0)); then
  mapfile -t files < <(.venv/bin/python - "$database" <<'PYTHON'
import json, pathlib, sys
here = pathlib.Path.cwd()
files = {pathlib.Path(entry["file"]) for entry in json.load(open(sys.argv[1]))}
print(*sorted(f for f in files if f.suffix == ".cpp" and f.is_relative_to(here) and not f.is_relative_to(here / "build")), sep="\n")
PYTHON
  )
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -P "$(nproc)" -n 4 .venv/bin/clang-tidy -p "build/$preset" --quiet --extra-arg=-Wno-ignored-gch
echo "${#files[@]} files are clean"
