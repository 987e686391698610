#pragma once
// The vector registers that code is for, and where in them a row's lanes are.

#include <cstdint>

#include "vgpu/model/native_operation.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu::native {

/// A kind of vector registers. Code for AVX-512 handles all lanes of an instruction before the next
/// one. AVX2 has half as many registers, of half the size: its code runs all instructions for eight
/// lanes, then for the next eight, so that an instruction needs as many registers as with AVX-512 or
/// fewer. Instructions of translated code never look at other lanes, and rows of different widths do
/// not overlap (program/allocation.hpp), so that the order does not matter.
struct Vectors {
  int bytes;      // of a register
  int passes;     // over the lanes
  int registers;  // that hold rows; three more hold no row

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

  /// The number of lines that the lanes have in a row.
  int parts_of(NativeType type) const {
    return bytes_of(type) * warp_size / vectors.bytes / vectors.passes;
  }
  /// One of them. `row`: its offset in the frame.
  Line line_of(std::uint32_t row, NativeType type, int part) const {
    return row / static_cast<std::uint32_t>(vectors.bytes) +
           static_cast<std::uint32_t>(index * parts_of(type) + part);
  }
};

}  // namespace rung::vgpu::native
