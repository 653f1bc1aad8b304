"""The programs in examples/ as their users meet them: `--help`, refusals, and pictures that a browser shows.

Their numbers are checked by themselves, on several ranks, in tests of their own (python_tests.cmake).
"""

import base64
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
import weft

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples"
PROGRAMS = ["convolution", "matched_filter", "poisson", "shepp_logan", "taylor_green"]
PICTURES = {
    "matched_filter": ["--grid", "9000"],
    "shepp_logan": ["--grid", "32"],
    "taylor_green": ["--grid", "8", "--until", "0.5"],
}
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(
    not weft.built_with()["mpi"] or importlib.util.find_spec("mpi4py") is None, reason="wants MPI and mpi4py"
)


def run(name: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), *arguments], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_help(name):
    result = run(name, "--help")
    assert result.returncode == 0, result.stderr
    assert f"examples/{name}.py" in result.stdout  # how to run it
    assert "--grid" in result.stdout


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("matched_filter", ["--strength", "0.1"], "not found where it was put"),
        ("poisson", ["--grid", "8"], "an error is larger than 1e-12"),  # waves that this grid does not have
        ("taylor_green", ["--grid", "16", "--until", "8", "--step", "1"], "a smaller --step"),
    ],
)
def test_what_a_program_checks_can_fail(name, arguments, message):
    result = run(name, *arguments)
    assert result.returncode == 1
    assert message in result.stderr


PAGE = """<body><p id=result></p>{images}<script>
onload = () => result.textContent = "seen: " + [...document.images].map(image => {{
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const points = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return canvas.width + "x" + canvas.height + ":" + new Set(points).size;
}}).join(" ");
</script>"""


def test_pictures(tmp_path):
    """Each is drawn, and a browser shows it with more than one colour."""
    pytest.importorskip("matplotlib")
    files = []
    for name, arguments in PICTURES.items():
        files.append(tmp_path / f"{name}.png")
        result = run(name, *arguments, "--picture", str(files[-1]))
        assert result.returncode == 0, result.stderr
        assert f"drawn to {files[-1]}" in result.stdout
    if CHROMIUM is None:
        pytest.skip("wants Chromium to open the pictures")
    codes = [base64.b64encode(file.read_bytes()).decode() for file in files]
    page = tmp_path / "pictures.html"
    page.write_text(PAGE.format(images="".join(f'<img src="data:image/png;base64,{code}">' for code in codes)))
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    shown = subprocess.run(
        [CHROMIUM, *options, "--virtual-time-budget=10000", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
    )
    seen = re.findall(r"(\d+)x(\d+):(\d+)", shown.stdout.partition("seen: ")[2].partition("</p>")[0])
    assert len(seen) == len(files), shown.stdout + shown.stderr
    for width, height, colours in seen:
        assert int(width) >= 600 and int(height) >= 300
        assert int(colours) > 16
