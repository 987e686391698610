# Installs ${build} under ${work}/prefix, moves the tree, and runs a CUDA program with the installed `rung emu`:
# with the installed headers and runtime library, from a folder that has neither.

set(prefix ${work}/moved)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work}/elsewhere)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "cmake --install failed:\n${said}")
endif()
file(RENAME ${work}/prefix ${prefix})

execute_process(COMMAND ${prefix}/${bindir}/rung emu ${program} WORKING_DIRECTORY ${work}/elsewhere
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE told)
if(NOT status EQUAL 0 OR NOT said STREQUAL "1000 elements, 0 wrong, timed: yes\n")
  message(FATAL_ERROR "rung emu ended with ${status} and said:\n${said}${told}")
endif()

# A kernel that starts from a rung compiles with the installed headers of the rungs, too.
execute_process(COMMAND ${prefix}/${bindir}/rung new my_gemm.cu --from gemm/cuda/09 --force
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET WORKING_DIRECTORY ${work}/elsewhere)
execute_process(COMMAND ${prefix}/${bindir}/rung check my_gemm.cu WORKING_DIRECTORY ${work}/elsewhere
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE told)
if(NOT status EQUAL 0 OR NOT said MATCHES "right in 27 cases")
  message(FATAL_ERROR "rung check ended with ${status} and said:\n${said}${told}")
endif()

# Without its headers, it names the missing files instead of using those of the build.
file(RENAME ${prefix}/${libdir}/rung/emu/include ${prefix}/headers)
execute_process(COMMAND ${prefix}/${bindir}/rung emu ${program} WORKING_DIRECTORY ${work}/elsewhere
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE told)
if(NOT status EQUAL 3 OR NOT told MATCHES "librung_emu.so and its headers are neither in")
  message(FATAL_ERROR "rung emu without its headers ended with ${status} and said:\n${told}")
endif()
