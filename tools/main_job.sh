#!/usr/bin/env bash
# The main job, where a person can see it: real models become plans, plans run on real input, answers are checked.
# Needs build/release/bin/tilewright, .venv/ and models/ (./quickstart makes all three).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tilewright=build/release/bin/tilewright
python=.venv/bin/python
out=build/main_job
mkdir -p "$out"

minilm() {
  echo "sentence embeddings: all-MiniLM-L6-v2, any batch and length"
  local plan=$out/minilm.plan inputs=$out/minilm_inputs outputs=$out/minilm_outputs
  "$tilewright" build models/minilm/model.onnx -o "$plan" \
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

minilm
