#!/usr/bin/env python3
"""The experiments of the overlap paper (overlap-autotuned-3d-fft): what tuning finds, and what overlap is worth.

    bench/overlap.py --launch "mpirun -n 4 --host a,b,c,d" --host "4 hosts, 1 Gbit/s each"
    bench/overlap.py --only breakdown ...
    bench/overlap.py --only cross --tuned-elsewhere bench/results/overlap-speedup.json ...
    bench/overlap.py --draw        only draws what bench/results holds

Results go to bench/results/overlap-NAME.json, pictures to docs/pictures/overlap-NAME.svg. `random` is Figure 5 of the
paper, `speedup` Figure 7 and Table 4, `breakdown` Figure 8 (of what `speedup` has found), `cross` Figure 9. NEW is
pipeline windowed, TH pipeline th; NEW-0 and TH-0 are the same parameters without overlap.
"""

import argparse
import json
import pathlib
import shlex
import statistics
import sys

import runs

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results"
PICTURES = TOP / "docs" / "pictures"
PIPELINES = {"NEW": "windowed", "TH": "th"}


def bench(given: argparse.Namespace, size: str, options: dict, more: list[str]) -> dict:
    """One run of weft-bench on the problem of the paper, slabs to transposed slabs."""
    command = [*shlex.split(given.launch), given.bench, "--shape", size, "--repeat", str(given.repeat)]
    for name, value in options.items():
        command += [f"--{name}", value]
    try:
        return runs.run([*command, *more], given.host)
    except runs.RunFailed as why:
        raise SystemExit(f"{shlex.join(command)}: {why}") from None


def tuned(given: argparse.Namespace, size: str, options: dict, more: list[str]) -> dict:
    """The same with the effort that searches among parameters."""
    effort = ["--effort", "patient", "--budget", str(given.budget), "--output", "transposed"]
    return bench(given, size, options, effort + more)


def found(result: dict, options: dict) -> dict:
    """The options of a tuned run, to be given to another one."""
    return {**options, **result["learnt"]["options"]}


def in_turn(given: argparse.Namespace, size: str, choices: dict[str, dict], more: list[str]) -> dict[str, float]:
    """Seconds of several sets of options, forward and backward, in runs that take turns."""
    times = {name: [] for name in choices}
    for _ in range(given.rounds):
        for name, options in choices.items():
            times[name].append(bench(given, size, options, ["--output", "transposed", *more])["median_s"])
    return {name: statistics.median(t) for name, t in times.items()}


def random(given: argparse.Namespace) -> list[dict]:
    """Figure 5: random configurations, and where the search lands; both results timed again, in turn."""
    results = []
    for size in given.sizes:
        options = {"exchange": given.exchange, "pipeline": "windowed", "decomposition": "slab", "layout": given.layout}
        drawn = tuned(given, size, options, ["--search", "random", "--trials", "200"])
        searched = tuned(given, size, options, ["--trials", "40"])
        again = in_turn(
            given,
            size,
            {"random": found(drawn, options), "search": found(searched, options), "estimate": options},
            ["--direction", "both"],
        )
        ratio = again["search"] / again["random"]
        times = f"search {1e3 * again['search']:.1f} ms, best of 200 {1e3 * again['random']:.1f} ms"
        print(f"  {size}: {times}: {ratio:.2f}; estimate {1e3 * again['estimate']:.1f} ms")
        results.append({"size": size, "random": drawn, "search": searched, "again_s": again})
    return results


def speedup(given: argparse.Namespace) -> list[dict]:
    """Figure 7 and Table 4: tuned NEW and TH against FFTW-MPI, planned with FFTW_PATIENT, and how long that takes."""
    results = []
    for size in given.sizes:
        row = {"size": size}
        for name, pipeline in PIPELINES.items():
            options = {"pipeline": pipeline}
            row[name] = tuned(given, size, options, ["--peers", "fftw-mpi"])
            row[name]["asked"] = options
            peer = row[name]["peers"]["fftw-mpi"]
            print(
                f"  {size} {name}: {1e3 * row[name]['median_s']:.1f} ms, FFTW-MPI {1e3 * peer['median_s']:.1f} ms; "
                f"tuned in {row[name]['learnt']['trial_seconds']:.1f} s, FFTW in {peer['planning_s']:.1f} s"
            )
        results.append(row)
    return results


def seconds(result: dict, *kinds: str) -> float:
    return sum(o["seconds"] for o in result["operations"] if o["kind"] in kinds)


def with_and_without(given: argparse.Namespace, row: dict, name: str, options: dict) -> None:
    """Adds to `row` what `options` take with and without overlap, and how much of the exchange is hidden: what overlap
    saves, over what it could save at most, the computation that can overlap or the waiting without it, whichever is
    less."""
    size = row["size"]
    still = {k: v for k, v in options.items() if k not in ("window", "fy", "fp", "fu", "fx")}
    row[name] = with_it = bench(given, size, options, ["--output", "transposed", "--peers", "fftw-mpi"])
    row[f"{name}-0"] = without = bench(given, size, {**still, "overlap": "off"}, ["--output", "transposed"])
    computing = seconds(without, "fft", "pack", "unpack", "keep", "put", "copy")
    waiting = seconds(without, "wait", "exchange")
    row[f"{name} hidden"] = (without["median_s"] - with_it["median_s"]) / min(computing, waiting)
    print(
        f"  {size} {name}: {1e3 * with_it['median_s']:.1f} ms, without overlap {1e3 * without['median_s']:.1f} ms "
        f"(computing {1e3 * computing:.1f}, waiting {1e3 * waiting:.1f}), hidden {100 * row[f'{name} hidden']:.0f}%"
    )


