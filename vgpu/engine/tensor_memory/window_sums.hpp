#pragma once
// The sums of tcgen05.mma with block scales or a sparse A. All products of an instruction, and C, are truncated to a window
// of bits below the largest exponent among them, then summed exactly. Exponents are those of the encoded factors, scales
// included, so that subnormal elements have the smallest one of their type.
//
// The windows are those that https://github.com/sf-tensor/tcgen05 found by 46 million cases on B200s (tcgen05_model/MODEL.md,
// sections 3 and 5), but for sums below 2^-126, for which it states another rule. It has no measurements of k = 96.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vgpu/engine/matrix/tensor_core_sums.hpp"

namespace rung::vgpu {

enum class Window : std::uint8_t {
  plain,  // 25 bits below the largest exponent: .kind::f16, tf32, f8f6f4 and mxf8f6f4
  mxf4,   // e2m1 with ue8m0 scales
  nvfp4,  // e2m1 with ue4m3 scales
};

inline constexpr int max_window_k = 128, window_lanes = 16;
inline constexpr std::int32_t no_exponent = -4096;  // of a zero

/// A row of A with its scales. Exponents include those of the scales.
struct WindowLine {
  std::array<double, max_window_k> values;
  std::array<std::int32_t, max_window_k> exponents, scale_exponents;

  /// Sets element k. `scale_exponent`: of the scale's encoding.
  void set(int k, double element, int least_exponent, double scale, int scale_exponent) {
    const auto i = static_cast<std::size_t>(k);
    values[i] = element * scale;
    const bool counts = values[i] != 0 && std::isfinite(values[i]);
    exponents[i] =
        counts ? std::max(std::ilogb(element), least_exponent) + scale_exponent : no_exponent;
    scale_exponents[i] = counts ? scale_exponent : no_exponent;
  }
};

/// Columns of B, as [k][lane].
struct WindowColumns {
  double values[max_window_k][window_lanes];
  std::int32_t exponents[max_window_k][window_lanes];
  std::int32_t scale_exponents[max_window_k][window_lanes];

  void set(std::size_t lane, const WindowLine& line, int k) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
      values[i][lane] = line.values[i];
      exponents[i][lane] = line.exponents[i];
      scale_exponents[i][lane] = line.scale_exponents[i];
    }
  }
};

struct WindowRule {
  Window window;
  SumRule rounding;  // of the result, and the smallest exponent of C
  int k;
  bool is_sparse;  // k counts the zeros of A, too: groups of products have twice as many
};

/// sums[lane] += the products of a row with the columns.
void add_window(const WindowRule& rule, const WindowLine& a, const WindowColumns& b,
                float (&sums)[window_lanes]);

}  // namespace rung::vgpu
