#!/usr/bin/env python3
"""Exchange ucx on a cluster with several networks (multi-rail-multi-gpu-fft): what a second rail is worth, and what it
is worth that rails are exchanged while a plan runs.

    bench/rails.py --cluster PATH [--only sizes|predicted|slowed|jobs]
    bench/rails.py --draw        only draws what bench/results holds

PATH is a program that makes and changes an emulated cluster: `PATH up HOSTS RATE RAILS`, `PATH rate HOST RAIL RATE`,
`PATH mpirun RANKS_PER_HOST COMMAND...`, `PATH down`. It may need root. `sizes` is Figure 8 of the paper, one and two
rails against MPI, `predicted` the same beside what the model says with a description that is measured just before, at
each of --rates, `slowed` Figure 7 with a link that is slowed to a quarter and restored while a job runs, `jobs` Figure
9, seven jobs at once. Results go to bench/results/rails-NAME.json, pictures to docs/pictures/rails-NAME.svg.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import runs

TOP = pathlib.Path(__file__).resolve().parent.parent
RESULTS = TOP / "bench" / "results"
PICTURES = TOP / "docs" / "pictures"
HOSTS = 4
KINDS = {"without": ["--rebalance", "off"], "with": ["--rebalance", "1.1"]}
CHOICES = {
    "p2p over MPI": ["--exchange", "p2p"],
    "ucx, 1 rail": ["--exchange", "ucx", "--rails", "1"],
    "ucx, 2 rails": ["--exchange", "ucx", "--rails", "2"],
}


def asked(given: argparse.Namespace, *action: str) -> None:
    done = subprocess.run([given.cluster, *action], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{given.cluster} {' '.join(action)}: {done.stderr.strip()}")


@contextlib.contextmanager
def cluster(given: argparse.Namespace, rate: str):
    asked(given, "up", str(HOSTS), rate, "2")
    try:
        yield
    finally:
        asked(given, "down")


def command(given: argparse.Namespace, size: str, options: list[str]) -> list[str]:
    """A run of weft-bench on the problem of the paper, slabs to transposed slabs."""
    problem = ["--shape", size, "--output", "transposed"]
    return [given.cluster, "mpirun", "1", given.bench, *problem, *options]


def started(given: argparse.Namespace, size: str, options: list[str], file: str) -> subprocess.Popen:
    whole = [*command(given, size, options), "--series", "--json", file]
    return subprocess.Popen(whole, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def series_of(job: subprocess.Popen, file: str) -> list[list[float]]:
    """When each execution began, and what it took; all in seconds."""
    said = job.communicate()[1]
    if job.returncode != 0:
        raise SystemExit(runs.reason(said, job.returncode))
    return json.loads(pathlib.Path(file).read_text())["series"]


def sizes(given: argparse.Namespace) -> dict:
    """Rounds in turn, so that a disturbance of the machine meets all."""
    rows = []
    with cluster(given, given.rate):
        for size in given.sizes:
            times = {name: [] for name in CHOICES}
            for _ in range(given.rounds):
                for name, options in CHOICES.items():
                    whole = command(given, size, [*options, "--repeat", str(given.repeat)])
                    times[name].append(runs.run(whole, given.host)["median_s"])
            row = {"size": size, "s": {name: statistics.median(t) for name, t in times.items()}, "rounds_s": times}
            print(f"  {size}: " + ", ".join(f"{name} {1e3 * s:.1f} ms" for name, s in row["s"].items()))
            rows.append(row)
    return {"rate": given.rate, "rows": rows}


def predicted(given: argparse.Namespace) -> dict:
    """Measured as in `sizes`, beside predictions on the cluster as it was described before."""
    result = {"size": given.size, "rows": []}
    for rate in given.rates:
        with cluster(given, rate), tempfile.NamedTemporaryFile(suffix=".json") as machine:
            runs.describe([given.cluster, "mpirun", "1", given.bench, "--measure-machine", machine.name])
            links = json.loads(pathlib.Path(machine.name).read_text())["links"]
            found = {name: [] for name in CHOICES}
            for _ in range(given.rounds):
                for name, options in CHOICES.items():
                    more = [*options, "--repeat", str(given.repeat), "--machine", machine.name]
                    found[name].append(runs.run(command(given, given.size, more), given.host))
        for name, of_rounds in found.items():
            rounds = [r["median_s"] for r in of_rounds]
            row = {"rate": rate, "exchange": name, "measured_s": statistics.median(rounds), "rounds_s": rounds}
            row |= {"predicted_s": of_rounds[0]["predicted"]["seconds"], "links": links}
            print("  " + comparison(row))
            result["rows"].append(row)
    return result


def comparison(row: dict) -> str:
    measured, said = row["measured_s"], row["predicted_s"]
    ratio = f"predicted {1e3 * said:.1f} ms, measured {1e3 * measured:.1f} ms: {said / measured:.2f}"
    return f"{row['rate']:>8}, {row['exchange']:>13}: {ratio}"


def slowed(given: argparse.Namespace) -> dict:
    """A link of one host at a quarter of its speed from one moment to another."""
    size = given.size
    result = {"rate": given.rate, "quarter": given.slow, "size": size, "runs": {}}
    with cluster(given, given.rate), tempfile.NamedTemporaryFile(suffix=".json") as file:
        for name, options in KINDS.items():
            job = started(given, size, ["--exchange", "ucx", *options, "--repeat", str(given.executions)], file.name)
            time.sleep(given.slow_after)
            asked(given, "rate", "1", "1", given.slow)
            at = time.time()
            time.sleep(given.slow_for)
            asked(given, "rate", "1", "1", given.rate)
            until = time.time()
            series = series_of(job, file.name)
            result["runs"][name] = {"slow_from": at, "slow_until": until, "series": series}
            if not all(phases(result["runs"][name])):
                raise SystemExit(
                    "the link was not slow in the middle of the run: other --slow-after, or more --executions"
                )
            print(f"  {name}: " + in_words(result["runs"][name]))
    return result


def in_words(run: dict) -> str:
    during, before, after = phases(run)
    words = f"before {1e3 * statistics.median(before):.1f} ms, slowed " + " ".join(
        f"{1e3 * s:.0f}" for s in during[:12]
    )
    words += f" ..., from the 11th on {1e3 * statistics.median(during[10:] or during):.1f} ms"
    return words + f", after {1e3 * statistics.median(after[10:] or after):.1f} ms"


def phases(run: dict) -> tuple[list[float], list[float], list[float]]:
    """What executions took that were wholly in the time of the slow link, before it, and after it."""
    begin, end = run["slow_from"], run["slow_until"]
    during = [s for t, s in run["series"] if t >= begin and t + s <= end]
    before = [s for t, s in run["series"] if t + s < begin][3:]
    return during, before, [s for t, s in run["series"] if t > end]


def jobs(given: argparse.Namespace) -> dict:
    """Seven jobs on the same hosts, whose links are as fast as each other, and with one of them slow."""
    result = {"rate": given.jobs_rate, "slow": given.jobs_slow, "size": given.jobs_size, "rounds": []}
    for links, rate in {"equal links": given.jobs_rate, "one slow link": given.jobs_slow}.items():
        for round_ in range(given.rounds):
            for name, options in KINDS.items():
                with cluster(given, given.jobs_rate):
                    asked(given, "rate", "1", "1", rate)
                    times = seven(given, options)
                result["rounds"].append({"links": links, "exchange": name, "jobs_s": times})
                shown = " ".join(f"{1e3 * t:.0f}" for t in times)
                print(f"  {links}, {name}, round {round_}: slowest {1e3 * max(times):.1f} ms of {shown}")
    return result


def seven(given: argparse.Namespace, options: list[str]) -> list[float]:
    """The median of each job's executions in the time in which all of them run, without the first ten."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.NamedTemporaryFile(suffix=".json")).name for _ in range(7)]
        more = ["--exchange", "ucx", *options, "--repeat", str(given.jobs_executions)]
        under_way = [started(given, given.jobs_size, more, file) for file in files]
        all_series = [series_of(job, file) for job, file in zip(under_way, files, strict=True)]
    begin = max(s[0][0] for s in all_series)
    end = min(s[-1][0] + s[-1][1] for s in all_series)
    return [statistics.median([x for t, x in s if begin <= t and t + x <= end][10:]) for s in all_series]


