# Precompiled headers of the standard library, and of fmt for all but librung: most files are short compared
# with their headers. Each file still includes what it needs, which preset dev checks: it has no precompiled
# headers.

set(RUNG_PRECOMPILED_STD
  <algorithm> <array> <bit> <cmath> <cstddef> <cstdint> <cstring> <functional> <limits> <map> <memory>
  <mutex> <optional> <set> <span> <stdexcept> <string> <string_view> <unordered_map> <utility> <vector>)
set(RUNG_PRECOMPILED ${RUNG_PRECOMPILED_STD} <fmt/format.h>)

# rung_precompiled(<name> <headers...> [OPTIONS <compile options...>]): a target whose precompiled
# headers others reuse: target_precompile_headers(<target> REUSE_FROM <name>). They have to be compiled
# with the same options, because GCC takes its options from there, and to link rung_fmt if fmt is in
# them.
function(rung_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS")
  set(empty ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "" @ONLY)
  add_library(${name} OBJECT ${empty})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  if("<fmt/format.h>" IN_LIST arg_UNPARSED_ARGUMENTS)
    target_link_libraries(${name} PUBLIC rung_fmt)
  endif()
  target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()

# rung_compiled_together(<target> [EXCEPT <sources...>] [APART <sources...>]): joins up to eight sources into one
# translation unit, so that the compiler reads their headers and instantiates their templates once. Names in their
# anonymous namespaces must differ. Not for slow sources. Sources of EXCEPT are compiled alone; those of APART,
# which have their own using-directives, with each other only. Preset dev compiles each source alone.
option(RUNG_COMPILED_TOGETHER "Compile small sources several at a time" ON)
function(rung_compiled_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;APART")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RUNG_COMPILED_TOGETHER})
  set_source_files_properties(${arg_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(arg_APART)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    get_target_property(others ${target} SOURCES)
    list(REMOVE_ITEM others ${arg_EXCEPT} ${arg_APART})
    list(LENGTH others count)
    set(first 0)
    while(first LESS count)
      list(SUBLIST others ${first} 8 group)
      set_source_files_properties(${group} PROPERTIES UNITY_GROUP from_${first})
      math(EXPR first "${first} + 8")
    endwhile()
    set_source_files_properties(${arg_APART} PROPERTIES UNITY_GROUP apart)
  endif()
endfunction()
