# Headers of the standard library, and of fmt for all but librung, compiled once: most files have many
# more lines in these than in themselves. Each file still includes what it needs; preset dev, which has
# none of this, shows it.

set(RUNG_PRECOMPILED_STD
  <algorithm> <array> <bit> <cmath> <cstddef> <cstdint> <cstring> <functional> <limits> <map> <memory>
  <mutex> <optional> <set> <span> <stdexcept> <string> <string_view> <unordered_map> <utility> <vector>)
set(RUNG_PRECOMPILED ${RUNG_PRECOMPILED_STD} <fmt/format.h>)

# rung_precompiled(<name> <headers...> [OPTIONS <compile options...>]): a target whose precompiled
# headers others reuse: target_precompile_headers(<target> REUSE_FROM <name>). They have to be compiled
# with the same options, because GCC takes its options from there, and to link ${RUNG_FMT} if fmt is in
# them.
function(rung_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS")
  set(empty ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "" @ONLY)
  add_library(${name} OBJECT ${empty})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  if("<fmt/format.h>" IN_LIST arg_UNPARSED_ARGUMENTS)
    target_link_libraries(${name} PUBLIC ${RUNG_FMT})
  endif()
  target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()

# rung_compiled_together(<target> [EXCEPT <sources...>]): several sources at a time are one for the
# compiler, which then reads what they share, and makes what they share of templates, once. Names in
# their anonymous namespaces have to differ. Not for sources that take long by themselves. Preset dev
# compiles each alone.
option(RUNG_COMPILED_TOGETHER "Compile small sources several at a time" ON)
function(rung_compiled_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RUNG_COMPILED_TOGETHER})
  set_source_files_properties(${arg_EXCEPT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
