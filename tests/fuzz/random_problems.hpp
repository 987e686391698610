#pragma once
// Random problems for the fuzz test of the library: most are small, some large enough to cover
// every selection rule.

#include <array>
#include <cstdint>

#include "../cpu_dtypes.hpp"
#include "../library/entry_points.hpp"
#include "core/case.hpp"
#include "core/dtype_traits.hpp"
#include "core/random.hpp"
#include "guarded_memory.hpp"

namespace rung {

/// A sequence of random numbers determined by a seed and the index of a case.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t index) : seed_(random_bits(seed, index)) {}

  std::uint64_t bits() { return random_bits(seed_, next_++); }
  std::int64_t below(std::int64_t count) { return random_below(count, seed_, next_++); }
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + below(last - first + 1);
  }
  bool one_in(std::int64_t count) { return below(count) == 0; }
  template <class T, std::size_t size>
  T pick(const std::array<T, size>& values) {
    return values[static_cast<std::size_t>(below(size))];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

inline int random_threads(Draws& draws) { return draws.pick(std::array{1, 2, 2, 3, 4, 8}); }

inline GuardedMemory::Place random_place(Draws& draws) {
  using enum GuardedMemory::Place;
  return draws.one_in(2) ? ends_at_guard : starts_at_guard;
}

/// A size; 0 in one of 20 draws.
inline std::int64_t random_size(Draws& draws) {
  if (draws.one_in(20)) return 0;
  return draws.between(1, draws.pick(std::array<std::int64_t, 6>{3, 9, 17, 33, 49, 70}));
}

inline double random_scale(Draws& draws) {
  return draws.pick(std::array{0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 0.5, 2.0, -3.0, 0.7});
}

inline Values random_values(Draws& draws) {
  using enum Values;
  return draws.pick(std::array{reals, reals, reals, wide, tiny, integers, nan, infinity});
}

inline GemmSpec random_gemm(Draws& draws) {
  GemmSpec spec = {.dtype = draws.pick(cpu_dtypes),
                   .m = random_size(draws),
                   .n = random_size(draws),
                   .k = random_size(draws)};
  const std::int64_t shape = draws.below(400);
  if (shape < 16) spec.k = draws.between(1000, 1200);
  if (shape < 3) {  // long enough for split-K
    spec.m = draws.between(1, 12);
    spec.n = draws.between(1, 12);
    spec.k = draws.between(4096, 9000);
  }
  if (shape == 3) {  // large enough for packing and for several threads
    spec.m = draws.between(49, 100);
    spec.n = draws.between(49, 100);
    spec.k = draws.between(320, 700);
  }
  if (shape >= 16 && shape < 24) spec.m = draws.between(200, 700);
  if (shape >= 24 && shape < 32) spec.n = draws.between(200, 1500);
  spec.a_transposed = draws.one_in(2);
  spec.b_transposed = draws.one_in(2);
  for (const auto padding : {&GemmSpec::a_padding, &GemmSpec::b_padding, &GemmSpec::c_padding}) {
    if (draws.one_in(3)) spec.*padding = draws.between(1, 9);
  }
  spec.alpha = random_scale(draws);
  spec.beta = random_scale(draws);
  if (is_integer(spec.dtype)) {  // their scalars are integers
    spec.alpha = draws.between(-3, 3);
    spec.beta = draws.between(-3, 3);
  }
  // A kernel may compute 0 * NaN for an alpha of 0; the library must not, and reads no operands
  // then.
  spec.values = spec.alpha == 0 ? Values::reals : random_values(draws);
  spec.seed = draws.bits() >> 8;
  return spec;
}

/// A problem with small integers, whose sums are exact.
inline entry::Problem random_entry(Draws& draws) {
  entry::Problem problem = {.m = random_size(draws),
                            .n = random_size(draws),
                            .k = random_size(draws),
                            .count = draws.between(1, 4)};
  if (draws.one_in(8)) problem.k = draws.between(120, 700);
  if (draws.one_in(16)) problem.m = draws.between(200, 600);
  problem.alpha = static_cast<double>(draws.between(-2, 2));
  problem.beta = static_cast<double>(draws.between(-2, 2));
  problem.a_by_columns = draws.one_in(2);
  problem.b_by_columns = draws.one_in(2);
  problem.c_by_columns = draws.one_in(2);
  problem.padding = draws.one_in(2) ? 0 : draws.between(1, 9);
  problem.seed = draws.bits() >> 8;
  return problem;
}

inline DotSpec random_dot(Draws& draws) {
  DotSpec spec = {.dtype = draws.pick(std::array{Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16}),
                  .n = draws.one_in(8) ? draws.between(0, 5000) : random_size(draws)};
  if (draws.one_in(100)) spec.n = draws.between(60'000, 140'000);
  if (draws.one_in(3)) {
    spec.incx = draws.between(-4, 4);
    spec.incy = draws.between(-4, 4);
  }
  spec.values = random_values(draws);
  spec.seed = draws.bits() >> 8;
  return spec;
}

}  // namespace rung
