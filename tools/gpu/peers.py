"""PyTorch as the peer: a module in each of its modes, timed on the device; a row is ours against the best of them."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field

import numpy as np

NAN = float("nan")


@dataclass
class Row:
    """One measured case: ours and the peers, in microseconds of device time."""

    name: str
    precision: str
    ours_us: float
    ours_p99_us: float
    launches: int
    max_error: float
    peer_error: float
    peers_us: dict[str, float] = field(default_factory=dict)

    @property
    def best_peer(self) -> float:
        """The fastest peer's time."""
        return min(self.peers_us.values(), default=NAN)

    @property
    def speedup(self) -> float:
        """How many times as fast as the best peer ours is."""
        return self.best_peer / self.ours_us

    def figures(self) -> dict[str, object]:
        """As suite.json holds it."""
        return asdict(self) | {"best_peer_us": self.best_peer, "speedup": self.speedup}

    def __str__(self) -> str:
        peers = ", ".join(f"{k} {v:.1f}" for k, v in self.peers_us.items())
        return (
            f"{self.name:24s} {self.precision}  ours {self.ours_us:8.1f} us (p99 {self.ours_p99_us:.1f}, "
            f"{self.launches} launches)  {self.speedup:5.2f}x  [{peers}]  "
            f"error {self.max_error:.2e} (peer {self.peer_error:.2e})"
        )


def row_of(name: str, precision: str, figures: dict, error: float, peer_error: float, peers: dict[str, float]) -> Row:
    """A row from the figures of `bench`, printed as it is made."""
    row = Row(
        name,
        precision,
        figures.get("device_median_us", NAN),
        figures.get("device_p99_us", NAN),
        figures.get("device_launches", 0),
        error,
        peer_error,
        peers,
    )
    print(row, flush=True)
    return row


def geometric_mean(values: list[float]) -> float:
    """Of positive numbers; nan when there are none or one is nan."""
    return float(np.exp(np.mean(np.log(values)))) if values else NAN


def relative_error(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, in the largest wanted magnitude."""
    if found.shape != wanted.shape or not np.isfinite(found).all():
        return float("inf")
    if wanted.size == 0:
        return 0.0
    difference = np.abs(found.astype(np.float64) - wanted.astype(np.float64)).max()
    return float(difference / max(float(np.abs(wanted).max()), np.finfo(np.float32).tiny))


def device_us(call: object, n: int = 200) -> float:
    """Median device time of one call, replayed back to back."""
    import torch

    for _ in range(20):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(n):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return float(np.median(times))


def peer_times(module: object, arguments: tuple, modes: list[str], *, fullgraph: bool = False) -> dict[str, float]:
    """Device time of the module in each mode of PyTorch; `fullgraph`: a break in its graph is a failure."""
    import torch
    from torch._inductor.async_compile import AsyncCompile

    times = {}
    if "max-autotune" in modes:  # its candidates are compiled beside one another only once the pool is there
        AsyncCompile.wait_pool_ready()
    for mode in modes:
        begin = time.time()
        torch._dynamo.reset()
        call = module if mode == "eager" else torch.compile(module, mode=mode, fullgraph=fullgraph)
        try:
            times[mode] = device_us(lambda call=call: call(*arguments))
        except Exception as error:  # a peer that fails is reported, not hidden
            print(f"  peer {mode} failed: {str(error)[:200]}")
        print(f"  peer {mode}: {times.get(mode, NAN):.1f} us, set up in {time.time() - begin:.0f} s", flush=True)
    return times
