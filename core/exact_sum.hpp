#pragma once
// A sum of doubles without rounding, for references that must be exact.

#include <cmath>
#include <vector>

namespace rung {

/// Holds the exact sum as a floating-point expansion: doubles whose bits do not overlap, in
/// ascending order of magnitude (Shewchuk, Discrete & Computational Geometry 18, 1997). Terms must
/// be finite; products must neither overflow nor fall below the normal range.
class ExactSum {
 public:
  void add(double term);
  void add(const ExactSum& other);

  void add_product(double x, double y) {
    const double product = x * y;
    add(product);
    const double rest = std::fma(x, y, -product);
    if (rest != 0) add(rest);
  }

  /// One of the two doubles nearest to the sum.
  double value() const;

 private:
  std::vector<double> parts_;
};

}  // namespace rung
