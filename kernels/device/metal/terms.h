#pragma once
// The terms of a reduction, and the atomic addition to the result.

#include <metal_stdlib>

#include "device/metal/problem.h"
#include "device/metal/unroll.h"

using namespace metal;

namespace rung {

/// Term i of n: a product or, if sums are reduced again, an element of x; then y is not read.
template <bool PRODUCT, class Out, class In>
Out term(constant DotScalars& d, const device In* x, const device In* y, int64_t i) {
  if (!PRODUCT) return Out(x[i * d.incx]);
  return Out(x[i * d.incx]) * Out(y[i * d.incy]);
}

/// Atomically adds to a sum that other threadgroups add to.
template <class Out>
void add_to(device Out* result, Out sum) {
  atomic_fetch_add_explicit(reinterpret_cast<device metal::atomic<Out>*>(result), sum,
                            memory_order_relaxed);
}

}  // namespace rung
