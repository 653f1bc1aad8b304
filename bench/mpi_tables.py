"""What bench/mpis.py has found, as text, as tables and a picture of docs/performance.md: which exchange wins where.

A cell is a problem on a number of ranks; in it everything is comparable. Exchange direct sends no messages and auto is
a plan as it comes, so that the exchanges that an MPI carries are compared without them.
"""

import pathlib
import re
from collections.abc import Iterable

from mpi_settings import AS_INSTALLED, Setting

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGE = TOP / "docs" / "performance.md"
PICTURE = TOP / "docs" / "pictures" / "mpis.svg"
BEGIN = "<!-- from here on written by bench/mpis.py with option draw -->\n"
END = "<!-- until here, by bench/mpis.py -->\n"
NO_MESSAGES = ("direct", "auto")
TIE = 1.05  # what is no slower than the fastest times this is named beside it
CHANGE = 1.1  # a setting is in the table of the page if it makes some time this much longer or shorter

Times = dict[str, float]  # milliseconds by exchange


def cell(row: dict) -> tuple[str, str, int]:
    return row["shape"], row["transform"], row["ranks"]


def cells(rows: list[dict]) -> list[tuple]:
    return list(dict.fromkeys(cell(row) for row in rows))


def problem_name(shape: str, transform: str) -> str:
    """ "128³ c2c", or "64 x 32 x 16 r2c"."""
    lengths = shape.split(",")
    cube = len(lengths) == 3 and len(set(lengths)) == 1
    return f"{lengths[0]}³ {transform}" if cube else f"{' x '.join(lengths)} {transform}"


def name_of(row: dict) -> str:
    place = f"{problem_name(row['shape'], row['transform'])} on {row['ranks']}"
    return f"{place}, {row['mpi']} {row['setting']}, {row['exchange']}"


def times(rows: list[dict], where: tuple, mpi: str, setting: str) -> Times:
    some = (r for r in rows if cell(r) == where and r["mpi"] == mpi and r["setting"] == setting)
    return {r["exchange"]: 1e3 * r["median_s"] for r in some if r["seconds"]}


def messages(of: Times) -> Times:
    return {exchange: ms for exchange, ms in of.items() if exchange not in NO_MESSAGES}


def winners(of: Times) -> list[str]:
    """The fastest, and what is as fast but for a few percent, in order."""
    best = min(of.values(), default=0)
    return [e for e, ms in sorted(of.items(), key=lambda item: item[1]) if ms <= TIE * best]


def settings_in(rows: list[dict], mpi: str) -> list[str]:
    return list(dict.fromkeys(r["setting"] for r in rows if r["mpi"] == mpi))


def best_setting(rows: list[dict], where: tuple, mpi: str) -> tuple[float, str, str] | None:
    """Milliseconds, exchange and setting of the fastest messages of an MPI in a cell."""
    found = [
        (ms, exchange, setting)
        for setting in settings_in(rows, mpi)
        for exchange, ms in messages(times(rows, where, mpi, setting)).items()
    ]
    return min(found, default=None)


def summary(rows: list[dict]) -> list[dict]:
    """A line for each MPI in each cell: which exchanges win as installed, and what setting makes messages fastest."""
    lines = []
    for where in cells(rows):
        for mpi in dict.fromkeys(r["mpi"] for r in rows if cell(r) == where):
            plain = times(rows, where, mpi, AS_INSTALLED)
            best = best_setting(rows, where, mpi)
            if best is None:
                continue
            won = winners(messages(plain))
            line = {"cell": where, "mpi": mpi, "winners": won, "plain_ms": min(messages(plain).values(), default=None)}
            line |= {"best_ms": best[0], "best_exchange": best[1], "best_setting": best[2]}
            lines.append(line | {"direct_ms": plain.get("direct"), "auto_ms": plain.get("auto")})
    return lines


