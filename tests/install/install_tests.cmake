# The tests of what a user links: the installed package, and the symbols and the name of the shared library.
find_program(WEFT_PKG_CONFIG NAMES pkg-config pkgconf)
find_program(WEFT_TEST_PYTHON python3)
mark_as_advanced(WEFT_PKG_CONFIG WEFT_TEST_PYTHON)
set(here ${CMAKE_CURRENT_LIST_DIR})

if(WEFT_INSTALL)
  add_test(NAME install COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install
    -DGENERATOR=${CMAKE_GENERATOR} -DCXX=${CMAKE_CXX_COMPILER} -DLIBDIR=${CMAKE_INSTALL_LIBDIR}
    "-DPKG_CONFIG=$<$<BOOL:${WEFT_PKG_CONFIG}>:${WEFT_PKG_CONFIG}>"
    "-DMPI_RUN=$<$<BOOL:${WEFT_MPI}>:${PROJECT_SOURCE_DIR}/tools/mpirun;${MPIEXEC_EXECUTABLE}>"
    -DARGUMENTS=$<$<NOT:$<BOOL:${WEFT_FFTW}>>:may-lack-fft> -P ${here}/install_test.cmake)
  set_tests_properties(install PROPERTIES ENVIRONMENT "${mkl_environment}")
endif()
if(BUILD_SHARED_LIBS)
  set(not_built)
  if(NOT WEFT_MPI)
    set(not_built --without mpi.hpp --without engine.hpp --without c_interface.h)
  endif()
  if(WEFT_TEST_PYTHON)
    add_test(NAME symbols COMMAND ${WEFT_TEST_PYTHON} ${here}/check_symbols.py --nm ${CMAKE_NM}
      --headers ${PROJECT_SOURCE_DIR}/include/weft ${not_built} $<TARGET_FILE:weft>)
  endif()
  add_test(NAME soname COMMAND ${CMAKE_READELF} -d $<TARGET_FILE:weft>)
  set_tests_properties(soname PROPERTIES PASS_REGULAR_EXPRESSION "SONAME[^\n]*[[]libweft[.]so[.]0[]]")
endif()
