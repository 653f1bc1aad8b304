"""Traces on the command line, and the page that a browser shows of one."""

import json
import pathlib
import re

import browser
import pytest
import weft
from command_line import fail, run, run_json
from weft.cli._timeline import Timeline


def spans_of(trace: dict) -> tuple[int, int]:
    """Operations and executions in a trace."""
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    executions = sum(event["cat"] == "execution" for event in spans)
    return len(spans) - executions, executions


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """The trace of two plans on three ranks, as a program leaves it."""
    file = tmp_path_factory.mktemp("trace") / "timeline.json"

    def body(comm):
        for shape in ((12, 10, 8), (6, 6)):
            with weft.Plan(comm, shape, trace=str(file)) as plan:
                y = plan.forward(plan.empty_input() * 0)
                plan.backward(y)

    weft.ThreadTeam(3).run(body)
    return file


def test_totals(traced, capsys, tmp_path):
    trace = json.loads(traced.read_text())
    operations, executions = spans_of(trace)
    page = tmp_path / "page.html"
    data = run_json(capsys, "trace", str(traced), "--to", str(page))
    assert (data["plans"], data["lanes"]) == (2, 6)
    assert sum(row["count"] for row in data["operations"]) == operations
    assert executions == 12 and [e["count"] for e in data["executions"]] == [2, 2]
    seconds = sum(e["dur"] for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] != "execution")
    assert sum(row["seconds"] for row in data["operations"]) == pytest.approx(1e-6 * seconds)
    assert "open it in a browser" in run(capsys, "trace", str(traced), "--to", str(page))
    assert data["page"] == str(page) and page.stat().st_size > 5000


def test_the_slowest_rank_of_an_execution_counts():
    def span(tid, begin, length):
        args = {"execution": 0}
        return {
            "ph": "X",
            "pid": 7,
            "tid": tid,
            "cat": "execution",
            "name": "forward",
            "ts": begin,
            "dur": length,
            "args": args,
        }

    timeline = Timeline({"traceEvents": [span(0, 100, 5), span(1, 103, 9)]})
    assert timeline.totals()["executions"] == [{"direction": "forward", "count": 1, "median_s": pytest.approx(9e-6)}]
    assert timeline.end == 12


def test_the_page_is_beside_the_trace(traced, capsys):
    run(capsys, "trace", str(traced))
    assert traced.with_suffix(".html").exists()
    assert "the trace itself" in fail(capsys, "trace", str(traced), "--to", str(traced))


