# The test `install`: installs the built library under a fresh prefix, moves it, and there builds and runs the project in
# this folder twice, by find_package(weft) and by pkg-config, and with it programs of heFFTe's and of FFTW's MPI library; and in
# the same ways an example in C, by a project that knows no C++. What it needs comes in WORK, BUILD, GENERATOR, CC, CXX,
# EXAMPLES, LIBDIR, PKG_CONFIG, MPI_RUN (the command that starts MPI ranks), EXAMPLE and OF_FFTW (for FFTW's MPI library) and
# ARGUMENTS (for the program); the last five may be empty.
set(prefix ${WORK}/moved)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
unset(ENV{DESTDIR})

# step(what command...): fails the test if the command fails, with all that it printed.
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${what} failed: ${result}\n${command}\n${output}")
  endif()
  message(STATUS "${what}: done")
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(run how program)
  step("${how}: run on threads" ${program} threads ${ARGUMENTS})
  message(STATUS "${output}")
  if(MPI_RUN)
    step("${how}: run on MPI ranks" ${MPI_RUN} 2 ${program} mpi ${ARGUMENTS})
    message(STATUS "${output}")
  endif()
endfunction()

# Without a local FFT the example cannot do its work; it is built all the same.
function(run_example how program)
  if(ARGUMENTS)
    return()
  endif()
  step("${how}: run on threads" ${program} --comm threads:3)
  message(STATUS "${output}")
  if(MPI_RUN)
    step("${how}: run on MPI ranks" ${MPI_RUN} 2 ${program})
    message(STATUS "${output}")
  endif()
endfunction()

step("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed ${prefix})

step("find_package: configure" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/cmake
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC} -DEXAMPLE=${EXAMPLE})
step("find_package: build" ${CMAKE_COMMAND} --build ${WORK}/cmake)
run("find_package" ${WORK}/cmake/consumer)
if(EXAMPLE)
  step("find_package: run diffusion" ${MPI_RUN} 2 ${WORK}/cmake/diffusion)
endif()
if(MPI_RUN)
  step("heFFTe's find_package: run on MPI ranks" ${MPI_RUN} 2 ${WORK}/cmake/heffte_consumer)
endif()

step("find_package in C: configure" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR}/c -B ${WORK}/cmake_c
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${CC} -DEXAMPLES=${EXAMPLES})
step("find_package in C: build" ${CMAKE_COMMAND} --build ${WORK}/cmake_c)
run_example("find_package in C" ${WORK}/cmake_c/first_c)

if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  step("pkg-config: ask" ${PKG_CONFIG} --cflags --libs weft)
  separate_arguments(flags UNIX_COMMAND "${output}")
  step("pkg-config: compile" ${CXX} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/consumer.cpp ${flags} -o ${WORK}/consumer)
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}:$ENV{LD_LIBRARY_PATH}")
  run("pkg-config" ${WORK}/consumer)
  step("pkg-config: compile C" ${CC} -std=c11 ${EXAMPLES}/first.c ${flags} -lm -o ${WORK}/first_c)
  run_example("pkg-config in C" ${WORK}/first_c)
  if(MPI_RUN AND NOT ARGUMENTS)  # a program written for heFFTe, which needs no more than C++11 and a folder
    step("heffte.h: compile" ${CXX} -std=c++11 ${EXAMPLES}/pppm_heffte.cpp
      -I${prefix}/include/weft/heffte ${flags} -o ${WORK}/pppm_heffte)
    step("heffte.h: run on MPI ranks" ${MPI_RUN} 2 ${WORK}/pppm_heffte)
    message(STATUS "${output}")
  endif()
  if(EXAMPLE)
    include(${CMAKE_CURRENT_LIST_DIR}/relink_test.cmake)
  endif()
endif()
