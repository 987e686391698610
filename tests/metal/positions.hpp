#pragma once
// Metal wants as many coordinates of all of a kernel's positions and extents: "either all scalar
// types or all vector types with the same number of elements". Clang sees each by itself; so they
// are compared in the text.

#include <string>
#include <vector>

namespace rung::metal_tests {

/// The kernels whose positions differ in that, as "name: uint3 at, uint2 group".
std::vector<std::string> kernels_with_unlike_positions(const std::string& source);

}  // namespace rung::metal_tests
