#include "core/exact_sum.hpp"

#include <utility>

namespace rung {

void ExactSum::add(double term) {
  std::size_t kept = 0;
  for (double part : parts_) {
    if (std::abs(term) < std::abs(part)) std::swap(term, part);
    const double sum = term + part;
    const double rest = part - (sum - term);
    if (rest != 0) parts_[kept++] = rest;
    term = sum;
  }
  parts_.resize(kept);
  parts_.push_back(term);
}

void ExactSum::add(const ExactSum& other) {
  for (const double part : other.parts_) add(part);
}

double ExactSum::value() const {
  double sum = 0;
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) sum += *part;
  return sum;
}

}  // namespace rung
