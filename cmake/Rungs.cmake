# Reads the ladders and the library's kernels from the list in each of their folders.

# Sets <out> to the source files (absolute) of ladder/<op>/<backend>, in ladder order. The rungs of
# op sum are those of dot that its sums.inc lists.
function(rung_sources op backend extension out)
  set(list rungs.inc)
  if(op STREQUAL "sum")
    set(op dot)
    set(list sums.inc)
  endif()
  rung_listed_sources(ladder/${op}/${backend}/${list} ${extension} files)
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Sets <out> to the source files of kernels/<op>/<backend>: kernels of the library that are on no ladder.
function(kernel_sources op backend extension out)
  set(files)
  if(EXISTS ${PROJECT_SOURCE_DIR}/kernels/${op}/${backend}/kernels.inc)
    rung_listed_sources(kernels/${op}/${backend}/kernels.inc ${extension} files)
  endif()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Sets <out> to the files that the lines RUNG(NN, idea) and KERNEL(name) of a list name.
function(rung_listed_sources list extension out)
  set(path ${PROJECT_SOURCE_DIR}/${list})
  get_filename_component(folder ${path} DIRECTORY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(STRINGS ${path} lines REGEX "^(RUNG|KERNEL)\\(")
  set(files)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[A-Z]+\\(([a-z0-9_, ]+)\\).*" "\\1" slug "${line}")
    string(REPLACE ", " "_" slug "${slug}")
    list(APPEND files ${folder}/${slug}.${extension})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()
