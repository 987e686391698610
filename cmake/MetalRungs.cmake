# Metal rungs, compiled to PTX for the virtual GPU by the front end that compiles kernels of the user's
# (emu/compile/metal), with the clang that compiles CUDA rungs. Apple's compiler is not needed.

# The front end needs clang 19, and is built with the tools.
rung_compiler_version(${RUNG_CLANG} "clang version ([0-9.]+)" RUNG_METAL_CLANG_VERSION)
if(RUNG_METAL_CLANG_VERSION VERSION_LESS 19 OR NOT RUNG_BUILD_TOOLS)
  set(RUNG_METAL_CLANG_VERSION)
  message(STATUS "Metal rungs need clang 19 or later and RUNG_BUILD_TOOLS; this build has none of them")
endif()

# Adds the command that writes the one text of ladder/<name>, its headers in it.
function(rung_metal_text name output)
  set(script ${PROJECT_SOURCE_DIR}/cmake/FlattenMetal.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D NAME=ladder/${name} -D ROOT=${PROJECT_SOURCE_DIR}
            -D OUTPUT=${output} -P ${script}
    DEPENDS ${PROJECT_SOURCE_DIR}/ladder/${name} ${script}
    DEPFILE ${output}.d
    COMMENT "One text: ${name}"
    VERBATIM)
endfunction()

# Adds the command that compiles such a text to `output`.
function(rung_metal_command text name output)
  file(GLOB library CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/emu/metal/*.h)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E env RUNG_CLANG=${RUNG_CLANG}
            $<TARGET_FILE:rung_metal_compiler> ${text} ladder/${name} ${output}
    DEPENDS ${text} rung_metal_compiler ${library}
    COMMENT "clang: ${name} to PTX"
    VERBATIM)
endfunction()

# metal_rungs(<target> <op>...): adds to the target the host side of every rung of
# ladder/<op>/metal, and one generated source that holds their texts and their PTX, as the tables of
# backends/metal/images.hpp.
function(metal_rungs target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/metal)
  set(all_sources)
  set(bytes)
  set(texts)
  set(table)
  set(files)
  foreach(op IN LISTS ARGN)
    rung_sources(${op} metal metal sources)
    list(APPEND all_sources ${sources})
    foreach(source IN LISTS sources)
      get_filename_component(slug ${source} NAME_WE)
      set(name ${op}/metal/${slug})
      set(symbol ${op}_metal_${slug})
      rung_metal_text(${name}.metal ${folder}/${symbol}.metal)
      list(APPEND files ${folder}/${symbol}.metal)
      string(APPEND bytes "RUNG_EMBED(${symbol}_text, \"${folder}/${symbol}.metal\")\n")
      string(APPEND texts "    {\"${name}\", RUNG_EMBEDDED(${symbol}_text)},\n")
      if(NOT RUNG_METAL_CLANG_VERSION)
        continue()
      endif()
      rung_metal_command(${folder}/${symbol}.metal ${name}.metal ${folder}/${symbol})
      list(APPEND files ${folder}/${symbol})
      string(APPEND bytes "RUNG_EMBED(${symbol}_ptx, \"${folder}/${symbol}\")\n")
      string(APPEND table "    {\"${name}\", RUNG_EMBEDDED(${symbol}_ptx)},\n")
    endforeach()
  endforeach()
  set_source_files_properties(${all_sources} PROPERTIES LANGUAGE CXX)
  set(generated ${folder}/images.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/metal_images.cpp.in ${generated} @ONLY)
  set_source_files_properties(${generated} PROPERTIES OBJECT_DEPENDS "${files}")
  target_sources(${target} PRIVATE ${all_sources} ${generated})
endfunction()
