# For programs that call heFFTe: with -DHeffte_DIR=PREFIX/lib/cmake/weft/heffte their find_package(Heffte) gives them the
# target Heffte::Heffte over Weft, and their #include "heffte.h" finds weft/heffte.h. Components are heFFTe's.
include(CMakeFindDependencyMacro)
find_dependency(weft CONFIG COMPONENTS mpi PATHS ${CMAKE_CURRENT_LIST_DIR}/.. NO_DEFAULT_PATH)

set(Heffte_FFTW_FOUND ${weft_FFTW})
set(Heffte_MKL_FOUND ${weft_MKL})
set(Heffte_CUDA_FOUND ${weft_CUDA})
set(Heffte_BUILTIN_FOUND ON)  # backend stock: whichever local FFT Weft has
foreach(component ${Heffte_FIND_COMPONENTS})
  if(Heffte_FIND_REQUIRED_${component} AND NOT Heffte_${component}_FOUND)
    set(Heffte_FOUND OFF)
    set(Heffte_NOT_FOUND_MESSAGE "Weft stands for heFFTe's components FFTW, MKL, CUDA and BUILTIN, as far as it was built \
with them; ${component} is not among them")
    return()
  endif()
endforeach()

if(NOT TARGET Heffte::Heffte)
  get_target_property(folder weft::weft INTERFACE_INCLUDE_DIRECTORIES)
  list(GET folder 0 folder)
  get_target_property(definitions weft::weft INTERFACE_COMPILE_DEFINITIONS)
  add_library(Heffte::Heffte INTERFACE IMPORTED GLOBAL)
  # heffte.h needs C++11 alone: the program keeps the C++ that it is written in.
  set_target_properties(Heffte::Heffte PROPERTIES INTERFACE_LINK_LIBRARIES "$<LINK_ONLY:weft::weft>;MPI::MPI_CXX"
    INTERFACE_COMPILE_DEFINITIONS "${definitions}" INTERFACE_INCLUDE_DIRECTORIES ${folder}/weft/heffte)
endif()
