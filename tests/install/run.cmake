# Functions that run commands, which must succeed; `said` receives their output.

function(run)
  execute_process(COMMAND ${ARGV}
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said COMMAND_ECHO NONE)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "${command}\nended with ${status}:\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

function(expect_output)
  run(${ARGV})
  if(NOT said STREQUAL "rung ${version}: 19 22 43 50, 70\n")
    message(FATAL_ERROR "${ARGV} said: ${said}")
  endif()
endfunction()
