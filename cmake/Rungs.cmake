# The ladders, read from the rungs.inc of each folder: the one list that everything derives from.

# Sets <out> to the source files (absolute) of kernels/<op>/<backend>, in ladder order. The rungs of
# op sum are those of dot that its sums.inc lists.
function(rung_sources op backend extension out)
  set(list rungs.inc)
  if(op STREQUAL "sum")
    set(op dot)
    set(list sums.inc)
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/kernels/${op}/${backend})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${list})
  file(STRINGS ${folder}/${list} lines REGEX "^RUNG\\(")
  set(files)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^RUNG\\(([0-9]+), *([a-z0-9_]+)\\).*" "\\1_\\2" slug "${line}")
    list(APPEND files ${folder}/${slug}.${extension})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()
