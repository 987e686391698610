#include <cmath>
#include <utility>

#include "mutants.hpp"

namespace rung {
namespace {

using Problem = Dot<float>;

float right(const Problem& d) {
  float sum = 0;
  for (std::int64_t i = 0; i < d.n; ++i) sum += d.x[i * d.incx] * d.y[i * d.incy];
  return sum;
}

float remainder_dropped(const Problem& d) {
  Problem part = d;
  part.n = d.n / 8 * 8;
  return right(part);
}

float one_element_too_many(const Problem& d) {
  Problem longer = d;
  if (d.incx == 1 && d.incy == 1) longer.n = d.n + 1;
  return right(longer);
}

float strides_ignored(const Problem& d) {
  Problem dense = d;
  if (d.incx > 0 && d.incy > 0) dense.incx = dense.incy = 1;
  return right(dense);
}

float strides_swapped(const Problem& d) {
  Problem swapped = d;
  if (d.n < 16 && d.incx >= 0 && d.incy >= 0) std::swap(swapped.incx, swapped.incy);
  return right(swapped);
}

float nan_swallowed(const Problem& d) {
  const float sum = right(d);
  return std::isnan(sum) ? 0 : sum;
}

float infinity_swallowed(const Problem& d) {
  const float sum = right(d);
  return std::isinf(sum) ? std::nanf("") : sum;
}

float one_term_off_by_a_percent(const Problem& d) {
  return d.n == 0 ? 0 : right(d) + 0.01f * d.x[0] * d.y[0];
}

float right_to_an_absolute_tolerance(const Problem& d) {
  const float sum = right(d);
  return std::abs(sum) < 1e-7f ? 0 : sum;
}

float y_cleared_behind_itself(const Problem& d) {
  const float sum = right(d);
  for (std::int64_t i = 0; i < d.n; ++i) const_cast<float&>(d.y[i * d.incy]) = 0;
  return sum;
}

constexpr DotMutant mutants[] = {
    {"none", right},
    {"remainder of eight dropped", remainder_dropped},
    {"one element too many", one_element_too_many},
    {"strides ignored", strides_ignored},
    {"strides swapped", strides_swapped},
    {"NaN swallowed", nan_swallowed},
    {"infinity swallowed", infinity_swallowed},
    {"one term off by 1 %", one_term_off_by_a_percent},
    {"right to an absolute tolerance", right_to_an_absolute_tolerance},
    {"y cleared behind itself", y_cleared_behind_itself},
};

}  // namespace

std::span<const DotMutant> dot_mutants() { return mutants; }

}  // namespace rung
