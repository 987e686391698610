// The arithmetic of wgmma, compiled for each instruction set. Products of types up to tf32 are
// exact in f32, and so are sums of a tile of integers.

#include "vgpu/engine/matrix/wgmma.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/wgmma_multiply.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/tensor_core_sums.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

using Element = MatrixElement;

namespace hn = hwy::HWY_NAMESPACE;

constexpr int columns = 16;      // of sums that are computed together
constexpr int tile_columns = 8;  // of those, with two registers for each half of 8 rows
constexpr int tiles = columns / tile_columns;

/// Sums of 16 columns, [row][column].
using Sums = float[wgmma_rows][columns];

template <Element type>
void widen_words(const WgmmaOp& op, WgmmaTile& tile) {
  constexpr int elements = per_register(type);
  const float sign = op.negate_b ? -1.0f : 1.0f;
  const int count = op.n;
  const int words = op.k / elements;
  for (int word = 0; word < words; ++word) {
    const std::uint32_t* const from = tile.words.data() + word * most_columns;
    for (int element = 0; element < elements; ++element) {
      float* const to = tile.b.data() + (word * elements + element) * most_columns;
      RUNG_LANES for (int i = 0; i < count; ++i) {
        to[i] = sign * matrix_element<type>(from[i], element);
      }
    }
  }
}

void widen(const WgmmaOp& op, WgmmaTile& tile) {
  switch (op.b) {
    case Element::f16: return widen_words<Element::f16>(op, tile);
    case Element::bf16: return widen_words<Element::bf16>(op, tile);
    case Element::e4m3: return widen_words<Element::e4m3>(op, tile);
    case Element::e5m2: return widen_words<Element::e5m2>(op, tile);
    case Element::s8: return widen_words<Element::s8>(op, tile);
    case Element::u8: return widen_words<Element::u8>(op, tile);
    default: return widen_words<Element::tf32>(op, tile);
  }
}

/// As tensor cores sum floats.
void add_floats(const WgmmaOp& op, const WgmmaTile& tile, int first, Sums& sums) {
  const SumRule rule = sum_rule(op.a, op.b, op.d, true);
  Columns<columns> of_b;
  set_columns(rule, op.k, tile.b.data() + first, most_columns, of_b);
  for (int row = 0; row < wgmma_rows; ++row) {
    add_products(rule, op.k, tile.a.data() + row * deepest_k, of_b, sums[row]);
  }
}

/// Integers, as many rows at a time as the CPU has registers for.
void add_integers(const WgmmaOp& op, const WgmmaTile& tile, int first, Sums& sums) {
  constexpr hn::CappedTag<float, columns> d;
  constexpr int lanes = static_cast<int>(hn::MaxLanes(d));
  constexpr int vectors = columns / lanes;
  constexpr int rows = lanes == columns ? wgmma_rows : HWY_MAX(1, lanes / 2);
  for (int top = 0; top < wgmma_rows; top += rows) {
    hn::Vec<decltype(d)> sum[rows][vectors];
    for (int row = 0; row < rows; ++row) {
      for (int v = 0; v < vectors; ++v) sum[row][v] = hn::LoadU(d, sums[top + row] + v * lanes);
    }
    for (int k = 0; k < op.k; ++k) {
      const float* const a = tile.a.data() + top * deepest_k + k;
      for (int v = 0; v < vectors; ++v) {
        const auto b = hn::LoadU(d, tile.b.data() + k * most_columns + first + v * lanes);
        for (int row = 0; row < rows; ++row) {
          sum[row][v] = hn::MulAdd(hn::Set(d, a[row * deepest_k]), b, sum[row][v]);
        }
      }
    }
    for (int row = 0; row < rows; ++row) {
      for (int v = 0; v < vectors; ++v) hn::StoreU(sum[row][v], d, sums[top + row] + v * lanes);
    }
  }
}

// D's fragment of a tile: lane 4 g + t has columns 2 t and 2 t + 1 of rows g and g + 8 (PTX
// ISA, 9.7.15.5.1.1). Lane after lane, these are the tile's rows.

int row_of(int lane, int half) { return lane / 4 + 8 * half; }
int column_of(int tile, int lane) { return tile * tile_columns + lane % 4 * 2; }

void load_words(Warp& warp, const std::uint32_t* rows, int tile, Sums& sums) {
  const hn::CappedTag<float, warp_size> d;
  for (int half = 0; half < 2; ++half) {
    const float* const even = warp.row<float>(rows[2 * half]);
    const float* const odd = warp.row<float>(rows[2 * half + 1]);
    float in_order[2 * warp_size];
    for (int lane = 0; lane < warp_size; lane += static_cast<int>(hn::Lanes(d))) {
      hn::StoreInterleaved2(hn::LoadU(d, even + lane), hn::LoadU(d, odd + lane), d,
                            in_order + 2 * lane);
    }
    for (int row = 0; row < 8; ++row) {
      std::copy_n(in_order + row * tile_columns, tile_columns,
                  sums[row + 8 * half] + tile * tile_columns);
    }
  }
}

