#pragma once
// The source of every rung, as text in the program.

#include <span>
#include <string_view>

namespace rung {

struct RungText {
  std::string_view id;    // "gemm/cpu/00_triple_loop"
  std::string_view text;  // of the file
};

/// In the order of the ladders.
std::span<const RungText> rung_texts();

}  // namespace rung
