# The text of every rung, and of other files, inside the program.

# embed_rungs(<target> <op>/<backend>/*.<extension>...): adds one generated source for each rung to
# the target, and to its include path embedded_rungs.inc, with one line for each rung, in order:
# EMBEDDED_RUNG("<id>", <identifier>), the identifier being that of a std::string_view in rung::embedded.
function(embed_rungs target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
  set(lines)
  foreach(ladder IN LISTS ARGN)
    string(REGEX MATCH "^([a-z]+)/([a-z]+)/[*][.]([a-z]+)$" matched ${ladder})
    set(op ${CMAKE_MATCH_1})
    set(backend ${CMAKE_MATCH_2})
    rung_sources(${op} ${backend} ${CMAKE_MATCH_3} sources)
    foreach(source IN LISTS sources)
      get_filename_component(slug ${source} NAME_WE)
      set(identifier ${op}_${backend}_${slug})
      if(op STREQUAL "sum")  # the text is that of the dot product's rung
        string(APPEND lines "EMBEDDED_RUNG(\"${op}/${backend}/${slug}\", dot_${backend}_${slug})\n")
        continue()
      endif()
      set(output ${folder}/${identifier}.cpp)
      add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D INPUT=${source} -D OUTPUT=${output} -D IDENTIFIER=${identifier}
                -P ${script}
        DEPENDS ${source} ${script}
        COMMENT "Embedding ${op}/${backend}/${slug}"
        VERBATIM)
      target_sources(${target} PRIVATE ${output})
      string(APPEND lines "EMBEDDED_RUNG(\"${op}/${backend}/${slug}\", ${identifier})\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/embedded_rungs.inc CONTENT "${lines}" @ONLY)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()

# embed_file(<target> <file> <identifier>): its text as rung::embedded::<identifier>.
function(embed_file target file identifier)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${identifier}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${source} -D OUTPUT=${output} -D IDENTIFIER=${identifier}
            -P ${script}
    DEPENDS ${source} ${script}
    COMMENT "Embedding ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
