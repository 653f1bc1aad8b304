# With WEFT_HIP: HIP itself, hipcc for the kernels, and hipFFT where it is. Completes the target weft_gpu_runtime and gives
# hip_objects().
list(APPEND CMAKE_PREFIX_PATH $ENV{ROCM_PATH} /opt/rocm)
find_package(hip CONFIG QUIET)
if(NOT hip_FOUND OR hip_VERSION VERSION_LESS 5.2)
  message(FATAL_ERROR "WEFT_HIP is ON, but HIP 5.2 or later was not found (${hip_VERSION}): install it (Debian: hipcc, libamdhip64-dev), say where \
ROCm is in the environment variable ROCM_PATH or in CMAKE_PREFIX_PATH, or set WEFT_HIP=OFF")
endif()
find_program(WEFT_HIPCC hipcc HINTS ${hip_BIN_INSTALL_DIR} DOC "The compiler of HIP")
if(NOT WEFT_HIPCC)
  message(FATAL_ERROR "WEFT_HIP is ON, but hipcc was not found: install it, or set WEFT_HIPCC to it")
endif()
if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
  set(CMAKE_HIP_ARCHITECTURES gfx90a)
endif()
find_package(hipfft CONFIG QUIET)
if(hipfft_FOUND)
  message(STATUS "hipFFT: ${hipfft_DIR}")
else()
  message(STATUS "hipFFT was not found: this Weft has no FFTs of arrays in memory of GPUs, and says so when it is asked for them")
endif()
set(hip_definitions WEFT_WITH_HIP __HIP_PLATFORM_AMD__)
target_link_libraries(weft_gpu_runtime INTERFACE hip::host)
target_compile_definitions(weft_gpu_runtime INTERFACE ${hip_definitions})

# hip_objects(result sources...): compiles kernels by hipcc, whatever compiles C++. CMake's own language HIP wants ROCm in one
# folder, which Debian's is not.
function(hip_objects result)
  list(TRANSFORM CMAKE_HIP_ARCHITECTURES PREPEND --offload-arch= OUTPUT_VARIABLE architectures)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_HIP_FLAGS}")
  # nvcc knows its runtime without being told; loops that end early are not unrolled, which is no matter.
  set(flags -x hip -include hip/hip_runtime.h ${architectures} -std=c++20 -O3 -fPIC -fvisibility=hidden
    -fvisibility-inlines-hidden -DWEFT_WITH_HIP -Wall -Wextra -Wno-pass-failed ${flags})
  if(WEFT_WERROR)
    list(APPEND flags -Werror)
  endif()
  set(objects)
  foreach(source ${ARGN})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
    cmake_path(GET object PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d VERBATIM COMMENT "Building HIP object ${source}.o"
      COMMAND ${WEFT_HIPCC} ${flags} -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src -MD -MF ${object}.d -MT ${object}
        -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object})
    list(APPEND objects ${object})
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()
