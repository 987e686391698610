// Fragments in registers from and to columns in memory. Lane 4 g + t of a warp is "thread t of group
// g" in the manual's drawings; of a tile of 8 columns it has columns 2 t and 2 t + 1 of row g of D,
// and in further registers those of row g + 8 (PTX ISA, 9.7.14.5.8). Included by files that include
// engine/lanes/targets.hpp, once per instruction set.

#if defined(RUNG_VGPU_ENGINE_FRAGMENTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_FRAGMENTS_INL_HPP
#else
#define RUNG_VGPU_ENGINE_FRAGMENTS_INL_HPP
#endif

#include <cstdint>

#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/tensor_core_products.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/model/warp.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

inline constexpr int fragment_groups = 8;  // of lanes
inline constexpr int lanes_of_group = 4;
inline constexpr int fragment_columns = 8;  // of a tile

/// to[t * step + g] = register[4 g + t]
template <class T>
HWY_INLINE void columns_of_register(const T* from, T* to, int step) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<T, fragment_groups> d;
  for (int g = 0; g < fragment_groups; g += static_cast<int>(hn::Lanes(d))) {
    hn::Vec<decltype(d)> v0, v1, v2, v3;
    hn::LoadInterleaved4(d, from + lanes_of_group * g, v0, v1, v2, v3);
    hn::StoreU(v0, d, to + g);
    hn::StoreU(v1, d, to + step + g);
    hn::StoreU(v2, d, to + 2 * step + g);
    hn::StoreU(v3, d, to + 3 * step + g);
  }
}

/// register[4 g + t] = from[t * step + g]
template <class T>
HWY_INLINE void register_of_columns(const T* from, int step, T* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<T, fragment_groups> d;
  for (int g = 0; g < fragment_groups; g += static_cast<int>(hn::Lanes(d))) {
    hn::StoreInterleaved4(hn::LoadU(d, from + g), hn::LoadU(d, from + step + g),
                          hn::LoadU(d, from + 2 * step + g), hn::LoadU(d, from + 3 * step + g), d,
                          to + lanes_of_group * g);
  }
}

/// A tile of sums in f32 or f16: its registers are rows[0], rows[1], ... of the warp.
struct SumTile {
  Warp& warp;
  MatrixElement type;
  int halves;  // of 8 rows
  const std::uint32_t* rows;
};

HWY_INLINE float* column_of(ProductSums* sums, int odd, int half) {
  return sums[odd].data() + half * fragment_groups;
}

HWY_INLINE void load_sums(const SumTile& tile, ProductSums* sums) {
  constexpr int step = 2 * product_rows;
  for (int half = 0; half < tile.halves; ++half) {
    if (tile.type == MatrixElement::f16) {
      const auto* const words = tile.warp.row<const std::uint32_t>(tile.rows[half]);
      float even[warp_size], odd[warp_size];
      for (int lane = 0; lane < warp_size; ++lane) even[lane] = f32_of_f16(words[lane] & 0xFFFFu);
      for (int lane = 0; lane < warp_size; ++lane) odd[lane] = f32_of_f16(words[lane] >> 16);
      columns_of_register(even, column_of(sums, 0, half), step);
      columns_of_register(odd, column_of(sums, 1, half), step);
      continue;
    }
    for (int odd = 0; odd < 2; ++odd) {
      columns_of_register(tile.warp.row<const float>(tile.rows[2 * half + odd]),
                          column_of(sums, odd, half), step);
    }
  }
}

template <class T>
HWY_INLINE void set_active(Warp& warp, std::uint32_t row, const T* values) {
  T* const to = warp.row<T>(row);
  const Mask mask = warp.mask;
  if (mask == all_lanes) {
    for (int lane = 0; lane < warp_size; ++lane) to[lane] = values[lane];
  } else {
    for (int lane = 0; lane < warp_size; ++lane) {
      if (((mask >> lane) & 1) != 0) to[lane] = values[lane];
    }
  }
}

/// Sets the registers of active lanes.
HWY_INLINE void store_sums(const SumTile& tile, ProductSums* sums) {
  constexpr int step = 2 * product_rows;
  for (int half = 0; half < tile.halves; ++half) {
    alignas(64) float values[2][warp_size];
    for (int odd = 0; odd < 2; ++odd) {
      register_of_columns(column_of(sums, odd, half), step, values[odd]);
    }
    if (tile.type == MatrixElement::f16) {
      alignas(64) std::uint32_t words[warp_size];
      for (int lane = 0; lane < warp_size; ++lane) {
        const std::uint32_t low = F16::nearest(values[0][lane]).bits;
        const std::uint32_t high = F16::nearest(values[1][lane]).bits;
        words[lane] = low | high << 16;
      }
      set_active(tile.warp, tile.rows[half], words);
      continue;
    }
    for (int odd = 0; odd < 2; ++odd) {
      for (float& value : values[odd]) value = canonical(value);
      set_active(tile.warp, tile.rows[2 * half + odd], values[odd]);
    }
  }
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
