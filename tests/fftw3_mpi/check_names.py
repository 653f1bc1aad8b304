#!/usr/bin/env python3
"""Whether libweft_fftw3_mpi has all functions that FFTW's interface for Fortran binds to, and exports nothing but names
of FFTW's: check_names.py NM LIBRARY FFTW3-MPI.F03. Prints what is wrong; exits with 1 if anything is."""

import pathlib
import re
import subprocess
import sys

nm, library, interface = sys.argv[1:]
listed = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
exported = {line.split()[-1] for line in listed.splitlines()}
wanted = set(re.findall(r"bind\(C, name='(fftwf?_mpi_\w+)'\)", pathlib.Path(interface).read_text()))
wanted = {name for name in wanted if "guru" not in name}
wrong = [f"lacks {name}" for name in sorted(wanted - exported)]
wrong += [f"exports {name}, which is no name of FFTW's" for name in sorted(exported) if not name.startswith("fftw")]
print("\n".join(wrong) if wrong else f"names: {len(exported)}, among them {len(wanted)} for Fortran")
sys.exit(1 if wrong or not wanted else 0)
