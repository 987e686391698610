# cmake -D NM=… -D LIBRARY=librung_emu.so -D OUTPUT=names.inc -P names.cmake: a line CALL(name) for each function of the
# driver that the library exports.
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " cu[A-Z][A-Za-z0-9_]*" names "${symbols}")
list(TRANSFORM names REPLACE " (.*)" "CALL(\\1)\n")
list(REMOVE_DUPLICATES names)
string(JOIN "" text ${names})
file(WRITE ${OUTPUT} "${text}")
