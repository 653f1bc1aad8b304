# Looks for Intel MKL where pip puts it, beside the Python interpreter, as a test program cannot know that; found or not,
# nothing of it is compiled or linked. Sets mkl_environment: what tests need in their environment to use it, and that they
# have to, but for the sanitizers, to whom MKL's code says nothing.
set(mkl_environment)
if(DEFINED ENV{WEFT_MKL_LIBRARY} OR NOT WEFT_MKL)
  return()
endif()
find_program(WEFT_TEST_PYTHON python3)  # the one that tools/setup used
mark_as_advanced(WEFT_TEST_PYTHON)
if(WEFT_TEST_PYTHON)
  execute_process(COMMAND ${WEFT_TEST_PYTHON} -c "import sys; print(sys.prefix)" OUTPUT_VARIABLE prefix
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${WEFT_TEST_PYTHON} -m site --user-base OUTPUT_VARIABLE user_base
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_file(WEFT_TEST_MKL_LIBRARY NAMES libmkl_rt.so.2 libmkl_rt.so.1 libmkl_rt.so.3
    PATHS ${prefix}/lib ${prefix}/local/lib ${user_base}/lib NO_DEFAULT_PATH)
  mark_as_advanced(WEFT_TEST_MKL_LIBRARY)
endif()
if(WEFT_TEST_MKL_LIBRARY)
  set(mkl_environment "WEFT_MKL_LIBRARY=${WEFT_TEST_MKL_LIBRARY}")
  if(NOT WEFT_SANITIZE)
    list(APPEND mkl_environment "WEFT_TEST_MKL=required")
  endif()
endif()
