// Multiplies tiles of 8 or 16 x 8 in f32 (or f64), including integers: f32 is exact for them,
// because a tile's products, at most 64 of 16 bits, sum to less than 2^24. C is then added in s32.
#include "vgpu/engine/matrix/matrix_multiply.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/matrix_multiply.cpp"
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "vgpu/engine/lanes/targets.hpp"
#include "vgpu/engine/matrix/fragment_places.hpp"
#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/engine/numbers/rounding.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"
#include "vgpu/model/matrix_form.hpp"
#include "vgpu/model/warp.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Element = MatrixElement;

constexpr int columns = 8;  // per tile

/// Converts a register's elements to f32 or f64: values[element * 32 + lane].
template <Element type>
void widen_words(const std::uint32_t* words, float* values) {
  for (int element = 0; element < per_register(type); ++element) {
    for (int lane = 0; lane < warp_size; ++lane) {
      values[element * warp_size + lane] = matrix_element<type>(words[lane], element);
    }
  }
}

void widen(Element type, Warp& warp, std::uint32_t row, float* values) {
  const auto* const words = warp.row<const std::uint32_t>(row);
  switch (type) {
    case Element::s8: return widen_words<Element::s8>(words, values);
    case Element::u8: return widen_words<Element::u8>(words, values);
    case Element::s4: return widen_words<Element::s4>(words, values);
    default: return widen_words<Element::u4>(words, values);
  }
}

void widen(Element, Warp& warp, std::uint32_t row, double* values) {
  std::copy_n(warp.row<const double>(row), warp_size, values);
}

/// Elements per register. A constant for f64.
template <class T>
int packed(Element type) {
  return std::is_same_v<T, double> ? 1 : per_register(type);
}

/// Loads a tile of A, register by register, as multiply_tile() reads it.
template <class T>
void load_a(const MatrixForm& form, Warp& warp, const std::uint32_t* rows, T* a) {
  const int step = packed<T>(form.a) * warp_size;
  for (int i = 0; i < form.a_registers_of_tile(); ++i) widen(form.a, warp, rows[i], a + i * step);
}

/// Loads a tile of B, row-major. The elements of lanes t, 4 + t, 8 + t, … are adjacent in a row.
template <class T>
void load_b(const MatrixForm& form, Warp& warp, const std::uint32_t* rows, T* b) {
  const int elements = packed<T>(form.b);
  T values[8 * warp_size];
  for (int i = 0; i < form.b_registers_of_tile(); ++i) {
    widen(form.b, warp, rows[i], values);
    for (int t = 0; t < lanes_of_group; ++t) {
      for (int element = 0; element < elements; ++element) {
        T* const to = b + place_in_b(elements, t, i, element).row * columns;
        const T* const from = values + element * warp_size + t;
        for (int g = 0; g < columns; ++g) to[g] = from[g * lanes_of_group];
      }
    }
  }
}

