# Sets up what the whole project's CMakeLists.txt does for the virtual GPU, when it is built without that.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
option(RUNG_BUILD_TESTS "Build the tests" ON)
option(RUNG_WERROR "Treat warnings as errors" OFF)
set(RUNG_SANITIZE "" CACHE STRING "Sanitizers to build with, as in -fsanitize=")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_SOURCE_DIR}/../cmake)

find_package(PkgConfig REQUIRED)
pkg_check_modules(RUNG_HWY REQUIRED libhwy)
include(Flags)
include(Nvcc)
include(Precompiled)
include(Fmt)
