# Embeds the text of every rung and of every library kernel into the program.

# embed_rungs(<source> <op>/<backend>/*.<extension>...): gives the source, of this folder's target, the
# file embedded_rungs.inc: a RUNG_EMBED (core/embed.hpp) for each file, and RUNG_TEXTS, the entries
# {"<id>", <text>}: all ladders in order, then the library's kernels.
function(embed_rungs source)
  set(embeds)
  set(entries)
  set(files)
  foreach(kind rung kernel)
    foreach(ladder IN LISTS ARGN)
      string(REGEX MATCH "^([a-z]+)/([a-z]+)/[*][.]([a-z]+)$" matched ${ladder})
      set(op ${CMAKE_MATCH_1})
      set(backend ${CMAKE_MATCH_2})
      cmake_language(CALL ${kind}_sources ${op} ${backend} ${CMAKE_MATCH_3} sources)
      foreach(file IN LISTS sources)
        get_filename_component(slug ${file} NAME_WE)
        set(symbol text_${op}_${backend}_${slug})
        if(op STREQUAL "sum")  # the text is that of the dot product's rung
          set(symbol text_dot_${backend}_${slug})
        else()
          string(APPEND embeds "RUNG_EMBED(${symbol}, \"${file}\")\n")
          list(APPEND files ${file})
        endif()
        list(APPEND entries "{\"${op}/${backend}/${slug}\", RUNG_EMBEDDED(${symbol})}")
      endforeach()
    endforeach()
  endforeach()
  list(JOIN entries ", \\\n  " entries)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${folder}/embedded_rungs.inc
    CONTENT "${embeds}#define RUNG_TEXTS \\\n  ${entries}\n" @ONLY)
  set_source_files_properties(${source} PROPERTIES
    INCLUDE_DIRECTORIES ${folder}
    OBJECT_DEPENDS "${files}")
endfunction()
