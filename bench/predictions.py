#!/usr/bin/env python3
"""Predicted beside measured times (docs/model.md): describes the machine, then runs weft-bench on many problems.

    bench/predictions.py --launch "tools/mpirun mpirun.openmpi {ranks}" --ranks 1,2,4 --name node
    bench/predictions.py --launch "mpirun -n {ranks} --host a,b,c,d" --ranks 4 --name cluster
    predictions.py --device --bench bin/weft-bench --machine gpu.json --results rows.json --name h200
    bench/predictions.py --stored bench/results/gpus.json --machine bench/machines/h200.json --name "stored runs"

The machine is measured once, on the largest number of ranks that has a core for each, and nothing in its description is
fitted to the problems. Results go into bench/results/predictions.json (or --results), an object by name; what is there
of other names stays. Nothing else may run meanwhile. With --draw the picture is drawn from what is stored.

With --device arrays are in memory of one GPU, of one rank or of two that share it, as threads; with --launch two ranks
are processes. It needs this file and the programs, no tree. A run that fails is said, and the exit status tells.

With --stored nothing runs but weft-model: what a file of weft-bench's results holds of several GPUs is predicted. These
runs and the description are of different days and machines of the same kind.
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
# Ranks too, on one GPU.
DEVICE = [
    (1, "64,64,64", ""),
    (1, "64,64,64", "--graph off"),
    (1, "128,128,128", ""),
    (1, "128,128,128", "--graph off"),
    (1, "256,256,256", ""),
    (1, "512,512,512", ""),
    (1, "120,96,75", ""),
    (1, "200,200,200", ""),
    (1, "360,300,320", ""),
    (1, "64,64,64", "--batch 8"),
    (1, "128,128,128", "--precision float"),
    (1, "256,256,256", "--precision float"),
    (1, "512,512,512", "--precision float"),
    (1, "120,96,75", "--precision float --direction backward"),
    (1, "128,128,128", "--transform r2c"),
    (1, "256,256,256", "--transform r2c"),
    (1, "512,512,512", "--transform r2c"),
    (1, "256,256,256", "--transform r2c --direction backward"),
    (1, "128,128,128", "--transform dct2"),
    (2, "64,64,64", ""),
    (2, "128,128,128", ""),
    (2, "256,256,256", ""),
    (2, "120,96,75", "--output natural"),
    (2, "256,256,256", "--output natural"),
    (2, "256,256,256", "--output slab1"),
    (2, "256,256,256", "--input pencil --output pencil"),
    (2, "256,256,256", "--input brick --output natural"),
    (2, "256,256,256", "--transform r2c"),
    (2, "256,256,256", "--precision float"),
    (2, "256,256,256", "--codec fp32"),
]


def run(command: list[str], limit: float | None = None) -> None:
    # The driver needs a queue for each stream of the ranks that share a GPU.
    environment = {"CUDA_DEVICE_MAX_CONNECTIONS": "32", **os.environ}
    folder = TOP if (TOP / "CMakeLists.txt").exists() else None
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
        timeout=limit,
    )


def row_of(command: list[str], ranks: int, shape: str, options: str, machine: str, limit: float | None = None) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        result = f"{folder}/result.json"
        wanted = ["--shape", shape, *options.split(), "--machine", machine, "--json", result]
        run([*command, *wanted], limit)
        found = json.loads(pathlib.Path(result).read_text())
    row = {"ranks": ranks, "shape": shape, "options": options, "measured_s": found["median_s"]}
    row["predicted_s"] = found["predicted"]["seconds"]
    ratio = row["predicted_s"] / row["measured_s"]
    print(f"{ranks:3d} {shape:>12} {1e3 * row['measured_s']:10.3f} ms {ratio:6.2f}  {options}", flush=True)
    return row


def store(given: argparse.Namespace, results: dict) -> None:
    given.results.write_text(json.dumps(results, indent=1) + "\n")


def measure_device(given: argparse.Namespace, results: dict) -> int:
    """Adds the rows to the results, and stores them after each run; how many runs failed."""
    bench = [given.bench, "--device", "cuda"]
    machine = given.machine.resolve()
    several = shlex.split(given.launch.format(ranks=2)) + bench if given.launch else [*bench, "--comm", "threads:2"]
    if not machine.exists():  # by two ranks, so that it has the link between them
        run([*several, "--measure-machine", str(machine)])
    rows, failed = [], 0
    results[given.name] = {"machine": json.loads(machine.read_text()), "rows": rows}
    for ranks, shape, options in DEVICE:
        command = [*(several if ranks == 2 else [*bench, "--comm", "threads:1"]), "--repeat", "15"]
        try:
            rows.append(row_of(command, ranks, shape, options, str(machine), given.limit))
            store(given, results)
        except subprocess.TimeoutExpired:
            failed += 1
            print(f"{ranks:3d} {shape:>12} no end after {given.limit} s  {options}", flush=True)
        except subprocess.CalledProcessError as error:
            failed += 1
            said = (error.stderr.strip().splitlines() or [f"exit status {error.returncode}"])[0]
            print(f"{ranks:3d} {shape:>12} {said}  {options}", flush=True)
    return failed


def predict_stored(given: argparse.Namespace) -> dict:
    """Runs on several devices that store into each other's memory, as far as weft-model knows their options."""
    rows = []
    model = pathlib.Path(given.bench).with_name("weft-model")
    kept = ("pipeline", "layout", "graph", "tile", "window", "front", "rest", "puts", "decomposition")
    for name, found in json.loads(given.stored.read_text()).items():
        machine, problem = found.get("machine", {}), found.get("problem", {})
        ranks, options = machine.get("ranks", 1), found.get("options", {})
        if ranks < 2 or "direct" not in found.get("transport", "") or problem.get("in_place"):
            continue
        command = [str(model), "predict", "--machine", str(given.machine), "--device", "cuda", "--fft", "cufft"]
        command += ["--ranks", str(ranks), "--ranks-per-node", str(ranks), "--devices-per-node", str(ranks)]
        command += ["--threads"] if machine["medium"] == "threads" else []
        for key in ("shape", "transform", "precision", "input", "output", "direction"):
            command += [f"--{key}", problem[key]]
        for key in kept:
            if options.get(key, "auto") not in ("auto", ""):
                command += ["--set", f"{key}={options[key]}"]
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            done = subprocess.run([*command, "--json", file.name], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"{name}: {done.stderr.strip().splitlines()[0]}")
                continue
            predicted = json.loads(pathlib.Path(file.name).read_text())["seconds"]
        row = {"ranks": ranks, "shape": problem["shape"], "options": name, "measured_s": found["median_s"]}
        rows.append({**row, "predicted_s": predicted})
        print(f"{predicted / found['median_s']:6.2f} {1e3 * found['median_s']:9.3f} ms  {name}", flush=True)
    return {"machine": json.loads(given.machine.read_text()), "rows": rows}


