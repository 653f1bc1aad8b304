# The tests of the Python package, as it is in ${PROJECT_BINARY_DIR}/python: on this process and its threads, on MPI ranks,
# and, among the long tests, installed by pip.
set(here ${CMAKE_CURRENT_LIST_DIR})
set(pytest ${Python_EXECUTABLE} -B -m pytest -q --color=no -p no:cacheprovider)
set(python_tests python)
add_test(NAME python COMMAND ${pytest} --ignore=${here}/mpi --ignore=${here}/install_test.py ${here})
if(WEFT_MPI)
  foreach(ranks 1 2 4)
    mpi_test(python_mpi_${ranks} ${ranks} ${pytest} ${here}/mpi)
    list(APPEND python_tests python_mpi_${ranks})
  endforeach()
  mpi_test(python_mpi_example 4 ${Python_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/examples/spectrum.py)
  list(APPEND python_tests python_mpi_example)
  # Of a mpi4py that can do with several MPIs.
  set_property(TEST ${python_tests} APPEND PROPERTY ENVIRONMENT "MPI4PY_MPIABI=$<IF:$<BOOL:${WEFT_MPI_IS_MPICH}>,mpich,openmpi>")
endif()
set_property(TEST ${python_tests} APPEND PROPERTY ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python")
add_test(NAME python_install CONFIGURATIONS all COMMAND ${Python_EXECUTABLE} ${here}/install_test.py ${CMAKE_CURRENT_BINARY_DIR}/python_install)
set_tests_properties(python_install PROPERTIES LABELS long)
