# The Fortran compiler, its MPI, and flags for our Fortran sources: in the scope of the whole project.
enable_language(Fortran)
if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU" AND CMAKE_Fortran_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "the Fortran module needs gfortran 12 or newer, and ${CMAKE_Fortran_COMPILER} is "
    "${CMAKE_Fortran_COMPILER_VERSION}; name another one with -DCMAKE_Fortran_COMPILER=, or build with -DWEFT_FORTRAN=OFF")
endif()

# The wrapper of the same MPI as that of C++, unless one is named. Without a module mpi_f08 for this compiler,
# weft_comm_mpi takes integers only.
if(WEFT_MPI)
  if(NOT MPI_Fortran_COMPILER)
    string(REGEX REPLACE "mpi(cxx|c[+][+]|CC)([^/]*)$" "mpifort\\2" wrapper "${MPI_CXX_COMPILER}")
    if(NOT wrapper STREQUAL MPI_CXX_COMPILER)
      set(MPI_Fortran_COMPILER ${wrapper})
    endif()
  endif()
  find_package(MPI 3.1 QUIET COMPONENTS Fortran)
  if(NOT MPI_Fortran_FOUND)
    message(STATUS "MPI has no Fortran here: the Fortran module takes communicators as integers only")
  elseif(NOT MPI_Fortran_HAVE_F08_MODULE)
    message(STATUS "MPI has no mpi_f08 for ${CMAKE_Fortran_COMPILER}: the Fortran module takes communicators as integers only")
  endif()
endif()

add_library(weft_fortran_settings INTERFACE)
# gfortran takes descriptors of allocatable components for uninitialised where they are assigned to for the first time.
set(fortran_warnings -Wall -Wextra -Wno-uninitialized -Wno-maybe-uninitialized -Wno-compare-reals
  -Wno-integer-division $<$<BOOL:${WEFT_WERROR}>:-Werror>)
target_compile_options(weft_fortran_settings INTERFACE
  "$<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-std=f2018;-pedantic;${fortran_warnings}>")
