#pragma once
// The vector registers for which code is generated, and the distribution of a row's lanes over
// them.

#include <cstdint>

#include "vgpu/model/native_operation.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu::native {

/// A kind of vector registers. Code for AVX-512 handles all lanes of an instruction before the next
/// one. AVX2 has half as many registers of half the size: its code runs all instructions for eight
/// lanes, then for the next eight, so that an instruction needs at most as many registers as with
/// AVX-512. The order does not matter: translated instructions never access other lanes, and rows
/// of different widths do not overlap (program/allocation.hpp).
struct Vectors {
  int bytes;      // per register
  int passes;     // number of passes over the lanes
  int registers;  // registers that hold rows; three more are temporaries

  bool operator==(const Vectors&) const = default;
};

inline constexpr Vectors avx512{64, 1, 27};
inline constexpr Vectors avx2{32, 4, 13};

/// The index of a line in the frame. A line has the size of a register.
using Line = std::uint32_t;

/// The lanes that code handles.
struct Pass {
  Vectors vectors;
  int index = 0;

  /// The number of lines of a row that hold the pass's lanes.
  int parts_of(NativeType type) const {
    return bytes_of(type) * warp_size / vectors.bytes / vectors.passes;
  }
  /// Line `part` of a row. `row`: offset in the frame.
  Line line_of(std::uint32_t row, NativeType type, int part) const {
    return row / static_cast<std::uint32_t>(vectors.bytes) +
           static_cast<std::uint32_t>(index * parts_of(type) + part);
  }
};

}  // namespace rung::vgpu::native
