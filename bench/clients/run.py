#!/usr/bin/env python3
"""Programs that were written for other FFT libraries, on Weft and on what they were written for, side by side.

  bench/clients/run.py --weft PREFIX                     `make clients` does this: all clients, on 2 and 4 ranks
  bench/clients/run.py --weft PREFIX --heffte PREFIX     with an installed heFFTe as well
  bench/clients/run.py --weft PREFIX --only rhodo --ranks 4 --fft weft

PREFIX is where the library is installed. Sources are fetched from Debian into build/clients and built there; nothing of
them gets into this tree. Results go into bench/results/clients.json; what is there of other cases stays. Nothing else
may run meanwhile. docs/clients.md says what is compared.
"""

import argparse
import datetime
import json
import os
import pathlib
import sys

import debian_source
import lammps

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = TOP / "bench" / "results" / "clients.json"

# A client is a module with a function compare(settings), which builds it, runs it, prints what it found and returns it
# by case, and one row here.
CLIENTS = {"lammps": lammps.compare}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    path = pathlib.Path
    arguments.add_argument("--weft", type=path, required=True, help="prefix of an installed Weft, built with Open MPI")
    arguments.add_argument("--heffte", type=path, help="prefix of an installed heFFTe with FFTW, built with Open MPI")
    arguments.add_argument("--client", choices=CLIENTS, action="append", help="this one; all")
    arguments.add_argument("--only", action="append", help="this case (may be repeated); all")
    arguments.add_argument("--fft", action="append", help="the build with this FFT (may be repeated); all")
    arguments.add_argument("--ranks", type=int, action="append", help="so many MPI ranks (may be repeated); 2 and 4")
    arguments.add_argument("--repeat", type=int, default=5, help="runs of each; 5")
    arguments.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="of builds")
    arguments.add_argument("--folder", type=path, default=TOP / "build" / "clients", help="for sources and builds")
    arguments.add_argument("--source", type=path, help="unpacked sources of the client, which then are not fetched")
    arguments.add_argument("--mirror", default="", help="of Debian; this machine's")
    arguments.add_argument("--json", type=path, default=RESULTS, help="for the results")
    arguments.add_argument("--host", default="this machine", help="what the results call the machine")
    settings = arguments.parse_args()
    settings.ranks = settings.ranks or [2, 4]
    settings.folder = settings.folder.resolve()
    settings.folder.mkdir(parents=True, exist_ok=True)
    kept = json.loads(settings.json.read_text()) if settings.json.exists() else {}
    status = 0
    for name in settings.client or CLIENTS:
        try:
            found = CLIENTS[name](settings)
        except (debian_source.NotThere, lammps.Failed) as error:
            print(f"clients: {error}", file=sys.stderr)
            status = 1
            continue
        told = {"host": settings.host, "date": datetime.date.today().isoformat()}
        kept.setdefault(name, {}).update({case: {**told, **result} for case, result in found.items()})
        settings.json.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
