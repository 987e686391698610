#pragma once
// What a reduction adds up, and how a threadgroup adds to the result.

#include <metal_stdlib>

#include "device/metal/problem.h"
#include "device/metal/unroll.h"

using namespace metal;

namespace rung {

/// Term i of n: a product, or where sums are summed again an element of x, and y is not read.
template <bool PRODUCT, class Out, class In>
Out term(constant DotScalars& d, const device In* x, const device In* y, int64_t i) {
  if (!PRODUCT) return Out(x[i * d.incx]);
  return Out(x[i * d.incx]) * Out(y[i * d.incy]);
}

/// Adds to what other threadgroups add to as well.
template <class Out>
void add_to(device Out* result, Out sum) {
  atomic_fetch_add_explicit(reinterpret_cast<device metal::atomic<Out>*>(result), sum,
                            memory_order_relaxed);
}

}  // namespace rung
