#pragma once
// How a kernel in a Metal file is dispatched, which in CUDA the file itself says: by constants of the
// file.
//
//   matrices   a threadgroup computes BM x BN elements, with THREADS threads, or THREADS_X x
//              THREADS_Y; without these, 16 x 16 threads compute an element each
//   vectors    a threadgroup of THREADS threads (256) has TERMS elements (as many); with
//              THREADGROUPS, there are so many whatever n is

#include <cstdint>
#include <string>
#include <string_view>

#include "device/metal/descriptor.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal {

/// 0: the file has none of that name.
struct DispatchConstants {
  std::int64_t BM, BN, THREADS, THREADS_X, THREADS_Y, TERMS, THREADGROUPS;

  /// For m x n results. Throws std::invalid_argument for constants that do not fit together.
  Launch of_matrix(std::int64_t m, std::int64_t n) const;
  /// For n elements.
  Launch of_vector(std::int64_t n) const;
};

/// What must follow the text of a Metal file, so that its module has the constants.
std::string constants_text(std::string_view source);

/// From a module of such a text.
DispatchConstants read_constants(const vgpu::Module& module, const vgpu::DeviceMemory& memory);

}  // namespace rung::metal
