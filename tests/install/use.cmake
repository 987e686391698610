# Installs ${build} under ${work}/prefix, moves the tree, and builds and runs consumers against it, found by
# find_package and by pkg-config, in C++ and in C. If no_cuda is set, the build has no kernels for GPUs.

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(prefix ${work}/moved)
set(consumer ${CMAKE_CURRENT_LIST_DIR}/consumer)
file(REMOVE_RECURSE ${work}/prefix ${prefix} ${work}/consumer)
run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
file(RENAME ${work}/prefix ${prefix})

# find_package
run(${CMAKE_COMMAND} -G ${generator} -S ${consumer} -B ${work}/consumer
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${cxx} -D CMAKE_C_COMPILER=${c})
run(${CMAKE_COMMAND} --build ${work}/consumer)
expect_output(${work}/consumer/consumer_cpp)
expect_output(${work}/consumer/consumer_c)
expect_output(${work}/consumer/consumer_blas)

# Building, linking or starting a program that may use a GPU requires nothing of CUDA.
run(${work}/consumer/consumer_cuda)
if(no_cuda)
  set(cuda_says "^rung: this build has no CUDA kernels\n$")
else()
  set(cuda_says "^(usable|rung: (no |the NVIDIA driver here is too old).*)\n$")
endif()
if(NOT said MATCHES "${cuda_says}")
  message(FATAL_ERROR "consumer_cuda said: ${said}")
endif()

# pkg-config
set(ENV{PKG_CONFIG_PATH} ${prefix}/${libdir}/pkgconfig)
run(${pkg_config} --modversion rung)
if(NOT said STREQUAL "${version}\n")
  message(FATAL_ERROR "pkg-config says that the version is ${said}")
endif()
run(${pkg_config} --cflags --libs rung)
separate_arguments(rung_flags UNIX_COMMAND "${said}")
run(${pkg_config} --variable=libdir rung)
string(STRIP "${said}" folder)
set(rpath -Wl,-rpath,${folder})  # as documented in docs/library.md
run(${cxx} -std=c++20 ${consumer}/consumer.cpp ${rung_flags} ${rpath} -o ${work}/pc_cpp)
expect_output(${work}/pc_cpp)
run(${c} -std=c99 ${consumer}/consumer.c ${rung_flags} ${rpath} -o ${work}/pc_c)
expect_output(${work}/pc_c)

# The first program in docs/library.md.
file(READ ${source}/docs/library.md page)
string(REGEX MATCH "```cpp\n([^`]*)```" block "${page}")
file(WRITE ${work}/documented.cpp "${CMAKE_MATCH_1}")
run(${cxx} -std=c++20 ${work}/documented.cpp ${rung_flags} ${rpath} -o ${work}/documented)
run(${work}/documented)
if(NOT said STREQUAL "400, 60000\n")
  message(FATAL_ERROR "the program of docs/library.md said: ${said}")
endif()

message("installed, found and used: ${prefix}")