def changes(rows: list[dict]) -> list[dict]:
    """Of each setting with each exchange, by cell: its time over that of the MPI as installed."""
    lines = {}
    for row in rows:
        if row["setting"] == AS_INSTALLED or not row["seconds"]:
            continue
        plain = times(rows, cell(row), row["mpi"], AS_INSTALLED).get(row["exchange"])
        if plain:
            line = lines.setdefault((row["mpi"], row["setting"], row["exchange"]), {})
            line[cell(row)] = 1e3 * row["median_s"] / plain
    mpis = list(dict.fromkeys(row["mpi"] for row in rows))
    found = [{"mpi": m, "setting": s, "exchange": e, "ratios": ratios} for (m, s, e), ratios in lines.items()]
    return sorted(found, key=lambda line: mpis.index(line["mpi"]))


def failures(rows: list[dict]) -> dict[tuple[str, str, str], list[str]]:
    """What was not measured: MPI, setting and reason, with where that was."""
    found = {}
    for row in rows:
        if "failed" in row:
            where = f"{problem_name(row['shape'], row['transform'])} on {row['ranks']} {row['exchange']}"
            found.setdefault((row["mpi"], row["setting"], row["failed"]), []).append(where)
    return found


def number(ms: float | None) -> str:
    return "" if ms is None else f"{ms:.3g}"


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    head = list(head)
    return "".join(f"| {' | '.join(words)} |\n" for words in (head, ["---"] * len(head), *lines)).replace(
        "| --- ", "|---"
    )


def summary_table(rows: list[dict]) -> str:
    lines = []
    for line in summary(rows):
        shape, transform, ranks = line["cell"]
        better = line["plain_ms"] is None or TIE * line["best_ms"] < line["plain_ms"]
        lines.append(
            [
                problem_name(shape, transform),
                str(ranks),
                line["mpi"],
                ", ".join(f"`{e}`" for e in line["winners"]),
                number(line["plain_ms"]),
                f"`{line['best_exchange']}`, {line['best_setting']}" if better else "",
                number(line["best_ms"]) if better else "",
                number(line["direct_ms"]),
                number(line["auto_ms"]),
            ]
        )
    head = ["problem", "ranks", "MPI", "fastest messages", "ms", "with a setting", "ms", "`direct`, ms", "auto, ms"]
    return table(head, lines)


def installed_table(rows: list[dict]) -> str:
    exchanges = list(dict.fromkeys(r["exchange"] for r in rows))
    lines = []
    for where in cells(rows):
        for mpi in dict.fromkeys(r["mpi"] for r in rows if cell(r) == where):
            of = times(rows, where, mpi, AS_INSTALLED)
            won = winners(messages(of))
            marked = [f"**{number(of[e])}**" if e in won else number(of.get(e)) for e in exchanges]
            lines.append([problem_name(*where[:2]), str(where[2]), mpi, *marked])
    return table(["problem", "ranks", "MPI", *(f"`{e}`" for e in exchanges)], lines)


def changes_table(rows: list[dict], least: float) -> str:
    found = [c for c in changes(rows) if any(max(r, 1 / r) >= least for r in c["ratios"].values())]
    places = [where for where in cells(rows) if any(where in c["ratios"] for c in found)]
    head = ["MPI", "setting", "exchange", *(f"{problem_name(*p[:2])}, {p[2]}" for p in places)]
    ratios = [[f"{c['ratios'][p]:.2f}" if p in c["ratios"] else "" for p in places] for c in found]
    return table(head, ([c["mpi"], c["setting"], f"`{c['exchange']}`", *r] for c, r in zip(found, ratios, strict=True)))


def settings_text(name: str, title: str, version: str, settings: list[Setting], missing: dict[str, str]) -> str:
    lines = [f"{name}: {title} {version}"]
    for s in settings[1:]:
        values = " ".join(f"{k}={v}" for k, v in {**s.parameters, **s.beside}.items())
        lines.append(f"  {s.name:24} {values}: {s.meaning}")
    lines += [f"  {setting:24} left out: this {title} does not know {what}" for setting, what in missing.items()]
    return "\n".join(lines)


def failures_text(rows: list[dict], item: str) -> str:
    lines = []
    for (mpi, setting, why), where in failures(rows).items():
        some = ", ".join(where[:3]) + (f" and {len(where) - 3} more" if len(where) > 3 else "")
        lines.append(f"{item}{mpi}, {setting} ({some}): {why}\n")
    return "".join(lines)


