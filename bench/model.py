#!/usr/bin/env python3
"""The models as pictures, beside what papers published: runs weft-model, keeps its JSON, draws.

    bench/model.py --model build/release/bin/weft-model
    bench/model.py --draw          only draws what bench/results holds

The JSON goes to bench/results/model-NAME.json, a list of objects of weft-model (docs/model.md) or what published.py
makes of them, the pictures to docs/pictures/model-NAME.svg. Nothing is measured: the same Weft gives the same files.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import published

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results"
PICTURES = TOP / "docs" / "pictures"

LADDER = [6 * 2**i for i in range(10)]  # the numbers of GPUs of multi-gpu-fft-performance, Table III
# Size, and the last number of ranks in that table up to which slabs are faster: less than 64 nodes of six GPUs
# (multi-gpu-fft-performance, Section IV-A), around 384 ranks (communication-tuning, Section II-A and Figure 9).
PUBLISHED = [(512, 192), (1024, 384)]


def phase(results: list[dict]):
    """Which decomposition is predicted to be faster, over ranks and sizes
    (communication-tuning, Figure 3). Bars are where the papers say that pencils become faster."""
    from matplotlib import colors, pyplot

    figure, axes = pyplot.subplots(1, len(results), figsize=(9, 3.6), sharey=True)
    look = colors.ListedColormap(["#8fb8de", "#f2b872", "#f7dcb9", "#f0f0f0"])
    for a, r in zip(axes, results, strict=True):
        ranks = [c["ranks"] for c in r["rows"][0]["choices"]]
        cells = [["SPp.".index(c["faster"]) for c in row["choices"]] for row in r["rows"]]
        a.pcolormesh(range(len(ranks) + 1), range(len(cells) + 1), cells, cmap=look, vmin=0, vmax=3, edgecolor="white")
        for y, row in enumerate(r["rows"]):
            for x, c in enumerate(row["choices"]):
                a.text(x + 0.5, y + 0.5, c["faster"], ha="center", va="center", fontsize=7)
        for n, edge in PUBLISHED:
            y = [row["n"] for row in r["rows"]].index(n)
            a.plot([ranks.index(edge) + 1] * 2, [y, y + 1], color="black", linewidth=2.5)
        a.set_xticks([i + 0.5 for i in range(len(ranks))], labels=[str(n) for n in ranks], rotation=60)
        a.set_yticks([i + 0.5 for i in range(len(cells))], labels=[str(row["n"]) for row in r["rows"]])
        a.set(xlabel="ranks", title=f"{r['model']}, {r['bandwidth_bytes_per_s'] / 1e9:g} GB/s")
    axes[0].set(ylabel="n of n³")
    axes[1].plot([], [], color="black", linewidth=2.5, label="published")
    axes[1].legend(fontsize=7, loc="upper right", bbox_to_anchor=(1, -0.2))
    return figure


def roofline(results: list[dict]):
    """The roof over the number of nodes, and over the flops per byte sent (communication-tuning, Figure 10)."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4))
    for r in results:
        label = f"{r['n']}³, {r['reshapes']} reshape{'s' if r['reshapes'] > 1 else ''}"
        nodes = [row["nodes"] for row in r["rows"]]
        roof = [row["roof_flops_per_s"] / 1e12 for row in r["rows"]]
        drawn = axes[0].plot(nodes, roof, marker="o", markersize=3, label=label)
        axes[1].plot(r["flops_per_byte"], r["rows"][0]["roof_flops_per_s"] / 1e12, "o", color=drawn[0].get_color())
    first = results[0]
    curve = [row["eq3_gflops_per_s"] / 1e3 for row in first["rows"]]
    axes[0].plot([row["nodes"] for row in first["rows"]], curve, "k:", label=f"eq. 3, {first['n']}³")
    peak, send = first["node_flops_per_s"] / 1e12, first["node_bytes_per_s"] / 1e12
    axes[1].plot([0.5, peak / send, 8192], [0.5 * send, peak, peak], color="black", linewidth=0.8)
    axes[0].set(xlabel="nodes", ylabel="Tflop/s", title="roof of Summit", xscale="log", yscale="log")
    axes[1].set(xlabel="flop per byte sent", ylabel="Tflop/s of a node", title="one node", xscale="log", yscale="log")
    axes[0].set_xticks(nodes, labels=[str(n) for n in nodes], fontsize=7)
    axes[0].minorticks_off()
    for a in axes:
        a.grid(alpha=0.3)
    axes[0].legend(fontsize=7)
    return figure


def messages(results: list[dict]):
    """Partners of a rank in all reshapes of a transform between bricks, by Weft's schedules and by the formulas
    (communication-tuning, Table II and Figure 2)."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), sharey=True)
    ranks = [r["ranks"] for r in results]
    for a, number, name in ((axes[0], 0, "slabs"), (axes[1], 1, "pencils")):
        reshapes = [r["schedules"][number]["reshapes"] for r in results]
        for key, style, label in (
            ("partners", "o-", "counted on the schedule"),
            ("near_square", "k--", "near-square pencils"),
            ("table", "k:", "Table II"),
        ):
            # A reshape that is none of the table's has its count for a formula.
            sums = [sum(x[key] if x[key] is not None else x["partners"] for x in of) for of in reshapes]
            a.plot(ranks, sums, style, markersize=3, linewidth=1, label=label)
        a.set(xlabel="ranks", title=f"{name}, bricks to bricks", xscale="log", yscale="log")
        a.set_xticks(ranks, labels=[str(n) for n in ranks], fontsize=7)
        a.minorticks_off()
        a.grid(alpha=0.3)
        a.legend(fontsize=7)
    axes[0].set(ylabel="partners of a rank, all reshapes")
    return figure


class Drawing(NamedTuple):
    """Where the results of a picture are from, given the program, and how they are drawn."""

    results: Callable[[str], list[dict]]
    picture: Callable


def answers(runs: list[list[str]], program: str) -> list[dict]:
    """The objects that these runs write."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "answer.json"
        for arguments in runs:
            subprocess.run([program, *arguments, "--json", str(file)], check=True, stdout=subprocess.DEVNULL)
            found.append(json.loads(file.read_text()))
    return found


DRAWINGS = {
    "phase": Drawing(
        partial(
            answers, [["phase", "--model", "exchanges"], ["phase", "--model", "near-square", "--bandwidth", "25e9"]]
        ),
        phase,
    ),
    "roofline": Drawing(
        partial(answers, [["roofline", "--size", "1024", "--reshapes", reshapes] for reshapes in "421"]), roofline
    ),
    "messages": Drawing(
        partial(answers, [["messages", "--shape", "1024,1024,1024", "--ranks", str(n)] for n in LADDER]), messages
    ),
    "published": Drawing(published.results, published.picture),
}


def draw(name: str, results: list[dict]) -> None:
    """The picture of a name; the same results give the same file."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "weft", "font.size": 9})
    figure = DRAWINGS[name].picture(results)
    figure.tight_layout()
    figure.savefig(PICTURES / f"model-{name}.svg", metadata={"Date": None})
    pyplot.close(figure)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", default="build/release/bin/weft-model")
    arguments.add_argument("--only", choices=DRAWINGS, action="append")
    arguments.add_argument("--draw", action="store_true", help="only draw")
    given = arguments.parse_args()
    for name, drawing in DRAWINGS.items():
        if given.only and name not in given.only:
            continue
        file = RESULTS / f"model-{name}.json"
        if not given.draw:
            file.write_text(json.dumps(drawing.results(given.model), indent=1) + "\n")
        draw(name, json.loads(file.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
