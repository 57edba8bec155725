"""The models that are compared with onnxruntime, and inputs for them. Equal seeds give equal inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"

Feeds = dict[str, np.ndarray]
SEED = 20240501


@dataclass(frozen=True)
class Case:
    """One model with one set of inputs.

    `shapes` is the --shapes argument its plan is built with; letters in it are symbols that stay open.
    `batch_inputs` maps each input that has a batch to its batch axis; empty when the model takes one request only.
    """

    name: str
    model: Path
    shapes: str
    feeds: Feeds
    batch_inputs: dict[str, int]
    timed: bool = False


def _generator() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(SEED))


def tokens(batch: int, length: int) -> Feeds:
    """Random ids; every row but the first ends in padding."""
    generator = _generator()
    lengths = np.maximum(1, length - np.arange(batch) * 3)
    mask = (np.arange(length)[np.newaxis, :] < lengths[:, np.newaxis]).astype(np.int64)
    ids = generator.integers(1000, 30000, (batch, length)) * mask
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def page() -> Image.Image:
    """The photographed page."""
    return Image.open(MODELS / "pages/page.png").convert("RGB")


def normalised(image: Image.Image, height: int, width: int) -> np.ndarray:
    """An image in [-1, 1], resized: [3, height, width]."""
    pixels = np.asarray(image.resize((width, height), Image.Resampling.BILINEAR), np.float32)
    return (pixels / 127.5 - 1).transpose(2, 0, 1)


def pages(batch: int, height: int, width: int) -> np.ndarray:
    """The page, each request a little further cropped: [batch, 3, height, width]."""
    image = page()
    return np.stack([normalised(image.crop((4 * i, 2 * i, *image.size)), height, width) for i in range(batch)])


def lines(batch: int, height: int, width: int) -> np.ndarray:
    """Stretches of the page's text lines in the shape of the input: [batch, 3, height, width]."""
    image, crop_height = page(), 20
    crop_width = crop_height * width / height
    tops = [46 + 18 * (i % 5) for i in range(batch)]
    crops = [image.crop((8, top, int(8 + crop_width), top + crop_height)) for top in tops]
    return np.stack([normalised(crop, height, width) for crop in crops])


def speech(samples: int, batch: int = 1) -> np.ndarray:
    """A chirp with noise in [-1, 1]: [batch, samples]."""
    time = np.arange(samples) / 16000.0
    chirp = np.sin(2 * np.pi * (180 + 900 * time) * time)
    noise = _generator().standard_normal((batch, samples))
    return (0.6 * chirp + 0.05 * noise).astype(np.float32)


def vad(samples: int, rate: int | None, batch: int = 1) -> Feeds:
    """One window for Silero VAD with a state that is not zero."""
    state = 0.1 * _generator().standard_normal((2, batch, 128)).astype(np.float32)
    feeds: Feeds = {"input": speech(samples, batch), "state": state}
    return feeds if rate is None else feeds | {"sr": np.array(rate, np.int64)}


def vad_sequence(steps: int) -> Feeds:
    """Several windows in a row for Silero's sequence model."""
    windows = speech(steps * 576).reshape(steps, 576)
    zeros = np.zeros((1, 1, 128), np.float32)
    return {"input": windows, "h": zeros, "c": zeros}


def file_bytes(batch: int) -> Feeds:
    """The 2,048 tokens Magika reads of a file: byte values, 256 where the file has ended."""
    values = _generator().integers(0, 256, (batch, 2048)).astype(np.int32)
    values[:, 900:1024] = 256
    return {"bytes": values}


def minilm_case(batch: int, length: int, timed: bool = False) -> Case:
    """MiniLM at one batch and length."""
    shapes = "input_ids:NxS,attention_mask:NxS,token_type_ids:NxS"
    axes = {"input_ids": 0, "attention_mask": 0, "token_type_ids": 0}
    feeds = tokens(batch, length)
    return Case(f"minilm {batch}x{length}", MODELS / "minilm/model.onnx", shapes, feeds, axes, timed)


