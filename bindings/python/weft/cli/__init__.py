"""The command line `weft`, also `python3 -m weft`: docs/command-line.md. A file for each command.

Alone its ranks are threads; under `mpirun`, with mpi4py, they are those of MPI, and rank 0 prints.
"""

from weft.cli._main import main

__all__ = ["main"]
