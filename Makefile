# The commands of this project. Each does all the set-up it needs: on a fresh Debian machine, as root, nothing has to be
# installed before; otherwise it says what to install.
#
#   make demo       the Madelung constant of rock salt on 4 MPI ranks
#   make test       builds with Open MPI, with MPICH (a static library, by Clang, not optimized), and without MPI with MKL alone or
#                   no local FFT at all; runs the tests; GPUs are not needed
#   make test-all   make test and make sanitize, then what takes long: MPICH with more ranks than there are cores, and many
#                   more random problems in each build
#   make build      the library, the Python package, examples and tests, in build/release; the package is in
#                   build/release/python
#   make install PREFIX=$HOME/opt/weft   a Release build of the shared library, into that folder (/usr/local), with the first
#                   MPI that CMake finds; for another OPTIONS="-DMPI_CXX_COMPILER=...", for more see docs/quick-start.md
#   make hip        the library for AMD's GPUs, with Debian's HIP, and its tests that need no GPU, in build/hip
#   make sanitize   the tests under AddressSanitizer and UBSan, the thread ranks under ThreadSanitizer, and the fuzzers for ten
#                   seconds
#   make fuzz SECONDS=600   the fuzzers of codecs (tests/fuzz) for so long. What they found interesting stays in build/fuzz/corpus
#                   for the next time; an input that is wrongly handled is left in build/fuzz, and build/fuzz/fuzz_decode FILE
#                   does it again
#   make lint       formatting, the include rule, clang-tidy, and the documentation site (make docs). clang-tidy looks at the
#                   files that have changed since it found them clean (tools/tidy.txt), themselves or in a header;
#                   ALL=1: at all files
#   make docs       the documentation site, in build/site; fails for a broken link, a picture that is not as drawn, code that
#                   is not that of the example, or a public declaration without a comment. It builds no C++ and takes a second
#   make python-coverage   how much of the Python package its tests execute, on 1, 2 and 4 ranks and together; fails below 98%
#   make experiments   the experiments of docs/performance.md, ten minutes of this machine alone, but the network one; writes
#                   bench/results and the pictures
#   make clients    programs that were written for other FFT libraries, on Weft; fetches their sources from Debian into
#                   build/clients and builds them there
#   make clients-lammps HEFFTE=PREFIX   LAMMPS with its own FFTs, with Weft and, if HEFFTE says where one is installed, with
#                   heFFTe, compared (docs/clients.md); an hour the first time, of this machine alone.
#                   ARGUMENTS="--only rhodo --ranks 2" takes one case, see tools/clients/lammps.py
#   make clients-fftw   FFTW's own test program of its MPI library, mpi-bench, with Weft in that library's place, on 1 to 4
#                   ranks. FFTW's source is Debian's, fetched into build/clients
#   make format     formats the sources
#   make clean
#   make help       prints this
#
# CUDA=1 builds with CUDA as well, in build, test and experiments, and fetches it if there is no CUDA 13; CUDA=check compiles its
# kernels sooner, for machines without a GPU, where nothing of them runs. HIP=1 has make test build the library without MPI for AMD's
# GPUs, with Debian's HIP. UNITY=1 compiles the sources of a folder as one file in build and test, which is faster from scratch.
# REPORT_LINES=off: reports of sanitizers name functions and no lines, which compiles a tenth faster.
# .ci/run does CUDA=check, HIP=1, UNITY=1 and REPORT_LINES=off.

