#!/usr/bin/env python3
"""The experiments of the papers, on this machine: runs weft-bench, keeps its JSON, draws the pictures.

    bench/experiments.py --bench build/release/bin/weft-bench [--launch "mpirun -n {ranks}"] [--only NAME] [--quick]
    bench/experiments.py --draw          only draws what bench/results holds

Results go to bench/results/NAME.json, one list of weft-bench's objects each (docs/benchmark.md says what is in
them), pictures to docs/pictures/performance-NAME.svg. Every figure compares runs of one experiment on one machine;
where FFTW-MPI is drawn, it ran in turn with Weft in the same process.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results"
PICTURES = TOP / "docs" / "pictures"

Run = dict  # what to run: ranks, arguments, and the label it is drawn with


def decompositions(ranks: list[int]) -> list[Run]:
    """Slabs, pencils and bricks against the number of ranks (multi-gpu-fft-performance, Figures 4 and 5)."""
    return [
        {"label": name, "x": n, "ranks": n, "args": ["--shape", "96,96,96", "--decomposition", name, *more]}
        for n in ranks
        for name, more in (("slab", []), ("pencil", []), ("brick", []))
    ]


def exchanges(ranks: list[int]) -> list[Run]:
    """The exchanges against each other, in total and by operation (the same paper, Figures 6 and 7)."""
    names = ["p2p", "p2pw", "pairwise", "alltoall", "alltoallv", "alltoallw", "ialltoallv"]
    return [
        {
            "label": name,
            "x": n,
            "ranks": n,
            "args": ["--shape", "128,128,128", "--exchange", name, "--pipeline", "sequential", "--peers", "fftw-mpi"],
        }
        for n in ranks
        for name in names
    ]


def layouts(ranks: list[int]) -> list[Run]:
    """Contiguous against strided local FFTs (the same paper, Figure 10)."""
    return [
        {
            "label": f"{exchange}, {layout}",
            "x": size,
            "ranks": ranks[-1],
            "args": ["--shape", f"{size},{size},{size}", "--layout", layout, "--exchange", exchange],
        }
        for size in (32, 64, 128)
        for exchange in ("alltoallv", "p2pw")
        for layout in ("contiguous", "strided")
    ]


def batches(ranks: list[int]) -> list[Run]:
    """Time per transform of 64^3 in batches (the same paper, Figure 13)."""
    return [
        {
            "label": pipeline,
            "x": count,
            "ranks": ranks[-1],
            "per": count,
            "args": ["--shape", "64,64,64", "--batch", str(count), "--pipeline", pipeline],
        }
        for count in (1, 2, 4, 8, 16)
        for pipeline in ("sequential", "windowed")
    ]


def bricks(ranks: list[int]) -> list[Run]:
    """Bricks in and out, by grids as in Table III of the same paper, against slabs in and out."""
    return [
        {
            "label": f"{side} to {side}, {decomposition}",
            "x": n,
            "ranks": n,
            "args": ["--shape", "96,96,96", "--input", side, "--output", "natural", "--decomposition", decomposition],
        }
        for n in ranks
        for side, decomposition in (("brick", "slab"), ("brick", "pencil"), ("slab", "slab"))
    ]


def floor(ranks: list[int]) -> list[Run]:
    """Weft as it comes against FFTW-MPI, c2c double, the same output order: never slower."""
    return [
        {
            "label": f"{n} ranks",
            "x": size,
            "ranks": n,
            "args": ["--shape", f"{size},{size},{size}", "--effort", "measure", "--peers", "fftw-mpi"],
        }
        for n in ranks
        if n > 1
        for size in (64, 128, 256)
    ]


EXPERIMENTS = {
    "decompositions": (decompositions, "ranks", "96³ c2c, slabs to transposed slabs"),
    "exchanges": (exchanges, "ranks", "128³ c2c, slabs to transposed slabs"),
    "layouts": (layouts, "n of n³", "c2c, slabs to transposed slabs"),
    "batches": (batches, "arrays in a batch", "64³ c2c, time per array"),
    "bricks": (bricks, "ranks", "96³ c2c"),
    "floor": (floor, "n of n³", "c2c, slabs to transposed slabs"),
}


def measure(run: Run, bench: str, launch: str, repeat: int) -> dict | None:
    """One run of weft-bench; None if it says that it cannot do that."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = shlex.split(launch.format(ranks=run["ranks"])) + [bench, *run["args"]]
        command += ["--repeat", str(repeat), "--json", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"  {run['label']} on {run['ranks']}: {done.stderr.strip().splitlines()[0]}", file=sys.stderr)
            return None
        result = json.loads(pathlib.Path(file.name).read_text())
    result["machine"]["host"] = "this machine"
    return {**{k: run[k] for k in ("label", "x", "ranks")}, "per": run.get("per", 1), **result}