def ocr_case(part: str, shapes: str, batch: int, height: int, width: int, timed: bool = False) -> Case:
    """A PP-OCR network at one input size."""
    feeds = {"x": (pages if part == "det" else lines)(batch, height, width)}
    return Case(f"{part} {batch}x3x{height}x{width}", MODELS / f"ppocr/{part}.onnx", shapes, feeds, {"x": 0}, timed)


def vad_case(variant: str, samples: int, rate: int | None, timed: bool = False) -> Case:
    """A Silero VAD variant on one window."""
    name = f"{variant} {samples}"
    shapes = f"input:1x{samples},state:2x1x128"
    return Case(name, MODELS / f"silero/{variant}.onnx", shapes, vad(samples, rate), {}, timed)


def resnet_case(batch: int, timed: bool = False) -> Case:
    """ResNet-50's graph with random weights on photographs."""
    feeds = {"x": pages(batch, 224, 224)}
    name = f"resnet50 {batch}x3x224x224"
    return Case(name, MODELS / "resnet50/resnet50.onnx", "x:Nx3x224x224", feeds, {"x": 0}, timed)


def all_cases() -> list[Case]:
    """Every case of the models table."""
    return [
        minilm_case(1, 128, timed=True),
        minilm_case(8, 128, timed=True),
        minilm_case(3, 17),
        minilm_case(1, 1),
        ocr_case("det", "x:Nx3xHxW", 1, 736, 1280, timed=True),
        ocr_case("det", "x:Nx3xHxW", 2, 96, 160),
        ocr_case("rec", "x:Nx3x48xW", 6, 48, 320, timed=True),
        ocr_case("rec", "x:Nx3x48xW", 1, 48, 77),
        ocr_case("cls", "x:Nx3x48x192", 6, 48, 192),
        vad_case("silero_vad", 576, 16000, timed=True),
        vad_case("silero_vad", 288, 8000),
        vad_case("silero_vad_16k_op15", 576, 16000),
        vad_case("silero_vad_half", 576, None),
        vad_case("silero_vad_op18_ifless", 576, 16000),
        vad_case("silero_vad_op18_ifless", 288, 8000),
        vad_case("silero_vad_openvino_16k", 576, None),
        Case(
            "silero_vad_16k_sequence 7",
            MODELS / "silero/silero_vad_16k_sequence.onnx",
            "input:Tx576",
            vad_sequence(7),
            {},
        ),
        Case("magika 1x2048", MODELS / "magika/model.onnx", "bytes:Nx2048", file_bytes(1), {"bytes": 0}, timed=True),
        resnet_case(1, timed=True),
        resnet_case(2),
        Case("magika 3x2048", MODELS / "magika/model.onnx", "bytes:Nx2048", file_bytes(3), {"bytes": 0}),
    ]


def _random(dtype: np.dtype, shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    if dtype == np.bool_:
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return generator.integers(0, 10, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def case_of_file(model: Path, shapes: str) -> Case:
    """A case for any model: random inputs (integers in 0..9) of the given shapes, "name:2x3,other:4"."""
    graph = onnx.load(model, load_external_data=False).graph
    dtypes = {v.name: onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type) for v in graph.input}
    generator = _generator()
    feeds: Feeds = {}
    for part in shapes.split(","):
        name, _, sizes = part.rpartition(":")
        if name not in dtypes:
            raise ValueError(f"{model.name} has no input {name!r}; it has {', '.join(dtypes)}")
        feeds[name] = _random(dtypes[name], tuple(int(s) for s in sizes.split("x") if s), generator)
    return Case(f"{model.stem} {shapes}", model, shapes, feeds, {})


def select(pattern: str | None, only: Callable[[Case], bool] = lambda case: True) -> list[Case]:
    """The cases whose name contains `pattern`."""
    return [case for case in all_cases() if (not pattern or pattern in case.name) and only(case)]
