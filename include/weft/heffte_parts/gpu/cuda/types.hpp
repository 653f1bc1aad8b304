// CUDA's types that heFFTe's interface names.
#pragma once

#include <cuda_runtime_api.h>