def draw_sizes(axes, result: dict) -> None:
    rows = result["rows"]
    for name in CHOICES:
        n = [int(r["size"].split(",")[0]) for r in rows]
        sent = [16 * k**3 * (HOSTS - 1) / HOSTS**2 for k in n]
        axes.plot(n, [8e-9 * b / r["s"][name] for b, r in zip(sent, rows, strict=True)], "o-", label=name)
    axes.set(xlabel="N of N³", ylabel=f"Gbit/s sent by each host, links of {result['rate']}")


def draw_predicted(axes, result: dict) -> None:
    rows = result["rows"]
    for name in CHOICES:
        of = [r for r in rows if r["exchange"] == name]
        axes.loglog([1e3 * r["measured_s"] for r in of], [1e3 * r["predicted_s"] for r in of], "o", label=name)
    ends = [800 * min(r["measured_s"] for r in rows), 1200 * max(r["measured_s"] for r in rows)]
    for factor, style in ((0.8, "--"), (1, "-"), (1.2, "--")):
        axes.loglog(ends, [factor * e for e in ends], style, color="0.6", linewidth=0.8)
    axes.set(xlabel=f"measured, ms, {result['size']}", ylabel="predicted, ms; dashed: 20% more or less")


def draw_slowed(axes, result: dict) -> None:
    for name, run in result["runs"].items():
        begin = run["series"][0][0]
        line = axes.plot([t - begin for t, _ in run["series"]], [1e3 * s for _, s in run["series"]], ".-", label=name)[
            0
        ]
        for at in (run["slow_from"], run["slow_until"]):
            axes.axvline(at - begin, color=line.get_color(), linestyle="--", linewidth=0.8)
    axes.set(xlabel="s; a link is slow between the dashed lines", ylabel=f"ms, {result['size']}", ylim=(0, None))


