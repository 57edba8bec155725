#!/usr/bin/env bash
# The main job, where a person can see it: real models become plans, plans run on real input, answers are checked.
# Needs build/release/bin/, .venv/ and models/ (./quickstart makes all three). Leaves plans, readings and the pages with
# numbered boxes in build/main_job/. `main_job.sh sm_90` does it on the GPU, in build/main_job_sm_90/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tilewright=build/release/bin/tilewright
tilewright_ocr=build/release/bin/tilewright_ocr
python=.venv/bin/python
target=${1:-cpu}
out=build/main_job
[[ $target == cpu ]] || out+=_$target
mkdir -p "$out"

minilm() {
  echo "sentence embeddings: all-MiniLM-L6-v2, any batch and length"
  local plan=$out/minilm.plan inputs=$out/minilm_inputs outputs=$out/minilm_outputs
  "$tilewright" build models/minilm/model.onnx -o "$plan" --target "$target" \
    --shapes input_ids:NxS,attention_mask:NxS,token_type_ids:NxS
  "$python" tools/minilm_sentences.py tokens "$inputs"
  "$tilewright" run "$plan" \
    --input input_ids="$inputs/input_ids.npy" \
    --input attention_mask="$inputs/attention_mask.npy" \
    --input token_type_ids="$inputs/token_type_ids.npy" \
    --output-dir "$outputs"
  "$python" tools/minilm_sentences.py compare "$outputs" || {
    echo "main job: the paraphrase is not the nearest sentence" >&2
    return 1
  }
  "$tilewright" inspect "$plan"
}

# plan NAME SIZES: a plan of a PP-OCR model; letters are sizes that stay open.
plan() { "$tilewright" build "models/ppocr/$1.onnx" -o "$out/$1.plan" --target "$target" --shapes "x:$2"; }

# read_page NAME: what is on models/pages/NAME.png, as a table, as NAME.json and drawn into NAME.png.
read_page() {
  echo "text on a photographed page: models/pages/$1.png"
  rm -f "$out/$1.json" "$out/$1.png"
  "$tilewright_ocr" "models/pages/$1.png" --plans "$out" --characters models/ppocr/characters.txt --repeat 3 \
    --json "$out/$1.json" --annotated "$out/$1.png"
  echo "  boxes: $out/$1.png"
}

ocr() {
  echo "text recognition: PP-OCR's detector, classifier and recogniser, any size of page and line"
  if [[ models/ppocr/rec.onnx -nt models/ppocr/characters.txt ]]; then
    "$python" tools/ocr/characters.py models/ppocr/rec.onnx -o models/ppocr/characters.txt
  fi
  plan det 1x3xHxW
  plan cls Nx3x48x192
  plan rec Nx3x48xW
  read_page page
  read_page made
  "$python" tools/ocr/page_error.py "$out/made.json" models/pages/made.json || {
    echo "main job: too many characters of the made page are wrong" >&2
    return 1
  }
}

minilm
ocr
