# librung_cub.so, if nvcc is installed: `make cub`. Not built by default, because compiling takes
# minutes and only GPU benchmarks use it. Built into the directory of the program.

if(NOT RUNG_WORKING_NVCC)
  return()
endif()

set(folder ${CMAKE_CURRENT_SOURCE_DIR}/peers/cub)
set(library ${RUNG_PROGRAMS_FOLDER}/librung_cub.so)
set(architectures ${RUNG_CUDA_ARCHITECTURES})
list(TRANSFORM architectures REPLACE "(.+)" "-gencode=arch=compute_\\1,code=sm_\\1")
add_custom_command(OUTPUT ${library}
  COMMAND ${RUNG_WORKING_NVCC} -O3 -std=c++20 -shared -Xcompiler -fPIC,-static-libstdc++,-static-libgcc -cudart static ${architectures}
          -I${PROJECT_SOURCE_DIR} ${folder}/shim.cu -o ${library}
  DEPENDS ${folder}/shim.cu ${folder}/shim.h
  COMMENT "nvcc: CUB, for the bench"
  VERBATIM)
add_custom_target(rung_cub DEPENDS ${library})
