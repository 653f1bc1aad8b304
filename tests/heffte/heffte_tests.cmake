# The tests of heFFTe's interface. They find it as heFFTe's users do, in a folder that has heffte.h.
set(folder ${PROJECT_SOURCE_DIR}/include/weft/heffte)

add_executable(weft_heffte_tests mpi/main.cpp heffte/geometry_test.cpp heffte/transforms_test.cpp)
target_include_directories(weft_heffte_tests PRIVATE ${folder})
target_compile_options(weft_heffte_tests PRIVATE -O0)
target_link_libraries(weft_heffte_tests PRIVATE weft weft_settings GTest::gtest)
add_executable(weft_heffte_c_test heffte/c_interface_test.c)
target_include_directories(weft_heffte_c_test PRIVATE ${folder})
target_link_libraries(weft_heffte_c_test PRIVATE weft m)
set_target_properties(weft_heffte_c_test PROPERTIES C_STANDARD 99 LINKER_LANGUAGE CXX)

foreach(ranks 1 2 3 4)
  mpi_test(heffte_mpi_${ranks} ${ranks} $<TARGET_FILE:weft_heffte_tests>)
  mpi_test(heffte_c_mpi_${ranks} ${ranks} $<TARGET_FILE:weft_heffte_c_test>)
endforeach()