def measure(given: argparse.Namespace) -> dict:
    ranks = [int(r) for r in given.ranks.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        machine = f"{folder}/machine.json"
        described = max([r for r in ranks if r <= (os.cpu_count() or 1)] or [min(ranks)])

        def bench(count: int) -> list[str]:
            return [*shlex.split(given.launch.format(ranks=count)), given.bench]

        run([*bench(described), "--measure-machine", machine])
        rows = []
        for count in ranks:
            for shape, options in MACHINES if given.machines else ONE_MACHINE:
                rows.append(row_of([*bench(count), "--repeat", "9"], count, shape, options, machine))
        return {"machine": json.loads(pathlib.Path(machine).read_text()), "rows": rows}


def errors(rows: list[dict]) -> list[float]:
    return sorted(abs(r["predicted_s"] / r["measured_s"] - 1) for r in rows)


def summarise(results: dict) -> None:
    everything = [r for named in results.values() for r in named["rows"]]
    for name, rows in [*((n, v["rows"]) for n, v in results.items()), ("all", everything)]:
        if not rows:
            continue
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
    ends = [0.01, 2000]
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
    parser.add_argument("--device", action="store_true", help="arrays in memory of one GPU")
    parser.add_argument("--stored", type=pathlib.Path, help="predicts these results of several GPUs")
    parser.add_argument(
        "--machine",
        type=pathlib.Path,
        help="with --device, its description: written if it is not there; with --stored, that of the GPUs",
    )
    parser.add_argument("--limit", type=float, default=120, help="with --device, seconds that a run may take")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--draw", action="store_true", help="only draws what is stored")
    given = parser.parse_args()
    results = json.loads(given.results.read_text()) if given.results.exists() else {}
    failed = 0
    if given.draw:
        draw(results)
    else:
        if not given.name or not (given.machine if given.device or given.stored else given.launch):
            parser.error("--name and --launch are needed; with --device and --stored --name and --machine")
        if given.stored:
            results[given.name] = predict_stored(given)
        elif given.device:
            failed = measure_device(given, results)
        else:
            results[given.name] = measure(given)
        store(given, results)
    if failed > 0:
        print(f"{failed} runs failed")
    summarise(results)
    return 1 if failed > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
