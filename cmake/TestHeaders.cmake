# How tests are compiled, their precompiled headers, and which of them `make test` runs: include() it where
# tests begin.

find_package(GTest REQUIRED)

# Tests spend their time in the tested code, which is compiled elsewhere.
set(RUNG_TEST_CODE $<$<CONFIG:Release>:-O0>)
add_compile_options(${RUNG_TEST_CODE})
if(RUNG_COMPILED_TOGETHER)  # a file's constants may have the names of another file's local variables
  add_compile_options(-Wno-shadow)
endif()
if(RUNG_SANITIZE)  # long tests then run fewer cases
  add_compile_definitions(RUNG_SANITIZED)
endif()
# For executables: they are compiled with -fPIE.
rung_precompiled(rung_test_headers ${RUNG_PRECOMPILED} <gtest/gtest.h>
  OPTIONS ${RUNG_TEST_CODE} ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
set_target_properties(rung_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_link_libraries(rung_test_headers PUBLIC GTest::gtest_main)

# rung_test_objects(<name> <sources...>): objects that several test programs link, with the precompiled headers.
function(rung_test_objects name)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  target_link_libraries(${name} PUBLIC rung_fmt GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM rung_test_headers)
endfunction()

# Three labels divide the tests. `make test` leaves out the label sweep, tests that take long. `make test-all` leaves
# out the label sample, parts of sweeps that `make test` runs in their place. Both leave out the label single: one
# test of a program in a process of its own, where test all.<name> runs the whole program in one.

# rung_all(<name> <program>)
function(rung_all name program)
  add_test(NAME all.${name} COMMAND ${program})
  set_tests_properties(all.${name} PROPERTIES COST 20)
endfunction()

# rung_sweep(<tests...>)
function(rung_sweep)
  set_tests_properties(${ARGN} PROPERTIES LABELS sweep)
endfunction()

# rung_sample(<name> <command...> [EVERY <n>] [COST <seconds>] [ENVIRONMENT <variables...>]): test sample.<name>;
# with EVERY, a GoogleTest program runs every n-th of its tests. CTest starts tests of high cost first.
function(rung_sample name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EVERY;COST" "ENVIRONMENT")
  add_test(NAME sample.${name} COMMAND ${arg_UNPARSED_ARGUMENTS})
  if(arg_EVERY)
    list(APPEND arg_ENVIRONMENT GTEST_TOTAL_SHARDS=${arg_EVERY} GTEST_SHARD_INDEX=0)
  endif()
  set_tests_properties(sample.${name} PROPERTIES
    LABELS sample COST "${arg_COST}" ENVIRONMENT "${arg_ENVIRONMENT}" SKIP_RETURN_CODE 77)
endfunction()
