# The tests of what a user links: the installed package, and the symbols and the name of the shared library.
find_program(WEFT_PKG_CONFIG NAMES pkg-config pkgconf)
find_program(WEFT_TEST_PYTHON python3)
mark_as_advanced(WEFT_PKG_CONFIG WEFT_TEST_PYTHON)
set(here ${CMAKE_CURRENT_LIST_DIR})

# A program for FFTW's MPI library, and what links it with that one if it is there and for the same MPI.
set(example)
set(of_fftw)
if(TARGET weft_fftw3_mpi)
  set(example ${PROJECT_SOURCE_DIR}/examples/diffusion.c)
  find_library(WEFT_FFTW_MPI_LIBRARY fftw3_mpi)
  find_file(WEFT_FFTW_MPI_HEADER fftw3-mpi.h PATHS ${FFTW_INCLUDE_DIR})
  mark_as_advanced(WEFT_FFTW_MPI_LIBRARY WEFT_FFTW_MPI_HEADER)
  if(WEFT_FFTW_MPI_LIBRARY AND WEFT_FFTW_MPI_HEADER)
    execute_process(COMMAND ${CMAKE_READELF} -d ${WEFT_FFTW_MPI_LIBRARY} OUTPUT_VARIABLE needed)
    foreach(library ${MPI_CXX_LIBRARIES})
      file(REAL_PATH ${library} library)
      cmake_path(GET library FILENAME library)
      string(REGEX MATCH "^[^.]+[.]so[.][0-9]+" soname ${library})
      if(soname AND needed MATCHES "[[]${soname}[]]")
        list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE of_fftw)
        list(APPEND of_fftw ${WEFT_FFTW_MPI_LIBRARY} ${FFTW_fftw3_LIBRARY} ${MPI_CXX_LIBRARIES} -lm)
      endif()
    endforeach()
  endif()
endif()
if(WEFT_INSTALL)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install
    -DGENERATOR=${CMAKE_GENERATOR} -DCC=${CMAKE_C_COMPILER} -DCXX=${CMAKE_CXX_COMPILER} -DEXAMPLES=${PROJECT_SOURCE_DIR}/examples
    "-DEXAMPLE=${example}" "-DOF_FFTW=${of_fftw}" -DLIBDIR=${CMAKE_INSTALL_LIBDIR}
    "-DPKG_CONFIG=$<$<BOOL:${WEFT_PKG_CONFIG}>:${WEFT_PKG_CONFIG}>"
    "-DMPI_RUN=$<$<BOOL:${WEFT_MPI}>:${PROJECT_SOURCE_DIR}/tools/mpirun;${MPIEXEC_EXECUTABLE}>"
    -DARGUMENTS=$<$<NOT:$<BOOL:${WEFT_FFTW}>>:may-lack-fft> -P ${here}/install_test.cmake)
  set_tests_properties(install PROPERTIES ENVIRONMENT "${mkl_environment}")
endif()
if(WEFT_INSTALL AND WEFT_FORTRAN AND WEFT_FFTW)
  set(ranks no_mpi.f90)
  set(communicators "communicators/none")
  if(WEFT_MPI AND MPI_Fortran_HAVE_F08_MODULE)
    set(ranks ranks_mpi.f90)
    set(communicators "communicators/integers communicators/f08")
  elseif(WEFT_MPI)
    set(communicators "communicators/integers communicators/integers_only")
  endif()
  add_test(NAME install_fortran COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR}
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_fortran -DGENERATOR=${CMAKE_GENERATOR} -DFORTRAN=${CMAKE_Fortran_COMPILER}
    -DC=${CMAKE_C_COMPILER} -DLIBDIR=${CMAKE_INSTALL_LIBDIR} -DDATADIR=${CMAKE_INSTALL_DATADIR}
    "-DPKG_CONFIG=$<$<BOOL:${WEFT_PKG_CONFIG}>:${WEFT_PKG_CONFIG}>" -DEXAMPLES=${PROJECT_SOURCE_DIR}/examples
    -DRANKS=${ranks} "-DCOMMUNICATORS=${communicators}" "-DMPI_FOLDERS=${MPI_Fortran_INCLUDE_DIRS}"
    "-DMPI_LIBRARIES=${MPI_Fortran_LIBRARIES}"
    "-DMPI_RUN=$<$<STREQUAL:${ranks},ranks_mpi.f90>:${PROJECT_SOURCE_DIR}/tools/mpirun;${MPIEXEC_EXECUTABLE}>"
    -P ${here}/install_fortran_test.cmake)
  set_tests_properties(install_fortran PROPERTIES ENVIRONMENT "${mkl_environment}")
endif()
if(BUILD_SHARED_LIBS)
  set(not_built)
  if(NOT WEFT_MPI)
    set(not_built --without mpi.hpp --without weft_mpi.h --without engine.hpp --without c_interface.h)
  endif()
  if(WEFT_TEST_PYTHON)
    add_test(NAME symbols COMMAND ${WEFT_TEST_PYTHON} ${here}/check_symbols.py --nm ${CMAKE_NM}
      --headers ${PROJECT_SOURCE_DIR}/include/weft ${not_built} $<TARGET_FILE:weft>)
  endif()
  add_test(NAME soname COMMAND ${CMAKE_READELF} -d $<TARGET_FILE:weft>)
  set_tests_properties(soname PROPERTIES PASS_REGULAR_EXPRESSION "SONAME[^\n]*[[]libweft[.]so[.]0[]]")
endif()
