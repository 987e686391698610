// Conversion between fragments in registers and columns in memory (fragment_places.hpp). Files that
// include engine/lanes/targets.hpp include this one, once per instruction set.

#if defined(RUNG_VGPU_ENGINE_FRAGMENTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_FRAGMENTS_INL_HPP
#else
#define RUNG_VGPU_ENGINE_FRAGMENTS_INL_HPP
#endif

#include <algorithm>
#include <cstdint>

#include "vgpu/engine/matrix/fragment_places.hpp"
#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/tensor_core_products.hpp"
#include "vgpu/engine/numbers/float16.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/model/warp.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

inline constexpr int fragment_groups = 8;   // of lanes in a warp
inline constexpr int fragment_columns = 8;  // per tile

/// to[t * step + g] = register[4 g + t]
template <class T>
HWY_INLINE void columns_of_register(const T* from, T* to, int step) {
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
  const hn::CappedTag<T, fragment_groups> d;
  for (int g = 0; g < fragment_groups; g += static_cast<int>(hn::Lanes(d))) {
    hn::StoreInterleaved4(hn::LoadU(d, from + g), hn::LoadU(d, from + step + g),
                          hn::LoadU(d, from + 2 * step + g), hn::LoadU(d, from + 3 * step + g), d,
                          to + lanes_of_group * g);
  }
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
/// Selects elements of the concatenation of two vectors by index.
template <class D>
HWY_INLINE hn::Vec<D> picked(D d, hn::Vec<D> low, hn::Vec<D> high,
                             hn::Vec<hn::RebindToSigned<D>> places) {
  const hn::RebindToSigned<D> di;
  const auto low_bits = hn::BitCast(di, low), high_bits = hn::BitCast(di, high);
  return hn::BitCast(
      d, decltype(places){_mm512_permutex2var_epi32(low_bits.raw, places.raw, high_bits.raw)});
}
#endif

/// Converts two registers, for rows 0 to 7 and 8 to 15:
/// to[t * step + 8 i + g] = register i[4 g + t]
template <class T>
HWY_INLINE void columns_of_registers(const T* first, const T* second, T* to, int step) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const hn::FixedTag<T, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto i = hn::Iota(di, 0);
  const auto group = hn::And(i, hn::Set(di, fragment_groups - 1));
  for (int t = 0; t < lanes_of_group; t += 2) {  // columns t and t + 1
    const auto column = hn::Add(hn::ShiftRight<3>(i), hn::Set(di, t));
    const auto places = hn::Add(hn::ShiftLeft<2>(group), column);
    const auto low = picked(d, hn::LoadU(d, first), hn::LoadU(d, first + 16), places);
    const auto high = picked(d, hn::LoadU(d, second), hn::LoadU(d, second + 16), places);
    hn::StoreU(hn::ConcatLowerLower(d, high, low), d, to + t * step);
    hn::StoreU(hn::ConcatUpperUpper(d, high, low), d, to + (t + 1) * step);
  }
#else
  columns_of_register(first, to, step);
  columns_of_register(second, to + fragment_groups, step);
#endif
}

/// The inverse of columns_of_registers().
template <class T>
HWY_INLINE void registers_of_columns(const T* from, int step, T* first, T* second) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const hn::FixedTag<T, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto column = [&](int t) { return hn::LoadU(d, from + t * step); };
  const auto low01 = hn::ConcatLowerLower(d, column(1), column(0));
  const auto low23 = hn::ConcatLowerLower(d, column(3), column(2));
  const auto high01 = hn::ConcatUpperUpper(d, column(1), column(0));
  const auto high23 = hn::ConcatUpperUpper(d, column(3), column(2));
  const auto i = hn::Iota(di, 0);
  const auto t = hn::And(i, hn::Set(di, lanes_of_group - 1));
  for (int group = 0; group < fragment_groups; group += 4) {  // four groups at a time
    const auto row = hn::Add(hn::ShiftRight<2>(i), hn::Set(di, group));
    const auto places = hn::Add(hn::ShiftLeft<3>(t), row);
    const int at = group * lanes_of_group;
    hn::StoreU(picked(d, low01, low23, places), d, first + at);
    hn::StoreU(picked(d, high01, high23, places), d, second + at);
  }
#else
  register_of_columns(from, step, first);
  register_of_columns(from + fragment_groups, step, second);
#endif
}

/// A tile of sums in f32 or f16, in registers rows[0], rows[1], … of the warp.
struct SumTile {
  Warp& warp;
  MatrixElement type;
  int halves;  // number of 8-row halves
  const std::uint32_t* rows;
};

HWY_INLINE float* column_of(ProductSums* sums, int odd, int half) {
  return sums[odd].data() + half * fragment_groups;
}

/// Values by [half][odd column][lane].
using TileLanes = float[2][2][warp_size];

HWY_INLINE void load_sums(const SumTile& tile, ProductSums* sums) {
  constexpr int step = 2 * product_rows;
  alignas(64) TileLanes converted;
  const float* lanes[2][2];
  for (int half = 0; half < tile.halves; ++half) {
    if (tile.type == MatrixElement::f16) {
      const auto* const words = tile.warp.row<const std::uint32_t>(tile.rows[half]);
      auto& [even, odd] = converted[half];
      for (int lane = 0; lane < warp_size; ++lane) even[lane] = f32_of_f16(words[lane] & 0xFFFFu);
      for (int lane = 0; lane < warp_size; ++lane) odd[lane] = f32_of_f16(words[lane] >> 16);
    }
    for (int odd = 0; odd < 2; ++odd) {
      lanes[half][odd] = tile.type == MatrixElement::f16
                             ? converted[half][odd]
                             : tile.warp.row<const float>(tile.rows[2 * half + odd]);
    }
  }
  for (int odd = 0; odd < 2; ++odd) {
    float* const to = column_of(sums, odd, 0);
    if (tile.halves == 2) {
      columns_of_registers(lanes[0][odd], lanes[1][odd], to, step);
    } else {
      columns_of_register(lanes[0][odd], to, step);
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

/// Copies columns to the registers of each half.
HWY_INLINE void set_lanes(const float* columns, int halves, float* first, float* second) {
  constexpr int step = 2 * product_rows;
  if (halves == 2) {
    registers_of_columns(columns, step, first, second);
  } else {
    register_of_columns(columns, step, first);
  }
}

/// Writes the registers of the active lanes.
HWY_INLINE void store_sums(const SumTile& tile, ProductSums* sums) {
  if (tile.type != MatrixElement::f16 && tile.warp.mask == all_lanes) {
    for (int odd = 0; odd < 2; ++odd) {
      const auto row = [&](int half) {
        return tile.warp.row<float>(tile.rows[2 * std::min(half, tile.halves - 1) + odd]);
      };
      set_lanes(column_of(sums, odd, 0), tile.halves, row(0), row(1));
    }
    return;
  }
  alignas(64) TileLanes lanes;
  for (int odd = 0; odd < 2; ++odd) {
    set_lanes(column_of(sums, odd, 0), tile.halves, lanes[0][odd], lanes[1][odd]);
  }
  for (int half = 0; half < tile.halves; ++half) {
    const auto& values = lanes[half];
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
      set_active(tile.warp, tile.rows[2 * half + odd], values[odd]);
    }
  }
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
