#!/usr/bin/env bash
# suite.py with the libraries found: run.sh FOLDER-OF-PROGRAMS OUT [options of suite.py]
set -euo pipefail
folder=$1 out=$2
shift 2
nvrtc=$(python3 - <<'PYTHON'
import glob, os, site
found = [os.path.dirname(p) for s in site.getsitepackages() for p in glob.glob(s + "/nvidia/**/libnvrtc.so.13", recursive=True)]
print(":".join(glob.glob("/usr/local/cuda*/lib64") + found))
PYTHON
)
export LD_LIBRARY_PATH="$folder/lib:$nvrtc${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec python3 "$(dirname "${BASH_SOURCE[0]}")/suite.py" --bin "$folder" --out "$out" "$@"
