#pragma once
// The dot product.

#include <cstdint>
#include <span>

#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// Returns the sum of x[i * incx] * y[i * incy] over i in [0, n), with BLAS increments: a negative
/// increment traverses the same elements from last to first, and an increment of 0 uses the first
/// element n times.
///
/// - The sum is accumulated and returned in float, for double in double. It is 0 if n is 0. DotMode
///   specifies the order of summation.
/// - May be called from several threads at once, at any time during the process, and with 64 KiB of
///   stack, like gemm().
///
/// Throws rung::Error (Status::invalid_argument) if n is negative, a pointer is null and n is not
/// 0, a vector spans more than 2^63 - 1 bytes, or options.threads is negative. Throws
/// std::bad_alloc if there is no memory for partial sums.
RUNG_API float dot(std::int64_t n, const float* x, std::int64_t incx, const float* y,
                   std::int64_t incy, const DotOptions& options = {});
RUNG_API double dot(std::int64_t n, const double* x, std::int64_t incx, const double* y,
                    std::int64_t incy, const DotOptions& options = {});
RUNG_API float dot(std::int64_t n, const bfloat16* x, std::int64_t incx, const bfloat16* y,
                   std::int64_t incy, const DotOptions& options = {});
RUNG_API float dot(std::int64_t n, const float16* x, std::int64_t incx, const float16* y,
                   std::int64_t incy, const DotOptions& options = {});

/// Returns the sum of x[i] * y[i], with the rules above. Also throws rung::Error if the spans
/// differ in length.
RUNG_API float dot(std::span<const float> x, std::span<const float> y,
                   const DotOptions& options = {});
RUNG_API double dot(std::span<const double> x, std::span<const double> y,
                    const DotOptions& options = {});
RUNG_API float dot(std::span<const bfloat16> x, std::span<const bfloat16> y,
                   const DotOptions& options = {});
RUNG_API float dot(std::span<const float16> x, std::span<const float16> y,
                   const DotOptions& options = {});

}  // namespace rung
