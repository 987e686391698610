# Compiles CUDA kernels to PTX by clang, which needs no CUDA toolkit, and, if nvcc is installed, by nvcc to
# PTX and to machine code for RUNG_CUDA_ARCHITECTURES.

set(RUNG_CUDA_ARCHITECTURES 80 90 CACHE STRING
  "Compute capabilities, without the point, that nvcc makes machine code for")

# Tools and tests require the kernels; the library alone can be built without them if no compiler exists.
option(RUNG_CUDA "Compile the CUDA kernels, and build them into the library" ON)
if(RUNG_BUILD_TOOLS OR RUNG_BUILD_TESTS)
  if(NOT RUNG_CUDA)
    message(FATAL_ERROR "RUNG_CUDA is OFF; it must be ON, unless RUNG_BUILD_TOOLS and RUNG_BUILD_TESTS are OFF")
  endif()
  set(missing FATAL_ERROR)
else()
  set(missing STATUS)
endif()

set(RUNG_CLANG_VERSION)
if(NOT RUNG_CUDA)
  set(RUNG_NVCC_VERSION)  # Nvcc.cmake: not needed here
endif()

if(RUNG_CUDA)
  find_program(RUNG_CLANG NAMES clang++-19 clang++-20 clang++-21 clang++-18 clang++-17 clang++-16 clang++
    DOC "The clang that compiles CUDA rungs to PTX")
  if(RUNG_CLANG)
    rung_compiler_version(${RUNG_CLANG} "clang version ([0-9.]+)" RUNG_CLANG_VERSION)
    if(RUNG_CLANG_VERSION VERSION_LESS 16)
      message(${missing} "${RUNG_CLANG} is version '${RUNG_CLANG_VERSION}'; CUDA rungs need clang 16 or later")
      set(RUNG_CLANG_VERSION)
    endif()
  else()
    message(${missing} "clang++-19 was not found; it compiles the CUDA rungs, without a CUDA toolkit. "
      "It comes with package clang-19 (scripts/setup.sh build); or name one with -D RUNG_CLANG=…, "
      "or build the library alone with -D RUNG_BUILD_TOOLS=OFF -D RUNG_BUILD_TESTS=OFF")
  endif()
  if(RUNG_NVCC_VERSION)
    get_filename_component(folder ${RUNG_NVCC} DIRECTORY)
    find_program(RUNG_PTXAS NAMES ptxas HINTS ${folder} PATHS /usr/local/cuda/bin REQUIRED
      DOC "NVIDIA's assembler, which comes with nvcc")
  endif()
endif()
message(STATUS "CUDA rungs: clang ${RUNG_CLANG_VERSION} (${RUNG_CLANG}), nvcc ${RUNG_NVCC_VERSION} (${RUNG_NVCC})")

set(RUNG_CUDA_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/cuda)
if(RUNG_REUSE)
  set(RUNG_CUDA_FOLDER ${RUNG_REUSE}/backends/cuda/cuda)
endif()

# Line tables, so that counters and profilers can name source lines.
set(RUNG_CUDA_FLAGS -O3 -std=c++20
  -I${PROJECT_SOURCE_DIR}/kernels -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include)
