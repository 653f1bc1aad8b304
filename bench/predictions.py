#!/usr/bin/env python3
"""Predicted beside measured times (docs/model.md): describes the machine, then runs weft-bench on many problems.

    bench/predictions.py --launch "tools/mpirun mpirun.openmpi {ranks}" --ranks 1,2,4 --name node
    bench/predictions.py --launch "mpirun -n {ranks} --host a,b,c,d" --ranks 4 --name cluster

The machine is measured once, on the largest number of ranks that has a core for each, and nothing in its description is
fitted to the problems. Results go into bench/results/predictions.json, an object by name; what is there of other names
stays. Nothing else may run meanwhile. With --draw the picture is drawn from what is stored.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results" / "predictions.json"
PICTURE = TOP / "docs" / "pictures" / "predictions.svg"

# A size, and what differs from c2c in double precision, slabs to slabs, as the rules choose.
ONE_MACHINE = [
    ("64,64,64", ""),
    ("100,100,100", ""),
    ("128,128,128", ""),
    ("200,200,200", ""),
    ("256,256,256", ""),
    ("90,96,100", "--output natural"),
    ("128,128,128", "--output natural"),
    ("128,128,128", "--precision float"),
    ("128,128,128", "--transform r2c"),
    ("120,100,150", "--transform r2c --output natural"),
    ("128,128,128", "--input brick --output natural"),
    ("128,128,128", "--decomposition pencil --exchange p2p"),
    ("128,128,128", "--exchange p2p --pipeline sequential"),
    ("128,128,128", "--exchange alltoallv"),
]
MACHINES = [
    ("64,64,64", ""),
    ("128,128,128", ""),
    ("100,120,90", ""),
    ("128,128,128", "--output natural"),
    ("128,128,128", "--transform r2c"),
    ("128,128,128", "--precision float"),
    ("128,128,128", "--codec fp32"),
    ("100,120,90", "--decomposition pencil"),
    ("128,128,128", "--exchange alltoallv"),
    ("128,128,128", "--exchange p2p --pipeline sequential"),
]


def run(launch: str, ranks: int, arguments: list[str]) -> None:
    command = shlex.split(launch.format(ranks=ranks)) + arguments
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=TOP)


def measure(given: argparse.Namespace) -> dict:
    ranks = [int(r) for r in given.ranks.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        machine, result = f"{folder}/machine.json", f"{folder}/result.json"
        described = max([r for r in ranks if r <= (os.cpu_count() or 1)] or [min(ranks)])
        run(given.launch, described, [given.bench, "--measure-machine", machine])
        rows = []
        for count in ranks:
            for shape, options in MACHINES if given.machines else ONE_MACHINE:
                arguments = [
                    "--shape",
                    shape,
                    *options.split(),
                    "--machine",
                    machine,
                    "--repeat",
                    "9",
                    "--json",
                    result,
                ]
                run(given.launch, count, [given.bench, *arguments])
                found = json.loads(pathlib.Path(result).read_text())
                row = {"ranks": count, "shape": shape, "options": options, "measured_s": found["median_s"]}
                row["predicted_s"] = found["predicted"]["seconds"]
                rows.append(row)
                ratio = row["predicted_s"] / row["measured_s"]
                print(f"{count:3d} {shape:>12} {1e3 * row['measured_s']:10.3f} ms {ratio:6.2f}  {options}", flush=True)
        return {"machine": json.loads(pathlib.Path(machine).read_text()), "rows": rows}


def errors(rows: list[dict]) -> list[float]:
    return sorted(abs(r["predicted_s"] / r["measured_s"] - 1) for r in rows)


def summarise(results: dict) -> None:
    everything = [r for named in results.values() for r in named["rows"]]
    for name, rows in [*((n, v["rows"]) for n, v in results.items()), ("all", everything)]:
        found = errors(rows)
        within = sum(e <= 0.4 for e in found)
        print(f"{name}: {len(rows)} runs, median error {statistics.median(found):.0%}, {within} within 40%")


def draw(results: dict) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "weft"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 5.2))
    for name, named in results.items():
        rows = named["rows"]
        axes.loglog(
            [1e3 * r["measured_s"] for r in rows], [1e3 * r["predicted_s"] for r in rows], "o", ms=4, label=name
        )
    ends = [0.1, 2000]
    axes.loglog(ends, ends, color="0.4", lw=1)
    for factor in (0.6, 1.4):
        axes.loglog(ends, [factor * e for e in ends], color="0.7", lw=0.8, ls="--")
    axes.set(xlabel="measured, ms", ylabel="predicted, ms", xlim=ends, ylim=ends)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/release/bin/weft-bench")
    parser.add_argument("--launch", help="how ranks are started, with {ranks}")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--name", help="of these results")
    parser.add_argument("--machines", action="store_true", help="the problems of ranks on several machines")
    parser.add_argument("--draw", action="store_true", help="only draws what is stored")
    given = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not given.draw:
        if not given.launch or not given.name:
            parser.error("--launch and --name are needed")
        results[given.name] = measure(given)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    else:
        draw(results)
    summarise(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
