# cmake -D BINARY=… -D OBJDUMP=… -P CheckPortable.cmake: fails if BINARY needs more than glibc 2.35.

execute_process(COMMAND ${OBJDUMP} -p ${BINARY}
  OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED +[^\n]+" needed "${headers}")
list(TRANSFORM needed REPLACE "NEEDED +" "")
list(FILTER needed EXCLUDE REGEX "^(libc|libm|libdl|libpthread|librt|ld-linux[a-z0-9_-]*)\\.so")
string(REGEX MATCHALL "GLIBC_[0-9.]+" versions "${headers}")
list(REMOVE_DUPLICATES versions)
foreach(version IN LISTS versions)
  string(REPLACE GLIBC_ "" number ${version})
  if(number VERSION_GREATER 2.35)
    list(APPEND needed ${version})
  endif()
endforeach()
if(needed)
  list(JOIN needed ", " needed)
  file(REMOVE ${BINARY})  # or the next build would take it for good
  message(FATAL_ERROR " ${BINARY} is not portable: beyond glibc 2.35 it needs ${needed}")
endif()
