"""Part `equal`: real models on the GPU, in f32 and f16, against the same models on our CPU backend in f32.

Where the tolerance comes from. A sum of K terms rounds by about u * sqrt(K) of its result (u: half the distance of
floats at 1); a weight and an activation stored in f16 by u16 each. Over the L products of all steps such errors add up
like a walk, sqrt(L). A sigmoid or softmax at the end turns an error of its argument, which is relative to the largest
argument m, into at most m / 4 of it. With 3 for the spread of the largest of many such errors:

  f32: 3 u32 * sqrt(K) * sqrt(L) * max(1, m / 4)      f16: 3 u16 * sqrt(L) * max(1, m / 4), at most 0.2

both of the largest magnitude of the output. Errors have tails, so 99 of 100 elements must lie within a quarter of it.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx
from equal_cases import CASES, LOGITS, MINILM, EqualCase
from networks import bert_onnx
from peers import relative_error
from tilewright import Arrays, Suite

UNIT = {"fp32": 2.0**-24, "fp16": 2.0**-11}
MANY = 1000  # elements from which on an output has a tail


@dataclass
class Comparison:
    """One size of one plan in one precision."""

    name: str
    shapes: str
    sizes: tuple[int, ...] = ()
    precision: str = ""
    status: str = "passed"  # or "failed", "not here"
    max_error: float = 0.0
    most_error: float = 0.0  # 99 of 100 elements are within it
    tolerance: float = 0.0
    same_bits: bool = True
    why: str = ""
    n_products: int = 0
    longest_sum: int = 0
    on_host: list[str] | None = None  # unknown until there is a plan

    def __str__(self) -> str:
        at = "x".join(map(str, self.sizes))
        if self.status == "not here":
            return f"  {self.name:7s} {self.shapes}: not here: {self.why}"
        bits = "same bits twice" if self.same_bits else "OTHER BITS THE SECOND TIME"
        return (
            f"  {self.name:7s} {at:16s} {self.precision}  error {self.max_error:.1e} (99 %: {self.most_error:.1e}), "
            f"tolerance {self.tolerance:.1e}, {bits}  {self.status}{': ' + self.why if self.why else ''}"
        )


def every_graph(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph and those inside its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from every_graph(attribute.g)


def products(graph: onnx.GraphProto) -> tuple[int, int]:
    """How many products the graph has (of every branch), and the longest sum among those with a known weight."""
    graphs = list(every_graph(graph))
    dims = {w.name: tuple(w.dims) for g in graphs for w in g.initializer}
    nodes = [node for g in graphs for node in g.node]
    for node in nodes:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            dims[node.output[0]] = tuple(node.attribute[0].t.dims)
    count, longest = 0, 1
    for node in nodes:
        if node.op_type not in ("Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU"):
            continue
        count += 1
        weight = dims.get(node.input[1])
        if not weight:
            continue
        if node.op_type == "Conv":
            terms = math.prod(weight[1:])
        elif node.op_type in ("LSTM", "GRU"):
            terms = weight[-1] + dims.get(node.input[2], (0,))[-1]
        else:
            terms = max(weight[0], weight[-2]) if len(weight) > 1 else weight[0]
        longest = max(longest, terms)
    return max(count, 1), longest


def tolerance_of(case: EqualCase, precision: str, n_products: int, longest_sum: int) -> float:
    """See the top of the file."""
    terms = longest_sum if precision == "fp32" else 1
    bound = 3 * UNIT[precision] * math.sqrt(terms * n_products * case.steps) * max(1.0, case.logits / 4)
    return min(bound, 0.2)


def outputs_of(suite: Suite, plan: Path, case: EqualCase, sizes: tuple[int, ...]) -> list[Arrays]:
    """What the plan gives, step by step, each step fed with what the one before left."""
    random = np.random.default_rng(1)
    steps: list[Arrays] = []
    for step in range(case.steps):
        inputs = case.inputs(random, sizes, step, steps[-1] if steps else {})
        steps.append(suite.ours.run(plan, inputs))
    return steps


def compare(found: list[Arrays], wanted: list[Arrays], row: Comparison) -> None:
    """Fills in the errors of the row."""
    for step, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        for name, want in theirs.items():
            have = ours.get(name)
            if have is None or have.dtype != want.dtype:
                row.why = f"output {name} of step {step} is {'missing' if have is None else have.dtype}"
                row.max_error = math.inf
                return
            row.max_error = max(row.max_error, relative_error(have, want))
            if want.size >= MANY and have.shape == want.shape:
                errors = np.abs(have.astype(np.float64) - want) / np.abs(want).max()
                row.most_error = max(row.most_error, float(np.quantile(errors, 0.99)))


def model_of(suite: Suite, case: EqualCase) -> Path:
    """The file below the folder of models; MiniLM, whose weights are large, else made here with seeded ones."""
    model = suite.models_dir / case.file
    return bert_onnx(suite.ours.work, "minilm")[2] if case.file == MINILM and not model.is_file() else model


def plan_of(suite: Suite, case: EqualCase, precision: str, target: str = "sm_90") -> Path:
    """Without measured tactics: they choose among kernels of one sum order, and take the time of the device."""
    model, name = model_of(suite, case), f"equal_{case.name}"
    return suite.ours.build(model, precision, case.shapes, target=target, name=name, timed=False)


def fill_row(suite: Suite, case: EqualCase, row: Comparison, wanted: list[Arrays]) -> None:
    """The GPU twice in the row's precision."""
    row.n_products, row.longest_sum = products(onnx.load(model_of(suite, case)).graph)
    row.tolerance = tolerance_of(case, row.precision, row.n_products, row.longest_sum)
    plan = plan_of(suite, case, row.precision)
    row.on_host = suite.ours.on_host(plan)
    first = outputs_of(suite, plan, case, row.sizes)
    again = outputs_of(suite, plan, case, row.sizes)
    row.same_bits = all(a[k].tobytes() == b[k].tobytes() for a, b in zip(first, again, strict=True) for k in a)
    compare(first, wanted, row)
    close = row.max_error <= row.tolerance and row.most_error <= row.tolerance / 4
    row.status = "passed" if close and row.same_bits else "failed"


