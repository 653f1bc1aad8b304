# What `cmake --install` puts in place for Fortran: the library, its modules in a folder named after the compiler that can
# read them, the sources for other compilers, and weft-fortran.pc.
string(TOLOWER ${fortran_compiler} compiler)
if(compiler STREQUAL "gnu")
  set(compiler gfortran)
endif()
set(module_dir ${CMAKE_INSTALL_INCLUDEDIR}/weft/fortran/${compiler}-${fortran_major})
install(TARGETS weft_fortran EXPORT weft-fortran INCLUDES DESTINATION ${module_dir})
install(DIRECTORY ${PROJECT_BINARY_DIR}/bindings/fortran/modules/ DESTINATION ${module_dir} FILES_MATCHING PATTERN "*.mod")
install(DIRECTORY bindings/fortran/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weft/fortran
  FILES_MATCHING PATTERN "*.f90" PATTERN "*.c")
install(EXPORT weft-fortran FILE weft-fortran-targets.cmake NAMESPACE weft:: DESTINATION ${package_dir})

link_flags(fortran_libs ${MPI_Fortran_LIBRARIES})
set(fortran_folders ${MPI_Fortran_INCLUDE_DIRS})
list(REMOVE_ITEM fortran_folders ${CMAKE_Fortran_IMPLICIT_INCLUDE_DIRECTORIES} "")
list(TRANSFORM fortran_folders PREPEND -I)
list(JOIN fortran_folders " " fortran_cflags)
cmake_path(APPEND pc_module_dir "\${prefix}" ${module_dir})
configure_file(bindings/fortran/weft-fortran.pc.in ${PROJECT_BINARY_DIR}/weft-fortran.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