JOBS ?= $(shell nproc)
configure = cmake -G Ninja -S . -B $(1) -DWEFT_WERROR=ON $(2) > $(1).log 2>&1 || { cat $(1).log; exit 1; }
openmpi = -DMPI_CXX_COMPILER=mpicxx.openmpi -DMPIEXEC_EXECUTABLE=$(shell command -v mpirun.openmpi)
with_cuda = -DWEFT_CUDA=ON -DCUDAToolkit_ROOT=$(abspath build/cuda)
# Where nothing of the kernels is run, that the compiler takes them is what is looked at: they are compiled to PTX alone. CMake
# remembers what is not given.
cuda_check = -DCMAKE_CUDA_ARCHITECTURES=90-virtual "-DCMAKE_CUDA_FLAGS=-Xcicc -O0 -DWEFT_KEEPS_FUNCTIONS -DWEFT_FEW_FORMS"
cuda = $(if $(CUDA),$(with_cuda) $(if $(filter check,$(CUDA)),$(cuda_check),-UCMAKE_CUDA_ARCHITECTURES "-DCMAKE_CUDA_FLAGS=$(CUDAFLAGS)"),-DWEFT_CUDA=OFF)
hip = -DWEFT_HIP=$(if $(HIP),ON,OFF) "-DCMAKE_HIP_FLAGS=-O0 -DWEFT_KEEPS_FUNCTIONS -DWEFT_FEW_FORMS"
unity = -DWEFT_UNITY=$(if $(UNITY),ON,OFF)
# Without optimization, too, where functions are compiled that are inlined otherwise; Clang does that in half of GCC's time. C is for
# the compiler that has Fortran's header.
mpich = -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS=-O0 -DMPI_CXX_COMPILER=mpicxx.mpich -DMPIEXEC_EXECUTABLE=$(shell command -v mpirun.mpich)
# Clang compiles in half of GCC's time with sanitizers, and again in half of what RelWithDebInfo takes by itself, for tests that
# take hardly longer. --fresh: CMake forgets options when a folder's compiler changes.
sanitized = --fresh -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DWEFT_FORTRAN=OFF -DWEFT_BENCH=OFF -DWEFT_EXAMPLES=OFF -DWEFT_UCX=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 $(if $(filter off,$(REPORT_LINES)),-g0,-g1) -DNDEBUG"
PREFIX ?= /usr/local
SECONDS ?= 600
ctest = ctest --test-dir $(1) --output-on-failure --no-tests=error --parallel $(JOBS)
long_tests = --build-config all --label-regex long

.PHONY: demo test test-all build install hip sanitize fuzz lint docs python-coverage experiments clients clients-lammps clients-fftw format \
  clean help setup-%

demo: setup-build
	@mkdir -p build
	@$(call configure,build/release,-DCMAKE_BUILD_TYPE=Release $(openmpi) -DWEFT_TESTS=OFF)
	@cmake --build build/release --parallel $(JOBS) --target madelung
	tools/mpirun mpirun.openmpi 4 build/release/bin/madelung

build: setup-build setup-test $(if $(CUDA),setup-cuda)
	@mkdir -p build
	@$(call configure,build/release,-DCMAKE_BUILD_TYPE=Release $(openmpi) $(cuda) $(unity) -DWEFT_TESTS=ON -DWEFT_PYTHON=ON)
	cmake --build build/release --parallel $(JOBS)

# A folder of its own and configured afresh, so that OPTIONS of an earlier call are forgotten.
install: setup-build
	@mkdir -p build
	@$(call configure,build/install,--fresh -DWEFT_WERROR=OFF -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)) \
	  -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF $(OPTIONS))
	cmake --build build/install --parallel $(JOBS)
	cmake --install build/install

test: build setup-browser setup-fuzz $(if $(HIP),setup-hip)
	@$(call configure,build/mpich,--fresh -DCMAKE_BUILD_TYPE=None -DWEFT_UNITY=ON $(mpich) -DBUILD_SHARED_LIBS=OFF \
	  -DWEFT_FORTRAN=ON -DWEFT_EXAMPLES=OFF -DWEFT_BENCH=OFF -DWEFT_ONLY_MPI_TESTS=ON)
	cmake --build build/mpich --parallel $(JOBS)
	$(call without_fftw,ON)
	$(call without_fftw,OFF)
	$(call ctest,build/mpich)
	$(call ctest,build/release)

# Without MPI and FFTW, and with MKL or without: the second compiles little of what the first has compiled, and weft-bench.
define without_fftw
	@$(call configure,build/bare,-DCMAKE_BUILD_TYPE=None -DWEFT_UNITY=ON -DWEFT_MPI=OFF -DWEFT_FFTW=OFF $(hip) -DWEFT_MKL=$(1) -DWEFT_BENCH=$(if $(filter ON,$(1)),OFF,ON) -DWEFT_EXAMPLES=OFF)
	cmake --build build/bare --parallel $(JOBS)
	$(call ctest,build/bare)