/// The tile's sums from `at` on, row after row.
template <class D>
HWY_INLINE hn::Vec<D> sums_at(D d, const Sums& sums, int half, int tile, int at) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(d) > tile_columns) {
    const hn::Half<D> lower;
    return hn::Combine(d, sums_at(lower, sums, half, tile, at + tile_columns),
                       sums_at(lower, sums, half, tile, at));
  }
#endif
  return hn::LoadU(d, sums[at / tile_columns + 8 * half] + tile * tile_columns + at % tile_columns);
}

void store_words(Warp& warp, const std::uint32_t* rows, int tile, const Sums& sums) {
  const hn::CappedTag<float, warp_size> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto store = [&](auto value, float* to) HWY_ATTR {
    hn::StoreU(hn::IfThenElse(hn::IsNaN(value), hn::Set(d, canonical(NAN)), value), d, to);
  };
  for (int half = 0; half < 2; ++half) {
    float* const even = warp.row<float>(rows[2 * half]);
    float* const odd = warp.row<float>(rows[2 * half + 1]);
    for (int lane = 0; lane < warp_size; lane += lanes) {
      const auto low = sums_at(d, sums, half, tile, 2 * lane);
      const auto high = sums_at(d, sums, half, tile, 2 * lane + lanes);
#if HWY_TARGET == HWY_SCALAR
      store(low, even + lane);
      store(high, odd + lane);
#else
      store(hn::ConcatEven(d, high, low), even + lane);
      store(hn::ConcatOdd(d, high, low), odd + lane);
#endif
    }
  }
}

void load_halves(Warp& warp, const std::uint32_t* rows, int tile, Sums& sums) {
  for (int half = 0; half < 2; ++half) {
    const auto* const row = warp.row<std::uint32_t>(rows[half]);
    for (int lane = 0; lane < warp_size; ++lane) {
      float* const pair = sums[row_of(lane, half)] + column_of(tile, lane);
      pair[0] = f32_of_f16(row[lane] & 0xFFFFu);
      pair[1] = f32_of_f16(row[lane] >> 16);
    }
  }
}

void store_halves(Warp& warp, const std::uint32_t* rows, int tile, const Sums& sums) {
  for (int half = 0; half < 2; ++half) {
    auto* const row = warp.row<std::uint32_t>(rows[half]);
    for (int lane = 0; lane < warp_size; ++lane) {
      const float* const pair = sums[row_of(lane, half)] + column_of(tile, lane);
      const std::uint32_t high = F16::nearest(pair[1]).bits;
      row[lane] = F16::nearest(pair[0]).bits | high << 16;
    }
  }
}

/// Adds the sums of products, integers that are exact in f32, to D.
void store_integers(Warp& warp, const WgmmaOp& op, const std::uint32_t* rows, int tile, bool adds,
                    const Sums& sums) {
  for (int half = 0; half < 2; ++half) {
    for (int odd = 0; odd < 2; ++odd) {
      auto* const row = warp.row<std::int32_t>(rows[2 * half + odd]);
      for (int lane = 0; lane < warp_size; ++lane) {
        const auto products =
            static_cast<std::int64_t>(sums[row_of(lane, half)][column_of(tile, lane) + odd]);
        const std::int64_t sum = products + (adds ? row[lane] : 0);
        const std::int64_t stopped = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
        row[lane] = static_cast<std::int32_t>(op.saturating ? stopped : sum);
      }
    }
  }
}

void multiply(Warp& warp, const WgmmaOp& op, WgmmaTile& operands, bool adds) {
  if (!op.transpose_b) widen(op, operands);
  const int registers = op.d == Element::f16 ? 2 : 4;  // of a tile
  for (int first = 0; first < op.n; first += columns) {
    const auto each_tile = [&](const auto& f) {
      for (int tile = 0; tile < tiles && first + tile * tile_columns < op.n; ++tile) {
        f(op.sums.data() + (first / tile_columns + tile) * registers, tile);
      }
    };
    Sums sums = {};
    each_tile([&](const std::uint32_t* rows, int tile) {
      if (!adds) return;
      if (op.d == Element::f16) load_halves(warp, rows, tile, sums);
      if (op.d == Element::f32) load_words(warp, rows, tile, sums);
    });
    if (op.d == Element::s32) {
      add_integers(op, operands, first, sums);
    } else {
      add_floats(op, operands, first, sums);
    }
    each_tile([&](const std::uint32_t* rows, int tile) {
      switch (op.d) {
        case Element::f16: return store_halves(warp, rows, tile, sums);
        case Element::f32: return store_words(warp, rows, tile, sums);
        default: return store_integers(warp, op, rows, tile, adds, sums);
      }
    });
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
