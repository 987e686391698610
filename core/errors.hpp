#pragma once
// Measures the errors of a product, whereas verify.hpp checks them against a bound.

#include <cstdint>
#include <vector>

#include "core/case.hpp"
#include "core/exact_sum.hpp"

namespace rung {

/// Errors over a sample of the elements of C = AB.
struct ElementErrors {
  /// The maximum of |C - AB| / |A||B|, in units of the unit roundoff of C's type.
  double largest = 0;
  /// ||C - AB|| / ||AB|| with Euclidean norms over the sample.
  double normwise = 0;
};

/// Exact sums for a sample of elements of C, with which the errors of many kernels on one problem
/// can be measured.
class ExactElements {
 public:
  /// True if errors can be measured: alpha is 1, beta is 0, the type is not an integer, and C is
  /// not empty.
  static bool can_measure(const GemmSpec& spec);

  /// Computes exact sums for the first product with the current A and B. The sample has one random
  /// element in each cell of a grid over C, with at most 32 x 32 cells and fewer for a long k.
  explicit ExactElements(const GemmCase& problem);

  /// The errors of the problem's current C; infinite if an element is not finite.
  ElementErrors errors_of(const GemmCase& problem) const;

 private:
  struct Element {
    std::int64_t row, col;
    ExactSum sum;
    double magnitude;  // |A||B|
  };

  std::vector<Element> elements_;
};

}  // namespace rung
