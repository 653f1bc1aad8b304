#!/usr/bin/env python3
"""How good the plan is that effort estimate takes on a described machine, beside the one that effort patient finds.

    bench/choices.py --launch "tools/mpirun mpirun.openmpi {ranks}" --ranks 2,3,4 --name node
    bench/choices.py --launch "mpirun -n {ranks} --host a,b,c,d" --ranks 4 --name cluster --problems 20
    choices.py --device --bench bin/weft-bench --ranks 2,3 --machine gpu.json --results rows.json --name h200

The machine is described first, unless --machine names a description. Problems are drawn at random from --seed: shapes,
transforms, precisions, distributions, ranks. For each, patient searches. Then four sides are timed in turn, forward and
backward, the slowest rank counting: estimate; what patient has found, with local FFTs as estimate plans them, so that
only the choice differs; the same with patient's local FFTs; and the rules alone (option machine=none). Results go into
bench/results/choices.json (or --results), an object by name; what is there of other names stays. Nothing else may run
meanwhile.

With --device arrays are in memory of GPUs, and ranks, without --launch threads of one process, take these in turn. It
needs this file, bench/runs.py and weft-bench, no tree.
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import statistics
import sys
import tempfile

import runs

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results" / "choices.json"
LENGTHS = [16, 24, 32, 45, 48, 60, 64, 77, 90, 96, 100, 128, 144, 160, 192]
DEVICE_LENGTHS = [32, 60, 64, 77, 96, 128, 144, 160, 192, 200, 243, 256, 320, 384, 400, 512]
SIDES = ["estimate", "found", "patient", "rules"]


def problem(draw: random.Random, most: int, lengths: list[int]) -> list[str]:
    """Arguments of weft-bench."""
    while True:
        shape = [draw.choice(lengths) for _ in range(3)]
        points = shape[0] * shape[1] * shape[2]
        if 50_000 <= points <= most:
            break
    arguments = ["--shape", ",".join(map(str, shape))]
    arguments += ["--transform", draw.choice(["c2c", "c2c", "c2c", "r2c", "dct2", "c2c,c2c,none"])]
    arguments += ["--precision", draw.choice(["double", "double", "float"])]
    arguments += ["--input", draw.choice(["slab", "slab", "pencil", "brick"])]
    return arguments + ["--output", draw.choice(["transposed", "natural", "natural", "slab1", "pencil", "brick"])]


def command(given: argparse.Namespace, ranks: int) -> list[str]:
    """Of weft-bench on so many ranks."""
    started = [*shlex.split(given.launch.format(ranks=ranks)), given.bench]
    if given.device:
        started += ["--device", "cuda"]
    return started if given.launch else [*started, "--comm", f"threads:{ranks}"]


def measure(given: argparse.Namespace, machine: str) -> list[dict]:
    """All rows; they are stored one by one, so that a run that is stopped keeps what it has."""
    draw = random.Random(given.seed)
    rows = []
    results = json.loads(given.results.read_text()) if given.results.exists() else {}
    lengths = DEVICE_LENGTHS if given.device else LENGTHS
    results[given.name] = {"rows": rows, "seed": given.seed, "budget_s": given.budget}
    with tempfile.TemporaryDirectory() as folder:
        while len(rows) < given.problems:
            ranks = draw.choice(given.ranks)
            base = [*command(given, ranks), *problem(draw, given.points, lengths)]
            base += ["--direction", "both", "--repeat", "11"]
            wisdom = ["--wisdom", f"{folder}/{len(rows)}.json", "--budget", str(given.budget)]
            sides = {
                "estimate": [*base, "--machine", machine],
                "patient": [*base, "--effort", "patient", "--machine", "none", *wisdom],
                "rules": [*base, "--machine", "none"],
            }
            searched = runs.run(sides["patient"], given.name)
            options = searched.get("learnt", {}).get("options", {})
            flags = [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", value)]
            sides["found"] = [*base, "--machine", "none", *flags]
            found = {side: [] for side in SIDES}
            for _ in range(given.rounds):
                for side in SIDES:
                    found[side].append(runs.run(sides[side], given.name))
            row = {"ranks": ranks, "problem": " ".join(base[base.index("--shape") : base.index("--direction")])}
            for side in SIDES:
                row[f"{side}_s"] = statistics.median(r["median_s"] for r in found[side])
            row["options"] = found["estimate"][0].get("learnt", {}).get("options", {})
            row["found_options"] = options
            row["predicted_s"] = found["estimate"][0]["explanation"]["predicted_s"]
            row["planning_s"] = statistics.median(r["planning_s"] for r in found["estimate"])
            for side in ("estimate", "patient", "rules"):
                row[f"{side}_ratio"] = row[f"{side}_s"] / row["found_s"]
            rows.append(row)
            given.results.write_text(json.dumps(results, indent=1) + "\n")
            ratios = " ".join(f"{row[f'{side}_ratio']:5.2f}" for side in ("estimate", "patient", "rules"))
            print(
                f"{ratios} {1e3 * row['found_s']:9.3f} ms {ranks} {row['problem']} | {row['options']} | {options}",
                flush=True,
            )
    return rows


def summarise(name: str, rows: list[dict]) -> None:
    for side in ("estimate", "patient", "rules"):
        ratios = sorted(r[f"{side}_ratio"] for r in rows)
        print(
            f"{name}: {side} over what patient has found, {len(rows)} problems: "
            f"median {statistics.median(ratios):.3f}, most {ratios[-1]:.2f}, {sum(r > 1.5 for r in ratios)} above 1.5"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/release/bin/weft-bench")
    parser.add_argument("--launch", default="", help="how ranks are started, with {ranks}; empty: as threads")
    parser.add_argument("--device", action="store_true", help="arrays in memory of GPUs")
    parser.add_argument("--ranks", default="2,3,4", type=lambda text: [int(r) for r in text.split(",")])
    parser.add_argument("--name", required=True, help="of these results")
    parser.add_argument("--machine", help="a description that was measured before; else it is measured now")
    parser.add_argument("--problems", type=int, default=60)
    parser.add_argument("--points", type=int, help="of a problem at most")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=6, help="seconds that patient may search")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.points = given.points or (40_000_000 if given.device else 2_500_000)
    with tempfile.TemporaryDirectory() as folder:
        machine = given.machine or f"{folder}/machine.json"
        if not given.machine:
            cores = max([r for r in given.ranks if r <= (os.cpu_count() or 1)] or [min(given.ranks)])
            runs.describe([*command(given, cores), "--measure-machine", machine])
        rows = measure(given, machine)
    summarise(given.name, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