def draw_jobs(axes, result: dict) -> None:
    kinds = [(links, name) for links in ("equal links", "one slow link") for name in KINDS]
    for i, (links, name) in enumerate(kinds):
        found = [r["jobs_s"] for r in result["rounds"] if r["links"] == links and r["exchange"] == name]
        heights = [1e3 * statistics.median(times) for times in zip(*map(sorted, found), strict=True)]
        axes.bar([k + 0.2 * i for k in range(len(heights))], heights, width=0.19, label=f"{links}, {name}")
    axes.set(xlabel="jobs, the fastest first", ylabel=f"ms, {result['size']}")


EXPERIMENTS = {
    "sizes": (sizes, draw_sizes),
    "predicted": (predicted, draw_predicted),
    "slowed": (slowed, draw_slowed),
    "jobs": (jobs, draw_jobs),
}


def draw(name: str, result: dict) -> None:
    """The same results give the same file."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams.update({"svg.hashsalt": "weft", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(6.5, 3.6))
    EXPERIMENTS[name][1](axes, result)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(PICTURES / f"rails-{name}.svg", metadata={"Date": None})
    pyplot.close(figure)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cluster", help="the program that makes the cluster")
    arguments.add_argument("--bench", default="build/release/bin/weft-bench")
    arguments.add_argument("--only", choices=EXPERIMENTS, action="append")
    arguments.add_argument("--rate", default="1gbit", help="of the links")
    arguments.add_argument("--rates", type=lambda text: text.split(), default="1gbit 300mbit", help="of predicted")
    arguments.add_argument("--sizes", type=lambda text: text.split(), default="32,32,32 64,64,64 96,96,96 128,128,128")
    arguments.add_argument("--repeat", type=int, default=15)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--size", default="128,128,128", help="of slowed and predicted")
    arguments.add_argument("--slow", default="250mbit", help="of slowed, the rate of the slow link")
    arguments.add_argument("--slow-after", type=float, default=6, help="seconds from the start")
    arguments.add_argument("--slow-for", type=float, default=8, help="seconds")
    arguments.add_argument("--executions", type=int, default=400, help="of slowed")
    arguments.add_argument("--jobs-rate", default="200mbit")
    arguments.add_argument("--jobs-slow", default="50mbit")
    arguments.add_argument("--jobs-size", default="64,64,64")
    arguments.add_argument("--jobs-executions", type=int, default=60)
    arguments.add_argument("--host", default=f"{HOSTS} hosts with two links each", help="as the results call it")
    arguments.add_argument("--draw", action="store_true", help="only draw")
    given = arguments.parse_args()
    if not given.draw and not given.cluster:
        arguments.error("--cluster is needed, or --draw")
    for name, (run, _) in EXPERIMENTS.items():
        if given.only and name not in given.only:
            continue
        file = RESULTS / f"rails-{name}.json"
        if not given.draw:
            print(name)
            file.write_text(json.dumps(run(given), indent=1) + "\n")
        if file.exists():
            draw(name, json.loads(file.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