def breakdown(given: argparse.Namespace) -> list[dict]:
    """Figure 8, with what speedup has tuned, and beside it pipeline two-front by its rules."""
    results = []
    for tuned_row in json.loads((RESULTS / "overlap-speedup.json").read_text()):
        row = {"size": tuned_row["size"]}
        for name in PIPELINES:
            with_and_without(given, row, name, found(tuned_row[name], tuned_row[name]["asked"]))
        with_and_without(given, row, "two-front", {"pipeline": "two-front"})
        results.append(row)
    return results


def cross(given: argparse.Namespace) -> list[dict]:
    """Figure 9: what was tuned for another network, on this one."""
    elsewhere = json.loads(pathlib.Path(given.tuned_elsewhere).read_text())
    results = []
    for row in elsewhere:
        size = row["size"]
        here = tuned(given, size, {"pipeline": "windowed"}, [])
        choices = {
            "tuned here": found(here, {"pipeline": "windowed"}),
            "tuned elsewhere": found(row["NEW"], row["NEW"]["asked"]),
        }
        times = in_turn(given, size, choices, [])
        ratio = times["tuned elsewhere"] / times["tuned here"]
        print(f"  {size}: {ratio:.2f} times as long as what was tuned here")
        elsewhere_host = row["NEW"]["machine"]["host"]
        results.append({"size": size, "host": given.host, "elsewhere": elsewhere_host, "choices": choices, "s": times})
    return results


def draw_random(axes, results: list[dict]) -> None:
    for r in results:
        times = sorted(1e3 * t["seconds"] for t in r["random"]["learnt"]["history"])
        line = axes.plot(times, [(i + 1) / len(times) for i in range(len(times))], label=f"{r['size']}, random")[0]
        best = min(1e3 * t["seconds"] for t in r["search"]["learnt"]["history"])
        label = f"{r['size']}, the search after {r['search']['learnt']['trials']} trials"
        axes.axvline(best, color=line.get_color(), linestyle="--", linewidth=1, label=label)
    axes.set(xlabel="ms, forward and backward, without invariant stages", ylabel="share of configurations")


def draw_speedup(axes, results: list[dict]) -> None:
    for i, name in enumerate(PIPELINES):
        heights = [r[name]["peers"]["fftw-mpi"]["median_s"] / r[name]["median_s"] for r in results]
        axes.bar([k + 0.35 * i for k in range(len(results))], heights, width=0.33, label=name)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks([k + 0.17 for k in range(len(results))], labels=[r["size"] for r in results])
    axes.set(ylabel="FFTW-MPI's time over Weft's")


def draw_breakdown(axes, results: list[dict]) -> None:
    bars = [
        (f"{r['size']} {n}", r[n]) for r in results for n in ("NEW", "NEW-0", "TH", "TH-0", "two-front", "two-front-0")
    ]
    bottom = [0.0] * len(bars)
    for kind in ("fft", "pack", "unpack", "keep", "put", "copy", "exchange", "wait"):
        heights = [1e3 * seconds(r, kind) for _, r in bars]
        if any(heights):
            axes.bar([label for label, _ in bars], heights, bottom=bottom, label=kind)
        bottom = [b + h for b, h in zip(bottom, heights, strict=True)]
    axes.tick_params(axis="x", rotation=60)
    axes.set(ylabel="ms, slowest rank")


def draw_cross(axes, results: list[dict]) -> None:
    for i, name in enumerate(("tuned here", "tuned elsewhere")):
        heights = [1e3 * r["s"][name] for r in results]
        axes.bar([k + 0.35 * i for k in range(len(results))], heights, width=0.33, label=name)
    axes.set_xticks([k + 0.17 for k in range(len(results))], labels=[r["size"] for r in results])
    axes.set(ylabel="ms, slowest rank")


EXPERIMENTS = {
    "random": (random, draw_random),
    "speedup": (speedup, draw_speedup),
    "breakdown": (breakdown, draw_breakdown),
    "cross": (cross, draw_cross),
}


def draw(name: str, results: list[dict]) -> None:
    """The same results give the same file."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "weft", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(6.5, 3.6))
    EXPERIMENTS[name][1](axes, results)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(PICTURES / f"overlap-{name}.svg", metadata={"Date": None})
    pyplot.close(figure)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--bench", default="build/release/bin/weft-bench")
    arguments.add_argument("--launch", default="mpirun -n 4")
    arguments.add_argument("--only", choices=EXPERIMENTS, action="append", help="cross runs only if named here")
    arguments.add_argument("--sizes", type=lambda text: text.split(), default="64,64,64 128,128,128 192,192,192")
    arguments.add_argument("--exchange", default="p2p", help="of the random configurations")
    arguments.add_argument("--layout", default="contiguous", help="of the random configurations")
    arguments.add_argument("--budget", type=float, default=120, help="seconds for each search")
    arguments.add_argument("--repeat", type=int, default=15)
    arguments.add_argument("--rounds", type=int, default=3, help="of runs that take turns")
    arguments.add_argument("--tuned-elsewhere", default=str(RESULTS / "overlap-speedup.json"))
    arguments.add_argument("--host", default="this machine", help="what the results call the machine")
    arguments.add_argument("--draw", action="store_true", help="only draw")
    given = arguments.parse_args()
    for name, (run, _) in EXPERIMENTS.items():
        if given.only and name not in given.only:
            continue
        file = RESULTS / f"overlap-{name}.json"
        if not given.draw and (given.only or name != "cross"):
            print(name)
            file.write_text(json.dumps(run(given), indent=1) + "\n")
        if file.exists():
            draw(name, json.loads(file.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
