# Packs and embeds the compiled CUDA kernels: two tables of images, "all" and "selected", which the
# functions below fill line by line.

# Sets <out> to the ids of the rungs that selection can choose, as its tables name them.
function(rung_selected_ids out)
  set(tables ${PROJECT_SOURCE_DIR}/select/cuda/tables.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables})
  file(STRINGS ${tables} lines REGEX "RungIndex::")
  set(ids)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "RungIndex::([a-z]+)_([a-z0-9_]+)" matched "${line}")
    list(APPEND ids ${CMAKE_MATCH_1}/cuda/${CMAKE_MATCH_2})
  endforeach()
  set(${out} ${ids} PARENT_SCOPE)
endfunction()

# Sets <out> to the index, in the list of a rung's units, of an earlier one with kernels similar to those
# of <unit>, or to -1.
function(rung_similar_unit unit units out)
  set(twin_of_f16 bf16)
  set(twin_of_f16_f16 bf16_bf16)
  set(twin_of_e5m2 e4m3)
  list(FIND units ${unit} own)
  list(FIND units "${twin_of_${unit}}" index)
  if(index EQUAL -1 OR index GREATER own)
    set(index 0)
  endif()
  if(own EQUAL 0)
    set(index -1)
  endif()
  set(${out} ${index} PARENT_SCOPE)
endfunction()

# Adds an image of a rung to a table: packs what rung_cuda_unit made for each unit, with the
# options of rung_pack that follow, and embeds it. <image> is "<code>:<architecture>", <ids>
# are those of all rungs in it. Kernels of one type are much like those of another: units are packed as
# their difference from a type of the same size or, without an earlier one of that size, from the first.
function(rung_add_image table stem image units ids)
  string(REGEX MATCH "(.+):([0-9]+)(a?)" matched ${image})
  set(code ${CMAKE_MATCH_1})
  set(arch ${CMAKE_MATCH_2})
  set(specific ${CMAKE_MATCH_3})
  set(name ${stem}_${code}_${arch}${specific})
  set(modules)
  set(options ${ARGN})
  if(RUNG_PYTHON OR table STREQUAL selected)  # a wheel is small, and so is librung
    list(APPEND options --small)
  endif()
  foreach(unit IN LISTS units)
    set(path ${name})
    set(dtype "{}")
    if(NOT unit STREQUAL all)
      set(path ${unit}/${name})
      set(dtype "Dtype::${unit}")
    endif()
    set(file ${RUNG_CUDA_FOLDER}/${path})
    set(packed ${CMAKE_CURRENT_BINARY_DIR}/cuda/${path}.${table}.packed)
    set(symbol rung_${unit}_${name})
    set(like)
    set(other)
    set(pointer)
    rung_similar_unit(${unit} "${units}" index)
    if(NOT index EQUAL -1)
      list(GET units ${index} twin)
      set(other ${RUNG_CUDA_FOLDER}/${twin}/${name})
      set(like --like ${other})
      set(pointer ", &${name}[${index}]")
    endif()
    add_custom_command(OUTPUT ${packed}
      COMMAND rung_pack ${options} ${like} ${file} ${packed}
      DEPENDS ${file} ${other} rung_pack
      COMMENT "Packing ${packed}"
      VERBATIM)
    set_property(GLOBAL APPEND PROPERTY rung_${table}_files ${packed})
    set_property(GLOBAL APPEND_STRING PROPERTY rung_${table}_bytes
      "RUNG_EMBED(${symbol}, \"${packed}\")\n")
    string(APPEND modules "{${dtype}, RUNG_EMBEDDED(${symbol})${pointer}}, ")
  endforeach()
  set_property(GLOBAL APPEND_STRING PROPERTY rung_${table}_units
    "  static const Unit ${name}[] = {${modules}};\n")
  if(specific)
    set(specific ", true")
  endif()
  foreach(id IN LISTS ids)
    set_property(GLOBAL APPEND_STRING PROPERTY rung_${table}_table
      "      {\"${id}\", Code::${code}, ${arch}, ${name}${specific}},\n")
  endforeach()
endfunction()

# Makes a library of objects of a table: one generated source with a function of that name.
function(rung_images_library target which function)
  foreach(part bytes units table files)
    get_property(${part} GLOBAL PROPERTY rung_${which}_${part})
  endforeach()
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/cuda/${target}.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/cuda_images.cpp.in ${generated} @ONLY)
  set_source_files_properties(${generated} PROPERTIES OBJECT_DEPENDS "${files}")
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${generated})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
endfunction()
