"""Part `batch_bits`: a sequence's bits do not depend on the sequences beside it, shown with BERT-base in f16.

Within a plan and a numeric class the sum order of a weight is one for every number of rows, so a row of a batch must
have the bits that it has alone. The class of a product is that of its rows, here batch x length: up to 64 are the
decode class, more the prefill class (src/backends/cuda/tasks/gemm_config.h); `inspect --print` shows the rows at given
sizes. Between classes, and between plans, equal bits are not promised: those pairs are printed and fail nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from networks import BERT_INPUTS, bert_onnx, bert_shapes
from tilewright import Arrays, Suite, Tilewright

DECODE_ROWS = 64
SLOT = re.compile(r"^s(\d+) \w+\[([\d,]*)\]")
GEMM = re.compile(r"^\s+t\d+ gemm .*\bb=s(\d+) .*\bc=s(\d+)\b")
OUTPUT = "last_hidden_state"


@dataclass(frozen=True)
class Pair:
    """A batch and some of its sequences alone; `open_batch`: both through one plan."""

    batch: int
    length: int
    open_batch: bool


PAIRS = (Pair(32, 128, True), Pair(2, 32, True), Pair(4, 32, True), Pair(32, 128, False))


@dataclass
class Outcome:
    """What a pair showed."""

    batch: int
    length: int
    plans: int
    classes: list[str] = field(default_factory=list)  # of the batch, and alone
    promised: bool = False
    different: dict[int, int] = field(default_factory=dict)  # elements of other bits, by sequence
    largest: float = 0.0  # difference

    def __str__(self) -> str:
        plans = "one plan" if self.plans == 1 else "a plan each"
        compared = f"{len(self.different)} sequences alone"
        wrong = sum(n > 0 for n in self.different.values())
        verdict = "equal bits" if not wrong else f"{wrong} DIFFER by at most {self.largest:.1e}"
        note = "" if self.promised else " (not promised)"
        return (
            f"  b{self.batch} s{self.length}, {plans}: {self.classes[0]} | alone {self.classes[1]}: "
            f"{compared}: {verdict}{note}"
        )


def product_rows(printed: str) -> list[int]:
    """Rows of each product with a weight that is one matrix, from the text of `inspect --print`."""
    dims: dict[str, list[int]] = {}
    pairs = []
    for line in printed.splitlines():
        if slot := SLOT.match(line):
            dims[slot[1]] = [int(d) for d in slot[2].split(",") if d]
        elif gemm := GEMM.match(line):
            pairs.append((gemm[1], gemm[2]))
    return [math.prod(dims[c][:-1]) for b, c in pairs if len(dims[b]) == 2]


def class_of(ours: Tilewright, plan: Path, batch: int, length: int) -> str:
    """'72 prefill (4096 rows)': the products of the plan at these sizes by class."""
    printed = ours.call("inspect", str(plan), "--print", "--shapes", bert_shapes(batch, length))
    rows = Counter(product_rows(printed))
    kinds = [
        f"{n} {'decode' if r <= DECODE_ROWS else 'prefill'} ({r} row{'s' if r > 1 else ''})" for r, n in rows.items()
    ]
    return " + ".join(kinds) or "no products found"


def sequences(batch: int, length: int) -> Arrays:
    """Sentences of different lengths, the rest masked."""
    random = np.random.default_rng(9)
    mask = (np.arange(length) < random.integers(length // 3, length + 1, (batch, 1))).astype(np.int64)
    ids = random.integers(1000, 30000, (batch, length)) * mask
    return dict(zip(BERT_INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))


def compare_pair(ours: Tilewright, model: Path, pair: Pair) -> Outcome:
    """The batch once, then some of its sequences one by one."""
    sizes: list[int | str] = ["N", "N"] if pair.open_batch else [pair.batch, 1]
    plans = [ours.build(model, "fp16", bert_shapes(n, pair.length)) for n in sizes]
    outcome = Outcome(pair.batch, pair.length, 1 if pair.open_batch else 2)
    outcome.classes = [class_of(ours, plans[0], pair.batch, pair.length), class_of(ours, plans[1], 1, pair.length)]
    same_class = (pair.batch * pair.length <= DECODE_ROWS) == (pair.length <= DECODE_ROWS)
    outcome.promised = pair.open_batch and same_class
    inputs = sequences(pair.batch, pair.length)
    together = ours.run(plans[0], inputs)[OUTPUT]
    for i in sorted({0, 1, pair.batch // 2, pair.batch - 1}):
        alone = ours.run(plans[1], {name: value[i : i + 1] for name, value in inputs.items()})[OUTPUT][0]
        difference = np.abs(together[i] - alone)
        outcome.different[i] = int((together[i].view(np.uint32) != alone.view(np.uint32)).sum())
        outcome.largest = max(outcome.largest, float(difference.max()))
    return outcome


def check_batch_bits(suite: Suite) -> list[dict]:
    """A line a pair; a promised one that differs is a failure."""
    _, _, model = bert_onnx(suite.ours.work, "bert")
    outcomes = []
    for pair in PAIRS:
        outcome = compare_pair(suite.ours, model, pair)
        print(outcome, flush=True)
        differs = any(outcome.different.values())
        suite.check(not (outcome.promised and differs), f"batch_bits: {pair} differs within one plan and class")
        outcomes.append(asdict(outcome))
    return outcomes
