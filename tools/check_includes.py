#!/usr/bin/env python3
"""Checks who includes whom: the rooms of src/ may only use the rooms below them, and mpi.h stays where it belongs.

Prints one line per violation and exits with 1 if there is any.
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent

# Room -> rooms whose headers it may include. "public" stands for include/weft.
BELOW = {
    "base": set(),
    "geometry": {"base"},
    "codec": {"base"},
    "schedule": {"base", "geometry"},
    "traffic": {"base", "geometry", "schedule", "codec"},
    "program": {"base", "geometry", "schedule", "codec", "traffic"},
    "model": {"base", "geometry", "schedule", "codec", "traffic", "program"},
    "design": {"base", "geometry", "schedule", "codec", "traffic", "program", "model"},
    "comm": {"base"},
    "kernels": {"base", "geometry", "codec"},
    "device": {"base", "geometry", "kernels"},
    "fft": {"base", "geometry", "kernels", "device"},
    "transport": {"base", "comm", "kernels", "device"},
}
# These use all of them, and each the ones before it.
for room in ("exec", "tune", "api", "c"):
    BELOW[room] = set(BELOW)
BELOW["heffte"] = set()  # over the public interface alone
PURE = {"geometry", "schedule", "codec", "traffic", "program", "model", "design"}
# What the pure rooms may take from base: errors are public, effort is a name, text and arithmetic only compute.
PURE_BASE = {"base/anywhere.hpp", "base/arithmetic.hpp", "base/effort.hpp", "base/nearest_name.hpp", "base/text.hpp"}
# What a transport needs to know of a program (docs/adr/0005).
ALSO = {
    ("transport", "traffic/messages.hpp"),
    ("transport", "traffic/rail_settings.hpp"),
    ("transport", "traffic/traits.hpp"),
    ("transport", "geometry/layout.hpp"),  # how packed parts lie
}
MPI_ALLOWED = (
    "src/comm/",
    "src/transport/mpi/",
    "src/transport/node/",
    "src/transport/shm/",
    "include/weft/mpi.hpp",
    "include/weft/weft_mpi.h",
    "include/weft/heffte_parts/",
    "include/weft/fftw3-mpi.h",
    "bindings/fftw3-mpi/",
)
MPI_HEADERS = ("weft/mpi.hpp", "weft/weft_mpi.h")
MPI_HEADER_ALLOWED = (
    "src/comm/",
    "src/c/mpi.cpp",
    "src/heffte/",
    "bindings/python/src/mpi.cpp",
    "bindings/fftw3-mpi/",
)
VENDORS = {
    "mpi.h": MPI_ALLOWED,
    "fftw3.h": ("src/fft/fftw/", "include/weft/fftw3-mpi.h", "bindings/fftw3-mpi/"),
    "mkl": (),
    "cuda": ("cuda/", "/gpu/", "include/weft/cuda.hpp"),
    "hip": ("/gpu/", "hip/"),
    "hwloc": ("src/base/numa/hwloc.cpp",),
    "ucp/": ("src/transport/ucx/",),
    "uct/": ("src/transport/ucx/",),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def violations(path: pathlib.Path):
    name = path.relative_to(TOP).as_posix()
    room = name.split("/")[1] if name.startswith("src/") else "public"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        where = f"{name}:{number}: includes {header}"
        for vendor, places in VENDORS.items():
            if header.startswith(vendor) and not any(place in name for place in places):
                yield f"{where}: only allowed in {', '.join(places) or 'nothing, it is loaded at run time'}"
        if header in MPI_HEADERS and not name.startswith(MPI_HEADER_ALLOWED):
            yield f"{where}: it brings mpi.h along"
        target = header.split("/")[0]
        if target not in BELOW:
            continue
        if (room, header) in ALSO:
            continue
        if room == "public":
            yield f"{where}: public headers and bindings include public headers only"
        elif target != room and target not in BELOW[room]:
            yield f"{where}: {room} may include {', '.join(sorted(BELOW[room])) or 'nothing'}"
        elif room in PURE and target == "base" and header not in PURE_BASE:
            yield f"{where}: pure rooms take only {', '.join(sorted(PURE_BASE))} from base"


def main() -> int:
    files = sorted(
        p
        for top in ("src", "include", "bindings")
        for p in (TOP / top).rglob("*")
        if p.suffix in {".cpp", ".hpp", ".h", ".cu"}
    )
    found = [v for f in files for v in violations(f)]
    print("\n".join(found) if found else f"include rule: {len(files)} files, none breaks it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
