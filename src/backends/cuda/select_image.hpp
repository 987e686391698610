#pragma once
// Selects the compiled form of a rung for a device.

#include <optional>
#include <string>
#include <string_view>

#include "backends/cuda/images.hpp"

namespace rung::cuda {

/// The criteria.
struct Target {
  int arch = 0;                     // compute capability times ten
  int driver_version = 0;           // from cuDriverGetVersion: 12040
  bool takes_cubin = true;          // the virtual GPU runs only PTX
  std::optional<Code> wanted = {};  // only this form is allowed
};

/// "clang", "nvcc" or "cubin". Throws std::invalid_argument for other values.
Code parse_code(std::string_view text);

/// "machine code for sm_90 by nvcc 13.0.88", "PTX by clang 19.1.7"
std::string describe(const Image& image);

/// Null if the target supports none of them.
///
/// Machine code runs on its own architecture and on later ones of the same major version (CUDA C++
/// Programming Guide, "Binary Compatibility"). PTX runs on every later architecture, if the driver
/// is not older than the toolkit that wrote it. Architecture-specific code runs only on its
/// architecture. If several forms fit, machine code is preferred, then nvcc's PTX, from which the
/// machine code was made.
const Image* select_image(std::string_view id, const Target& target);

}  // namespace rung::cuda
