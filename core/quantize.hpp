#pragma once
// Rounds operands to the values of a block format.

#include <span>
#include <string_view>

#include "core/block_format.hpp"

namespace rung {

/// The name on the command line and in headers of rungs: "mxfp8".
std::string_view name(BlockFormat format);

/// The format whose values a rung multiplies, by the field "needs" of its header: "sm_100a, operands
/// in mxfp8". It rounds other values of A and B to that format.
BlockFormat block_format(std::string_view needs);

/// Rounds a row of A or a column of B to the nearest values of a format, block by block from its
/// first element. The scale of a block is
///
///   mxfp8  the smallest power of two s with max |x| <= 448 s, at least 2^-127
///   nvfp4  max |x| / 6, rounded to e4m3
///
/// and the elements are x / s, rounded to nearest, ties to even. A block with a NaN or an infinity
/// becomes NaN, as the formats have no infinity and the scale alone can be NaN. Values of a format
/// remain as they are, unless the scale of nvfp4 is subnormal.
void quantize(BlockFormat format, std::span<float> row);

}  // namespace rung
