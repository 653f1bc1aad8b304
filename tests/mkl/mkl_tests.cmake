# The tests of Intel MKL as local FFT beside FFTW.
weft_test(mkl threads/mkl_test.cpp mkl/find_test.cpp)
target_link_libraries(weft_mkl_tests PRIVATE ${CMAKE_DL_LIBS})
# By itself, as a library that the process has loaded already is found before all others.
set_property(TEST mkl PROPERTY ENVIRONMENT "GTEST_FILTER=-FindingMkl.*")
add_test(NAME mkl_found COMMAND weft_mkl_tests --gtest_filter=FindingMkl.*)

# A library that looks like Intel MKL from outside, in a folder as MKL has it.
set(imitation ${CMAKE_CURRENT_BINARY_DIR}/imitation/lib)
add_library(weft_mkl_imitation MODULE mkl/imitation.cpp)
set_target_properties(weft_mkl_imitation PROPERTIES PREFIX "" OUTPUT_NAME libmkl_rt SUFFIX .so.2
  LIBRARY_OUTPUT_DIRECTORY ${imitation})
file(WRITE ${imitation}/libmkl_core.so.2 "")
add_dependencies(weft_mkl_tests weft_mkl_imitation)
target_compile_definitions(weft_mkl_tests PRIVATE WEFT_MKL_IMITATION="${imitation}")

# A program that opens modules, whose functions are bound lazily. The sanitizers want to be in the program first.
if(NOT WEFT_SANITIZE)
  set(src ${PROJECT_SOURCE_DIR}/src)
  add_library(weft_module MODULE mkl/weft_module.cpp ${src}/base/environment.cpp ${src}/base/error.cpp
    ${src}/base/nearest_name.cpp ${src}/base/warning.cpp ${src}/base/shared_library.cpp ${src}/base/text.cpp ${src}/fft/fft_problem.cpp ${src}/fft/loops.cpp ${src}/fft/fftw/cosines.cpp ${src}/fft/fftw/fftw.cpp
    ${src}/fft/fftw/passes.cpp ${src}/base/cache.cpp ${src}/geometry/copy_loops.cpp ${src}/kernels/cpu/permute_copy.cpp ${src}/kernels/cpu/lines.cpp ${src}/fft/fftw/wisdom.cpp ${src}/fft/mkl/dfti.cpp ${src}/fft/mkl/mkl.cpp)
  target_link_libraries(weft_module PRIVATE FFTW::double FFTW::float)
  add_library(weft_fftw_early MODULE mkl/fftw_module.cpp ${src}/base/shared_library.cpp)
  add_library(weft_fftw_late MODULE mkl/fftw_module.cpp ${src}/base/shared_library.cpp)
  foreach(module weft_module weft_fftw_early weft_fftw_late)
    target_include_directories(${module} PRIVATE ${src} ${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${module} PRIVATE weft_settings FFTW::double ${CMAKE_DL_LIBS})
    target_link_options(${module} PRIVATE LINKER:-z,lazy)
  endforeach()
  add_executable(weft_mkl_host mkl/host.cpp)
  target_link_libraries(weft_mkl_host PRIVATE weft_settings ${CMAKE_DL_LIBS})
  add_test(NAME mkl_symbols COMMAND weft_mkl_host $<TARGET_FILE:weft_module> $<TARGET_FILE:weft_fftw_early>
    $<TARGET_FILE:weft_fftw_late>)
  set_tests_properties(mkl_symbols PROPERTIES SKIP_RETURN_CODE 77)
endif()
