# shellcheck shell=bash
# Shared by ./quickstart and ./check: steps with time left, a full log, Debian packages, virtual environment,
# models, build. Everything is resumable: a step whose result is there costs no network and little time.
# Sourced from the root of the clone. Writes only below build/, .venv/ and models/ (and by apt).

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PYTHON="$ROOT/.venv/bin/python"
JOBS=$(nproc)
export CCACHE_DIR="$ROOT/build/ccache"
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
export DEBIAN_FRONTEND=noninteractive
export NINJA_STATUS='[%f/%t] '

# start NAME: opens the log build/logs/NAME-DATE.log.
start() {
  COMMAND=$1
  mkdir -p "$ROOT/build/logs/seconds"
  LOG="build/logs/$COMMAND-$(date +%Y%m%d-%H%M%S).log"
  cd "$ROOT" || exit 1
  echo "full log: $LOG"
}

say() { echo "$*" | tee -a "$LOG"; }

# die SENTENCE: ends the command. ON_DIE, when set, is called first.
die() {
  say "$COMMAND: $*" >&2
  if [[ -n ${ON_DIE:-} ]]; then "$ON_DIE"; fi
  exit 1
}

# logged COMMAND...: output goes to the log; its end is shown when the command fails.
logged() {
  local from
  from=$(($(wc -l <"$LOG" 2>/dev/null || echo 0) + 1))
  echo "\$ $*" >>"$LOG"
  if "$@" </dev/null >>"$LOG" 2>&1; then return 0; fi
  tail -n "+$from" "$LOG" | tail -n 30 >&2
  return 1
}

# shown COMMAND...: output goes to the terminal and to the log.
shown() {
  echo "\$ $*" >>"$LOG"
  "$@" 2>&1 </dev/null | tee -a "$LOG"
}

minutes() {
  if (($1 < 90)); then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi
}

# estimate KEY COLD_SECONDS: what the step took here last time, else what it takes on a cold 2-core machine.
estimate() { cat "build/logs/seconds/$COMMAND.$1" 2>/dev/null || echo "$2"; }

# run_steps "KEY COLD_SECONDS TITLE"...: runs step_KEY for each, in order, and says how much time is left.
run_steps() {
  local k=0 row key cold title rest left began
  local -a todo=("$@")
  for row in "$@"; do
    read -r key cold title <<<"$row"
    left=0
    for rest in "${todo[@]:k}"; do
      read -r rest cold _ <<<"$rest"
      left=$((left + $(estimate "$rest" "$cold")))
    done
    k=$((k + 1))
    say "[step $k/$#] $title ($(minutes "$left") left in all)"
    began=$SECONDS
    "step_$key"
    echo $((SECONDS - began)) >"build/logs/seconds/$COMMAND.$key"
  done
}

# --- Debian packages -------------------------------------------------------------------------------------------

wanted_packages() { sed 's/#.*//' tools/setup/packages.txt | xargs; }

missing_packages() {
  local name
  for name in $(wanted_packages); do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || echo "$name"
  done | xargs
}

# refresh_package_lists: once a run, as root; others use the lists that are there.
refresh_package_lists() {
  if [[ $(id -u) != 0 || -n ${LISTS_REFRESHED:-} ]]; then return 0; fi
  logged apt-get update -q -o DPkg::Lock::Timeout=300 || die "apt-get update failed; see $LOG"
  LISTS_REFRESHED=1
}

# apt_megabytes PACKAGES: what apt would download, dependencies included.
apt_megabytes() {
  apt-get install --print-uris -y -qq --no-install-recommends "$@" 2>/dev/null |
    awk '{ bytes += $3 } END { printf "%d", (bytes + 999999) / 1000000 }'
}

# --- what there is to download ---------------------------------------------------------------------------------

venv_is_current() {
  local file
  for file in "$@"; do
    cmp -s "$file" ".venv/.installed-$(basename "$file")" || return 1
  done
}

python_megabytes() { awk '/^# megabytes:/ { total += $3 } END { print total }' "$@"; }

# missing_models: "package megabytes" a line.
missing_models() {
  local package megabytes
  awk -F' = ' '/^(package|debian)/ { gsub(/"/, "", $2); name = $2 } /^megabytes/ { print name, $2 }' \
    tools/models/models.toml | while read -r package megabytes; do
    [[ -e models/.fetched/$package ]] || echo "$package $megabytes"
  done
}

