#pragma once
// Selects the compiled form of a rung for a device.

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "backends/cuda/images.hpp"

namespace rung::cuda {

/// The properties of a device and its driver that determine the selection.
struct Target {
  int arch = 0;                     // compute capability, times ten
  int driver_version = 0;           // from cuDriverGetVersion: 12040
  bool takes_cubin = true;          // the virtual GPU runs only PTX
  std::optional<Code> wanted = {};  // if set, allows only this form
};

/// The forms that a driver has failed to load, indexed by Code.
using RefusedCodes = std::bitset<3>;

/// "clang", "nvcc" or "cubin". Throws std::invalid_argument for other values.
Code parse_code(std::string_view text);

/// "machine code for sm_90 by nvcc 13.0.88", "PTX by clang 19.1.7"
std::string describe(const Image& image);

/// Selects the image of a rung. Null if the target supports none, or only those in `refused`.
///
/// Machine code runs on its own architecture and on later ones of the same major version (CUDA C++
/// Programming Guide, "Binary Compatibility"). PTX runs on every later architecture if the driver
/// is at least as new as the toolkit that wrote it. Architecture-specific code runs only on its own
/// architecture. Machine code is preferred, then nvcc's PTX, from which the machine code was made.
const Image* select_image(std::string_view id, const Target& target, RefusedCodes refused = {});

}  // namespace rung::cuda
