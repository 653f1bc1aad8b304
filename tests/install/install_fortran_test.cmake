# The test `install_fortran`: installs the built library under a fresh prefix, moves it, and there builds and runs the first
# example three times: by find_package in a project of Fortran alone, by pkg-config, and with the installed sources of the
# module, as for another compiler. What it needs comes in WORK, BUILD, GENERATOR, FORTRAN, C, LIBDIR, DATADIR, PKG_CONFIG,
# EXAMPLES, RANKS (the file with the examples' ranks), COMMUNICATORS (those of the module's sources that fit, separated by
# blanks) and MPI_RUN; PKG_CONFIG and MPI_RUN may be empty.
set(prefix ${WORK}/moved)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/source)
unset(ENV{DESTDIR})

# step(what command...): fails the test if the command fails, with all that it printed.
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output
    OUTPUT_STRIP_TRAILING_WHITESPACE WORKING_DIRECTORY ${WORK}/source)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${what} failed: ${result}\n${command}\n${output}")
  endif()
  message(STATUS "${what}: done")
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(run how program)
  step("${how}: run on threads" ${program} --comm threads:3)
  message(STATUS "${output}")
  if(MPI_RUN)
    step("${how}: run on MPI ranks" ${MPI_RUN} 2 ${program})
    message(STATUS "${output}")
  endif()
endfunction()

step("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed ${prefix})

step("find_package: configure" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/fortran -B ${WORK}/cmake
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_Fortran_COMPILER=${FORTRAN} -DEXAMPLES=${EXAMPLES} -DRANKS=${RANKS})
step("find_package: build" ${CMAKE_COMMAND} --build ${WORK}/cmake)
run("find_package" ${WORK}/cmake/first)

if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  set(program ${EXAMPLES}/${RANKS} ${EXAMPLES}/ranks.f90 ${EXAMPLES}/first.f90)
  step("pkg-config: ask" ${PKG_CONFIG} --cflags --libs weft-fortran)
  separate_arguments(flags UNIX_COMMAND "${output}")
  step("pkg-config: compile" ${FORTRAN} -frecursive ${program} ${flags} -o ${WORK}/by_pkg_config)
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
  run("pkg-config" ${WORK}/by_pkg_config)

  set(sources ${prefix}/${DATADIR}/weft/fortran)
  set(files)
  separate_arguments(COMMUNICATORS)
  foreach(file c_interface status axes problems ranks options operators mode_operators plans gradients trials ${COMMUNICATORS} weft)
    list(APPEND files ${sources}/${file}.f90)
  endforeach()
  step("sources: ask" ${PKG_CONFIG} --cflags --libs weft)
  separate_arguments(flags UNIX_COMMAND "${output}")
  set(folders)
  foreach(folder ${MPI_FOLDERS})
    list(APPEND folders -I${folder})
  endforeach()
  step("sources: descriptors" ${C} -c ${sources}/descriptors.c ${flags} -o ${WORK}/source/descriptors.o)
  step("sources: compile" ${FORTRAN} -frecursive ${folders} ${files} ${program} ${WORK}/source/descriptors.o
    ${flags} ${MPI_LIBRARIES} -o ${WORK}/by_sources)
  run("sources" ${WORK}/by_sources)
endif()
