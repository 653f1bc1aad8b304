# The commands of this project. Each does all the set-up it needs: on a fresh Debian machine, as root, nothing has to be
# installed before; otherwise it says what to install.
#
#   make demo       the Madelung constant of rock salt on 4 MPI ranks
#   make test       builds with Open MPI and CUDA, with MPICH (a static library), without MPI and with MKL alone or no local
#                   FFT at all; runs all tests; GPUs are not needed
#   make build      the library, examples and tests, in build/release, with CUDA, which it fetches if there is no CUDA 13
#   make install PREFIX=$HOME/opt/weft   a Release build of the shared library, into that folder (/usr/local), with the first
#                   MPI that CMake finds; for another OPTIONS="-DMPI_CXX_COMPILER=...", for more see docs/quick-start.md
#   make sanitize   the tests under AddressSanitizer and UBSan, and the thread ranks under ThreadSanitizer
#   make lint       formatting, clang-tidy, the include rule, and the documentation site (make docs)
#   make docs       the documentation site, in build/site; fails for a broken link, a picture that is not as drawn, code that
#                   is not that of the example, or a public declaration without a comment. It builds no C++ and takes a second
#   make experiments   the experiments of docs/performance.md, ten minutes of this machine alone, but the network one; writes
#                   bench/results and the pictures
#   make format     formats the sources
#   make clean
#   make help       prints this

JOBS ?= $(shell nproc)
configure = cmake -G Ninja -S . -B $(1) -DWEFT_WERROR=ON $(2) > $(1).log 2>&1 || { cat $(1).log; exit 1; }
openmpi = -DMPI_CXX_COMPILER=mpicxx.openmpi -DMPIEXEC_EXECUTABLE=$(shell command -v mpirun.openmpi)
cuda = -DWEFT_CUDA=ON -DCUDAToolkit_ROOT=$(abspath build/cuda)
mpich = -DMPI_CXX_COMPILER=mpicxx.mpich -DMPIEXEC_EXECUTABLE=$(shell command -v mpirun.mpich)
# Half the time to build of what RelWithDebInfo takes by itself, for tests that take hardly longer.
sanitized = -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1 -DNDEBUG"
PREFIX ?= /usr/local
ctest = ctest --test-dir $(1) --output-on-failure --no-tests=error

.PHONY: demo test build install sanitize lint docs experiments format clean help setup-%

demo: setup-build
	@mkdir -p build
	@$(call configure,build/release,-DCMAKE_BUILD_TYPE=Release $(openmpi) -DWEFT_TESTS=OFF)
	@cmake --build build/release --parallel $(JOBS) --target madelung
	tools/mpirun mpirun.openmpi 4 build/release/bin/madelung

build: setup-build setup-test setup-cuda
	@mkdir -p build
	@$(call configure,build/release,-DCMAKE_BUILD_TYPE=Release $(openmpi) $(cuda) -DWEFT_TESTS=ON)
	cmake --build build/release --parallel $(JOBS)

# A folder of its own and configured afresh, so that OPTIONS of an earlier call are forgotten.
install: setup-build
	@mkdir -p build
	@$(call configure,build/install,--fresh -DWEFT_WERROR=OFF -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)) \
	  -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF $(OPTIONS))
	cmake --build build/install --parallel $(JOBS)
	cmake --install build/install

test: build
	@$(call configure,build/mpich,-DCMAKE_BUILD_TYPE=Release $(mpich) -DBUILD_SHARED_LIBS=OFF -DWEFT_EXAMPLES=OFF \
	  -DWEFT_ONLY_MPI_TESTS=ON)
	cmake --build build/mpich --parallel $(JOBS)
	@$(call configure,build/bare,-DCMAKE_BUILD_TYPE=Debug -DWEFT_MPI=OFF -DWEFT_FFTW=OFF -DWEFT_MKL=OFF)
	cmake --build build/bare --parallel $(JOBS)
	@$(call configure,build/mkl,-DCMAKE_BUILD_TYPE=Release -DWEFT_MPI=OFF -DWEFT_FFTW=OFF -DWEFT_EXAMPLES=OFF)
	cmake --build build/mkl --parallel $(JOBS)
	$(call ctest,build/bare)
	$(call ctest,build/mkl)
	$(call ctest,build/mpich)
	$(call ctest,build/release)

sanitize: setup-build setup-test
	@mkdir -p build
	@$(call configure,build/asan,$(sanitized) -DWEFT_SANITIZE=address$(comma)undefined $(openmpi))
	cmake --build build/asan --parallel $(JOBS)
	$(call ctest,build/asan)
	@$(call configure,build/tsan,$(sanitized) -DWEFT_SANITIZE=thread -DWEFT_MPI=OFF)
	cmake --build build/tsan --parallel $(JOBS)
	$(call ctest,build/tsan)

lint: setup-build setup-test setup-cuda setup-lint docs
	@mkdir -p build
	@$(call configure,build/release,-DCMAKE_BUILD_TYPE=Release $(openmpi) $(cuda) -DWEFT_TESTS=ON)
	tools/lint build/release

# Not with --quiet, which would hide the warnings from --strict. The variable keeps the theme from advertising its successor.
docs: setup-docs
	python3 tools/draw_concepts.py --check
	python3 tools/example_code.py --check
	NO_MKDOCS_2_WARNING=1 python3 -m mkdocs build --strict
	@echo "documentation: build/site/index.html"

experiments: build setup-bench
	python3 bench/experiments.py --bench build/release/bin/weft-bench --launch "tools/mpirun mpirun.openmpi {ranks}"

format: setup-lint
	git ls-files '*.cpp' '*.hpp' '*.cu' | xargs clang-format -i
	python3 -m ruff format --quiet .

clean:
	rm -rf build

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

setup-%:
	@tools/setup $*

setup-cuda:
	@tools/cuda_toolkit build/cuda

comma := ,
