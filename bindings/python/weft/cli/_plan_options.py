"""The options of plans as arguments of commands: all that `weft.options()` lists."""

from __future__ import annotations

import argparse

import weft

# As weft-bench --help has them; docs/options.md says more.
HELP = {
    "barrier": "of exchange ucx: off, on, or after how many ring steps ranks wait for each other",
    "budget": "seconds that trials may take: 30, 30s",
    "check": "local, collective: whether misuse on one rank is an error on all",
    "chunk": "of exchange ucx: auto, or the most bytes of a transfer",
    "codec": "what messages are coded in: none, fp32, fp16, bf16, trim:m, zfp:R, zfp-accuracy:m",
    "decomposition": "auto, slab, pencil, brick",
    "effort": "estimate, measure, patient: how much planning tries out; online: the first executions do",
    "exchange": "auto, direct, copy, p2p, p2pw, alltoallv, ...; one, or one per reshape, separated by commas",
    "fft": "auto, fftw, mkl, cufft: the library of local FFTs",
    "fft_effort": "auto, estimate, measure, patient: what the library of local FFTs tries out",
    "fft_stage": "auto, early, next, last: where an axis is transformed that is whole in several stages",
    "fp": "of pipeline windowed: calls of MPI while a tile is packed",
    "front": "of two-front: percentage of columns that are sent with the planes",
    "fu": "of windowed: calls of MPI while a tile is unpacked",
    "fx": "of windowed: calls of MPI while a tile is transformed after the exchange",
    "fy": "of windowed and th: calls of MPI while a tile is transformed before the exchange",
    "graph": "on GPUs: auto, on, off: CUDA graphs",
    "grid": "auto, or the grid of pencils: 2x4",
    "inflight": "of exchange ucx: transfers that a rank sends on a rail at a time",
    "items": "of windowed and th: items of a batch in a tile",
    "layout": "auto, contiguous, strided",
    "machine": "file that describes the machine (weft-bench --measure-machine), or none",
    "one_sided": "of exchange ucx: auto, on, off: transfers are put into their receivers' workspaces",
    "online": "executions in which effort online tries: 20",
    "overlap": "on, off: each tile is awaited before anything else is done",
    "pipeline": "auto, sequential, th, windowed, planes, two-front, shared",
    "puts": "on GPUs: auto, kernel, engine",
    "px": "of windowed: planes that are transformed and packed together, across the tile",
    "pz": "of windowed: the same along the axis that tiles cut",
    "rails": "of exchanges ucx and node_ucx: auto, a number, or names of network devices: eth0,eth1",
    "rebalance": "of exchange ucx: off, or how many times sooner a transfer has to be done to change rails",
    "rest": "of two-front: tiles in which the other columns follow",
    "search": "of effort patient: nelder-mead, random",
    "shrink": "number of ranks that compute, or auto",
    "staging": "on GPUs: auto, on, off: messages through pinned memory",
    "subtile": "of planes and two-front: KiB that pass through the cache at a time",
    "threads": "threads of each rank",
    "tile": "thickness of a tile; one, or one per reshape",
    "tolerance": "relative error of the output that messages may cause: 1e-6; picks the codec",
    "trace": "file for a timeline (weft trace makes a page of it)",
    "trials": "candidates that efforts measure and patient time at most",
    "uy": "of windowed: what is unpacked and transformed together, across the tile",
    "uz": "of windowed: the same along the axis that tiles cut",
    "window": "of windowed and th: tiles under way",
    "wisdom": "file of what was found before, and of what is found now",
}
_NOT_HERE = ("workspace",)  # plans of Python have one of their own


def names() -> list[str]:
    return [name for name in weft.options() if name not in _NOT_HERE]


def add(to: argparse.ArgumentParser) -> None:
    group = to.add_argument_group("plan")
    for name in names():
        group.add_argument(
            f"--{name}", metavar="VALUE", dest=f"option_{name}", help=HELP.get(name, "see docs/options.md")
        )


def given(arguments: argparse.Namespace) -> dict[str, str]:
    """Names and values of those that were given."""
    values = {name: getattr(arguments, f"option_{name}") for name in names()}
    return {name: value for name, value in values.items() if value is not None}
