#!/usr/bin/env python3
"""What GPUs do (docs/performance.md): runs weft-bench on the GPUs of this machine and keeps its JSON.

    bench/gpus.py --gpus 4                              a thread for each GPU
    bench/gpus.py --gpus 4 --only slab1 --only nccl     some kinds of runs, all sizes of each
    bench/gpus.py --gpus 4 --launch "mpirun -n {ranks}" MPI ranks in the place of threads, for kind mpi
    bench/gpus.py --gpus 4 --only cufftmp               MPI ranks, in turn with cuFFTMp, which must be found

Results go into bench/results/gpus.json (or --results), an object by name, KIND-RANKS-SIZE-PRECISION; what is there of
other names stays. A run that fails is said, and the exit status tells. Printed are times, their share of the bound, and
ratios to the run that a kind is compared with. Nothing else may use the GPUs meanwhile.
"""

import argparse
import json
import pathlib
import shlex
import sys
from typing import NamedTuple

import runs

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results" / "gpus.json"

REPEAT = {64: 100, 128: 60, 256: 60, 512: 30}  # else 10
SLAB1 = ["--output", "slab1"]


class Kind(NamedTuple):
    """Runs that differ in size and precision alone. In arguments stand {n} for the size, {kept} for two thirds of it,
    {half} for the half, {ranks} for the number of GPUs,
    {last} for the kept modes of an r2c axis. `gpus`: None for as many as there are."""

    meaning: str
    arguments: list[str]
    sizes: list[int]
    precisions: tuple[str, ...] = ("double",)
    gpus: int | None = None
    processes: bool = False
    over: str = ""  # the kind whose time this is compared with
    only_if_named: bool = False  # needs what most machines lack
    shape: tuple[str, ...] = ("--shape", "{n},{n},{n}")


KINDS = {
    "slab1": Kind("c2c, slabs to slabs along axis 1", SLAB1, [128, 256, 512, 1024], ("double", "float")),
    "natural": Kind("natural output", ["--output", "natural"], [256, 512, 1024], over="slab1"),
    "r2c": Kind("r2c in the place of c2c", [*SLAB1, "--transform", "r2c"], [512, 1024], over="slab1"),
    "nccl": Kind("exchange nccl", [*SLAB1, "--transport", "nccl"], [512, 1024], over="slab1"),
    "sequential": Kind("without overlap", [*SLAB1, "--pipeline", "sequential"], [512, 1024], over="slab1"),
    "both": Kind("forward and backward", [*SLAB1, "--direction", "both"], [256, 512], over="slab1"),
    "both-r2c": Kind("the same of r2c", [*SLAB1, "--transform", "r2c", "--direction", "both"], [384, 768]),
    "cut": Kind(
        "the 3/2 rule",
        [*SLAB1, "--transform", "r2c", "--direction", "both", "--modes", "{kept},{kept},{last}"],
        [384, 768],
        over="both-r2c",
    ),
    "operator": Kind(
        "to modes, an operator, and back", ["--output", "natural", "--between", "modes"], [256, 512], over="both"
    ),
    "convolution": Kind(
        "the same of arrays with zeros behind them",
        ["--output", "natural", "--between", "modes", "--points", "{half},{half},{half}"],
        [256, 512],
        over="operator",
    ),
    "line": Kind("one line", ["--line", "{n}"], [1 << 24, 1 << 26, 1 << 28], shape=()),
    "brick": Kind("bricks to bricks", ["--input", "brick", "--output", "natural"], [512]),
    "pencil": Kind(
        "pencils along the last axis to pencils along the middle one",
        ["--decomposition", "pencil", "--grid", "1x{ranks}", "--input", "pencil", "--output", "pencil"],
        [256, 512],
        over="natural",
    ),
    "graph": Kind("as graphs", [*SLAB1, "--graph", "on"], [64, 128, 256], ("double", "float")),
    "calls": Kind("call by call", [*SLAB1, "--graph", "off"], [64, 128, 256], ("double", "float"), over="graph"),
    "one": Kind("one GPU beside plain cuFFT", ["--peers", "cufft"], [128, 256, 512], gpus=1),
    "mpi": Kind("MPI ranks", SLAB1, [128, 256, 512, 1024], processes=True, over="slab1"),
    "cufftmp": Kind(
        "MPI ranks beside cuFFTMp",
        [*SLAB1, "--peers", "cufftmp"],
        [64, 128, 256, 512, 1024],
        ("double", "float"),
        processes=True,
        only_if_named=True,
    ),
    "lengths": Kind("no powers of two", SLAB1, [360, 600, 720, 768, 960, 1000, 1080, 1280], ("double", "float")),
    "large": Kind("large arrays, in place", [*SLAB1, "--in-place"], [1280, 1800, 2160]),
    "large-natural": Kind("the same, natural output", ["--output", "natural", "--in-place"], [2160]),
}


