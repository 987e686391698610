# The language, and compiler and linker flags: of the whole project, or of the virtual GPU alone.

get_filename_component(RUNG_ROOT .. ABSOLUTE BASE_DIR ${CMAKE_CURRENT_LIST_DIR})  # of the repository

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# The compiler must not create FMAs on its own: compensated sums depend on it. Sections let linkers drop what nothing
# calls.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off -ffunction-sections -fdata-sections)
if(RUNG_WERROR)
  add_compile_options(-Werror)
endif()
# Hardening, as distributions do it: tests/install/elf_test.py reads the binaries. A debugger needs
# the sources' whole paths; what is installed must not have them.
add_compile_options(-fstack-protector-strong
  $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${RUNG_ROOT}/=>)
# Visibility of the virtual GPU and the CPU kernels, which a library in wheels exports to the programs. All builds
# compile them by the same commands, so that a wheel can take over their objects (RUNG_REUSE). Version scripts hide what
# a library does not export; Apple's linker has none.
set(RUNG_SHARED_VISIBILITY hidden)
if(NOT APPLE)
  set(RUNG_SHARED_VISIBILITY default)
  add_compile_options(-fno-semantic-interposition)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
# GCC collects garbage later: large sources compile a tenth faster.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()
if(RUNG_SANITIZE)
  add_compile_options(-fsanitize=${RUNG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${RUNG_SANITIZE})
  # GCC warns wrongly about instrumented strings and <regex> (https://gcc.gnu.org/PR105616, PR105651), and
  # that ThreadSanitizer ignores fences: the virtual GPU never relies on a fence alone.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-tsan)
  endif()
endif()
# For code that is not time-critical, such as JSON and tables: -O3 costs more in compiling than it saves, and space in
# a wheel.
set(RUNG_COLD_CODE $<$<CONFIG:Release>:-Os>)
if(RUNG_PORTABLE)
  # Sections: libstdc++'s random_device, which nothing uses, asks for a newer glibc.
  add_link_options(-static-libstdc++ -Wl,--gc-sections)
  if(RUNG_PYTHON)
    include(OldGlibc)  # whose systems have a libgcc_s, too
  else()
    add_link_options(-static-libgcc)
  endif()
endif()

find_package(Threads REQUIRED)
