// The arithmetic of wgmma, compiled for each instruction set. Products of types up to tf32 are
// exact in f32, and so are sums of a tile of integers.

#include "vgpu/engine/matrix/wgmma.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/wgmma_multiply.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <cstdint>

#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

using Element = MatrixElement;

constexpr int columns = 8;  // of a tile of sums, with two registers for each half of 8 rows

/// Sums of 8 columns, [row][column].
using Sums = float[wgmma_rows][columns];

void multiply_columns(const WgmmaOp& op, const WgmmaTile& tile, int first, Sums& sums) {
  for (int k = 0; k < op.k; ++k) {
    const float* const b = tile.b.data() + k * most_columns + first;
    for (int row = 0; row < wgmma_rows; ++row) {
      const float factor = tile.a[static_cast<std::size_t>(row * deepest_k + k)];
      RUNG_LANES for (int i = 0; i < columns; ++i) sums[row][i] += factor * b[i];
    }
  }
}

// D's fragment: lane 4 g + t has columns 2 t and 2 t + 1 of rows g and g + 8 (PTX
// ISA, 9.7.15.5.1.1).

int row_of(int lane, int half) { return lane / 4 + 8 * half; }
int column_of(int lane) { return lane % 4 * 2; }

void add_words(Warp& warp, const std::uint32_t* rows, bool adds, bool store, Sums& sums) {
  for (int half = 0; half < 2; ++half) {
    for (int odd = 0; odd < 2; ++odd) {
      auto* const row = warp.row<float>(rows[2 * half + odd]);
      for (int lane = 0; lane < warp_size; ++lane) {
        float& sum = sums[row_of(lane, half)][column_of(lane) + odd];
        if (store) {
          row[lane] = canonical(sum);
        } else {
          sum = adds ? row[lane] : 0.0f;
        }
      }
    }
  }
}

void add_halves(Warp& warp, const std::uint32_t* rows, bool adds, bool store, Sums& sums) {
  for (int half = 0; half < 2; ++half) {
    auto* const row = warp.row<std::uint32_t>(rows[half]);
    for (int lane = 0; lane < warp_size; ++lane) {
      float* const pair = sums[row_of(lane, half)] + column_of(lane);
      if (store) {
        const std::uint32_t high = F16::nearest(pair[1]).bits;
        row[lane] = F16::nearest(pair[0]).bits | high << 16;
      } else {
        pair[0] = adds ? f32_of_f16(row[lane] & 0xFFFFu) : 0.0f;
        pair[1] = adds ? f32_of_f16(row[lane] >> 16) : 0.0f;
      }
    }
  }
}

/// Adds the sums of products, integers that are exact in f32, to D.
void add_integers(Warp& warp, const WgmmaOp& op, const std::uint32_t* rows, bool adds,
                  const Sums& sums) {
  for (int half = 0; half < 2; ++half) {
    for (int odd = 0; odd < 2; ++odd) {
      auto* const row = warp.row<std::int32_t>(rows[2 * half + odd]);
      for (int lane = 0; lane < warp_size; ++lane) {
        const auto products =
            static_cast<std::int64_t>(sums[row_of(lane, half)][column_of(lane) + odd]);
        const std::int64_t sum = products + (adds ? row[lane] : 0);
        const std::int64_t stopped = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
        row[lane] = static_cast<std::int32_t>(op.saturating ? stopped : sum);
      }
    }
  }
}

void multiply(Warp& warp, const WgmmaOp& op, const WgmmaTile& tile, bool adds) {
  const int registers = op.d == Element::f16 ? 2 : 4;  // of a tile
  for (int j = 0; j < op.n / columns; ++j) {
    const std::uint32_t* const rows = op.sums.data() + j * registers;
    Sums sums = {};
    if (op.d == Element::f16) {
      add_halves(warp, rows, adds, false, sums);
    } else if (op.d == Element::f32) {
      add_words(warp, rows, adds, false, sums);
    }
    multiply_columns(op, tile, j * columns, sums);
    if (op.d == Element::f16) {
      add_halves(warp, rows, adds, true, sums);
    } else if (op.d == Element::f32) {
      add_words(warp, rows, adds, true, sums);
    } else {
      add_integers(warp, op, rows, adds, sums);
    }
  }
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

WgmmaMultiply wgmma_multiply() { return RUNG_PICK_LANES(multiply); }

}  // namespace rung::vgpu
#endif
