# What is installed of libweft_fftw3_mpi; included by cmake/install.cmake, whose folders and flags it uses.
install(TARGETS weft_fftw3_mpi EXPORT weft)
target_include_directories(weft_fftw3_mpi INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/weft/fftw3>)
install(FILES ${PROJECT_SOURCE_DIR}/include/weft/fftw3-mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weft/fftw3 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindFFTW.cmake DESTINATION ${package_dir})

# FFTW comes behind the library.
link_flags(pc_fftw_libs ${FFTW_fftw3_LIBRARY} ${FFTW_fftw3f_LIBRARY} ${mpi_libraries})
string(APPEND pc_fftw_libs " -lm")
list(JOIN folders " " pc_fftw_cflags)
configure_file(${PROJECT_SOURCE_DIR}/cmake/weft-fftw3-mpi.pc.in ${PROJECT_BINARY_DIR}/weft-fftw3-mpi.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft-fftw3-mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
