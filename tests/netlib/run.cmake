# Runs one netlib program on librung_blas: it must report that the routine passed, and the dynamic linker must
# report that librung_blas provided the routine. Arguments: see CMakeLists.txt.

file(GLOB path /usr/lib/*/blas/${program})
if(NOT path)
  message("SKIPPED: ${program} is not installed (Debian and Ubuntu package libblas-test)")
  return()
endif()
get_filename_component(reference ${path} DIRECTORY)

file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})
set(input_file /dev/null)
if(input)
  set(input_file ${work}/${input})
  configure_file(${source}/${input} ${input_file} @ONLY)
endif()

# The programs take other routines from the reference BLAS in their own folder.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env
    LD_PRELOAD=${library} LD_LIBRARY_PATH=${reference} LD_DEBUG=bindings ${path}
  INPUT_FILE ${input_file}
  OUTPUT_FILE ${work}/stdout
  ERROR_FILE ${work}/bindings
  WORKING_DIRECTORY ${work}
  RESULT_VARIABLE status)

set(report)
foreach(name stdout summary.out)  # the Fortran programs choose the name of their output themselves
  if(EXISTS ${work}/${name})
    file(READ ${work}/${name} text)
    string(APPEND report "${text}")
  endif()
endforeach()

function(expect pattern)
  if(NOT report MATCHES "${pattern}")
    message(FATAL_ERROR "${program} does not say '${pattern}', but:\n${report}")
  endif()
endfunction()

if(NOT status EQUAL 0 OR report MATCHES "FAIL|SUSPECT")
  message(FATAL_ERROR "${program} ended with ${status} and said:\n${report}")
endif()
if(program MATCHES "1")
  expect("${routine} *\n *----- PASS -----")
else()
  expect("${routine} +PASSED THE TESTS OF ERROR-EXITS")
  if(program MATCHES "^x[sd]c")
    expect("${routine} +PASSED THE COLUMN-MAJOR COMPUTATIONAL TESTS \\( *41472 CALLS\\)")
    expect("${routine} +PASSED THE ROW-MAJOR +COMPUTATIONAL TESTS \\( *41472 CALLS\\)")
  else()
    expect("${routine} +PASSED THE COMPUTATIONAL TESTS \\( *41472 CALLS\\)")
  endif()
endif()

file(STRINGS ${work}/bindings bound REGEX "/${program} .*normal symbol `${symbol}'")
string(FIND "${bound}" " to ${library} " ours)
if(ours EQUAL -1)
  message(FATAL_ERROR "${program} did not take ${symbol} from ${library}, but:\n${bound}")
endif()
message("${program}: ${routine} passed")
