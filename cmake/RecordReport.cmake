# cmake -D REPORT=FILE -P RecordReport.cmake -- COMMAND...: runs the command and writes its output
# to FILE, which is shown only if the command fails.

include(${CMAKE_CURRENT_LIST_DIR}/TrailingCommand.cmake)

execute_process(COMMAND ${command}
  OUTPUT_FILE ${REPORT} ERROR_FILE ${REPORT} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(READ ${REPORT} report)
  list(GET command 0 program)
  message("${report}")
  message(FATAL_ERROR " ${program} failed: ${status}")
endif()
