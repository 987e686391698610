# librung_cub.so, where nvcc is: `make cub`. Not built with the rest, for it takes minutes and only
# the bench on a GPU has a use for it. It lies beside the program.

if(NOT RUNG_WORKING_NVCC)
  return()
endif()

set(folder ${CMAKE_CURRENT_SOURCE_DIR}/peers/cub)
set(library ${PROJECT_BINARY_DIR}/librung_cub.so)
set(architectures ${RUNG_CUDA_ARCHITECTURES})
list(TRANSFORM architectures REPLACE "(.+)" "-gencode=arch=compute_\\1,code=sm_\\1")
add_custom_command(OUTPUT ${library}
  COMMAND ${RUNG_WORKING_NVCC} -O3 -std=c++20 -shared -Xcompiler -fPIC,-static-libstdc++,-static-libgcc -cudart static ${architectures}
          -I${PROJECT_SOURCE_DIR}/src ${folder}/shim.cu -o ${library}
  DEPENDS ${folder}/shim.cu ${folder}/shim.h
  COMMENT "nvcc: CUB, for the bench"
  VERBATIM)
add_custom_target(rung_cub DEPENDS ${library})
