#pragma once
// Which of a rung's compiled forms a device takes.

#include <optional>
#include <string>
#include <string_view>

#include "backends/cuda/images.hpp"

namespace rung::cuda {

/// What decides.
struct Target {
  int arch = 0;                     // compute capability times ten
  int driver_version = 0;           // as cuDriverGetVersion gives it: 12040
  bool takes_cubin = true;          // the virtual GPU runs PTX alone
  std::optional<Code> wanted = {};  // this one or none
};

/// "clang", "nvcc" or "cubin". Throws std::invalid_argument for any other.
Code parse_code(std::string_view text);

/// "machine code for sm_90 by nvcc 13.0.88", "PTX by clang 19.1.7"
std::string describe(const Image& image);

/// Null if there is none that the target takes.
///
/// Machine code runs on its own architecture and on later ones of the same major version (CUDA C++
/// Programming Guide, "Binary Compatibility"), PTX on every later one, if the driver is not older
/// than the toolkit that wrote it; what is specific to an architecture runs on that one alone.
/// Where all fit, machine code comes first and nvcc's PTX second: it is what the machine code was
/// made from.
const Image* select_image(std::string_view id, const Target& target);

}  // namespace rung::cuda
