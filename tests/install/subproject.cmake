# Builds Rung in the folder of another project (parent/): the library alone, with all names prefixed, and
# without changes to that project. Then builds it as a library of the other kind, ${shared}, and uses it like
# use.cmake.

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(no_cuda ON)  # to save time
set(parent ${CMAKE_COMMAND} -G ${generator} -S ${CMAKE_CURRENT_LIST_DIR}/parent
  -D CMAKE_CXX_COMPILER=${cxx} -D CMAKE_C_COMPILER=${c})

# Sets <out> to the lines NAME:TYPE=VALUE of the cache entries that a user may set.
function(settings build out)
  file(STRINGS ${build}/CMakeCache.txt lines REGEX "^[A-Za-z].*:(BOOL|STRING|PATH|FILEPATH|UNINITIALIZED)=")
  set(${out} ${lines} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${work}/alone ${build})
run(${parent} -B ${work}/alone -D WITHOUT_RUNG=ON)
run(${parent} -B ${build} -D RUNG_SOURCE=${source} -D RUNG_CUDA=OFF)

# Ignores Rung's own names, the further elements of list values, and the results of find_package(PkgConfig).
settings(${work}/alone before)
settings(${build} after)
list(FILTER after EXCLUDE REGEX "^(RUNG_|rung_|PKG_CONFIG_|pkgcfg_lib_RUNG_|[0-9]+$)")
list(TRANSFORM before REPLACE "/alone(/|$)" "/BUILD\\1")
string(REPLACE "${build}" "${work}/BUILD" after "${after}")
list(FILTER before EXCLUDE REGEX "^WITHOUT_RUNG")
list(SORT before)
list(SORT after)
if(NOT before STREQUAL after)
  message(FATAL_ERROR "the parent's cache is changed. Before:\n${before}\nAfter:\n${after}")
endif()

file(STRINGS ${work}/alone/state before)
file(STRINGS ${build}/state after)
list(FILTER before EXCLUDE REGEX "^targets=")
set(targets ${after})
list(FILTER after EXCLUDE REGEX "^targets=")
if(NOT before STREQUAL after)
  message(FATAL_ERROR "the parent's variables are changed. Before:\n${before}\nAfter:\n${after}")
endif()
file(READ ${build}/state targets)
string(REGEX MATCH "^targets=([^\n]*)" matched "${targets}")
set(targets ${CMAKE_MATCH_1})
set(others ${targets})
list(FILTER others EXCLUDE REGEX "^(rung|parent)_")
list(LENGTH targets count)
if(others OR count LESS 4)
  message(FATAL_ERROR "targets without rung_ in front: ${others}; all: ${targets}")
endif()

# As a part of the parent's own build and installation, if the parent requests it. Sources that it compiles with
# exactly the commands of ${this_build} are not compiled again.
set(reuse)
if(python)
  set(reuse -D RUNG_REUSE=${this_build})
endif()
run(${parent} -B ${build} -D RUNG_INSTALL=ON -D BUILD_SHARED_LIBS=${shared}
  -D CMAKE_BUILD_TYPE=${build_type} -D RUNG_WERROR=${werror} ${reuse})
run(${CMAKE_COMMAND} --build ${build})
expect_output(${build}/parent_cpp)
expect_output(${build}/parent_blas)
include(${CMAKE_CURRENT_LIST_DIR}/use.cmake)
