"""What papers say of strong scaling, beside what weft-model predicts: the part of bench/model.py that knows
bench/published.json.

The file has points (a time, or flops a second, of one transform) and statements (a speed-up, a share, an order), each
with where it is from and how precisely it is given. A run says how the published code does it, as arguments of
weft-model. What a run changes of the machine's description (`links`) has a source of its own.
"""

import functools
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED = TOP / "bench" / "published.json"


def flops(shape: str) -> float:
    """The usual count, 5 N log2 N."""
    points = math.prod(int(n) for n in shape.split(","))
    return 5 * points * math.log2(points)


def merged(base: dict, changes: dict) -> dict:
    """Changes replace values; objects are merged."""
    both = dict(base)
    for key, value in changes.items():
        both[key] = merged(both[key], value) if isinstance(value, dict) and isinstance(both.get(key), dict) else value
    return both


class Predictor:
    """Runs weft-model, each problem once."""

    def __init__(self, program: str, data: dict, folder: pathlib.Path):
        self.program, self.data, self.folder = program, data, folder
        self.ask = functools.cache(self._ask)

    def run(self, changes: dict, crowded: bool = True, every_rank: bool = False) -> dict:
        """The answer of a run: its seconds, the mean of both directions where it has them, and the share of the
        communication. Not `crowded`: as if machines did not get in each other's way. `every_rank`: none stands for
        others."""
        return self.ask(json.dumps(merged(self.data["run"], changes), sort_keys=True), crowded, every_rank)

    def _ask(self, text: str, crowded: bool, every_rank: bool) -> dict:
        run = json.loads(text)
        machine = self.folder / "machine.json"
        machine.write_text(json.dumps(self._machine(run.get("links", []), crowded)))
        answer = self.folder / "answer.json"
        command = [self.program, "predict", "--machine", str(machine), "--ranks", str(run["ranks"])]
        command += [word for name, value in run["problem"].items() for word in (f"--{name}", str(value))]
        command += [word for name, value in run["settings"].items() for word in ("--set", f"{name}={value}")]
        command += ["--every-rank"] if every_rank else []
        subprocess.run([*command, "--json", str(answer)], check=True, stdout=subprocess.DEVNULL)
        found = json.loads(answer.read_text())
        directions = found["directions"]
        spent = [sum(d["operations"].get(kind, 0) for kind in ("exchange", "wait")) for d in directions]
        return {
            "seconds": found["seconds"] / len(directions),
            "communication": sum(spent) / found["seconds"],
            "operations": directions[0]["operations"],
            "bounds": {key: directions[0][key] for key in ("compute_s", "wire_s")},
        }

    def _machine(self, changes: list[dict], crowded: bool) -> dict:
        machine = json.loads((TOP / self.data["machine"]).read_text())
        for link in machine["links"]:
            for change in changes:
                if (link["between"], link["carries"]) == (change["between"], change["carries"]):
                    link.update({k: v for k, v in change.items() if k not in ("between", "carries", "source")})
            if not crowded:
                link.pop("share_by_machines", None)
        return machine


def published_seconds(point: dict, shape: str) -> list[float]:
    """The least, the likeliest and the longest time that a point can stand for."""
    if "seconds" in point:
        return point["seconds"]
    return [flops(shape) / (1e9 * rate) for rate in reversed(point["gflops"])]


def of_point(predictor: Predictor, point: dict) -> dict:
    shape = merged(predictor.data["run"], point["run"])["problem"]["shape"]
    predicted, free = predictor.run(point["run"]), predictor.run(point["run"], crowded=False)
    every = predictor.run(point["run"], every_rank=True)
    row = {
        "name": point["name"],
        "ranks": point["run"]["ranks"],
        "shape": shape,
        "series": point["series"],
        "predicted_s": predicted["seconds"],
        "predicted_gflops": flops(shape) / predicted["seconds"] / 1e9,
        "every_rank_s": every["seconds"],
        "free_s": free["seconds"],
        "operations": predicted["operations"],
    }
    if "seconds" in point or "gflops" in point:
        least, published, most = published_seconds(point, shape)
        row |= {"least_s": least, "published_s": published, "most_s": most, "ratio": predicted["seconds"] / published}
        row |= {"every_rank_ratio": every["seconds"] / published, "free_ratio": free["seconds"] / published}
    return row


