#!/usr/bin/env python3
"""`pip install .` in an empty virtual environment, then three lines of Python: install_test.py FOLDER.

It fetches the build requirements and compiles the library once more, so that it is one of the long tests.
"""

import pathlib
import shutil
import subprocess
import sys
import venv

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import numpy as np, weft
assert weft.__file__.startswith({folder!r}), weft.__file__
assert weft.__version__ == {version!r}, weft.__version__
assert weft.fftn(np.ones((64, 64, 64)), workers=2)[0, 0, 0] == 64**3
"""


def main() -> int:
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    python = str(folder / "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(TOP)], check=True)
    header = (TOP / "include/weft/version.hpp").read_text()
    version = header.split('#define WEFT_VERSION "')[1].split('"')[0]
    program = PROGRAM.format(folder=str(folder), version=version)
    subprocess.run([python, "-c", program], check=True, cwd=folder)
    files = subprocess.run(
        [python, "-m", "pip", "show", "--files", "weft"], check=True, capture_output=True, text=True
    ).stdout
    assert "weft/py.typed" in files and "weft/_core.pyi" in files
    assert "libweft" not in files and ".hpp" not in files, files
    print("installed and used")
    return 0


if __name__ == "__main__":
    sys.exit(main())
