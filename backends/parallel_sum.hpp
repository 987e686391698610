#pragma once
// Parallel summation on the CPU, for rungs that leave partial sums to the host.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/integers.hpp"
#include "device/cpu/parallel.hpp"

namespace rung {

/// The sum of `count` values. Uses `threads` threads, but the order of summation does not depend on
/// their number.
template <class T>
T parallel_sum(const T* values, std::int64_t count, int threads) {
  constexpr std::int64_t chunk = 1 << 14;
  std::vector<T> partial(static_cast<std::size_t>(ceil_div(count, chunk)));
  cpu::parallel_for(std::ssize(partial), threads, [&](std::int64_t c) {
    T sum{};
    const std::int64_t end = std::min(count, (c + 1) * chunk);
    for (std::int64_t i = c * chunk; i < end; ++i) sum += values[i];
    partial[static_cast<std::size_t>(c)] = sum;
  });
  T sum{};
  for (const T& value : partial) sum += value;
  return sum;
}

}  // namespace rung
