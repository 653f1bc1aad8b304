"""Weft for Spack. The source is the checkout that this recipe lies in: what is committed on its branch main."""

import contextlib
import pathlib

from spack.package import *

with contextlib.suppress(ImportError):  # where it is since Spack 1.0; before, it came with the line above
    from spack_repo.builtin.build_systems.cmake import CMakePackage


class Weft(CMakePackage):
    """Fourier transforms of arrays that are spread over many processes."""

    git = pathlib.Path(__file__).resolve().parents[4].as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("shared", default=True, description="Build a shared library")
    variant("mpi", default=True, description="MPI ranks; without, the threads of one process")
    variant("fftw", default=True, description="FFTW as a local FFT")
    variant("mkl", default=False, description="Intel MKL as a local FFT, opened at run time")
    variant("cuda", default=False, description="Arrays in memory of NVIDIA GPUs, with cuFFT")
    variant("fortran", default=True, description="The Fortran module")
    conflicts("~fftw", when="~mkl", msg="without FFTW and MKL there is nothing to transform with")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("mpi@3.1:", when="+mpi")
    depends_on("fftw@3.3.5: precision=float,double", when="+fftw")
    depends_on("intel-oneapi-mkl", type="run", when="+mkl")
    depends_on("cuda@13:", when="+cuda")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("WEFT_MPI", "mpi"),
            self.define_from_variant("WEFT_FFTW", "fftw"),
            self.define_from_variant("WEFT_MKL", "mkl"),
            self.define_from_variant("WEFT_CUDA", "cuda"),
            self.define_from_variant("WEFT_FORTRAN", "fortran"),
            self.define("WEFT_TESTS", False),
            self.define("WEFT_EXAMPLES", False),
            self.define("WEFT_BENCH", False),
        ]
        if self.spec.satisfies("+mpi"):
            arguments.append(self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx))
        if self.spec.satisfies("+mpi+fortran"):
            arguments.append(self.define("MPI_Fortran_COMPILER", self.spec["mpi"].mpifc))
        return arguments
