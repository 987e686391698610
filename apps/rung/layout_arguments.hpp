#pragma once
// The arguments of rung layout, and how they are read. A value that does not fit throws UsageError.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "vgpu/layout.hpp"

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

inline constexpr std::int64_t shared_bytes = 1 << 18;  // more than a block can have

/// All bits of a number: decimal, or hexadecimal with 0x.
std::uint64_t read_bits(const std::string& option, const std::string& text);
/// A number of bytes that is a multiple of `unit`: decimal, or hexadecimal with 0x.
std::uint32_t read_bytes(const std::string& option, const std::string& text, std::uint64_t unit);

vgpu::MatrixElement read_type(const LayoutArguments& given, const char* otherwise);
vgpu::MatrixElement read_sum(const LayoutArguments& given, vgpu::MatrixElement type);
vgpu::TensorSwizzle read_swizzle(const LayoutArguments& given, const char* otherwise);
/// A number from 0 to `most`, or `otherwise`.
int read_number(const std::string& option, const std::string& text, int otherwise, int most);
/// 1, or 2 for a pair of blocks.
int read_blocks(const LayoutArguments& given);
/// 'A' to 'D', or 'E' for the metadata of a sparse A.
char read_operand(const LayoutArguments& given);
/// The matrix whose scales are asked for, or 0.
char scaled_matrix(const LayoutArguments& given);
/// "64x128": extents of a box, innermost first.
std::vector<int> read_box(const std::string& text);
/// "-1,2": as many numbers as `count`, or zeros.
std::vector<std::int32_t> read_list(const std::string& option, const std::string& text,
                                    std::size_t count);

}  // namespace rung
