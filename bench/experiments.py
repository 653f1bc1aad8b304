#!/usr/bin/env python3
"""The experiments of the papers, on this machine: runs weft-bench, keeps its JSON, draws the pictures.

    bench/experiments.py --bench build/release/bin/weft-bench [--launch "mpirun -n {ranks}"] [--only NAME]
    bench/experiments.py --only network --host "4 hosts, 1 Gbit/s" --launch "mpirun -n {ranks} --host a,b,c,d"
    bench/experiments.py --draw          only draws what bench/results holds

Results go to bench/results/NAME.json, one list of weft-bench's objects each (docs/benchmark.md says what is in
them), pictures to docs/pictures/performance-NAME.svg. Every figure compares runs of one experiment on one machine;
where FFTW-MPI or MKL is drawn, it ran in turn with Weft in the same processes.
"""

import argparse
import json
import os
import pathlib
import shlex
import sys
from collections.abc import Callable
from typing import NamedTuple

import runs

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
    names = ["direct", "p2p", "p2pw", "pairwise", "alltoall", "alltoallv", "alltoallw", "ialltoallv"]
    return [
        {
            "label": name,
            "x": n,
            "ranks": n,
            # The direct one with the pipeline that is made for it.
            "args": ["--shape", "128,128,128", "--exchange", name]
            + ["--pipeline", "planes" if name == "direct" else "sequential"],
            "peers": ["fftw-mpi"],
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


def bricks(_ranks: list[int]) -> list[Run]:
    """Bricks in and out against slabs in and out (the same paper, Section III). Pencils between bricks have the grids
    of its Table III, whose rows for few ranks are 6 and 12; 4 and 8 are powers of two beside them."""
    return [
        {
            "label": f"{side} to {side}, {decomposition}",
            "x": n,
            "ranks": n,
            "args": ["--shape", "64,64,64", "--input", side, "--output", "natural", "--decomposition", decomposition],
        }
        for n in (4, 6, 8, 12)
        for side, decomposition in (("brick", "pencil"), ("brick", "slab"), ("slab", "slab"))
    ]


def network(ranks: list[int]) -> list[Run]:
    """Exchanges and pipelines where messages cross a network, one rank on each host."""
    names = ["p2p", "alltoallv", "ialltoallv", "alltoallw", "pairwise"]
    return [
        {
            "label": f"{name}, {pipeline}",
            "x": ranks[-1],
            "ranks": ranks[-1],
            "args": ["--shape", "128,128,128", "--exchange", name, "--pipeline", pipeline],
            "peers": ["fftw-mpi"],
        }
        for name in names
        for pipeline in ("sequential", "windowed")
    ]


# Bits of the mantissa that a codec stores.
MANTISSA = {"fp32": 23, "fp16": 10, "bf16": 7, **{f"trim:{m}": m for m in (4, 12, 20, 28, 36, 44)}}


def codecs(ranks: list[int]) -> list[Run]:
    """Codecs where messages cross a network, each after an exact run; and single precision in all (lossy-all-to-all,
    Figure 2 and Table II)."""
    n = ranks[-1]
    shape = ["--shape", "128,128,128"]
    return [
        {"label": f"{name}, {output}", "x": bits, "ranks": n, "args": [*shape, "--output", output, *args]}
        for output in ("slab1", "natural")
        for codec, bits in [*MANTISSA.items(), ("all in float", 23)]
        for name, args in (
            ("exact", []),
            (codec, ["--codec", codec] if codec in MANTISSA else ["--precision", "float"]),
        )
    ]


def zfp(ranks: list[int]) -> list[Run]:
    """zfp beside codecs of the same size, where a spectrum travels and where smooth data do."""
    n = ranks[-1]
    shape = ["--shape", "128,128,128", "--output", "slab1", "--exchange", "p2p"]
    return [
        {
            "label": f"{codec}, {data}, {transform}",
            "x": n,
            "ranks": n,
            "args": [*shape, "--codec", codec, "--data", data, "--transform", transform],
        }
        for data, transform in (("random", "c2c"), ("smooth", "c2c"), ("smooth", "c2c,none,none"))
        for codec in ("none", "fp16", "zfp:16", "trim:12", "zfp:24")
    ]


def floor(ranks: list[int]) -> list[Run]:
    """Weft as it comes against FFTW-MPI, c2c double, the same output order: never slower. And against MKL without any
    distribution, in as many threads, where each has a core."""
    cores = len(os.sched_getaffinity(0))
    return [
        {
            "label": f"{n} ranks",
            "x": size,
            "ranks": n,
            "args": ["--shape", f"{size},{size},{size}", "--effort", "measure"],
            "peers": ["fftw-mpi", "mkl"] if n <= cores else ["fftw-mpi"],
        }
        for n in ranks
        if n > 1
        for size in (64, 128, 256)
    ]


def measure(run: Run, given: argparse.Namespace) -> dict | None:
    """One run of weft-bench; None if it says that it cannot do that."""
    peers = [p for p in run.get("peers", []) if p in given.peers]
    command = [*shlex.split(given.launch.format(ranks=run["ranks"])), given.bench, *run["args"]]
    command += ["--repeat", str(given.repeat)]
    if peers:
        command += ["--peers", ",".join(peers)]
    try:
        result = runs.run(command, given.host)
    except runs.RunFailed as why:
        print(f"  {run['label']} on {run['ranks']}: {why}", file=sys.stderr)
        return None
    for peer in result["peers"].values():
        peer["about"] = pathlib.PurePath(peer["about"]).name  # MKL's begins with the path of its library
    return {**{k: run[k] for k in ("label", "x", "ranks")}, "per": run.get("per", 1), **result}


def lines(experiment: "Experiment", results: list[dict]):
    """Lines of median times with quartiles; where there are peers, their time over Weft's as well."""
    from matplotlib import pyplot

    peers = list(dict.fromkeys(peer for r in results for peer in r["peers"]))
    figure, axes = pyplot.subplots(1, 2 if peers else 1, figsize=(9 if peers else 5.5, 3.4), squeeze=False)
    for label in dict.fromkeys(r["label"] for r in results):
        line = [r for r in results if r["label"] == label]
        xs = [r["x"] for r in line]
        median = [1e3 * r["median_s"] / r["per"] for r in line]
        low = [m - 1e3 * r["quartiles_s"][0] / r["per"] for m, r in zip(median, line, strict=True)]
        high = [1e3 * r["quartiles_s"][1] / r["per"] - m for m, r in zip(median, line, strict=True)]
        drawn = axes[0][0].errorbar(xs, median, yerr=[low, high], marker="o", capsize=2, label=label)
        for peer, style in zip(peers, ("-", "--"), strict=False):
            beside = [r for r in line if peer in r["peers"]]
            ratio = [r["peers"][peer]["median_s"] / r["median_s"] for r in beside]
            look = {"color": drawn[0].get_color(), "linestyle": style, "marker": "o"}
            if beside:
                axes[0][1].plot([r["x"] for r in beside], ratio, label=f"{peer}, {label}", **look)
    axes[0][0].set(xlabel=experiment.xlabel, ylabel="ms, slowest rank", title=experiment.title)
    if experiment.logarithmic:
        axes[0][0].set(yscale="log", xscale="log")
    else:
        axes[0][0].set(ylim=(0, None))
    if peers:
        axes[0][1].axhline(1, color="black", linewidth=0.8)
        axes[0][1].set(
            xlabel=experiment.xlabel, ylabel="peer's time over Weft's", title="in the same run", ylim=(0, None)
        )
    for a in axes[0]:
        a.set_xticks(sorted({r["x"] for r in results}), labels=[str(x) for x in sorted({r["x"] for r in results})])
        a.minorticks_off()
        a.grid(alpha=0.3)
        a.legend(fontsize=7)
    return figure


def bars(experiment: "Experiment", results: list[dict]):
    """On the most ranks, what the time is spent on, stacked, and how long one call of the exchange takes: what a rank
    spends in it and waiting for it, over the number of reshapes."""
    from matplotlib import pyplot

    results = [r for r in results if r["ranks"] == max(r["ranks"] for r in results)]
    labels = [r["label"] for r in results]
    spent = [{o["kind"]: 1e3 * o["seconds"] for o in r["operations"]} for r in results]
    for r, of in zip(results, spent, strict=True):
        of["other"] = 1e3 * r["operations_total_s"] - sum(of.values())
    calls = [max(1, r["plan"].count("\nforward reshape")) for r in results]
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 1.6 + 0.28 * len(labels)), sharey=True, width_ratios=(3, 2))
    begin = [0.0] * len(labels)
    for kind in ("fft", "pack", "put", "exchange", "wait", "unpack", "keep", "copy", "other"):
        width = [of.get(kind, 0) for of in spent]
        if any(width):
            axes[0].barh(labels, width, left=begin, label=kind)
        begin = [b + w for b, w in zip(begin, width, strict=True)]
    mark = {"color": "black", "marker": "|", "markersize": 14, "linestyle": "none"}
    for peer in results[0]["peers"]:
        axes[0].plot([1e3 * r["peers"][peer]["median_s"] for r in results], labels, label=peer, **mark)
    one = [(of.get("exchange", 0) + of.get("wait", 0)) / n for of, n in zip(spent, calls, strict=True)]
    axes[1].barh(labels, one, color="grey", label="exchange and wait")
    wire = min(1e3 * r["bound"]["wire_s"] / n for r, n in zip(results, calls, strict=True))
    axes[1].axvline(wire, color="black", linewidth=0.8, label="bytes over the best bandwidth measured")
    axes[0].set(xlabel="ms, slowest rank", title=f"{experiment.title}, {results[0]['ranks']} ranks")
    axes[1].set(xlabel="ms", title="each call of the exchange")
    axes[0].invert_yaxis()
    for a, columns in zip(axes, (5, 1), strict=True):
        a.grid(alpha=0.3, axis="x")
        a.legend(fontsize=7, ncols=columns, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    return figure


def accuracy_and_gain(_experiment: "Experiment", results: list[dict]):
    """Over the bits of the mantissa on the wire: the error of the transform, and the time of the exact one before it
    over its time, beside what the bytes promise."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4))
    pairs = [(exact, r) for exact, r in zip(results, results[1:], strict=False) if r["label"][:5] != "exact"]
    for output, color in (("slab1", "C0"), ("natural", "C1")):
        mine = [(e, r, r["label"].split(",")[0]) for e, r in pairs if r["label"].endswith(output)]
        for trims, marker in ((True, "o"), (False, "s")):
            some = [(e, r, codec) for e, r, codec in mine if codec.startswith("trim") == trims]
            look = {"color": color, "marker": marker, "linestyle": "-" if trims else "none"}
            xs = [r["x"] for _, r, _ in some]
            label = f"{output}, trim:m" if trims else f"{output}, others"
            axes[0].semilogy(xs, [r["error_l2"] for _, r, _ in some], label=label, **look)
            axes[1].plot(xs, [e["median_s"] / r["median_s"] for e, r, _ in some], label=label, **look)
            if not trims and output == "slab1":
                for _, r, codec in some:
                    axes[0].annotate(
                        codec, (r["x"], r["error_l2"]), fontsize=7, xytext=(4, 4), textcoords="offset points"
                    )
    bits = range(4, 45, 8)
    axes[1].step(bits, [64 / (12 + m) for m in bits], where="mid", color="black", linewidth=0.8, label="bytes")
    axes[0].set(xlabel="bits of the mantissa on the wire", ylabel="relative error, 2-norm", title="128³ c2c, double")
    axes[1].set(xlabel="bits of the mantissa on the wire", ylabel="exact time over time", ylim=(0, None))
    for a in axes:
        a.grid(alpha=0.3)
        a.legend(fontsize=7)
    return figure


class Experiment(NamedTuple):
    """What to run for some numbers of ranks, and how the results are drawn."""

    runs: Callable[[list[int]], list[Run]]
    xlabel: str
    title: str
    logarithmic: bool = False
    pictures: dict[str, Callable] = {"": lines}  # by what the name of the picture ends in
    asked: bool = False  # only run where --only names it: needs a --launch of its own


EXPERIMENTS = {
    "decompositions": Experiment(decompositions, "ranks", "96³ c2c, slabs to transposed slabs"),
    "exchanges": Experiment(
        exchanges, "ranks", "128³ c2c, slabs to transposed slabs", pictures={"": lines, "-calls": bars}
    ),
    "layouts": Experiment(layouts, "n of n³", "c2c, slabs to transposed slabs", logarithmic=True),
    "batches": Experiment(batches, "arrays in a batch", "64³ c2c, time per array"),
    "bricks": Experiment(bricks, "ranks", "64³ c2c"),
    "network": Experiment(network, "ranks", "128³ c2c, transposed slabs", pictures={"": bars}, asked=True),
    "codecs": Experiment(codecs, "", "", pictures={"": accuracy_and_gain}, asked=True),
    "zfp": Experiment(zfp, "", "", pictures={}, asked=True),
    "floor": Experiment(floor, "n of n³", "c2c, slabs to transposed slabs", logarithmic=True),
}


def draw(name: str, results: list[dict]) -> None:
    """All pictures of one experiment; the same results give the same files."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "weft", "font.size": 9})
    for ending, picture in EXPERIMENTS[name].pictures.items():
        figure = picture(EXPERIMENTS[name], results)
        if EXPERIMENTS[name].asked:
            figure.suptitle(results[0]["machine"]["host"])
        figure.tight_layout()
        figure.savefig(PICTURES / f"performance-{name}{ending}.svg", metadata={"Date": None})
        pyplot.close(figure)


def main() -> int | str:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bench", default="build/release/bin/weft-bench")
    arguments.add_argument("--launch", default="mpirun -n {ranks}")
    arguments.add_argument("--ranks", default="1,2,4", help="numbers of ranks, except of bricks")
    arguments.add_argument(
        "--only", choices=EXPERIMENTS, action="append", help="network, codecs and zfp run only if named here"
    )
    arguments.add_argument(
        "--peers", type=lambda text: text.split(","), default="fftw-mpi,mkl", help="leave out those that are not here"
    )
    arguments.add_argument("--repeat", type=int, default=15)
    arguments.add_argument("--host", default="this machine", help="what the results call the machine")
    arguments.add_argument("--draw", action="store_true", help="only draw")
    given = arguments.parse_args()
    ranks = [int(n) for n in given.ranks.split(",")]
    RESULTS.mkdir(exist_ok=True)
    for name, experiment in EXPERIMENTS.items():
        if given.only and name not in given.only:
            continue
        file = RESULTS / f"{name}.json"
        if not given.draw and (given.only or not experiment.asked):
            print(name)
            found = [r for r in (measure(run, given) for run in experiment.runs(ranks)) if r]
            if not found:
                return f"{name}: no run succeeded"
            file.write_text(json.dumps(found, indent=1) + "\n")
        if file.exists():
            draw(name, json.loads(file.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
