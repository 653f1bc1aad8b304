#!/usr/bin/env python3
"""Exchange ucx on a cluster with several networks (multi-rail-multi-gpu-fft): what a second rail is worth, and what it
is worth that rails are exchanged while a plan runs.

    bench/rails.py --cluster PATH [--only NAME]...
    bench/rails.py --draw        only draws what bench/results holds

PATH is a program that makes and changes an emulated cluster: `PATH up HOSTS RATE RAILS`, `PATH rate HOST RAIL RATE`,
`PATH mpirun RANKS_PER_HOST COMMAND...`, `PATH down`. It may need root. NAME, and what of the paper it is:

    sizes       one and two rails against MPI, over sizes, at each of --rates
    hosts       Figure 8: the same over the number of hosts
    chunks      Figure 6: how many ring steps lie between two barriers, and how many transfers are under way at a time
    stages      Table II: what the stages of an execution take, over the number of hosts
    slowed      Figure 7: a link that is slowed to a quarter and restored while a job runs
    jobs        Figure 9: seven jobs at once
    predicted   sizes, beside what the model says with a description that is measured just before
    online      executions that tune their plan, beside trials while planning
    node        one message for each pair of machines, 4 hosts of 4 ranks

Figure 5 is of NUMA nodes, which such a cluster does not have. Results go to bench/results/rails-NAME.json, pictures to
docs/pictures/rails-NAME.svg.
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
BARRIERS = {
    "no barrier": "off",
    "after each ring step": "1",
    "after two": "2",
    "after three, all": "3",
}


def asked(given: argparse.Namespace, *action: str) -> None:
    done = subprocess.run([given.cluster, *action], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{given.cluster} {' '.join(action)}: {done.stderr.strip()}")


@contextlib.contextmanager
def cluster(given: argparse.Namespace, rate: str, hosts: int = HOSTS):
    asked(given, "up", str(hosts), rate, "2")
    try:
        yield
    finally:
        asked(given, "down")


def command(given: argparse.Namespace, size: str, options: list[str], per_host: int = 1) -> list[str]:
    """A run of weft-bench on the problem of the paper, slabs to transposed slabs."""
    problem = ["--shape", size, "--output", "transposed"]
    return [given.cluster, "mpirun", str(per_host), given.bench, *problem, *options]


def in_turn(given: argparse.Namespace, size: str, choices: dict[str, list[str]], per_host: int = 1) -> dict:
    """The results of each choice, a list of as many as there are rounds: a disturbance of the machine meets all."""
    found = {name: [] for name in choices}
    for _ in range(given.rounds):
        for name, options in choices.items():
            whole = command(given, size, [*options, "--repeat", str(given.repeat)], per_host)
            found[name].append(runs.run(whole, given.host))
    return found


def seconds(found: dict) -> dict:
    """Of `in_turn`, the median of the rounds' medians, and those."""
    rounds = {name: [r["median_s"] for r in results] for name, results in found.items()}
    return {"s": {name: statistics.median(of) for name, of in rounds.items()}, "rounds_s": rounds}


def said(row: dict) -> str:
    return ", ".join(f"{name} {1e3 * s:.1f} ms" for name, s in row["s"].items())


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
    rows = []
    for rate in given.rates:
        with cluster(given, rate):
            for size in given.sizes:
                rows.append({"rate": rate, "size": size, **seconds(in_turn(given, size, CHOICES))})
                print(f"  {rate}, {size}: {said(rows[-1])}")
    return {"rows": rows}


def hosts(given: argparse.Namespace) -> dict:
    rows = []
    for count in range(2, HOSTS + 1):
        with cluster(given, given.rate, count):
            rows.append({"hosts": count, **seconds(in_turn(given, given.size, CHOICES))})
            print(f"  {count} hosts: {said(rows[-1])}")
    return {"rate": given.rate, "size": given.size, "rows": rows}


