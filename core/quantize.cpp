#include "core/quantize.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "rung/types.hpp"

namespace rung {
namespace {

/// Rounds to the nearest e2m1, ties to even. Larger values become 6.
float to_e2m1(float x) {
  constexpr float values[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const float size = std::abs(x);
  std::size_t code = 0;
  while (code + 1 < std::size(values)) {
    const float middle = (values[code] + values[code + 1]) / 2;
    if (size < middle || (size == middle && code % 2 == 0)) break;
    ++code;
  }
  return std::copysign(values[code], x);
}

float to_e4m3(float x) { return static_cast<float>(float8_e4m3(x)); }

void to_mxfp8(std::span<float> block, float largest) {
  constexpr int least = -127, exponent_of_448 = 9;  // 448 is 0.875 * 2^9
  int exponent = 0;
  const float fraction = std::frexp(largest, &exponent);
  const int scale = std::max(exponent - exponent_of_448 + (fraction > 0.875f ? 1 : 0), least);
  for (float& x : block) x = std::ldexp(to_e4m3(std::ldexp(x, -scale)), scale);
}

void to_nvfp4(std::span<float> block, float largest) {
  const float scale = to_e4m3(largest / 6);
  for (float& x : block) x = scale == 0 ? 0 : to_e2m1(x / scale) * scale;
}

}  // namespace

std::string_view name(BlockFormat format) {
  switch (format) {
    case BlockFormat::none: return "none";
    case BlockFormat::mxfp8: return "mxfp8";
    case BlockFormat::nvfp4: return "nvfp4";
  }
  return "unknown";
}

BlockFormat block_format(std::string_view needs) {
  for (const BlockFormat format : {BlockFormat::mxfp8, BlockFormat::nvfp4}) {
    if (needs.find(name(format)) != std::string_view::npos) return format;
  }
  return BlockFormat::none;
}

void quantize(BlockFormat format, std::span<float> row) {
  if (format == BlockFormat::none) return;
  const auto length = static_cast<std::size_t>(elements_of_block(format));
  for (; !row.empty(); row = row.subspan(std::min(length, row.size()))) {
    const std::span<float> block = row.first(std::min(length, row.size()));
    float largest = 0;
    bool is_finite = true;
    for (const float x : block) {
      largest = std::max(largest, std::abs(x));
      is_finite = is_finite && std::isfinite(x);
    }
    if (!is_finite) {
      std::ranges::fill(block, std::numeric_limits<float>::quiet_NaN());
    } else if (format == BlockFormat::mxfp8) {
      to_mxfp8(block, largest);
    } else {
      to_nvfp4(block, largest);
    }
  }
}

}  // namespace rung
