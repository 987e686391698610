# Builds the library alone, shared or not and without kernels for GPUs, then does what use.cmake does.

file(REMOVE_RECURSE ${build})
set(configure ${CMAKE_COMMAND} -G ${generator} -S ${source} -B ${build}
  -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_COMPILER=${cxx} -D BUILD_SHARED_LIBS=${shared}
  -D RUNG_BUILD_TOOLS=OFF -D RUNG_BUILD_TESTS=OFF -D RUNG_CUDA=OFF)
set(no_cuda ON)
set(compile ${CMAKE_COMMAND} --build ${build} --target rung_library rung_blas)
foreach(step configure compile)
  execute_process(COMMAND ${${step}} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${step} failed:\n${said}")
  endif()
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/use.cmake)
