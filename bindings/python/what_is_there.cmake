# What pip finds on a machine decides with what the package is built, unless options say so: MPI and FFTW where they are.
# Without any local FFT there is nothing to transform with, which is an error here and not with the first transform.
function(find_what_is_there)
  if(NOT DEFINED WEFT_MPI)
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
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import sys; print(sys.prefix)" OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_file(mkl NAMES libmkl_rt.so.2 libmkl_rt.so.3 libmkl_rt.so.1 libmkl_rt.so HINTS ${prefix}/lib ENV MKLROOT PATH_SUFFIXES lib NO_CACHE)
  if(NOT mkl OR (DEFINED WEFT_MKL AND NOT WEFT_MKL))
    message(FATAL_ERROR "Weft found no library for local FFTs. Install FFTW 3, float and double, with threads (Debian and Ubuntu: "
      "libfftw3-dev; Fedora: fftw-devel; Homebrew: fftw; conda: fftw), or Intel MKL for this Python (pip install mkl), then "
      "install Weft again. To build for an MKL that is elsewhere: pip install . -C cmake.define.WEFT_FFTW=OFF")
  endif()
  message(STATUS "Weft: no FFTW was found; local FFTs will be those of ${mkl}")
endfunction()
find_what_is_there()
find_package(nlohmann_json 3.9 QUIET)
if(NOT nlohmann_json_FOUND)
  message(FATAL_ERROR "Weft needs the headers of nlohmann-json 3.9 or newer to be built. Install them (Debian and Ubuntu: "
    "nlohmann-json3-dev; Fedora: json-devel; Homebrew and conda: nlohmann_json), then install Weft again")
endif()
