#pragma once

#include <array>

#include "core/element_types.hpp"

namespace rung {

/// The types that CPU rungs support; the others are for tensor cores only.
inline constexpr std::array cpu_dtypes = {Dtype::f32,  Dtype::f64, Dtype::i32,
                                          Dtype::bf16, Dtype::f16, Dtype::i8};

}  // namespace rung
