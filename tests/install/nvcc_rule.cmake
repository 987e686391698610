# cmake -D RULE=cmake/Nvcc.cmake -D FOLDER=… -P nvcc_rule.cmake: the build and the tests must ignore an nvcc
# that does not run, and use one that prints its version.

function(look_with text status version working)
  file(WRITE ${FOLDER}/nvcc "#!/bin/sh\necho '${text}'\nexit ${status}\n")
  file(CHMOD ${FOLDER}/nvcc PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(RUNG_NVCC ${FOLDER}/nvcc)
  include(${RULE})
  if(NOT "${RUNG_NVCC_VERSION}" STREQUAL "${version}" OR NOT "${RUNG_WORKING_NVCC}" STREQUAL "${working}")
    message(FATAL_ERROR "an nvcc that prints '${text}' gives version '${RUNG_NVCC_VERSION}' and nvcc "
      "'${RUNG_WORKING_NVCC}'")
  endif()
endfunction()

look_with("Cuda compilation tools, release 13.0, V13.0.88" 0 13.0.88 ${FOLDER}/nvcc)
look_with("nvcc: error while loading shared libraries" 127 "" "")
