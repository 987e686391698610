# The ladders, read from the rungs.inc of each folder: the one list that everything derives from.

# Sets <out> to the source files (absolute) of kernels/<op>/<backend>, in ladder order.
function(rung_sources op backend extension out)
  set(folder ${PROJECT_SOURCE_DIR}/kernels/${op}/${backend})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/rungs.inc)
  file(STRINGS ${folder}/rungs.inc lines REGEX "^RUNG\\(")
  set(files)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^RUNG\\(([0-9]+), *([a-z0-9_]+)\\).*" "\\1_\\2" slug "${line}")
    list(APPEND files ${folder}/${slug}.${extension})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()
