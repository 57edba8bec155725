#!/usr/bin/env python3
"""The MiniLM part of the main job: text to ids before the plan runs, embeddings to a verdict after it.

minilm_sentences.py tokens DIR     writes input_ids.npy, attention_mask.npy, token_type_ids.npy
minilm_sentences.py compare DIR    reads sentence_embedding.npy, prints cosines, exit code 1 when the order is wrong
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "models"))

from wordpiece import WordPiece  # noqa: E402

SENTENCES = [
    "The ferry was late because of fog on the lake.",
    "Mist over the water delayed the boat.",
    "She bakes rye bread with caraway seeds every Friday.",
]


def write_tokens(folder: Path) -> None:
    """The model's three inputs for the sentences, one a row."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in WordPiece(ROOT / "models" / "minilm" / "vocab.txt").batch(SENTENCES).items():
        np.save(folder / f"{name}.npy", values)


def compare(folder: Path) -> bool:
    """Whether the paraphrase is nearer than the unrelated sentence; prints both cosines."""
    embedding = np.load(folder / "sentence_embedding.npy").astype(np.float64)
    if embedding.shape[0] != len(SENTENCES) or not np.isfinite(embedding).all():
        print(f"  expected {len(SENTENCES)} finite embeddings, found shape {embedding.shape}")
        return False
    unit = embedding / np.linalg.norm(embedding, axis=1, keepdims=True)
    cosines = unit[1:] @ unit[0]
    print(f'  "{SENTENCES[0]}"')
    for sentence, cosine in zip(SENTENCES[1:], cosines, strict=True):
        print(f'    {cosine:6.3f}  "{sentence}"')
    return bool(cosines[0] > cosines[1] + 0.2)  # a real paraphrase is far nearer: 0.6 against 0.0 in the original model


def main() -> int:
    """Runs one of the two halves."""
    if len(sys.argv) != 3 or sys.argv[1] not in ("tokens", "compare"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[2])
    if sys.argv[1] == "tokens":
        write_tokens(folder)
        return 0
    return 0 if compare(folder) else 1


if __name__ == "__main__":
    sys.exit(main())
