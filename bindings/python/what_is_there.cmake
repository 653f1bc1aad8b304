# What pip finds on a machine decides with what the package is built, unless options say so: MPI and FFTW where they are.
# Without FFTW, local FFTs are those of Intel MKL, which the package then depends on (requirements/requirements.py).
function(find_what_is_there)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  if(NOT DEFINED WEFT_MPI)
    if(NOT DEFINED MPI_CXX_COMPILER)  # an MPI from PyPI is beside the interpreter, in PATH or not
      execute_process(COMMAND ${Python_EXECUTABLE} -c "import sys; print(sys.prefix)" OUTPUT_VARIABLE prefix
        OUTPUT_STRIP_TRAILING_WHITESPACE)
      find_program(wrapper mpicxx PATHS ${prefix}/bin NO_DEFAULT_PATH NO_CACHE)
      if(wrapper)
        set(MPI_CXX_COMPILER ${wrapper} CACHE FILEPATH "Compiler wrapper of the MPI")
        if(NOT DEFINED ENV{I_MPI_ROOT})  # only Intel's wrapper looks at it, and does not know where pip has put it
          set(ENV{I_MPI_ROOT} ${prefix})
        endif()
      endif()
    endif()
    find_package(MPI 3.1 QUIET COMPONENTS CXX)
    if(NOT MPI_CXX_FOUND)
      message(STATUS "Weft: no MPI was found; the package will serve the threads of one process")
    endif()
    set(WEFT_MPI ${MPI_CXX_FOUND} CACHE BOOL "Build with MPI")
  endif()
  if(DEFINED WEFT_FFTW)
    return()  # a decision of the user
  endif()
  find_package(FFTW QUIET)
  set(WEFT_FFTW ${FFTW_FOUND} CACHE BOOL "Build with FFTW as a local FFT")
  if(WEFT_FFTW)
    return()
  endif()
  set(mkl_is_there OFF)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(mkl_is_there ON)
  endif()
  if(NOT mkl_is_there OR (DEFINED WEFT_MKL AND NOT WEFT_MKL))
    message(FATAL_ERROR "Weft found no library for local FFTs. Install FFTW 3, float and double, with threads (Debian and Ubuntu: "
      "libfftw3-dev; Fedora: fftw-devel; Homebrew: fftw; conda: fftw), then install Weft again. Without FFTW, Weft uses Intel "
      "MKL, which PyPI has for Linux on x86_64, unless WEFT_MKL=OFF. To build for an MKL that is elsewhere: "
      "pip install . -C cmake.define.WEFT_FFTW=OFF")
  endif()
  message(STATUS "Weft: no FFTW was found; local FFTs will be those of Intel MKL")
endfunction()
find_what_is_there()

# The headers of nlohmann-json: the system's, or those of the build requirement of that name, which has no CMake package.
find_package(nlohmann_json 3.9 QUIET)
if(NOT nlohmann_json_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import nlohmann_json as n; print(n.__path__[0])" OUTPUT_VARIABLE folder
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_path(headers nlohmann/json.hpp PATHS ${folder}/include NO_DEFAULT_PATH NO_CACHE)
  if(NOT headers)
    message(FATAL_ERROR "Weft needs the headers of nlohmann-json 3.9 or newer to be built. Install them (Debian and Ubuntu: "
      "nlohmann-json3-dev; Fedora: json-devel; Homebrew and conda: nlohmann_json; pip install nlohmann-json, where pip builds "
      "without isolation), then install Weft again")
  endif()
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
  target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${headers})
endif()

set(WEFT_FFTW3_MPI OFF CACHE BOOL "Not a part of the package")