def chunks(given: argparse.Namespace) -> dict:
    """Without exchange of rails, as in the paper."""
    rows = []
    fixed = ["--exchange", "ucx", "--rebalance", "off", "--chunk", "128KiB"]
    with cluster(given, given.rate):
        for in_flight in (1, 2, 4, 8, 16):
            choices = {
                name: [*fixed, "--inflight", str(in_flight), "--barrier", barrier] for name, barrier in BARRIERS.items()
            }
            rows.append({"inflight": in_flight, **seconds(in_turn(given, given.size, choices))})
            print(f"  {in_flight} transfers at a time: {said(rows[-1])}")
    return {"rate": given.rate, "size": given.size, "rows": rows}


def stages(given: argparse.Namespace) -> dict:
    """One tile, so that the stages follow each other. Packing counts to the exchange."""
    rows = []
    one_tile = {"": ["--exchange", "ucx", "--pipeline", "sequential", "--layout", "contiguous"]}
    for count in range(2, HOSTS + 1):
        with cluster(given, given.rate, count):
            found = in_turn(given, given.size, one_tile)[""]
        middle = sorted(found, key=lambda r: r["median_s"])[len(found) // 2]
        ffts = sum(o["seconds"] for o in middle["operations"] if o["kind"] == "fft")
        total = middle["operations_total_s"]
        rows.append({"hosts": count, "ffts_s": ffts, "exchange_s": total - ffts, "total_s": total})
        print(f"  {count} hosts: " + in_stages(rows[-1]))
    return {"rate": given.rate, "size": given.size, "rows": rows}


def in_stages(row: dict) -> str:
    share = f"{100 * row['exchange_s'] / row['total_s']:.0f}% of it the exchange"
    return f"local FFTs {1e3 * row['ffts_s']:.1f} ms, total {1e3 * row['total_s']:.1f} ms, {share}"


def online(given: argparse.Namespace) -> dict:
    """The first 20 executions of a plan and what follows, with the rules' plan, online, and after trials."""
    kinds = {
        "rules": [],
        "online": ["--effort", "online"],
        "patient": ["--effort", "patient", "--budget", "30s"],
    }
    rounds = []
    with cluster(given, given.rate), tempfile.NamedTemporaryFile(suffix=".json") as file:
        for _ in range(given.rounds):
            row = {}
            for name, options in kinds.items():
                job = started(given, given.size, [*options, "--repeat", "60"], file.name)
                row[name] = [s for _, s in series_of(job, file.name)]
            rounds.append(row)
            print("  " + beside_trials(row))
    return {"rate": given.rate, "size": given.size, "rounds": rounds}


def beside_trials(row: dict) -> str:
    after = {name: statistics.median(series[20:]) for name, series in row.items()}
    first = sum(row["online"][:20]) / (20 * statistics.median(row["rules"]))
    words = ", ".join(f"{name} {1e3 * s:.1f} ms" for name, s in after.items())
    ratio = after["online"] / after["patient"]
    return f"from the 21st on {words}: {ratio:.2f} of patient; the first 20 online {first:.2f} of the rules'"


def node(given: argparse.Namespace) -> dict:
    kinds = {
        "p2p": ["--exchange", "p2p", "--pipeline", "sequential"],
        "node": ["--exchange", "node", "--pipeline", "sequential"],
        "node, 2 rails": ["--exchange", "node_ucx", "--rails", "2", "--pipeline", "sequential"],
        "auto": [],
    }
    rows = []
    with cluster(given, given.rate):
        for size in ("32,32,32", "64,64,64", "192,192,192"):
            found = in_turn(given, size, kinds, per_host=4)
            messages = {name: results[0]["messages_between_machines"] for name, results in found.items()}
            rows.append({"size": size, "messages_between_machines": messages, **seconds(found)})
            counts = ", ".join(f"{name} {n:.0f}" for name, n in messages.items())
            print(f"  {size}: {said(rows[-1])}; messages between machines: {counts}")
    return {"rate": given.rate, "rows": rows}


def predicted(given: argparse.Namespace) -> dict:
    """Measured as in `sizes`, beside predictions on the cluster as it was described before."""
    result = {"size": given.size, "rows": []}
    for rate in given.rates:
        with cluster(given, rate), tempfile.NamedTemporaryFile(suffix=".json") as machine:
            runs.describe([given.cluster, "mpirun", "1", given.bench, "--measure-machine", machine.name])
            links = json.loads(pathlib.Path(machine.name).read_text())["links"]
            found = in_turn(given, given.size, {n: [*o, "--machine", machine.name] for n, o in CHOICES.items()})
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
    for rate in dict.fromkeys(r["rate"] for r in result["rows"]):
        rows = [r for r in result["rows"] if r["rate"] == rate]
        for name in CHOICES:
            n = [int(r["size"].split(",")[0]) for r in rows]
            sent = [16 * k**3 * (HOSTS - 1) / HOSTS**2 for k in n]
            speeds = [8e-9 * b / r["s"][name] for b, r in zip(sent, rows, strict=True)]
            axes.plot(n, speeds, "o-", label=f"{name}, links of {rate}")
    axes.set(xlabel="N of N³", ylabel="Gbit/s sent by each host")


def draw_hosts(axes, result: dict) -> None:
    for name in CHOICES:
        axes.plot([r["hosts"] for r in result["rows"]], [1e3 * r["s"][name] for r in result["rows"]], "o-", label=name)
    axes.set(xlabel="hosts", ylabel=f"ms, {result['size']}, links of {result['rate']}", ylim=(0, None))
    axes.set_xticks([r["hosts"] for r in result["rows"]])


def draw_chunks(axes, result: dict) -> None:
    for name in BARRIERS:
        n = [r["inflight"] for r in result["rows"]]
        axes.semilogx(n, [1e3 * r["s"][name] for r in result["rows"]], "o-", base=2, label=name)
    axes.set(xlabel="transfers under way at a time on each rail", ylabel=f"ms, {result['size']}", ylim=(0, None))


def draw_stages(axes, result: dict) -> None:
    names = [str(r["hosts"]) for r in result["rows"]]
    under = [1e3 * r["ffts_s"] for r in result["rows"]]
    axes.bar(names, under, width=0.5, label="local FFTs")
    axes.bar(names, [1e3 * r["exchange_s"] for r in result["rows"]], width=0.5, bottom=under, label="exchange")
    axes.set(xlabel="hosts", ylabel=f"ms, {result['size']}, one tile")


def draw_online(axes, result: dict) -> None:
    for name in ("rules", "online", "patient"):
        of = [[1e3 * s for s in row[name]] for row in result["rounds"]]
        axes.plot([statistics.median(times) for times in zip(*of, strict=True)], ".-", label=name)
    axes.axvline(19.5, color="0.6", linestyle="--", linewidth=0.8)
    axes.set(xlabel="execution", ylabel=f"ms, {result['size']}", ylim=(0, None))


def draw_node(axes, result: dict) -> None:
    for i, name in enumerate(("p2p", "node", "node, 2 rails", "auto")):
        ratios = [r["s"][name] / r["s"]["p2p"] for r in result["rows"]]
        axes.bar([k + 0.2 * i for k in range(len(ratios))], ratios, width=0.19, label=name)
    axes.set(ylabel="time over that of p2p")
    axes.set_xticks([k + 0.3 for k in range(len(result["rows"]))], [r["size"] for r in result["rows"]])


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
    "hosts": (hosts, draw_hosts),
    "chunks": (chunks, draw_chunks),
    "stages": (stages, draw_stages),
    "predicted": (predicted, draw_predicted),
    "slowed": (slowed, draw_slowed),
    "jobs": (jobs, draw_jobs),
    "online": (online, draw_online),
    "node": (node, draw_node),
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
    arguments.add_argument(
        "--rates", type=lambda text: text.split(), default="1gbit 300mbit", help="of sizes and predicted"
    )
    arguments.add_argument("--sizes", type=lambda text: text.split(), default="32,32,32 64,64,64 96,96,96 128,128,128")
    arguments.add_argument("--repeat", type=int, default=15)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--size", default="128,128,128", help="of all but sizes, jobs and node")
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
