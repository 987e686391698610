#include "layout_arguments.hpp"

#include <fmt/format.h>

#include <charconv>

#include "arguments.hpp"
#include "choices.hpp"

namespace rung {

using vgpu::MatrixElement;
using vgpu::TensorSwizzle;

std::uint64_t read_bits(const std::string& option, const std::string& text) {
  const bool hex = text.starts_with("0x");
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != end) {
    throw UsageError(fmt::format("{}: '{}' is not a number, such as 64 or 0x40", option, text));
  }
  return value;
}

std::uint32_t read_bytes(const std::string& option, const std::string& text, std::uint64_t unit) {
  const std::uint64_t value = read_bits(option, text);
  if (value >= shared_bytes || value % unit != 0) {
    throw UsageError(
        fmt::format("{}: '{}' is not a multiple of {} below {}", option, text, unit, shared_bytes));
  }
  return static_cast<std::uint32_t>(value);
}

MatrixElement read_type(const LayoutArguments& given, const char* otherwise) {
  return reading("--type", [&] {
    return vgpu::layout::element_named(given.type.empty() ? otherwise : given.type);
  });
}

MatrixElement read_sum(const LayoutArguments& given, MatrixElement type) {
  if (given.sum.empty()) return vgpu::layout::usual_sum(type);
  return reading("--sum", [&] { return vgpu::layout::element_named(given.sum); });
}

int read_number(const std::string& option, const std::string& text, int otherwise, int most) {
  return text.empty() ? otherwise : static_cast<int>(read_integer(option, text, 0, most));
}

int read_blocks(const LayoutArguments& given) {
  return given.blocks.empty() ? 1 : static_cast<int>(read_integer("--blocks", given.blocks, 1, 2));
}

char scaled_matrix(const LayoutArguments& given) {
  return given.operand == "SA" ? 'A' : given.operand == "SB" ? 'B' : '\0';
}

char read_operand(const LayoutArguments& given) {
  const std::string& text = given.operand;
  if (text.empty()) return 'A';
  if (text == "E" && given.sparse) return 'E';
  if (text == "A" || text == "B" || text == "C" || text == "D") return text.front();
  throw UsageError(
      fmt::format("--operand: '{}' is not one of A, B, C, D; SA and SB are for block scales of "
                  "tcgen05 and mma, E for mma --sparse",
                  text));
}

TensorSwizzle read_swizzle(const LayoutArguments& given, const char* otherwise) {
  const std::string text = given.swizzle.empty() ? otherwise : given.swizzle;
  if (text == "none" || text == "0") return TensorSwizzle::none;
  for (const auto swizzle :
       {TensorSwizzle::bytes_32, TensorSwizzle::bytes_64, TensorSwizzle::bytes_128}) {
    if (text == std::to_string(span_of(swizzle))) return swizzle;
  }
  throw unknown_choice("--swizzle", text, "none", "32", "64", "128");
}

std::vector<int> read_box(const std::string& text) {
  std::vector<int> extents;
  for (const std::string& part : split(text, 'x')) {
    extents.push_back(static_cast<int>(read_integer("--box", part, 1, 256)));
  }
  return extents;
}

std::vector<std::int32_t> read_list(const std::string& option, const std::string& text,
                                    std::size_t count) {
  constexpr std::int64_t limit = 1 << 15;
  std::vector<std::int32_t> list;
  for (const std::string& part : split(text, ',')) {
    if (!text.empty()) {
      list.push_back(static_cast<std::int32_t>(read_integer(option, part, -limit, limit - 1)));
    }
  }
  if (text.empty()) list.assign(count, 0);
  if (list.size() != count) {
    throw UsageError(
        fmt::format("{}: '{}' has {} numbers; expected {}", option, text, list.size(), count));
  }
  return list;
}

}  // namespace rung