def measure(name: str, kind: Kind, size: int, precision: str, ranks: int, given: argparse.Namespace) -> dict | None:
    """One run of weft-bench; None if it fails, with the reason on stderr."""
    kept = 2 * size // 3
    lengths = {"n": size, "kept": kept, "half": size // 2, "last": kept // 2 + 1, "ranks": ranks}
    arguments = [argument.format(**lengths) for argument in (*kind.shape, *kind.arguments)]
    command = [given.bench, "--device", "cuda", *arguments, "--precision", precision]
    command += ["--repeat", str(REPEAT.get(size, 10))]
    if kind.processes:
        command = [*shlex.split(given.launch.format(ranks=ranks)), *command]
    else:
        command += ["--comm", f"threads:{ranks}"]
    try:
        return runs.run(command, given.host, given.limit)
    except runs.RunFailed as why:
        print(f"  {name}: {why}", file=sys.stderr)
        return None


def line(name: str, result: dict, beside: dict | None, over: str) -> str:
    """Of one run: "slab1-4-512-double 1.570 ms, 66% of the bound, error 4.1e-16"."""
    text = f"{name:28} {1e3 * result['median_s']:9.4f} ms, {100 * result['bound']['fraction']:3.0f}% of the bound"
    text += f", error {result['error_l2']:.1e}"
    if beside:
        text += f", {result['median_s'] / beside['median_s']:.3f} of {over}"
    for peer, of in result["peers"].items():
        text += f", {of['median_s'] / result['median_s']:.3f} times as fast as {peer}"
    return text


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bench", default=str(TOP / "build" / "release" / "bin" / "weft-bench"))
    arguments.add_argument("--gpus", type=int, default=1, help="how many ranks, with a GPU each")
    arguments.add_argument("--only", choices=KINDS, action="append", help="kinds of runs; without it all but cufftmp")
    arguments.add_argument("--size", type=int, action="append", help="some sizes; without it all of a kind")
    arguments.add_argument("--precision", choices=["double", "float"], help="one precision; without it all of a kind")
    arguments.add_argument("--most", type=int, default=1 << 30, help="no larger sizes than this one")
    arguments.add_argument("--launch", default="mpirun -n {ranks}", help="starts MPI ranks")
    arguments.add_argument("--limit", type=float, default=120, help="seconds that a run may take")
    arguments.add_argument("--host", default="this machine", help="what the results call the machine")
    arguments.add_argument("--results", type=pathlib.Path, default=RESULTS)
    given = arguments.parse_args()
    results = json.loads(given.results.read_text()) if given.results.exists() else {}
    measured = {}  # now: ratios to what was stored before would be of two machines
    failed = 0
    for label in given.only or [name for name, kind in KINDS.items() if not kind.only_if_named]:
        kind = KINDS[label]
        ranks = kind.gpus or given.gpus
        print(f"{label}: {kind.meaning}", flush=True)
        for size in kind.sizes:
            if size > given.most or (given.size and size not in given.size):
                continue
            for precision in kind.precisions:
                if given.precision and precision != given.precision:
                    continue
                name = f"{label}-{ranks}-{size}-{precision}"
                result = measure(name, kind, size, precision, ranks, given)
                if result is None:
                    failed += 1
                    continue
                results[name] = measured[name] = result
                over = f"{kind.over}-{ranks}-{size}-{precision}"
                print("  " + line(name, result, measured.get(over), kind.over), flush=True)
                given.results.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    print(f"{failed} runs failed" if failed else "all runs succeeded")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