def one_size(suite: Suite, case: EqualCase, sizes: tuple[int, ...]) -> list[Comparison]:
    """CPU once, then the GPU in each precision; what raises becomes a failed row."""
    model = model_of(suite, case)
    if not model.is_file():
        return [Comparison(case.name, case.shapes, status="not here", why=str(model))]
    rows = [Comparison(case.name, case.shapes, sizes, precision) for precision in UNIT]
    wanted: list[Arrays] = []
    for row in rows:
        try:
            wanted = wanted or outputs_of(suite, plan_of(suite, case, "fp32", "cpu"), case, sizes)
            fill_row(suite, case, row, wanted)
        except Exception as error:
            row.status, row.max_error, row.why = "failed", math.inf, str(error)
    return rows


def build_all(suite: Suite, cases: list[EqualCase], pool: ThreadPoolExecutor) -> None:
    """Every plan of the models that are here. A plan that cannot be built says so again where it is run."""

    def build(work: tuple[EqualCase, str, str]) -> None:
        with contextlib.suppress(Exception):
            plan_of(suite, *work)

    ways = [("fp32", "cpu"), *((precision, "sm_90") for precision in UNIT)]
    list(pool.map(build, [(c, *way) for c in cases if model_of(suite, c).is_file() for way in ways]))


def print_models(rows: list[Comparison]) -> None:
    """What each tolerance follows from, and what the host did, by reason."""
    known = [row for row in rows if row.on_host is not None]
    for name in dict.fromkeys(row.name for row in known):
        of_model = [row for row in known if row.name == name]
        found = dict.fromkeys(sentence for row in of_model for sentence in row.on_host or [])
        reasons = Counter(sentence.split(": ", 1)[-1] for sentence in found)
        examples = {s.split(": ", 1)[-1]: s.split(": ", 1)[0] for s in found}
        text = "; ".join(f"{n} x {reason} ({examples[reason]})" for reason, n in reasons.items())
        logits = f", arguments of the end up to {LOGITS[name]:.0f}" if name in LOGITS else ""
        print(
            f"  {name:7s} {of_model[0].n_products} products, longest sum {of_model[0].longest_sum}{logits}; "
            f"on the host: {text or 'nothing'}"
        )


def check_equal(suite: Suite) -> list[dict]:
    """All cases, several at a time; a row each in the order of the table."""
    begin = time.time()
    wanted = [w for w in suite.options.equal.split(",") if w]
    cases = [c for c in CASES if not wanted or c.name in wanted]
    for case in cases:
        model_of(suite, case)  # what is made is made before several threads ask for it
    with ThreadPoolExecutor(max(1, min(6, (os.cpu_count() or 2) // 2))) as pool:
        build_all(suite, cases, pool)
        print(f"  plans built after {time.time() - begin:.0f} s", flush=True)
        found = pool.map(lambda work: one_size(suite, *work), [(c, sizes) for c in cases for sizes in c.sizes])
        rows = [row for of_size in found for row in of_size]
    for row in rows:
        print(row, flush=True)
        if row.status == "failed":
            suite.failures.append(f"equal {row.name} {row.sizes} {row.precision} {row.why}".strip())
    print_models(rows)
    counts = Counter(row.status for row in rows)
    print(f"equal: {dict(counts)} in {time.time() - begin:.0f} s", flush=True)
    return [asdict(row) for row in rows]