def draw(name: str, results: list[dict], xlabel: str, title: str) -> None:
    """Lines of median times with quartiles; for exchanges and the floor FFTW-MPI's ratio as well."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "weft", "font.size": 9})
    peers = any(r["peers"] for r in results)
    figure, axes = pyplot.subplots(1, 2 if peers else 1, figsize=(9 if peers else 5.5, 3.4), squeeze=False)
    for label in dict.fromkeys(r["label"] for r in results):
        line = [r for r in results if r["label"] == label]
        xs = [r["x"] for r in line]
        median = [1e3 * r["median_s"] / r["per"] for r in line]
        low = [m - 1e3 * r["quartiles_s"][0] / r["per"] for m, r in zip(median, line, strict=True)]
        high = [1e3 * r["quartiles_s"][1] / r["per"] - m for m, r in zip(median, line, strict=True)]
        axes[0][0].errorbar(xs, median, yerr=[low, high], marker="o", capsize=2, label=label)
        if peers:
            ratio = [r["peers"]["fftw-mpi"]["median_s"] / r["median_s"] for r in line if "fftw-mpi" in r["peers"]]
            axes[0][1].plot(xs[: len(ratio)], ratio, marker="o", label=label)
    axes[0][0].set(xlabel=xlabel, ylabel="ms, slowest rank", title=title)
    if name in ("floor", "layouts"):
        axes[0][0].set(yscale="log", xscale="log")
    else:
        axes[0][0].set(ylim=(0, None))
    if peers:
        axes[0][1].axhline(1, color="black", linewidth=0.8)
        axes[0][1].set(xlabel=xlabel, ylabel="FFTW-MPI's time over Weft's", title="in the same run", ylim=(0, None))
    for a in axes[0]:
        a.set_xticks(sorted({r["x"] for r in results}), labels=[str(x) for x in sorted({r["x"] for r in results})])
        a.minorticks_off()
        a.grid(alpha=0.3)
        a.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(PICTURES / f"performance-{name}.svg", metadata={"Date": None})
    pyplot.close(figure)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bench", default="build/release/bin/weft-bench")
    arguments.add_argument("--launch", default="mpirun -n {ranks}")
    arguments.add_argument("--ranks", default="1,2,4", help="numbers of ranks")
    arguments.add_argument("--only", choices=EXPERIMENTS, action="append")
    arguments.add_argument("--repeat", type=int, default=15)
    arguments.add_argument("--draw", action="store_true", help="only draw")
    given = arguments.parse_args()
    ranks = [int(n) for n in given.ranks.split(",")]
    RESULTS.mkdir(exist_ok=True)
    for name, (runs, xlabel, title) in EXPERIMENTS.items():
        if given.only and name not in given.only:
            continue
        file = RESULTS / f"{name}.json"
        if not given.draw:
            print(name)
            found = [measure(run, given.bench, given.launch, given.repeat) for run in runs(ranks)]
            file.write_text(json.dumps([r for r in found if r], indent=1) + "\n")
        if file.exists():
            draw(name, json.loads(file.read_text()), xlabel, title)
    return 0


if __name__ == "__main__":
    sys.exit(main())
