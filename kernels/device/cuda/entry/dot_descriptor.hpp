#pragma once
// What the host knows about a CUDA rung of dot or sum: its entries' name and its launches.

#include <string_view>

#include "device/cuda/entry/dot_launch.hpp"
#include "device/cuda/entry/gemm_descriptor.hpp"

namespace rung::cuda {

/// Computes the grid, the block and the memory for a problem, whose pointers are the device's.
template <class In, class Out>
using DotLauncher = DotLaunch (*)(const Dot<In>& problem, int multiprocessors);

/// One rung of dot or sum. A type's entry is `<entry>_<dtype>`.
struct DotRung {
  std::string_view entry;
  OfDtypes<DotLauncher> launches;  // null for a type that the rung does not sum
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
