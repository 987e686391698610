#pragma once
// Host-side descriptor of a CUDA rung of dot or sum: the name of its entries and its launches.

#include <string_view>

#include "device/cuda/entry/dot_launch.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"

namespace rung::cuda {

/// Computes grid, block and memory of a launch for a problem with device pointers.
template <class In, class Out>
using DotLauncher = DotLaunch (*)(const Dot<In>& problem, int multiprocessors);

/// A rung of dot or sum. The entry of a type is `<entry>_<dtype>`.
struct DotRung {
  std::string_view entry;
  OfDtypes<DotLauncher> launches;  // null for unsupported types
};

template <class Class, Dtype... dtypes>
constexpr DotRung dot_rung(std::string_view entry) {
  DotRung rung = {.entry = entry, .launches = {}};
  for_dtypes<dtypes...>(rung.launches, []<class In, class Out>(DotLauncher<In, Out>& launcher) {
    launcher = Class::template launch<In, Out>;
  });
  return rung;
}

}  // namespace rung::cuda
