#pragma once
// The dispatch of a kernel in a Metal file, determined by constants in the file. (A CUDA file
// contains its own launch code.)
//
//   matrices   a threadgroup computes BM x BN elements with THREADS threads, or with THREADS_X x
//              THREADS_Y. Without these constants, 16 x 16 threads compute one element each.
//   vectors    a threadgroup of THREADS threads (default: 256) processes TERMS elements (default:
//              THREADS). THREADGROUPS, if present, fixes the number of threadgroups for any n.

#include <cstdint>
#include <string>
#include <string_view>

#include "device/metal/descriptor.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal {

/// The constants of a file; 0 for absent ones.
struct DispatchConstants {
  std::int64_t BM, BN, THREADS, THREADS_X, THREADS_Y, TERMS, THREADGROUPS;

  /// The launch for m x n results. Throws std::invalid_argument for inconsistent constants.
  Launch of_matrix(std::int64_t m, std::int64_t n) const;
  /// The launch for n elements.
  Launch of_vector(std::int64_t n) const;
};

/// Text to append to a Metal file so that its module contains the constants.
std::string constants_text(std::string_view source);

/// Reads the constants from a module compiled from such a text.
DispatchConstants read_constants(const vgpu::Module& module, const vgpu::DeviceMemory& memory);

}  // namespace rung::metal
