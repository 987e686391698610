#pragma once
// Maps element types of rung.h to C++ types.

#include <cstdint>

#include "rung/rung.h"
#include "rung/types.hpp"

namespace rung {

/// Calls f with an element of that type.
template <class F>
auto with_element(int dtype, const F& f) {
  switch (dtype) {
    case RUNG_DTYPE_F64: return f(double{});
    case RUNG_DTYPE_I32: return f(std::int32_t{});
    case RUNG_DTYPE_BF16: return f(bfloat16{});
    case RUNG_DTYPE_F16: return f(float16{});
    case RUNG_DTYPE_I8: return f(std::int8_t{});
    case RUNG_DTYPE_E4M3: return f(float8_e4m3{});
    case RUNG_DTYPE_E5M2: return f(float8_e5m2{});
    default: return f(float{});
  }
}

}  // namespace rung
