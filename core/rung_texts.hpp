#pragma once
// The sources of all rungs, embedded in the program.

#include <span>
#include <string_view>

namespace rung {

struct RungText {
  std::string_view id;    // "gemm/cpu/00_triple_loop"
  std::string_view text;  // the whole file
};

/// In ladder order.
std::span<const RungText> rung_texts();

}  // namespace rung
