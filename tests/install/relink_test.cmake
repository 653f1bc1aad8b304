# A program written for FFTW's MPI library, examples/diffusion.c, with the installed libweft_fftw3_mpi: linked with it by
# pkg-config, and, where FFTW's own library is there, linked with that one and given Weft's at run time. Included by
# install_test.cmake; what it needs besides comes in CC, EXAMPLE and OF_FFTW (arguments of the compiler for FFTW's
# library; empty if it is not there).
step("fftw3-mpi: ask" ${PKG_CONFIG} --cflags --libs weft-fftw3-mpi)
separate_arguments(flags UNIX_COMMAND "${output}")
step("fftw3-mpi: compile" ${CC} ${EXAMPLE} ${flags} -o ${WORK}/diffusion)
step("fftw3-mpi: run" ${MPI_RUN} 2 ${WORK}/diffusion)
message(STATUS "${output}")
if(OF_FFTW)
  step("FFTW's own: compile" ${CC} ${EXAMPLE} ${OF_FFTW} -o ${WORK}/diffusion_of_fftw)
  step("FFTW's own: run" ${MPI_RUN} 2 ${WORK}/diffusion_of_fftw)
  # The timeline that Weft writes shows whose the transforms were.
  step("FFTW's own, then Weft's: run" ${MPI_RUN} 2 env LD_PRELOAD=${prefix}/${LIBDIR}/libweft_fftw3_mpi.so
    WEFT_TRACE=${WORK}/diffusion.json ${WORK}/diffusion_of_fftw)
  if(NOT EXISTS ${WORK}/diffusion.json)
    message(FATAL_ERROR "Weft wrote no timeline: the program's transforms were not Weft's\n${output}")
  endif()
endif()
