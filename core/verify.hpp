#pragma once
// Verifies results of kernels element by element.

#include <functional>
#include <string>

#include "core/case.hpp"
#include "core/kernel_error.hpp"

namespace rung {

struct Verdict {
  bool right = false;
  /// The maximum of |got - expected| / bound over all elements: at most 1 if right, infinite if an
  /// element is NaN, infinite, or wrong where the result must be exact.
  double max_error_ratio = 0;
  /// One line: the error, the case and the worst element. Empty if right.
  std::string message;
};

/// Runs the case and checks its results.
///
/// An element c of C = alpha A B + beta C is right if |c - exact| is at most
///
///     (k + 4) u (|alpha| |A||B| + |beta||C|) + u |exact|
///
/// where u is the unit roundoff of the output type (2^-24 for f32, 2^-53 for f64). In the first
/// term, u is the roundoff of the accumulator, doubled for types that run on tensor cores, because
/// these truncate. For tf32 and 8-bit floats the bound also includes product_error of bound.hpp.
/// This is the a priori bound of an inner product summed in any order, two scalings and a sum
/// (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2002, ch. 3), with k u instead
/// of gamma_k (Jeannerod and Rump, SIAM J. Matrix Anal. Appl. 34, 2013). The bound also includes
/// the error of the reference and an allowance for underflow (ch. 2.8). Integers must be exact. A
/// NaN or infinity is right only if the reference, which propagates them as in IEEE 754, has it,
/// too.
///
/// Problems of reals run again with small integers, whose partial sums are all exact. That result
/// must be exact as well, so no error can hide below a bound that grows with k. (This run is
/// skipped if alpha or beta is not a small multiple of 1/4.)
///
/// The inputs and the guards around and between rows must be unchanged. C starts as NaN if beta is
/// 0.
///
/// The reference is summed in float64, for f64 in long double, for i32 and i8 modulo 2^32. Above
/// 2^26 multiply-adds over all products of a batch, it is computed only for a few rows of each C,
/// and C as a whole is checked with a random vector: C v against alpha A (B v) + beta C v
/// (Freivalds, IFIP Congress 1977), which is exact on integers.
///
/// A KernelError thrown by `run` also gives a verdict: wrong, with its message.
Verdict verify(GemmCase& problem, const std::function<void(const GemmCall&)>& run);

/// Runs a dot product and checks |result - exact| <= (n + 2) u |x|.|y| + u |exact|. For a
/// compensated one, the bound is u |exact| + ((n + 2) u)^2 |x|.|y| (Ogita, Rump and Oishi, SIAM J.
/// Sci. Comput. 26, 2005, prop. 5.5). A sum that is rounded once may be off by u |exact| or half of
/// the smallest number. `run` returns the sum, rounded to float if the kernel's result is float;
/// for i32, as unsigned. A plain sum is verified as the dot product with ones.
Verdict verify(DotCase& problem, const std::function<double(const DotCall&)>& run);

}  // namespace rung
