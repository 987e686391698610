#pragma once
// What the host knows of a CUDA rung of dot or sum: its entries' name and its launch.

#include <cstdint>
#include <string_view>

#include "device/cuda/descriptor.hpp"
#include "device/cuda/dot_launch.hpp"

namespace rung::cuda {

/// For which blocks, threads and memory a problem asks; the pointers in it are the device's.
template <class In, class Out>
using DotLauncher = DotLaunch (*)(const Dot<In>& problem, int multiprocessors);

/// One rung of dot or sum. A type's entry is `<entry>_<dtype>`.
struct DotRung {
  std::string_view entry;
  OfGemmTypes<DotLauncher> launches;  // null for a type that the rung has not
};

/// A rung for every type.
template <class R>
constexpr DotRung dot_rung(std::string_view entry) {
  return {entry,
          {R::template launch<float, float>, R::template launch<double, double>,
           R::template launch<std::uint32_t, std::uint32_t>, R::template launch<bfloat16, float>,
           R::template launch<float16, float>}};
}

/// A rung for every type but integers.
template <class R>
constexpr DotRung dot_rung_of_floats(std::string_view entry) {
  return {entry,
          {R::template launch<float, float>, R::template launch<double, double>, nullptr,
           R::template launch<bfloat16, float>, R::template launch<float16, float>}};
}

}  // namespace rung::cuda
