#!/usr/bin/env python3
"""Two builds of Weft in turn, for changes that must cost nothing: ratios of medians of alternating runs.

    bench/compare.py OLD/bin/weft-bench NEW/bin/weft-bench --kind node --launch "mpirun -n {ranks}"
    bench/compare.py OLD/bin/weft-bench NEW/bin/weft-bench --kind gpus --ranks 2 --results FILE

Of each case every run gives the median of its executions on the slowest rank; printed are the medians of these for
both builds, and their ratio. Nothing else may run meanwhile. Exits with 1 if a run fails, or if a case of the new build
is slower by more than --allowed.
"""

import argparse
import json
import pathlib
import shlex
import statistics
import sys

import runs

SLAB1 = ["--output", "slab1"]
NATURAL = ["--output", "natural"]
# Of each kind: arguments of weft-bench by case.
KINDS = {
    "node": {
        "64 slab1": ["--shape", "64,64,64", *SLAB1, "--repeat", "200"],
        "128 slab1": ["--shape", "128,128,128", *SLAB1, "--repeat", "60"],
        "256 slab1": ["--shape", "256,256,256", *SLAB1],
        "128 natural": ["--shape", "128,128,128", *NATURAL, "--repeat", "60"],
        "128 r2c bricks": ["--shape", "128,128,128", "--input", "brick", *NATURAL, "--transform", "r2c"],
        "128 p2p": ["--shape", "128,128,128", *SLAB1, "--exchange", "p2p", "--repeat", "40"],
        "128 alltoallv": ["--shape", "128,128,128", *SLAB1, "--exchange", "alltoallv", "--repeat", "40"],
    },
    "wire": {
        "128 slab1": ["--shape", "128,128,128", *SLAB1],
        "128 natural": ["--shape", "128,128,128", *NATURAL],
    },
    "gpus": {
        f"{n} {label}{' float' if precision == 'float' else ''}": [
            *["--device", "cuda", "--shape", f"{n},{n},{n}", "--precision", precision, *arguments],
            *["--repeat", "100" if n < 256 else "30"],
        ]
        for n, label, precision, arguments in [
            (64, "slab1", "double", SLAB1),
            (128, "slab1", "double", SLAB1),
            (256, "slab1", "double", SLAB1),
            (512, "slab1", "double", SLAB1),
            (1024, "slab1", "double", SLAB1),
            (128, "slab1", "float", SLAB1),
            (512, "slab1", "float", SLAB1),
            (512, "natural", "double", NATURAL),
            (512, "nccl", "double", [*SLAB1, "--transport", "nccl"]),
            (512, "bricks", "double", ["--input", "brick", *NATURAL]),
        ]
    },
}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("old")
    arguments.add_argument("new")
    arguments.add_argument("--kind", choices=KINDS, default="node")
    arguments.add_argument("--only", action="append", help="only cases whose names begin so")
    arguments.add_argument("--ranks", type=int, default=2)
    arguments.add_argument("--launch", help="starts MPI ranks, such as 'mpirun -n {ranks}'; without it threads")
    arguments.add_argument("--rounds", type=int, default=5, help="runs of each build")
    arguments.add_argument("--allowed", type=float, default=1.03, help="ratio of new to old")
    arguments.add_argument("--limit", type=float, default=120, help="seconds that a run may take")
    arguments.add_argument("--host", default="this machine", help="what the results call the machine")
    arguments.add_argument("--results", type=pathlib.Path, help="a JSON file; what it holds of other names stays")
    given = arguments.parse_args()
    launch = shlex.split(given.launch.format(ranks=given.ranks)) if given.launch else []
    ranks = [] if given.launch else ["--comm", f"threads:{given.ranks}"]
    medium = "mpi" if given.launch else "threads"
    kept = json.loads(given.results.read_text()) if given.results and given.results.exists() else {}
    slower = []
    for case, of_bench in KINDS[given.kind].items():
        if given.only and not case.startswith(tuple(given.only)):
            continue
        times = {"old": [], "new": []}
        for turn in range(given.rounds):
            # Who comes first changes, as the machine may get warmer.
            for which in ("old", "new") if turn % 2 == 0 else ("new", "old"):
                command = [*launch, getattr(given, which), *of_bench, *ranks]
                times[which].append(runs.run(command, given.host, given.limit)["median_s"])
        old, new = (statistics.median(times[which]) for which in ("old", "new"))
        print(
            f"{case:20} {medium} old {1e3 * old:9.4f} ms, new {1e3 * new:9.4f} ms, new/old {new / old:.3f}", flush=True
        )
        kept[f"{given.kind} {medium} {given.ranks} {case}"] = {"host": given.host, "ratio": new / old, **times}
        if given.results:
            given.results.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
        if new > given.allowed * old:
            slower.append(case)
    print(
        f"slower by more than {given.allowed}: {', '.join(slower)}"
        if slower
        else f"none slower by more than {given.allowed}"
    )
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