set(RUNG_CLANG_CUDA_FLAGS -x cuda --cuda-device-only -nocudainc -nocudalib -S -ffp-contract=fast
  -Wall -Wextra -Werror -Wno-unknown-cuda-version -gline-tables-only
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
set(RUNG_NVCC_FLAGS --expt-relaxed-constexpr -lineinfo -Werror all-warnings)

# Records the resources of each kernel's machine code: registers, shared memory, spills.
find_package(Python3 COMPONENTS Interpreter)

include(CudaImages)

# Sets <out> to the compute capability in a rung's header ("needs: sm_80, …"): 90a for instructions that
# only that architecture has. The default is 75, the oldest that current compilers support.
function(rung_architecture source out)
  file(STRINGS ${source} line REGEX "^// needs: " LIMIT_COUNT 1)
  string(REGEX MATCH "sm_([0-9]+a?)" matched "${line}")
  if(NOT matched)
    set(CMAKE_MATCH_1 75)
  endif()
  set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endfunction()

# Sets <out> to the later architectures that need an image of their own, because the source is another
# kernel there ("// also compiled for: sm_90"). Devices of these take no image of an earlier one.
function(rung_later_architectures source out)
  file(STRINGS ${source} line REGEX "^// also compiled for: " LIMIT_COUNT 1)
  string(REGEX MATCHALL "sm_[0-9]+" architectures "${line}")
  list(TRANSFORM architectures REPLACE "sm_" "")
  set(${out} ${architectures} PARENT_SCOPE)
endfunction()

# Adds the command that compiles a rung to `output`, again if a header that it includes changes.
function(rung_cuda_command source output comment)
  if(RUNG_REUSE)
    return()
  endif()
  add_custom_command(OUTPUT ${output}
    COMMAND ${ARGN} ${RUNG_CUDA_FLAGS} -MD -MF ${output}.d -MT ${output} ${source} -o ${output}
    DEPENDS ${source}
    DEPFILE ${output}.d
    COMMENT "${comment}"
    VERBATIM)
endfunction()

# Adds the command that assembles nvcc's PTX, as nvcc itself would; the assembler's report is written to
# `output`.resources.
function(rung_cubin_command ptx output arch comment)
  if(RUNG_REUSE)
    return()
  endif()
  set(report ${PROJECT_SOURCE_DIR}/cmake/RecordReport.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D REPORT=${output}.resources -P ${report} --
      ${RUNG_PTXAS} -O3 -arch=sm_${arch} --generate-line-info --verbose ${ptx} -o ${output}
    DEPENDS ${ptx} ${report}
    COMMENT "${comment}"
    VERBATIM)
endfunction()

# Adds the command that merges the compiler's reports on `files` into cuda_resources.json.
function(rung_cuda_resources files)
  set(script ${PROJECT_SOURCE_DIR}/scripts/cuda_resources.py)
  set(json ${PROJECT_BINARY_DIR}/cuda_resources.json)
  set(reports ${files})
  list(FILTER reports INCLUDE REGEX "_cubin_[0-9]+a?$")
  list(TRANSFORM reports APPEND .resources)
  set(ptx ${files})
  list(FILTER ptx INCLUDE REGEX "_nvcc_ptx_[0-9]+a?$")
  add_custom_command(OUTPUT ${json}
    COMMAND ${Python3_EXECUTABLE} -B ${script} record ${json} --nvcc ${RUNG_NVCC_VERSION} ${reports} ${ptx}
    DEPENDS ${files} ${script} ${PROJECT_SOURCE_DIR}/scripts/rung_headers.py ${PROJECT_SOURCE_DIR}/scripts/element_types.py
      ${PROJECT_SOURCE_DIR}/core/element_types.hpp
    COMMENT "Recording what CUDA kernels take: cuda_resources.json"
    VERBATIM)
  add_custom_target(rung_cuda_resources ALL DEPENDS ${json})
endfunction()

# Sets <out> to the element types that are compiled separately ("// compiled by type: …"), or to "all".
function(rung_units source out)
  file(STRINGS ${source} line REGEX "^// compiled by type: " LIMIT_COUNT 1)
  string(REGEX MATCHALL "[a-z0-9_]+" types "${line}")
  list(REMOVE_ITEM types compiled by type)
  if(NOT types)
    set(types all)
  endif()
  set(${out} ${types} PARENT_SCOPE)
endfunction()

# Adds the commands that compile one source for all element types ("all"), or for one, with every
# compiler that is here. Appends what they make to `files`, and "<code>:<architecture>" of each to
# `images`, of the caller.
function(rung_cuda_unit source id unit)
  string(REPLACE "/" "_" stem ${id})
  set(folder ${RUNG_CUDA_FOLDER})
  set(name ${id})
  set(flags)
  if(NOT unit STREQUAL all)
    string(APPEND folder /${unit})
    set(name "${id} for ${unit}")
    set(flags -DRUNG_UNIT -DRUNG_UNIT_${unit}=RUNG_THIS)
  endif()
  rung_architecture(${source} least)
  rung_later_architectures(${source} later)
  set(made)
  # "a" marks instructions of one architecture alone; those of sm_100a came with CUDA 12.8.
  string(REGEX REPLACE "a$" "" number ${least})
  if(RUNG_CLANG_VERSION)
    foreach(arch IN LISTS least later)
      list(APPEND made clang_ptx:${arch})
      set(compile ${RUNG_CLANG} ${RUNG_CLANG_CUDA_FLAGS} --cuda-gpu-arch=sm_${arch})
      if(number GREATER_EQUAL 100)
        set(compile ${CMAKE_COMMAND} -D ARCH=${arch} -P ${PROJECT_SOURCE_DIR}/cmake/ClangToPtx.cmake --
          ${RUNG_CLANG} ${RUNG_CLANG_CUDA_FLAGS} --cuda-gpu-arch=sm_90a)
      endif()
      rung_cuda_command(${source} ${folder}/${stem}_clang_ptx_${arch} "clang: ${name} to PTX for sm_${arch}"
        ${compile} ${flags})
    endforeach()
  endif()
  if(RUNG_NVCC_VERSION AND (number LESS 100 OR RUNG_NVCC_VERSION VERSION_GREATER_EQUAL 12.8))
    # nvcc's PTX depends on its target: devices older than those with machine code take clang's PTX.
    list(GET RUNG_CUDA_ARCHITECTURES 0 oldest)
    if(least LESS oldest)
      set(least ${oldest})
    endif()
    set(starts ${least})
    foreach(arch IN LISTS later)
      if(arch GREATER least)  # the others are what is made for the least
        list(APPEND starts ${arch})
      endif()
    endforeach()
    foreach(arch IN LISTS starts)
      list(APPEND made nvcc_ptx:${arch})
      rung_cuda_command(${source} ${folder}/${stem}_nvcc_ptx_${arch} "nvcc: ${name} to PTX for sm_${arch}"
        ${CMAKE_COMMAND} -D PREFIX=${PROJECT_SOURCE_DIR}/
          -P ${PROJECT_SOURCE_DIR}/cmake/NvccToPtx.cmake --
        ${RUNG_NVCC} ${RUNG_NVCC_FLAGS} -ptx -arch=compute_${arch} ${flags})
    endforeach()
    set(architectures ${RUNG_CUDA_ARCHITECTURES})
    if(least MATCHES "a$")
      set(architectures ${least})
    endif()
    foreach(arch IN LISTS architectures)
      if(arch LESS least)
        continue()
      endif()
      set(from ${least})
      foreach(start IN LISTS starts)
        if(start LESS_EQUAL arch)
          set(from ${start})
        endif()
      endforeach()
      list(APPEND made cubin:${arch})
      rung_cubin_command(${folder}/${stem}_nvcc_ptx_${from} ${folder}/${stem}_cubin_${arch} ${arch}
        "ptxas: ${name} to machine code for sm_${arch}")
    endforeach()
  endif()
  set(images ${made} PARENT_SCOPE)
  string(REPLACE ":" "_" made "${made}")
  list(TRANSFORM made PREPEND ${folder}/${stem}_)
  set(files ${files} ${made} PARENT_SCOPE)
endfunction()

# Sets <out> to whether librung has an image ("<code>:<architecture>"). Only GPUs of sm_90 run code for
# 90a: they take machine code or, of older drivers, clang's PTX. In a wheel, so do all GPUs.
function(rung_is_selected_image id image out)
  # On GPUs of sm_90 selection takes other rungs than these, whatever the shape; later ones take PTX of one
  # compiler.
  set(of_older_gpus gemm/cuda/08_double_buffer gemm/cuda/22_stages gemm/cuda/split_f16_mma
    gemm/cuda/mma_f64)
  # These are limited by memory, or were not measured on later GPUs: one form of PTX suffices. batched_fma is chosen
  # for GPUs of sm_90 alone, which take machine code.
  set(of_one_ptx dot/cuda/10_one_launch gemm/cuda/skinny gemm/cuda/any_operands gemm/cuda/rank_k
    gemm/cuda/short_k gemm/cuda/skinny_mma gemm/cuda/small_matrices gemm/cuda/small_mma
    gemm/cuda/batched_tiles gemm/cuda/batched_fma gemm/cuda/batched_mma_f64
    gemm/cuda/weight_only gemm/cuda/weight_stream gemm/cuda/scale gemm/cuda/pack_operand
    gemm/cuda/apply_epilogue)
  # A wheel is small: in it, the driver compiles all kernels for sm_80 at their first call and keeps the result. On
  # GPUs of sm_90 it does so, too, for all but these, which are called most and gain most from nvcc.
  set(of_machine_code_in_wheels gemm/cuda/few_rows gemm/cuda/fma_tiles gemm/cuda/fused_epilogue
    gemm/cuda/mma_f64_warp_specialized gemm/cuda/ping_pong gemm/cuda/scale gemm/cuda/split_digits gemm/cuda/split_f16
    gemm/cuda/summed_parts gemm/cuda/tile_signal_gemm gemm/cuda/wgmma_tiles)
  set(is_selected ON)
  if(NOT id IN_LIST selected_ids
      OR image MATCHES "^nvcc_ptx:90a"
      OR (RUNG_PYTHON AND image MATCHES "^nvcc_ptx:")
      OR (RUNG_PYTHON AND image STREQUAL "cubin:80")
      OR (RUNG_PYTHON AND NOT id IN_LIST of_machine_code_in_wheels AND image MATCHES "^cubin:90a?$")
      OR (id IN_LIST of_older_gpus AND image STREQUAL "cubin:90")
      OR ((id IN_LIST of_older_gpus OR id IN_LIST of_one_ptx) AND image MATCHES "^nvcc_ptx:"
          AND RUNG_CLANG_VERSION))
    set(is_selected OFF)
  endif()
  set(${out} ${is_selected} PARENT_SCOPE)
endfunction()

# Adds the commands that compile one source, all types at once or one by one, and appends to
# `files`, of the caller, what they make. Its images go into the table of all, and into that of the
# library if the id is in `selected_ids`. Further ids are those of other rungs in that source.
function(rung_cuda_images source id)
  string(REPLACE "/" "_" stem ${id})
  rung_units(${source} units)
  set(ids ${id} ${ARGN})
  foreach(unit IN LISTS units)
    rung_cuda_unit(${source} ${id} ${unit})
  endforeach()
  set(files ${files} PARENT_SCOPE)
  foreach(image IN LISTS images)
    rung_is_selected_image(${id} ${image} is_selected)
    set(options --without-lines)
    if(RUNG_PYTHON AND image MATCHES "^clang_ptx:")
      set(options)  # programs take the images of librung, and show lines
    endif()
    if(is_selected)
      rung_add_image(selected ${stem} ${image} "${units}" "${ids}" ${options})
    endif()
    # A wheel is small: its programs have, as one form of PTX, only the rungs that its librung lacks, and none for
    # sm_100a, which the library does not use.
    if(NOT RUNG_PYTHON OR (image MATCHES "^clang_ptx:" AND NOT image MATCHES ":100a$" AND NOT is_selected))
      rung_add_image(all ${stem} ${image} "${units}" "${ids}")
    endif()
  endforeach()
endfunction()

# cuda_rungs(<target> <op>...): adds to the target the host side (descriptor and launch) of every rung of
# ladder/<op>/cuda and of every kernel of kernels/<op>/cuda and kernels/device/cuda/library. Makes libraries of what the device
# compilers made, each with the table of backends/cuda/images.hpp: <target>_images has all rungs,
# with line tables; <target>_selected_images those that selection can choose, without. In a wheel the first
# has what the second lacks.
function(cuda_rungs target)
  set(files)
  set(all_sources)
  rung_selected_ids(selected_ids)
  foreach(helper scale pack_operand split_operand split_digits split_residues apply_epilogue
          fused_epilogue mixed_operand pack_weights tile_signal_gemm few_rows
          summed_parts)
    set(source ${PROJECT_SOURCE_DIR}/kernels/device/cuda/library/${helper}.cu)
    list(APPEND all_sources ${source})
    list(APPEND selected_ids gemm/cuda/${helper})
    rung_cuda_images(${source} gemm/cuda/${helper})
  endforeach()
  # Rungs of the ladder alone need this one, and librung does not contain it.
  set(source ${PROJECT_SOURCE_DIR}/kernels/device/cuda/library/quantize_operand.cu)
  list(APPEND all_sources ${source})
  rung_cuda_images(${source} gemm/cuda/quantize_operand)
  rung_sources(sum cuda cu sums)
  foreach(op IN LISTS ARGN)
    rung_sources(${op} cuda cu rungs)
    kernel_sources(${op} cuda cu kernels)
    list(APPEND all_sources ${rungs} ${kernels})
    foreach(source IN LISTS rungs kernels)
      get_filename_component(slug ${source} NAME_WE)
      set(more)
      if(source IN_LIST sums)
        set(more sum/cuda/${slug})
      endif()
      rung_cuda_images(${source} ${op}/cuda/${slug} ${more})
    endforeach()
  endforeach()
  target_sources(${target} PRIVATE ${all_sources})
  set_source_files_properties(${all_sources} PROPERTIES LANGUAGE CXX)
  rung_images_library(${target}_selected_images selected images)
  if(RUNG_PYTHON)
    rung_images_library(${target}_images all images_of_program)
    target_sources(${target}_images PRIVATE ${PROJECT_SOURCE_DIR}/backends/cuda/images_of_wheel.cpp)
    target_link_libraries(${target}_images INTERFACE rung_library)
  else()
    rung_images_library(${target}_images all images)
  endif()
  if(RUNG_NVCC_VERSION AND Python3_FOUND AND (RUNG_BUILD_TOOLS OR RUNG_BUILD_TESTS))
    rung_cuda_resources("${files}")
  endif()
endfunction()
