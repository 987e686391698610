#pragma once
// The views of rung layout: what its arguments ask for.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "command_line.hpp"
#include "tools/layout/view.hpp"

namespace rung {

struct LayoutArguments {
  std::string instruction, form;
  std::string type, sum, operand;
  std::string box, swizzle, major, k_step;
  std::string start, lbo, sbo, descriptor;
  std::string blocks, selector, scales, first_byte, scale_thread;
  bool weight_stationary = false, sparse = false;
  std::string image, lower, upper, from, filter, traversal;
  bool in_registers = false, transposed = false, stores = false;
  std::string pitch, address, bytes;
  std::string at, byte, lane, reg;
  bool all = false;
  std::string json, svg;
};

inline constexpr std::array<std::string_view, 10> layout_instructions = {
    "tma", "wgmma", "tcgen05", "tmem", "mma", "wmma", "simdgroup", "ldmatrix", "stmatrix", "banks"};

/// Calls `call`; an std::invalid_argument becomes a UsageError that begins with the option.
template <class Call>
auto reading(const std::string& option, const Call& call) {
  try {
    return call();
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

/// A number of bytes that is a multiple of `unit`: decimal, or hexadecimal with 0x.
std::uint32_t read_bytes(const std::string& option, const std::string& text, std::uint64_t unit);

/// Throws UsageError. `code` becomes exit_wrong if a descriptor does not fit its tile.
layout::View layout_view(const LayoutArguments& given, ExitCode& code);

}  // namespace rung
