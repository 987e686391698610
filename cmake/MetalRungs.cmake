# Metal rungs, compiled to PTX for the virtual GPU by the clang that compiles CUDA rungs
# (cmake/CudaRungs.cmake). Apple's compiler is not needed.

# clang 17 is the first whose C++ makes entries of PTX.
rung_compiler_version(${RUNG_CLANG} "clang version ([0-9.]+)" RUNG_METAL_CLANG_VERSION)
if(RUNG_METAL_CLANG_VERSION VERSION_LESS 17)
  set(RUNG_METAL_CLANG_VERSION)
  message(STATUS "Metal rungs need clang 17 or later; this build has none of them")
endif()

# C++14, as Apple's compiler has it. What device and threadgroup point to are different types. The
# version of PTX is that of sm_80: without a CUDA toolkit, clang takes an older one by itself.
set(RUNG_METAL_FLAGS --target=nvptx64-nvidia-cuda -march=sm_80 -Xclang -target-feature -Xclang +ptx70
  -x c++ -std=c++14 -nostdinc
  -fno-exceptions -fno-rtti -Xclang -fconvergent-functions -D__METAL_VERSION__=320
  -I${PROJECT_SOURCE_DIR}/src/vgpu/frontends/metal/include -I${PROJECT_SOURCE_DIR}/kernels
  -Wall -Wextra -Werror -Wno-unused-const-variable -Wno-duplicate-decl-specifier -gline-tables-only
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

set_property(GLOBAL PROPERTY RUNG_METAL_FLAGS ${RUNG_METAL_FLAGS})

# Adds the command that writes the one text of kernels/<name>, its headers in it.
function(rung_metal_text name output)
  set(script ${PROJECT_SOURCE_DIR}/cmake/FlattenMetal.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D NAME=${name} -D KERNELS=${PROJECT_SOURCE_DIR}/kernels
            -D OUTPUT=${output} -P ${script}
    DEPENDS ${PROJECT_SOURCE_DIR}/kernels/${name} ${script}
    DEPFILE ${output}.d
    COMMENT "One text: ${name}"
    VERBATIM)
endfunction()

# Adds the commands that compile such a text to `output`.
function(rung_metal_command text name output)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${text} -D OUTPUT=${output}.cpp -D NAME=kernels/${name}
            -P ${PROJECT_SOURCE_DIR}/cmake/MetalSource.cmake
    COMMAND ${RUNG_CLANG} ${RUNG_METAL_FLAGS} -O3 -ffp-contract=fast -S
            -MD -MF ${output}.d -MT ${output} ${output}.cpp -o ${output}
    DEPENDS ${text} ${PROJECT_SOURCE_DIR}/cmake/MetalSource.cmake
    DEPFILE ${output}.d
    COMMENT "clang: ${name} to PTX"
    VERBATIM)
endfunction()

# metal_rungs(<target> <op>...): adds to the target the host side of every rung of
# kernels/<op>/metal, and one generated source that holds their texts and their PTX, as the tables of
# src/backends/metal/images.hpp.
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
