# nvcc is optional. The kernels' build and the tests find it by this rule:
#   RUNG_NVCC_VERSION      of the nvcc in RUNG_NVCC; empty if it is missing or does not run
#   RUNG_WORKING_NVCC      that nvcc; empty likewise

# Sets <out> to the version of a compiler, from its output.
function(rung_compiler_version compiler pattern out)
  execute_process(COMMAND ${compiler} --version OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX MATCH "${pattern}" matched "${text}")
  set(${out} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

set(RUNG_NVCC_VERSION)
set(RUNG_WORKING_NVCC)
if(RUNG_REUSE)  # its kernels are those of its nvcc, or of none
  load_cache(${RUNG_REUSE} READ_WITH_PREFIX built_with_ RUNG_NVCC)
  set(RUNG_NVCC ${built_with_RUNG_NVCC})
endif()
find_program(RUNG_NVCC NAMES nvcc PATHS /usr/local/cuda/bin DOC "NVIDIA's compiler; optional")
if(RUNG_NVCC)
  rung_compiler_version(${RUNG_NVCC} "V([0-9.]+)" RUNG_NVCC_VERSION)
  if(RUNG_NVCC_VERSION)
    set(RUNG_WORKING_NVCC ${RUNG_NVCC})
  else()
    message(WARNING "${RUNG_NVCC} prints no version and is not used; -D RUNG_NVCC=… names another")
  endif()
endif()
