# For scripts that are run as cmake -P SCRIPT -- COMMAND...: sets `command` to what follows the dashes.

set(command)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(separated)
    list(APPEND command ${CMAKE_ARGV${i}})
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(separated TRUE)
  endif()
endforeach()
