# cmake -D ARCH=100a -P ClangToPtx.cmake -- COMMAND... -o OUTPUT: runs clang, then names the architecture in its
# PTX. clang 19 knows no target after sm_90a, so the command compiles for that one; instructions of later ones are
# inline assembly, which passes through.

include(${CMAKE_CURRENT_LIST_DIR}/TrailingCommand.cmake)
list(GET command -1 output)

execute_process(COMMAND ${command} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(REMOVE ${output})
  message(FATAL_ERROR " clang failed: ${status}")
endif()
file(READ ${output} text)
string(REGEX REPLACE "\n\\.version [0-9.]+" "\n.version 8.6" text "${text}")  # the first with sm_100a
string(REGEX REPLACE "\n\\.target sm_90a" "\n.target sm_${ARCH}" text "${text}")
file(WRITE ${output} "${text}")
