#!/usr/bin/env bash
# Formats every C++, CUDA and Python file of the project with the pinned clang-format and ruff. --check changes
# nothing and exits 1, naming the files and the differences, when something is not formatted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
clang_format=.venv/bin/clang-format
ruff=.venv/bin/ruff
if [[ ! -x $clang_format || ! -x $ruff ]]; then
  echo "format: clang-format and ruff are missing in .venv; ./check installs them" >&2
  exit 1
fi

cpp_folders=() python_folders=()
for folder in include src tests bench examples python; do
  if [[ -d $folder ]]; then cpp_folders+=("$folder"); fi
done
for folder in tools tests bench examples python; do
  if [[ -d $folder ]]; then python_folders+=("$folder"); fi
done
mapfile -d '' files < <(find "${cpp_folders[@]}" \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0)

if [[ ${1:-} == --check ]]; then
  failed=0
  "$clang_format" --dry-run --Werror "${files[@]}" || failed=1
  "$ruff" format --no-cache --quiet --diff "${python_folders[@]}" || failed=1
  "$ruff" check --no-cache --quiet "${python_folders[@]}" || failed=1
  if ((failed)); then
    echo "format: run tools/format.sh" >&2
    exit 1
  fi
  echo "${#files[@]} C++ files and all Python files are formatted"
else
  "$clang_format" -i "${files[@]}"
  "$ruff" format --no-cache --quiet "${python_folders[@]}"
  "$ruff" check --no-cache --quiet --fix "${python_folders[@]}"
fi
