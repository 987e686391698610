# cmake -D PREFIX=FOLDER/ -P NvccToPtx.cmake -- COMMAND... -o OUTPUT: runs nvcc, then takes the
# prefix off the names of files in its PTX. nvcc has no -ffile-prefix-map, and the names of the
# machine that built it do not belong into the library.

set(command)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(separated)
    list(APPEND command ${CMAKE_ARGV${i}})
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(separated TRUE)
  endif()
endforeach()
set(output ${CMAKE_ARGV${last}})

execute_process(COMMAND ${command} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(REMOVE ${output})
  message(FATAL_ERROR " nvcc failed: ${status}")
endif()
file(READ ${output} text)
string(REPLACE "\"${PREFIX}" "\"" text "${text}")
file(WRITE ${output} "${text}")