# announce REQUIREMENTS...: says what will be downloaded, before anything is.
announce() {
  local missing models
  missing=$(missing_packages)
  models=$(missing_models)
  if [[ -z $missing && -z $models ]] && venv_is_current "$@"; then
    say "packages, virtual environment and models are there: nothing to download"
    return
  fi
  say "to download:"
  if [[ -n $missing ]]; then
    if [[ $(id -u) != 0 ]]; then
      say "  Debian packages: $missing"
      die "not root: install them with this line, then run ./$COMMAND again:
  sudo apt-get install -y --no-install-recommends $missing"
    fi
    refresh_package_lists
    # shellcheck disable=SC2086 # a list of names
    say "  Debian packages, $(apt_megabytes $missing) MB with what they depend on: $missing"
  fi
  venv_is_current "$@" || say "  Python packages into .venv/, $(python_megabytes "$@") MB: $(sed -n 's/^\([a-z][^=]*==[^ ]*\).*/\1/p' "$@" | xargs)"
  [[ -z $models ]] || say "  models into models/, $(awk '{ total += $2 } END { print total }' <<<"$models") MB: $(awk '{ print $1 }' <<<"$models" | xargs)"
}

# --- steps -----------------------------------------------------------------------------------------------------

step_packages() {
  local missing
  missing=$(missing_packages)
  if [[ -z $missing ]]; then return 0; fi
  refresh_package_lists
  # shellcheck disable=SC2086 # a list of names
  logged apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 $missing ||
    die "apt-get could not install: $missing; see $LOG"
}

# silence_telemetry: onnxruntime (1.29 and later) reports its use to its makers unless this variable is set before it is
# imported. Every Python of this environment sets it, whoever starts it.
silence_telemetry() {
  echo 'import os; os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")' \
    >"$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tilewright_settings.pth"
}

# install_python REQUIREMENTS...: each list of pinned hashes into .venv/, once.
install_python() {
  local file
  [[ -x $PYTHON ]] || logged /usr/bin/python3 -m venv .venv || die "cannot make .venv with /usr/bin/python3; see $LOG"
  silence_telemetry
  for file in "$@"; do
    venv_is_current "$file" && continue
    logged "$PYTHON" -m pip install -q --no-deps --require-hashes --only-binary=:all: -r "$file" ||
      die "cannot install $file into .venv; see $LOG"
    cp "$file" ".venv/.installed-$(basename "$file")"
  done
}

step_models() {
  [[ -e models/.fetched/python3-skimage ]] || refresh_package_lists
  shown "$PYTHON" tools/models/fetch.py || die "the models could not be fetched; see $LOG"
  if [[ ! -e models/minilm/model.onnx || tools/models/bert_graph.py -nt models/minilm/model.onnx ]]; then
    shown "$PYTHON" tools/models/export_minilm.py || die "the MiniLM graph could not be written; see $LOG"
  fi
  if [[ ! -e models/resnet50/resnet50.onnx || tools/models/export_resnet50.py -nt models/resnet50/resnet50.onnx ]]; then
    shown "$PYTHON" tools/models/export_resnet50.py || die "the ResNet-50 graph could not be written; see $LOG"
  fi
  if [[ ! -e models/pages/made.json || tools/make_page.py -nt models/pages/made.json || tools/page_text.py -nt models/pages/made.json ]]; then
    shown "$PYTHON" tools/make_page.py || die "the test page could not be drawn; see $LOG"
  fi
}

# show_progress: ninja's lines, as one moving line on a terminal, else a line every 20 seconds.
show_progress() {
  local line began=$SECONDS shown=$SECONDS built total
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      built=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      if [[ -t 1 ]] || ((SECONDS - shown >= 20)); then
        shown=$SECONDS
        printf '  %d of %d built, %s left' "$built" "$total" \
          "$(minutes $(((SECONDS - began) * (total - built) / (built > 0 ? built : 1))))"
        if [[ -t 1 ]]; then printf '      \r'; else printf '\n'; fi
      fi
    fi
  done
}

# The CUDA compiler, 13 or newer; nothing without one.
find_nvcc() {
  local nvcc version
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  [[ -x $nvcc ]] || return 0
  version=$("$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  if ((${version:-0} >= 13)); then echo "$nvcc"; fi
}
gpu_is_here() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }
# with_cuda: from here on, build() builds the CUDA backend too, where its compiler is.
with_cuda() {
  local nvcc
  nvcc=$(find_nvcc)
  [[ -n $nvcc ]] || return 0
  say "  with the CUDA backend ($nvcc)"
  CMAKE_OPTIONS+=("-DTILEWRIGHT_CUDA=ON" "-DCMAKE_CUDA_COMPILER=$nvcc")
}
CMAKE_OPTIONS=()

# build PRESET [TARGET...]: configures and builds; the whole output is in the log.
build() {
  local preset=$1 from
  shift
  logged cmake --preset "$preset" "${CMAKE_OPTIONS[@]}" || die "CMake could not configure the preset $preset; see $LOG"
  from=$(($(wc -l <"$LOG") + 1))
  if ! cmake --build "build/$preset" -j "$JOBS" ${1:+--target "$@"} 2>&1 </dev/null | tee -a "$LOG" | show_progress; then
    tail -n "+$from" "$LOG" | grep -v '^\[' | head -n 60 >&2
    die "the build failed; see $LOG"
  fi
}
