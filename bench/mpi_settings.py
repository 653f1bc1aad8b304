"""Settings of MPI libraries that may change which exchange is the fastest, for bench/mpis.py.

Each comes from the documentation of its library and is given to the launcher. Of what is installed only settings are
tried whose parameters that library lists itself; names differ between versions, so that a setting may stand here twice.
Settings of a collective concern the exchange that calls it. Settings of all messages are tried with three exchanges:
packed messages, messages of datatypes, and a collective.
"""

import pathlib
import re
import shutil
import subprocess
from typing import NamedTuple

AS_INSTALLED = "as installed"
MESSAGES = ("p2p", "p2pw", "alltoallv")


class Setting(NamedTuple):
    """Parameters by name; `beside`: variables of a library below MPI, which MPI does not list."""

    name: str
    meaning: str
    parameters: dict[str, str]
    exchanges: tuple[str, ...] = MESSAGES
    beside: dict[str, str] = {}


class Kind(NamedTuple):
    """An MPI library: what its launcher says of itself, the wrapper to build with, what is only in its own library, the
    program that lists its parameters, where these and the only values of some are in what it prints, and how the
    launcher is given one."""

    title: str
    says: str
    compiler: str
    holds: bytes
    lists: tuple[str, ...]
    listed: str
    values: str
    gives: str
    settings: tuple[Setting, ...]


def openmpi_algorithm(call: str, algorithm: str) -> Setting:
    return Setting(
        f"{call} {algorithm}",
        f"algorithm {algorithm} of MPI_{call.capitalize()}",
        {"coll_tuned_use_dynamic_rules": "1", f"coll_tuned_{call}_algorithm": algorithm},
        (call,),
    )


def mpich_algorithm(call: str, algorithm: str) -> Setting:
    meaning = f"algorithm {algorithm} of MPI_{call.capitalize()}"
    return Setting(f"{call} {algorithm}", meaning, {f"MPIR_CVAR_{call.upper()}_INTRA_ALGORITHM": algorithm}, (call,))


def intel_preset(call: str, preset: int) -> Setting:
    meaning = f"preset {preset} of MPI_{call.capitalize()}"
    return Setting(f"{call} {preset}", meaning, {f"I_MPI_ADJUST_{call.upper()}": str(preset)}, (call,))


def openmpi_shared_memory(component: str) -> tuple[Setting, ...]:
    """Of the component for messages within a machine, which is vader until version 4 and sm since version 5."""
    size = {f"btl_{component}_max_send_size": "262144"}
    return (
        Setting(
            "eager 256 KiB",
            "messages up to this size are sent before the receiver asks for them (4 KiB), in one fragment",
            {f"btl_{component}_eager_limit": "262144", **size},
        ),
        Setting("fragments 256 KiB", "larger messages are copied in fragments of this size (32 KiB)", size),
    )


OPENMPI = (
    *openmpi_shared_memory("vader"),
    *openmpi_shared_memory("sm"),
    Setting(
        "one copy",
        "large messages are copied once, by the kernel (tools/mpirun switches that off, as containers may forbid it)",
        {"btl_vader_single_copy_mechanism": "cma"},
    ),
    Setting("one copy", "large messages are copied once, by the kernel", {"smsc": "cma"}),
    Setting(
        "spinning", "ranks that wait keep their core (tools/mpirun makes them yield)", {"mpi_yield_when_idle": "0"}
    ),
    Setting("tcp", "messages go over TCP in the place of shared memory", {"btl": "self,tcp"}),
    openmpi_algorithm("alltoallv", "basic_linear"),
    openmpi_algorithm("alltoallv", "pairwise"),
    openmpi_algorithm("alltoall", "linear"),
    openmpi_algorithm("alltoall", "pairwise"),
    openmpi_algorithm("alltoall", "linear_sync"),
)

