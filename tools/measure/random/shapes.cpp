#include "tools/measure/random/shapes.hpp"

#include <bit>
#include <cmath>

#include "core/dtype.hpp"
#include "core/random.hpp"

namespace rung {
namespace {

/// The random numbers of one shape.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t index) : seed_(random_bits(seed, index)) {}
  std::uint64_t next() { return random_bits(seed_, next_++); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

/// 2 to the power of a number below 1 in units of 2^-32.
double power_of_two(std::uint32_t exponent) {
  double power = 1;
  double factor = 2;
  for (std::uint32_t bit = std::uint32_t{1} << 31; bit != 0; bit >>= 1) {
    factor = std::sqrt(factor);
    if ((exponent & bit) != 0) power *= factor;
  }
  return power;
}

/// A log-uniformly distributed integer from 1 to `most`.
std::int64_t log_uniform(std::int64_t most, Stream& stream) {
  const auto octaves = static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(most)));
  for (;;) {
    // octaves * (a number below 1), in units of 2^-32.
    const std::uint64_t exponent = octaves * (stream.next() >> 32);
    const double power = power_of_two(static_cast<std::uint32_t>(exponent));
    const std::int64_t drawn = std::llround(std::ldexp(power, static_cast<int>(exponent >> 32)));
    if (drawn <= most) return drawn;
  }
}

/// The common divisor of m, n and k.
std::int64_t draw_unit(std::int64_t max_size, Stream& stream) {
  const std::uint64_t share = stream.next() % 10;
  if (share < 5 && max_size >= 64) return 64;
  if (share < 8 && max_size >= 8) return 8;
  return 1;
}

/// The approximate FLOP/s of an H200's matrix units, or of its FMA units for types that the former
/// do not support.
double nominal_rate(Dtype dtype) {
  if (dtype == Dtype::tf32) return 4e14;
  switch (input_bytes(dtype)) {
    case 1: return 16e14;
    case 2: return 8e14;
    default: return 5e13;
  }
}

bool is_within(const Size& size, Dtype dtype, const DrawLimits& limits) {
  return gemm_bytes(size, dtype) <= limits.max_bytes &&
         gemm_flops(size) <= limits.max_seconds * nominal_rate(dtype);
}

}  // namespace

Size draw_shape(std::uint64_t seed, std::uint64_t index, Dtype dtype, const DrawLimits& limits) {
  Stream stream(seed, index);
  for (;;) {
    const std::int64_t unit = draw_unit(limits.max_size, stream);
    const std::int64_t most = limits.max_size / unit;
    Size size;
    for (std::int64_t* extent : {&size.m, &size.n, &size.k}) {
      *extent = unit * log_uniform(most, stream);
    }
    if (is_within(size, dtype, limits)) return size;
  }
}

double gemm_flops(const Size& size) { return 2 * size.volume(); }

double gemm_bytes(const Size& size, Dtype dtype) {
  const auto m = static_cast<double>(size.m);
  const auto n = static_cast<double>(size.n);
  const auto k = static_cast<double>(size.k);
  return (m * k + k * n) * static_cast<double>(input_bytes(dtype)) +
         m * n * static_cast<double>(output_bytes(dtype));
}

}  // namespace rung
