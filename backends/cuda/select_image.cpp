#include "backends/cuda/select_image.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

namespace rung::cuda {
namespace {

/// The oldest driver that accepts the PTX of this build's nvcc: any driver of the same major
/// version.
int driver_of_nvcc() {
  const std::string_view version = nvcc_version();
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return 1000 * major;
}

bool fits(const Image& image, const Target& target) {
  if (target.wanted && image.code != *target.wanted) return false;
  if (image.arch > target.arch || (image.specific && image.arch != target.arch)) return false;
  switch (image.code) {
    case Code::cubin: return target.takes_cubin && image.arch / 10 == target.arch / 10;
    case Code::nvcc_ptx: return !target.takes_cubin || target.driver_version >= driver_of_nvcc();
    case Code::clang_ptx: return true;
  }
  return false;
}

/// Larger is better.
int preference(const Image& image) {
  const int kind = image.code == Code::cubin ? 2 : image.code == Code::nvcc_ptx ? 1 : 0;
  return 1000 * kind + image.arch;
}

}  // namespace

Code parse_code(std::string_view text) {
  if (text == "clang") return Code::clang_ptx;
  if (text == "nvcc") return Code::nvcc_ptx;
  if (text == "cubin") return Code::cubin;
  throw std::invalid_argument(
      std::string("'").append(text).append("' is not one of clang, nvcc, cubin"));
}

std::string describe(const Image& image) {
  switch (image.code) {
    case Code::cubin:
      return std::string("machine code for sm_")
          .append(std::to_string(image.arch))
          .append(image.specific ? "a" : "")
          .append(" by nvcc ")
          .append(nvcc_version());
    case Code::nvcc_ptx: return std::string("PTX by nvcc ").append(nvcc_version());
    case Code::clang_ptx: return std::string("PTX by clang ").append(clang_version());
  }
  return "";
}

const Image* select_image(std::string_view id, const Target& target, RefusedCodes refused) {
  const Image* best = nullptr;
  for (const Image& image : images()) {
    if (image.id != id || refused.test(static_cast<std::size_t>(image.code))) continue;
    if (!fits(image, target)) continue;
    if (best == nullptr || preference(image) > preference(*best)) best = &image;
  }
  return best;
}

}  // namespace rung::cuda