MPICH = (
    Setting(
        "cells 260 KiB",
        "size of the cells that messages within a machine are copied through (68 KiB)",
        {"MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE": "266240"},
    ),
    Setting("yields", "ranks that wait yield after each look (1000 looks)", {"MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}),
    Setting("progress thread", "a thread of each rank carries messages on", {"MPIR_CVAR_ASYNC_PROGRESS": "1"}),
    Setting("netmod", "messages go through the network module also within a machine", {"MPIR_CVAR_NOLOCAL": "1"}),
    Setting(
        "tcp",
        "messages go over TCP in the place of shared memory",
        {"MPIR_CVAR_NOLOCAL": "1"},
        beside={"UCX_TLS": "self,tcp", "FI_PROVIDER": "tcp"},
    ),
    mpich_algorithm("alltoallv", "nb"),
    mpich_algorithm("alltoall", "pairwise"),
    mpich_algorithm("alltoall", "scattered"),
    mpich_algorithm("alltoallw", "nb"),
    mpich_algorithm("ialltoallv", "tsp_scattered"),
)

INTEL = (
    Setting(
        "cells 256 KiB",
        "size of the cells that messages within a machine are copied through",
        {"I_MPI_SHM_CELL_FWD_SIZE": "262144"},
    ),
    Setting("wait mode", "ranks that wait leave their core to others", {"I_MPI_WAIT_MODE": "1"}),
    Setting("progress thread", "a thread of each rank carries messages on", {"I_MPI_ASYNC_PROGRESS": "1"}),
    Setting(
        "tcp",
        "messages go over TCP in the place of shared memory",
        {"I_MPI_FABRICS": "ofi", "I_MPI_OFI_PROVIDER": "tcp"},
    ),
    intel_preset("alltoallv", 1),
    intel_preset("alltoallv", 2),
    intel_preset("alltoall", 2),
    intel_preset("alltoall", 3),
    intel_preset("alltoallw", 1),
    intel_preset("ialltoallv", 1),
)

KINDS = {
    "openmpi": Kind(
        "Open MPI",
        r"OpenRTE|Open MPI|PRTE|prterun",
        "mpicxx.openmpi",
        b"ompi_mpi_comm_world",
        ("ompi_info", "--all", "--parsable"),
        r":param:(\w+):value:",
        r":param:(\w+):enumerator:value:\d+:(\S+)",
        "--mca {name} {value}",
        OPENMPI,
    ),
    # Intel's is derived from MPICH and holds its names, too.
    "intel": Kind(
        "Intel MPI",
        r"Intel\(R\) MPI",
        "PATH/bin/mpicxx (with I_MPI_ROOT=PATH in the environment)",
        b"I_MPI_FABRICS",
        ("impi_info", "-all"),
        r"^(I_MPI_\w+) *$",
        "",
        "-genv {name} {value}",
        INTEL,
    ),
    "mpich": Kind(
        "MPICH",
        r"HYDRA",
        "mpicxx.mpich",
        b"MPIR_CVAR_ASYNC_PROGRESS",
        ("mpivars",),
        r"^\s*(MPIR_CVAR_\w+)",
        "",  # MPICH ends with an error if it does not know a value, Open MPI goes on without it
        "-genv {name} {value}",
        MPICH,
    ),
}


def kind_of_launcher(said: str) -> str | None:
    """The MPI library whose launcher answers `said` to --version."""
    return next((name for name, kind in KINDS.items() if re.search(kind.says, said)), None)


def kind_of_library(content: bytes) -> str | None:
    return next((name for name, kind in KINDS.items() if kind.holds in content), None)


def arguments_of(kind: Kind, setting: Setting) -> list[str]:
    """What the launcher is given for a setting."""
    every = {**setting.parameters, **setting.beside}
    return [word for name, value in every.items() for word in kind.gives.format(name=name, value=value).split()]


def read_list(kind: Kind, said: str) -> dict[str, set[str]]:
    """The parameters in what an MPI lists, each with the only values it may have; none: any."""
    found = {name: set() for name in re.findall(kind.listed, said, re.MULTILINE)}
    for name, value in re.findall(kind.values, said, re.MULTILINE) if kind.values else ():
        found.setdefault(name, set()).add(value)
    return found


def listed(kind: Kind, launcher: str, environment: dict[str, str]) -> dict[str, set[str]] | None:
    """The parameters that an installed MPI lists; None if the program that lists them is not beside its launcher."""
    program = shutil.which(kind.lists[0], path=str(pathlib.Path(launcher).parent))
    if program is None:
        return None
    done = subprocess.run(
        [program, *kind.lists[1:]], capture_output=True, text=True, errors="replace", check=False, env=environment
    )
    return read_list(kind, done.stdout) or None


def unknown_in(setting: Setting, there: dict[str, set[str]]) -> list[str]:
    """What of a setting is not among the parameters and values that an MPI lists."""
    missing = [name for name in setting.parameters if name not in there]
    values = [(n, v) for n, v in setting.parameters.items() if there.get(n) and not v.isdigit() and v not in there[n]]
    return missing + [f"{name} {value}" for name, value in values]


def known_settings(
    settings: tuple[Setting, ...], there: dict[str, set[str]] | None
) -> tuple[list[Setting], dict[str, str]]:
    """The settings that an MPI knows by what it lists (None: all of them), and of each of the others what is unknown.
    A setting that is known under other names is not among these."""
    if there is None:
        return list(settings), {}
    known = [s for s in settings if not unknown_in(s, there)]
    names = {s.name for s in known}
    return known, {s.name: ", ".join(unknown_in(s, there)) for s in settings if s.name not in names}