endef

hip: setup-build setup-test setup-hip
	@mkdir -p build
	@$(call configure,build/hip,-DCMAKE_BUILD_TYPE=Release $(openmpi) $(unity) -DWEFT_HIP=ON -DWEFT_BENCH=OFF -DWEFT_EXAMPLES=OFF)
	cmake --build build/hip --parallel $(JOBS) --target weft weft_hip_tests weft_hip_mpi_tests
	$(call ctest,build/hip) --tests-regex hip_missing

test-all: test sanitize
	$(call ctest,build/mpich) $(long_tests)
	$(call ctest,build/release) $(long_tests)
	$(call ctest,build/asan) $(long_tests)
	$(call ctest,build/tsan) $(long_tests)

# No Fortran, which no sanitizer looks into; ThreadSanitizer reports the order in which gfortran's own library takes its locks.
# And no examples and no weft-bench, whose memory and threads are Weft's, and no UCX, which puts functions of its own in the place of malloc's.
sanitize: setup-build setup-test setup-fuzz
	@mkdir -p build
	@$(call configure,build/asan,$(sanitized) -DWEFT_UNITY=ON -DWEFT_SANITIZE=address$(comma)undefined $(openmpi))
	cmake --build build/asan --parallel $(JOBS)
	$(call ctest,build/asan)
	@$(call configure,build/tsan,$(sanitized) -DWEFT_UNITY=ON -DWEFT_SANITIZE=thread -DWEFT_MPI=OFF)
	cmake --build build/tsan --parallel $(JOBS)
	$(call ctest,build/tsan)
	$(call fuzz_for,10)

fuzz: setup-build setup-fuzz
	@mkdir -p build
	$(call fuzz_for,$(SECONDS))

# libFuzzer is Clang's. A fuzzer takes its seconds whatever else runs, so that all three run at once.
define fuzz_for
	@cmake -G Ninja -S tests/fuzz -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DSECONDS=$(1) > build/fuzz.log 2>&1 || { cat build/fuzz.log; exit 1; }
	cmake --build build/fuzz --parallel $(JOBS)
	$(call ctest,build/fuzz) --parallel 3
endef

lint: setup-build setup-test setup-cuda setup-lint docs
	@mkdir -p build
	@$(call configure,build/lint,-DCMAKE_BUILD_TYPE=Release $(openmpi) $(with_cuda) -DWEFT_PYTHON=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
	tools/lint build/lint $(if $(ALL),--all)

# Not with --quiet, which would hide the warnings from --strict. The variable keeps the theme from advertising its successor.
docs: setup-docs
	python3 tools/draw_concepts.py --check
	python3 tools/example_code.py --check
	NO_MKDOCS_2_WARNING=1 python3 -m mkdocs build --strict
	@echo "documentation: build/site/index.html"

python-coverage: build setup-coverage
	python3 tools/python_coverage.py build/release

experiments: build setup-bench
	python3 bench/experiments.py --bench build/release/bin/weft-bench --launch "tools/mpirun mpirun.openmpi {ranks}"

clients: clients-lammps clients-fftw

clients-fftw: build setup-clients
	tools/clients/fftw_mpi_bench.py

clients-lammps: setup-build setup-clients
	$(MAKE) install PREFIX=build/clients/weft OPTIONS="$(openmpi) -DWEFT_BENCH=OFF"
	python3 tools/clients/lammps.py --weft build/clients/weft $(if $(HEFFTE),--heffte $(HEFFTE)) --jobs $(JOBS) $(ARGUMENTS)

format: setup-lint
	git ls-files '*.cpp' '*.hpp' '*.c' '*.h' '*.cu' | xargs clang-format -i
	python3 -m ruff format --quiet .

clean:
	rm -rf build

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

setup-%:
	@tools/setup $*

# Some systems have no such package; the tests that open pages are then skipped, and say so.
setup-browser:
	-@tools/setup browser

setup-cuda:
	@tools/cuda_toolkit build/cuda

comma := ,