template <class D, class V>
HWY_INLINE V fused(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulAdd(a, b, c);
#else
  // In f32, the product is exact, so rounding twice equals rounding once, unless the product is
  // subnormal.
  if constexpr (sizeof(hn::TFromD<D>) == 4) return hn::Add(hn::Mul(a, b), c);
  constexpr std::size_t lanes = HWY_LANES(hn::TFromD<D>);
  alignas(16) hn::TFromD<D> x[lanes], y[lanes], z[lanes];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (std::size_t i = 0; i < lanes; ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#endif
}

/// Calls body(row of B, column of A) in ascending order of k, for the half's elements of A and B.
template <class T, class Body>
HWY_INLINE void each_step(const MatrixForm& form, int half, const T* a, const T* b, Body body) {
  const int elements = packed<T>(form.a), halves = form.tile_rows() / 8;
  for (int i = half; i < form.a_registers_of_tile(); i += halves) {
    for (int t = 0; t < lanes_of_group; ++t) {
      for (int element = 0; element < elements; ++element, b += columns) {
        body(b, a + (i * elements + element) * warp_size + t);
      }
    }
  }
}

/// Computes one half of multiply_tile() if a sum becomes NaN, with the payload that PTX specifies.
HWY_NOINLINE void multiply_nan(const MatrixForm& form, int half, const double* a, const double* b,
                               double* out) {
  each_step(form, half, a, b, [&](const double* b_row, const double* a_column) {
    for (int i = 0; i < 8 * columns; ++i) {
      const double x = a_column[i / columns * lanes_of_group], y = b_row[i % columns];
      out[i] = propagated(std::fma(x, y, out[i]), x, y, out[i]);
    }
  });
}

/// sums (row-major) += A * B, in ascending order of k. Each half has 8 rows, one per group of
/// lanes: register 0 of A holds the first half and register 1 the second, and so on for the next
/// columns.
template <class T>
void multiply_tile(const MatrixForm& form, const T* a, const T* b, T* sums) {
  constexpr int lanes = HWY_MIN(columns, static_cast<int>(HWY_LANES(T)));
  constexpr int vectors = columns / lanes;
  constexpr int groups = 8;
  const hn::FixedTag<T, lanes> d;
  using V = hn::Vec<decltype(d)>;
  const int halves = form.tile_rows() / groups;
  for (int half = 0; half < halves; ++half) {
    V sum[groups][vectors];
    T* const out = sums + half * groups * columns;
    for (int g = 0; g < groups; ++g) {
      for (int v = 0; v < vectors; ++v) sum[g][v] = hn::LoadU(d, out + g * columns + v * lanes);
    }
    each_step(form, half, a, b, [&](const T* b_row, const T* a_column) HWY_ATTR {
      V factors[vectors];
      for (int v = 0; v < vectors; ++v) factors[v] = hn::LoadU(d, b_row + v * lanes);
      for (int g = 0; g < groups; ++g) {
        const V factor = hn::Set(d, a_column[g * lanes_of_group]);
        for (int v = 0; v < vectors; ++v) sum[g][v] = fused(d, factor, factors[v], sum[g][v]);
      }
    });
    if constexpr (std::is_same_v<T, double>) {
      auto nan = hn::IsNaN(sum[0][0]);
      for (const auto& row : sum) {
        for (const V& part : row) nan = hn::Or(nan, hn::IsNaN(part));
      }
      if (!hn::AllFalse(d, nan)) [[unlikely]] {
        multiply_nan(form, half, a, b, out);
        continue;
      }
    }
    for (int g = 0; g < groups; ++g) {
      for (int v = 0; v < vectors; ++v) hn::StoreU(sum[g][v], d, out + g * columns + v * lanes);
    }
  }
}

template <class T>
void set_lanes(T* row, const T* values, Mask mask) {
  for (int lane = 0; lane < warp_size; ++lane) {
    row[lane] = ((mask >> lane) & 1) != 0 ? values[lane] : row[lane];
  }
}

// Tiles of C and D of f64 or s32: row-major, as place_in_sum() gives the positions.

/// The position of a lane's element in a tile's sums.
int sum_at(int lane, int reg) {
  const MatrixPlace place = place_in_sum(1, lane, reg, 0);
  return place.row * columns + place.column;
}

template <class T>
void load_sums(const MatrixForm& form, Warp& warp, const std::uint32_t* rows, T* sums) {
  for (int half = 0; half < form.tile_rows() / 8; ++half) {
    const T* const even = warp.row<const T>(rows[2 * half]);
    const T* const odd = warp.row<const T>(rows[2 * half + 1]);
    for (int lane = 0; lane < warp_size; ++lane) {
      sums[sum_at(lane, 2 * half)] = even[lane];
      sums[sum_at(lane, 2 * half + 1)] = odd[lane];
    }
  }
}

using rung::vgpu::canonical;
std::int32_t canonical(std::int32_t x) { return x; }

template <class T>
void store_sums(const MatrixForm& form, Warp& warp, const std::uint32_t* rows, const T* sums) {
  for (int half = 0; half < form.tile_rows() / 8; ++half) {
    T even[warp_size], odd[warp_size];
    for (int lane = 0; lane < warp_size; ++lane) {
      even[lane] = canonical(sums[sum_at(lane, 2 * half)]);
      odd[lane] = canonical(sums[sum_at(lane, 2 * half + 1)]);
    }
    set_lanes(warp.row<T>(rows[2 * half]), even, warp.mask);
    set_lanes(warp.row<T>(rows[2 * half + 1]), odd, warp.mask);
  }
}

/// An instruction's operands in memory. All are read before any is written, because D may share
/// registers with A, B and C.
template <class T>
struct Operands {
  alignas(64) T a[16 * 64];
  alignas(64) T b[64 * 8];
  alignas(64) T sums[16 * 16];
  alignas(64) std::int32_t integers[16 * 16];  // C of s32; `sums` then starts at 0
};

/// Number of elements in a tile of C.
int tile_elements(const MatrixForm& form) { return form.tile_rows() * columns; }

template <class T>
void load(const MatrixForm& form, Warp& warp, const RowsOf& rows, Operands<T>& operands) {
  for (int i = 0; i < form.row_tiles(); ++i) {
    load_a(form, warp, rows.a + i * form.a_registers_of_tile(),
           operands.a + i * form.tile_rows() * form.k);
  }
  for (int j = 0; j < form.column_tiles(); ++j) {
    load_b(form, warp, rows.b + j * form.b_registers_of_tile(), operands.b + j * form.k * columns);
  }
  for (int tile = 0; tile < form.row_tiles() * form.column_tiles(); ++tile) {
    const std::uint32_t* const c = rows.c + tile * form.sum_registers_of_tile(form.c);
    T* const sums = operands.sums + tile * tile_elements(form);
    if (form.c == Element::s32) {
      load_sums(form, warp, c, operands.integers + tile * tile_elements(form));
      std::fill_n(sums, tile_elements(form), T{0});
    } else {
      load_sums(form, warp, c, sums);
    }
  }
}

template <class T>
void multiply_tiles(const MatrixForm& form, Operands<T>& operands) {
  for (int i = 0; i < form.row_tiles(); ++i) {
    for (int j = 0; j < form.column_tiles(); ++j) {
      const T* const a = operands.a + i * form.tile_rows() * form.k;
      const T* const b = operands.b + j * form.k * columns;
      T* const sums = operands.sums + (i * form.column_tiles() + j) * tile_elements(form);
      multiply_tile(form, a, b, sums);
    }
  }
}

void add_integers(const MatrixForm& form, Operands<float>& operands) {
  for (int i = 0; i < form.m * form.n; ++i) {
    const std::int64_t sum =
        std::int64_t{operands.integers[i]} + static_cast<std::int32_t>(operands.sums[i]);
    const std::int64_t stopped = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
    operands.integers[i] =
        static_cast<std::int32_t>(form.mode == MatrixMode::saturating ? stopped : sum);
  }
}

template <class T>
void store(const MatrixForm& form, Warp& warp, const RowsOf& rows, const Operands<T>& operands) {
  for (int tile = 0; tile < form.row_tiles() * form.column_tiles(); ++tile) {
    const std::uint32_t* const d = rows.d + tile * form.sum_registers_of_tile(form.d);
    const T* const sums = operands.sums + tile * tile_elements(form);
    if constexpr (std::is_same_v<T, float>) {
      store_sums(form, warp, d, operands.integers + tile * tile_elements(form));
    } else {
      store_sums(form, warp, d, sums);
    }
  }
}

int rounding_of(MatrixMode mode) {
  switch (mode) {
    case MatrixMode::to_zero: return FE_TOWARDZERO;
    case MatrixMode::down: return FE_DOWNWARD;
    case MatrixMode::up: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

template <class T>
void multiply_all(const MatrixForm& form, Warp& warp, const Instr& instr) {
  Operands<T> operands;
  const RowsOf rows = rows_of(form, instr);
  load(form, warp, rows, operands);
  if constexpr (std::is_same_v<T, double>) {
    const RoundingScope scope(rounding_of(form.mode));
    multiply_tiles(form, operands);
  } else {
    multiply_tiles(form, operands);
    add_integers(form, operands);
  }
  store(form, warp, rows, operands);
}

void run_matrix(Warp& warp, const Instr& instr) {
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  const auto form = instr.value<MatrixForm>();
  if (form.a == Element::f64) {
    multiply_all<double>(form, warp, instr);
  } else if (form.d == Element::s32) {
    multiply_all<float>(form, warp, instr);
  } else {
    static const FloatMultiply multiply_floats = float_multiply();
    multiply_floats(form, warp, instr);
  }
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

Handler matrix_handler() {
  static const Handler picked = RUNG_PICK_LANES(run_matrix);
  return picked;
}

}  // namespace rung::vgpu
#endif
