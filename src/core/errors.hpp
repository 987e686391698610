#pragma once
// How far the elements of a product are off: a measurement, where verify.hpp has a bound.

#include <cstdint>
#include <vector>

#include "core/case.hpp"
#include "core/exact_sum.hpp"

namespace rung {

/// Of a sample of the elements of C = AB.
struct ElementErrors {
  /// The largest |C - AB| / |A||B|, in units of the unit roundoff of C's type.
  double largest = 0;
  /// ||C - AB|| / ||AB||, by Euclidean norms over the sample.
  double normwise = 0;
};

/// Exact sums for some elements of C, so that the errors of many kernels on one problem can be
/// measured.
class ExactElements {
 public:
  /// Whether there are errors to measure: alpha is 1, beta 0, the type no integer, and C not empty.
  static bool can_measure(const GemmSpec& spec);

  /// Of the first product, with A and B as they are now. A grid over C has at most 32 x 32 cells,
  /// fewer for a long k; one random element of each is summed.
  explicit ExactElements(const GemmCase& problem);

  /// Of the problem's C as it is now; infinite where an element is not finite.
  ElementErrors errors_of(const GemmCase& problem) const;

 private:
  struct Element {
    std::int64_t row, col;
    ExactSum sum;
    double magnitude;  // of |A||B|
  };

  std::vector<Element> elements_;
};

}  // namespace rung