def text_of(results: dict) -> str:
    """For a terminal."""
    rows = results["rows"]
    text = f"As installed, ms, slowest rank:\n{installed_table(rows)}\n"
    text += f"Settings, time over that as installed:\n{changes_table(rows, 1)}\n"
    text += f"Which exchange wins where:\n{summary_table(rows)}"
    missed = failures_text(rows, "  ")
    return (text + (f"\nNot measured:\n{missed}" if missed else "")).replace("`", "").replace("**", "*")


def page_text(results: dict) -> str:
    """For docs/performance.md, between its marks."""
    rows, machine = results["rows"], results["machine"]
    versions = ", ".join(f"{name}: {m['library']} {m['version']}" for name, m in results["mpis"].items())
    runs = [len(r["seconds"]) for r in rows if r["seconds"]]
    text = "![Times of the exchanges under each MPI](pictures/mpis.svg)\n\n"
    text += f"{versions}. {machine['processor']}, {machine['cores']} cores. "
    text += f"Medians of {min(runs)} to {max(runs)} runs.\n\n"
    text += summary_table(rows)
    text += f"\nMilliseconds of each MPI as installed, with the fastest messages in bold:\n\n{installed_table(rows)}"
    text += "\nWhat settings change by a tenth or more: time over that of the same MPI as installed.\n\n"
    text += changes_table(rows, CHANGE)
    missed = failures_text(rows, "- ")
    return text + (f"\nNot measured:\n\n{missed}" if missed else "")


def draw(results: dict):
    """Of each cell the times of exchanges by MPI, and the fastest setting of each as a line across its bar."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "weft", "font.size": 9})
    from matplotlib import pyplot

    rows = results["rows"]
    places = cells(rows)
    exchanges = list(dict.fromkeys(r["exchange"] for r in rows))
    mpis = list(dict.fromkeys(r["mpi"] for r in rows))
    lines = -(-len(places) // 2)
    figure, axes = pyplot.subplots(lines, 2, figsize=(9, 0.6 + 2.4 * lines), squeeze=False)
    width = 0.8 / len(mpis)
    for place, a in zip(places, axes.flat, strict=False):
        for i, mpi in enumerate(mpis):
            of = times(rows, place, mpi, AS_INSTALLED)
            at = {e: x - 0.4 + width * (i + 0.5) for x, e in enumerate(exchanges)}
            a.bar([at[e] for e in of], of.values(), width=width, label=mpi)
            for e in of:
                every = [times(rows, place, mpi, s).get(e) for s in settings_in(rows, mpi)]
                best = min(ms for ms in every if ms is not None)
                if best < of[e]:
                    a.plot([at[e] - width / 2, at[e] + width / 2], [best, best], color="black", linewidth=1.2)
        a.set_xticks(range(len(exchanges)), labels=exchanges, rotation=40, ha="right", fontsize=7)
        a.set(yscale="log", title=f"{problem_name(*place[:2])}, {place[2]} ranks", ylabel="ms, slowest rank")
        a.margins(y=0.1)
        a.grid(alpha=0.3, axis="y")
    for a in axes.flat[len(places) :]:
        a.remove()
    axes[0][0].plot([], [], color="black", linewidth=1.2, label="with its best setting")
    figure.tight_layout(rect=(0, 0.3 / figure.get_figheight(), 1, 1))
    figure.legend(*axes[0][0].get_legend_handles_labels(), fontsize=7, loc="lower center", ncols=len(mpis) + 1)
    return figure


def write(results: dict) -> None:
    """The tables into the page, and the picture; the same results give the same files."""
    page = PAGE.read_text()
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"{PAGE}: expected one line {BEGIN.strip()} and, after it, one {END.strip()}")
    between = re.compile(re.escape(BEGIN) + ".*" + re.escape(END), re.DOTALL)
    PAGE.write_text(between.sub(lambda _: f"{BEGIN}\n{page_text(results)}\n{END}", page))
    draw(results).savefig(PICTURE, metadata={"Date": None})
