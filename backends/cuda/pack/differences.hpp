#pragma once
// Delta encoding of PTX, for better compression. Compilers use a new virtual register for every
// value, so an unrolled loop is a long text in which all numbers differ, but their differences
// repeat.

#include <string>
#include <string_view>

namespace rung::cuda {

/// True if the code is pure ASCII, unlike machine code and PTX that names a file with non-ASCII
/// characters.
bool can_have_differences(std::string_view code);

/// Replaces each number of an operand (%r17, [%rd3+128], $L_7) by its difference from the number at
/// the same position in the most recent line with the same text before its first number.
/// Differences are encoded as bytes >= 0x80.
std::string with_differences(std::string_view ptx);

/// Restores the PTX.
std::string without_differences(std::string_view coded);

}  // namespace rung::cuda