def test_a_problem_is_traced(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = run_json(capsys, "trace", "--shape", "8,8,8", "--comm", "threads:2", "--repeat", "2")
    assert [(e["direction"], e["count"]) for e in data["executions"]] == [("forward", 2), ("backward", 2)]
    assert list(tmp_path.iterdir()) == [tmp_path / "weft-trace.html"]
    run(capsys, "trace", "--shape", "8,8,8", "--comm", "threads:2", "--trace", "kept.json", "--to", "page.html")
    assert {
        row["cat"] for row in json.loads((tmp_path / "kept.json").read_text())["traceEvents"] if row["ph"] == "X"
    } > {"fft"}
    data = run_json(capsys, "compare", "kept.json", "kept.json")
    assert data["kind"] == "trace" and {row["ratio"] for row in data["rows"]} == {1.0}


def test_the_page_loads_nothing(traced, capsys, tmp_path):
    page = tmp_path / "page.html"
    run(capsys, "trace", str(traced), "--to", str(page))
    text = page.read_text()
    assert not re.search(r"https?:|src=|<link|@import|url\(", text)


# What a user does, by the events that a browser makes of it, and what is then on the page.
VISITOR = """
<script>
(async () => {
const drawn = () => new Promise(done => setTimeout(done, 50));
await drawn();
const place = canvas.getBoundingClientRect();
const event = (kind, type, more) => new kind(type, { bubbles: true, cancelable: true, ...more });
const said = { before: { ...document.body.dataset } };
const colours = new Set();
const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
for (let i = 0; i < pixels.length; i += 4)
  if (pixels[i + 3] === 255) colours.add(`rgb(${pixels[i]}, ${pixels[i + 1]}, ${pixels[i + 2]})`);
said.colours = [...colours];
said.keys = {};
for (const key of document.querySelectorAll(".key"))
  said.keys[key.textContent.trim()] = key.querySelector("i").style.background;
const x = place.left + 190 + (place.width - 190) / 4;
canvas.dispatchEvent(event(WheelEvent, "wheel", { deltaY: -900, clientX: x, clientY: place.top + 40 }));
await drawn();
said.zoomed = { ...document.body.dataset };
canvas.dispatchEvent(event(PointerEvent, "pointerdown", { clientX: x, clientY: place.top + 40 }));
window.dispatchEvent(event(PointerEvent, "pointermove", { clientX: x - 50, clientY: place.top + 40 }));
window.dispatchEvent(event(PointerEvent, "pointerup"));
await drawn();
said.moved = { ...document.body.dataset };
canvas.dispatchEvent(event(MouseEvent, "dblclick"));
await drawn();
said.whole = { ...document.body.dataset };
said.tips = [];
for (let at = 191; at < place.width; at += 3) {
  canvas.dispatchEvent(event(PointerEvent, "pointermove", { clientX: place.left + at, clientY: place.top + 50 }));
  const tip = document.getElementById("tip");
  if (tip.style.display === "block") said.tips.push(tip.textContent);
}
said.rows = document.querySelectorAll("tr.total").length;
said.plans = document.querySelectorAll("#plans details").length;
const out = document.createElement("pre");
out.id = "said";
out.textContent = JSON.stringify(said);
document.body.append(out);
})();
</script>
</body>
"""


def test_in_a_browser(traced, capsys, tmp_path):
    browser.chromium()
    page = tmp_path / "page.html"
    data = run_json(capsys, "trace", str(traced), "--to", str(page))
    page.write_text(page.read_text().replace("</body>", VISITOR))
    html = browser.document(page, 5000)
    assert 'class="error"' not in html, re.findall('class="error">[^<]*', html)
    said = json.loads(re.search(r'<pre id="said">([^<]*)</pre>', html)[1].replace("&gt;", ">").replace("&amp;", "&"))
    operations, executions = spans_of(json.loads(traced.read_text()))
    before, zoomed, moved = said["before"], said["zoomed"], said["moved"]
    assert (before["lanes"], before["operations"], before["executions"]) == ("6", str(operations), str(executions))
    # Each kind of operation that takes long enough to be seen is there, in the colour of the key.
    assert set(said["keys"]) == {row["kind"] for row in data["operations"]}
    assert len(set(said["keys"].values())) == len(said["keys"])
    long = {row["kind"] for row in data["operations"] if row["seconds"] > 0.05 * data["operations"][0]["seconds"]}
    assert {said["keys"][kind] for kind in long} <= set(said["colours"])
    length = [float(view["to"]) - float(view["from"]) for view in (before, zoomed, moved)]
    assert length[1] < 0.5 * length[0] and length[2] == pytest.approx(length[1])
    assert float(moved["from"]) > float(zoomed["from"])
    assert int(zoomed["operations"]) < operations
    assert said["whole"] == before
    assert any("tile: " in tip and "bytes: " in tip and "rank 0" in tip for tip in said["tips"])
    assert said["rows"] == len(data["operations"])
    assert said["plans"] == 2


def test_a_page_that_fails_says_so(traced, capsys, tmp_path):
    """The test above would see an error."""
    browser.chromium()
    page = tmp_path / "page.html"
    run(capsys, "trace", str(traced), "--to", str(page))
    text = page.read_text()
    assert '"lanes":[' in text
    page.write_text(text.replace('"lanes":[', '"planks":[', 1))
    assert 'class="error"' in browser.document(page)


def test_a_picture_of_the_page(traced, capsys, tmp_path):
    browser.chromium()
    page, picture = tmp_path / "page.html", pathlib.Path(tmp_path / "page.png")
    run(capsys, "trace", str(traced), "--to", str(page))
    assert browser.screenshot(page, picture).startswith(b"\x89PNG")
    empty = tmp_path / "empty.html"
    empty.write_text("<body></body>")
    assert len(picture.read_bytes()) > 3 * len(browser.screenshot(empty, tmp_path / "empty.png"))
