"""The models of part `equal`: where they are, the sizes they run at, and inputs like those they were made for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tilewright import Arrays

SAMPLE_RATE = 16000
Random = np.random.Generator
# What the outputs so far give as the next step's inputs; of most models there is one step.
Inputs = Callable[[Random, tuple[int, ...], int, Arrays], Arrays]


# As onnxruntime gives them on the inputs below.
LOGITS = {"det": 151.0, "rec": 25.0, "magika": 17.0}


@dataclass(frozen=True)
class EqualCase:
    """A plan (the value of --shapes) and the sizes of the first input that it runs at."""

    name: str
    file: str  # below the folder of models
    shapes: str
    sizes: tuple[tuple[int, ...], ...]
    inputs: Inputs
    steps: int = 1

    @property
    def logits(self) -> float:
        """The largest magnitude in front of the sigmoid or softmax at the end, or 4, which amplifies nothing."""
        return LOGITS.get(self.name, 4.0)


def page(random: Random, sizes: tuple[int, ...]) -> np.ndarray:
    """Pictures of lines of dark strokes on bright paper, NCHW, as PP-OCR scales them: (v - 0.5) / 0.5."""
    n, channels, height, width = sizes
    paper = random.uniform(0.8, 0.95, (n, 1, 1, 1)) * np.ones((n, channels, height, width))
    for picture in paper:
        for top in range(8, height - 24, 48):
            x = int(random.integers(4, 24))
            while x < width - 24:
                if random.random() < 0.8:  # a glyph of an upright and a bar, else the gap between words
                    at = top + int(random.integers(0, 24))
                    picture[:, top : top + 32, x : x + 4] = 0.15
                    picture[:, at : at + 5, x : x + 14] = 0.2
                x += int(random.integers(14, 22))
    paper += 0.02 * random.standard_normal(paper.shape)
    return ((paper - 0.5) / 0.5).astype(np.float32)


def pictures(random: Random, sizes: tuple[int, ...], _step: int, _before: Arrays) -> Arrays:
    """Input x of PP-OCR."""
    return {"x": page(random, sizes)}


def voice(random: Random, sizes: tuple[int, ...], step: int, before: Arrays) -> Arrays:
    """Chunks of 36 ms of a hummed vowel with noise, and the state that the step before left."""
    batch, samples = sizes
    seconds = (np.arange(samples) + step * 512) / SAMPLE_RATE
    pitch = random.uniform(100, 220, (batch, 1))
    sound = sum(np.sin(2 * np.pi * k * pitch * seconds) / k for k in range(1, 20))
    sound = 0.15 * sound * (1 + np.sin(2 * np.pi * 4 * seconds)) + 0.01 * random.standard_normal((batch, samples))
    return {
        "input": sound.astype(np.float32),
        "state": before.get("stateN", np.zeros((2, batch, 128), np.float32)),
        "sr": np.array(SAMPLE_RATE, np.int64),
    }


def file_bytes(random: Random, sizes: tuple[int, ...], _step: int, _before: Arrays) -> Arrays:
    """Beginnings and ends of text files; 256 stands for what is past the end."""
    text = (b"#include <vector>\n// sums up\nint main(int argc, char** argv) {\n  return argc > 1;\n}\n" * 40)[
        : sizes[1]
    ]
    rows = np.tile(np.frombuffer(text, np.uint8).astype(np.int32), (sizes[0], 1))
    for row in rows:
        row[random.integers(0, sizes[1], 200)] = random.integers(32, 127, 200)
        row[int(random.integers(900, 1024)) : 1024] = 256
    return {"bytes": rows}


def sentences(random: Random, sizes: tuple[int, ...], _step: int, _before: Arrays) -> Arrays:
    """Token ids of sentences of different lengths with their mask."""
    batch, length = sizes
    ends = random.integers(max(1, length // 3), length + 1, (batch, 1))
    mask = (np.arange(length) < ends).astype(np.int64)
    ids = random.integers(1000, 30000, sizes) * mask
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(sizes, np.int64)}


def _tokens(dims: str) -> str:
    return ",".join(f"{n}:{dims}" for n in ("input_ids", "attention_mask", "token_type_ids"))


def _voices(batch: str) -> str:
    return f"input:{batch}x576,state:2x{batch}x128"


DET, REC, CLS = "ppocr/det.onnx", "ppocr/rec.onnx", "ppocr/cls.onnx"
SILERO, MAGIKA, MINILM = "silero/silero_vad.onnx", "magika/model.onnx", "minilm/model.onnx"

CASES = (
    EqualCase("det", DET, "x:1x3x736x1280", ((1, 3, 736, 1280),), pictures),
    EqualCase("det", DET, "x:1x3xHxW", ((1, 3, 96, 352), (1, 3, 160, 544)), pictures),
    EqualCase("rec", REC, "x:1x3x48x320", ((1, 3, 48, 320),), pictures),
    EqualCase("rec", REC, "x:6x3x48x320", ((6, 3, 48, 320),), pictures),
    EqualCase("rec", REC, "x:Nx3x48xW", ((3, 3, 48, 184), (1, 3, 48, 72)), pictures),
    EqualCase("cls", CLS, "x:1x3x48x192", ((1, 3, 48, 192),), pictures),
    EqualCase("cls", CLS, "x:Nx3x48x192", ((5, 3, 48, 192), (1, 3, 48, 192)), pictures),
    EqualCase("silero", SILERO, _voices("1"), ((1, 576),), voice, steps=5),
    EqualCase("silero", SILERO, _voices("N"), ((3, 576),), voice, steps=3),
    EqualCase("minilm", MINILM, _tokens("1x128"), ((1, 128),), sentences),
    EqualCase("minilm", MINILM, _tokens("NxS"), ((3, 77), (8, 32)), sentences),
    EqualCase("magika", MAGIKA, "bytes:1x2048", ((1, 2048),), file_bytes),
    EqualCase("magika", MAGIKA, "bytes:Nx2048", ((5, 2048),), file_bytes),
)
