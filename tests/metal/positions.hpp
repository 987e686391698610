#pragma once
// Metal requires the same number of coordinates for all positions and extents of a kernel: "either
// all scalar types or all vector types with the same number of elements". Clang checks each
// attribute on its own, so this check compares them in the text.

#include <string>
#include <vector>

namespace rung::metal_tests {

/// The kernels whose positions differ in the number of coordinates, as "name: uint3 at, uint2
/// group".
std::vector<std::string> kernels_with_unlike_positions(const std::string& source);

}  // namespace rung::metal_tests
