# Programs and libraries that run on glibc 2.28 and later (manylinux_2_28), built on a newer one: an
# object (old_glibc.c) that takes the place of what the newer glibc has under new versions. Every link
# has it. It is made at configuration, because CMake has no target that all others link without naming it.

if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  return()
endif()
set(old_glibc_source ${PROJECT_SOURCE_DIR}/cmake/old_glibc.c)
set(old_glibc_object ${PROJECT_BINARY_DIR}/old_glibc.o)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${old_glibc_source})
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -x c -std=gnu11 -O2 -fPIC -fno-builtin
    -Wall -Wextra -Werror -ffunction-sections -c ${old_glibc_source} -o ${old_glibc_object}
  COMMAND_ERROR_IS_FATAL ANY)
# Before 2.34, these libraries have what libc has since.
set(CMAKE_CXX_STANDARD_LIBRARIES "${CMAKE_CXX_STANDARD_LIBRARIES} ${old_glibc_object} \
-Wl,--push-state,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 -Wl,--pop-state")