def of_statement(predictor: Predictor, statement: dict) -> dict:
    """A statement compares two runs, at one or several numbers of ranks, or is about the share of the communication."""

    def value(ranks: int) -> float:
        of = predictor.run(statement["of"] | {"ranks": ranks})
        if "over" not in statement:
            return of["communication"]
        return predictor.run(statement["over"] | {"ranks": ranks})["seconds"] / of["seconds"]

    values = {ranks: value(ranks) for ranks in statement["ranks"]}
    holds = [(statement.get("at_least", -math.inf) <= v <= statement.get("at_most", math.inf)) for v in values.values()]
    row = {"name": statement["name"], "predicted": [{"ranks": r, "value": v} for r, v in values.items()]}
    if "value" in statement:
        best = max(values.values()) if statement.get("take") == "max" else statistics.median(values.values())
        row |= {"published": statement["value"], "ratio": best / statement["value"]}
    else:
        row |= {k: statement[k] for k in ("at_least", "at_most") if k in statement} | {"holds": all(holds)}
    return row


def results(program: str) -> list[dict]:
    """One object: points, statements, curves over the ladder of ranks, and the medians."""
    data = json.loads(PUBLISHED.read_text())
    with tempfile.TemporaryDirectory() as folder:
        predictor = Predictor(program, data, pathlib.Path(folder))
        points = [of_point(predictor, p) for p in data["points"]]
        statements = [of_statement(predictor, s) for s in data["statements"]]
        curves = [
            {
                "name": name,
                "every_rank": every_rank,
                "rows": [
                    {
                        "ranks": r,
                        "seconds": predictor.run(series["run"] | {"ranks": r}, every_rank=every_rank)["seconds"],
                    }
                    for r in data["ladder"]
                    if r <= series.get("most_ranks", r)
                ],
            }
            for name, series in data["series"].items()
            for every_rank in ([False, True] if series.get("every_rank") else [False])
        ]
    known = [p for p in points if "ratio" in p]
    return [
        {
            "points": points,
            "statements": statements,
            "curves": curves,
            "median_errors": {
                of: statistics.median(abs(p[of] - 1) for p in known)
                for of in ("ratio", "every_rank_ratio", "free_ratio")
            },
        }
    ]


def picture(found: list[dict]):
    """Times over GPUs, predicted as lines and published as dots with what they can stand for; and their ratios."""
    from matplotlib import pyplot

    result = found[0]
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.8), gridspec_kw={"width_ratios": [3, 2]})
    times, ratios = axes
    colors = {}
    for curve in result["curves"]:
        ranks, seconds = zip(*((row["ranks"], row["seconds"]) for row in curve["rows"]), strict=True)
        if curve["every_rank"]:
            times.plot(ranks, seconds, ":", color=colors[curve["name"]], linewidth=1, label="every rank replayed")
        else:
            colors[curve["name"]] = times.plot(ranks, seconds, linewidth=1, label=curve["name"])[0].get_color()
    known = [p for p in result["points"] if "ratio" in p]
    for p in known:
        spread = [[p["published_s"] - p["least_s"]], [p["most_s"] - p["published_s"]]]
        times.errorbar(
            p["ranks"], p["published_s"], spread, fmt="o", color=colors[p["series"]], markersize=4, capsize=2
        )
    times.plot([], [], "ko", markersize=4, label="published")
    times.set(xlabel="GPUs of Summit", ylabel="seconds", xscale="log", yscale="log", title="predicted and published")
    ladder = sorted({row["ranks"] for c in result["curves"] for row in c["rows"]})
    times.set_xticks(ladder, labels=[str(n) for n in ladder], fontsize=6, rotation=60)
    times.minorticks_off()
    times.grid(alpha=0.3)
    times.legend(fontsize=6, loc="upper right")
    places = range(len(known), 0, -1)
    ratios.axvspan(0.75, 1.25, color="#e8f0e8")
    ratios.axvline(1, color="black", linewidth=0.8)
    for key, mark, label in (
        ("every_rank_ratio", "|", "every rank replayed"),
        ("free_ratio", "x", "machines not in each other's way"),
    ):
        ratios.plot([p[key] for p in known], places, mark, color="gray", label=label)
    for place, p in zip(places, known, strict=True):
        ends = [p["predicted_s"] / p["most_s"], p["predicted_s"] / p["least_s"]]
        ratios.plot(ends, [place] * 2, color=colors[p["series"]], linewidth=1)
        ratios.plot(p["ratio"], place, "o", color=colors[p["series"]], markersize=4)
    ratios.set_yticks(list(places), labels=[p["name"] for p in known], fontsize=6)
    ratios.set(xlabel="predicted over published", title="points")
    ratios.legend(fontsize=6, loc="upper center", bbox_to_anchor=(0.5, -0.22))
    ratios.grid(alpha=0.3, axis="x")
    return figure
