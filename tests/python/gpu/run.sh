#!/bin/bash
# Builds the Python package with CUDA and runs its tests of GPUs, on a machine that has some: nothing is fetched.
#
#   tests/python/gpu/run.sh [BUILD]      BUILD: a folder for the build, build/gpu
#
# It needs CMake, Ninja, a C++20 compiler, CUDA 13, FFTW, nlohmann-json, and Python with its headers, NumPy, SciPy, pytest,
# nanobind and CuPy or PyTorch. What CMake does not find by itself is named by variables: PYTHON (python3), CUDA_ROOT, PREFIX
# (absolute folders with include and lib, separated by ;). Ranks of MPI are tested if there is an MPI with its headers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
build=${1:-build/gpu}
python=$(command -v "${PYTHON:-python3}")
arguments=(-DCMAKE_BUILD_TYPE=Release -DWEFT_UNITY=ON -DWEFT_CUDA=ON -DWEFT_PYTHON=ON -DWEFT_TESTS=OFF -DWEFT_BENCH=OFF
  -DWEFT_EXAMPLES=OFF -DWEFT_INSTALL=OFF -DBUILD_SHARED_LIBS=OFF "-DPython_EXECUTABLE=$python"
  "-DCMAKE_PREFIX_PATH=${PREFIX:-}" -DWEFT_FFTW=ON)
[[ -n ${CUDA_ROOT:-} ]] && arguments+=("-DCUDAToolkit_ROOT=$CUDA_ROOT")
mpicxx=$(command -v mpicxx.openmpi || command -v mpicxx || true)
if [[ -n $mpicxx ]]; then arguments+=(-DWEFT_MPI=ON "-DMPI_CXX_COMPILER=$mpicxx"); else arguments+=(-DWEFT_MPI=OFF); fi

mkdir -p "$(dirname "$build")"
start=$SECONDS
cmake -G Ninja -S . -B "$build" "${arguments[@]}" > "$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --parallel "$(nproc)" --target weft_python weft_python_types >> "$build.log" 2>&1 || { tail -60 "$build.log"; exit 1; }
echo "built in $((SECONDS - start)) s (MPI ${mpicxx:-none})"

export PYTHONPATH=$PWD/$build/python${PYTHONPATH:+:$PYTHONPATH} CUDA_DEVICE_MAX_CONNECTIONS=32
pytest=("$python" -B -m pytest -q --color=no -p no:cacheprovider -rs)
failed=0
"${pytest[@]}" tests/python/gpu --durations=5 || failed=1
"${pytest[@]}" tests/python/test_torch.py || failed=1
if [[ -n $mpicxx ]] && "$python" -c "import mpi4py" 2> /dev/null; then
  for ranks in 1 2; do
    tools/mpirun "$(command -v mpirun.openmpi || command -v mpirun)" "$ranks" "${pytest[@]}" tests/python/mpi/torch_test.py || failed=1
  done
fi
if "$python" -c "import sys, weft; sys.exit(weft.device_count() < 2)"; then "$python" -B examples/two_gpus.py || failed=1; fi
exit $failed
