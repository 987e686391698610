#pragma once

#include <array>

#include "core/dtype.hpp"

namespace rung {

/// What CPUs have; the others are for tensor cores alone.
inline constexpr std::array cpu_dtypes = {Dtype::f32,  Dtype::f64, Dtype::i32,
                                          Dtype::bf16, Dtype::f16, Dtype::i8};

}  // namespace rung
