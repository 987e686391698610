# cmake -D PREFIX=FOLDER/ -P NvccToPtx.cmake -- COMMAND... -o OUTPUT: runs nvcc, then takes the
# prefix off the names of files in its PTX. nvcc has no -ffile-prefix-map, and the library must not
# contain paths of the build machine.

include(${CMAKE_CURRENT_LIST_DIR}/TrailingCommand.cmake)
list(GET command -1 output)

execute_process(COMMAND ${command} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(REMOVE ${output})
  message(FATAL_ERROR " nvcc failed: ${status}")
endif()
file(READ ${output} text)
string(REPLACE "\"${PREFIX}" "\"" text "${text}")
file(WRITE ${output} "${text}")
