# What `cmake --install` puts in place: the library, its headers, the CMake package that find_package(weft) finds, and
# weft.pc for pkg-config. All of it may be moved afterwards.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Into the source tree, installed headers would be the sources, and removing what was installed would remove them.
install(CODE "
  file(REAL_PATH \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\" prefix)
  file(REAL_PATH \"${PROJECT_SOURCE_DIR}\" source)
  if(prefix STREQUAL source)
    message(FATAL_ERROR \"\${prefix} is the source tree of Weft; install it into another folder\")
  endif()")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(TARGETS weft EXPORT weft INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/weft DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp"
  PATTERN "mpi.hpp" EXCLUDE PATTERN "heffte*" EXCLUDE)
if(WEFT_MPI)
  install(FILES include/weft/mpi.hpp include/weft/heffte.h include/weft/heffte_c.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
  install(DIRECTORY include/weft/heffte include/weft/heffte_parts DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The CMake package. A shared library has its FFTW and its CUDA, a static one asks its user to find them.
install(EXPORT weft FILE weft-targets.cmake NAMESPACE weft:: DESTINATION ${package_dir})
set(needs_fftw OFF)
if(WEFT_FFTW AND NOT BUILD_SHARED_LIBS)
  set(needs_fftw ON)
  cmake_path(GET FFTW_INCLUDE_DIR PARENT_PATH fftw_root)
  install(FILES cmake/FindFFTW.cmake DESTINATION ${package_dir})
endif()
set(needs_cuda OFF)
if(WEFT_CUDA AND NOT BUILD_SHARED_LIBS)
  set(needs_cuda ON)
  cmake_path(GET CUDAToolkit_BIN_DIR PARENT_PATH cuda_root)
endif()
# The wrapper may have been named without its folder.
set(mpi_wrapper "")
if(WEFT_MPI)
  find_program(WEFT_MPI_WRAPPER NAMES ${MPI_CXX_COMPILER} NO_CACHE)
  set(mpi_wrapper ${WEFT_MPI_WRAPPER})
endif()
configure_package_config_file(cmake/weft-config.cmake.in ${PROJECT_BINARY_DIR}/weft-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
  DESTINATION ${package_dir})

# The same for programs that ask for heFFTe, in a folder where CMake does not look by itself.
if(WEFT_MPI)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/HeffteConfigVersion.cmake VERSION 2.4.1
    COMPATIBILITY SameMajorVersion)
  install(FILES cmake/HeffteConfig.cmake ${PROJECT_BINARY_DIR}/HeffteConfigVersion.cmake
    DESTINATION ${package_dir}/heffte)
endif()

# link_flags(result libraries...): as a linker takes them; by name where it looks anyway, else by their full path.
function(link_flags result)
  set(flags)
  foreach(library ${ARGN})
    cmake_path(GET library PARENT_PATH folder)
    if(folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES AND library MATCHES "/lib([^/]+)[.]so$")
      list(APPEND flags -l${CMAKE_MATCH_1})
    elseif(library MATCHES "^[^/-]+$")
      list(APPEND flags -l${library})
    else()
      list(APPEND flags ${library})
    endif()
  endforeach()
  list(JOIN flags " " flags)
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

# weft.pc. Programs call MPI themselves, so its flags are for everybody. What only Weft itself is made of is private,
# unless the library is static, where pkg-config should give it with and without --static.
set(pc_cflags)
set(mpi_libraries)
if(WEFT_MPI)
  list(TRANSFORM MPI_CXX_COMPILE_DEFINITIONS PREPEND -D OUTPUT_VARIABLE definitions)
  set(folders ${MPI_CXX_INCLUDE_DIRS})
  list(REMOVE_ITEM folders ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
  list(TRANSFORM folders PREPEND -I)
  set(pc_cflags -DWEFT_WITH_MPI ${MPI_CXX_COMPILE_OPTIONS} ${definitions} ${folders})
  set(mpi_libraries ${MPI_CXX_LIBRARIES})
endif()
if(WEFT_CUDA)
  list(PREPEND pc_cflags -DWEFT_WITH_CUDA)
endif()
link_flags(pc_libs ${mpi_libraries})
if(MPI_CXX_LINK_FLAGS)
  string(APPEND pc_libs " ${MPI_CXX_LINK_FLAGS}")
endif()
set(private)
if(WEFT_FFTW)
  foreach(part fftw3_threads fftw3 fftw3f_threads fftw3f)
    list(APPEND private ${FFTW_${part}_LIBRARY})
  endforeach()
endif()
if(WEFT_CUDA)  # cuFFT is rarely where loaders look anyway
  cmake_path(GET CUDA_cufft_LIBRARY PARENT_PATH folder)
  list(APPEND private ${CUDA_cufft_LIBRARY} ${CUDA_cudart_static_LIBRARY} rt)
  if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    list(APPEND private -Wl,-rpath,${folder})
  endif()
endif()
link_flags(pc_private ${private} ${CMAKE_DL_LIBS})
string(APPEND pc_private " ${CMAKE_THREAD_LIBS_INIT} -lm")
if(WEFT_MKL)
  string(PREPEND pc_private "-Wl,-z,now ")
endif()
if(NOT BUILD_SHARED_LIBS)
  string(APPEND pc_libs " ${pc_private}")
  set(pc_private)
endif()
list(JOIN pc_cflags " " pc_cflags)

# Where the prefix is, seen from weft.pc; an absolute library directory has its reasons, and stays.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
endif()
cmake_path(APPEND pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
