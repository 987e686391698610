#include "library/cpu_rates.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

#include "device/cpu/fma_units.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/passing_a.hpp"

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

template <class Body>
double seconds_of(const Body& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The shortest of several: other work only adds to it.
template <class Body>
double least_seconds_of(int times, const Body& body) {
  double least = seconds_of(body);
  for (int i = 1; i < times; ++i) least = std::min(least, seconds_of(body));
  return least;
}

/// Of an FMA of a vector, by a tile whose operands are in L1.
double fma_seconds() {
  const auto& kernels = cpu::masked_kernels<float>();
  constexpr std::int64_t k = 64, widest = 64;
  alignas(64) static constinit float a[16 * k] = {}, b[k * widest] = {};
  alignas(64) float c[16 * widest];
  const std::int64_t cols = 2 * kernels.lanes;
  const auto tile = kernels.tile(kernels.MR, cols);
  const double seconds =
      least_seconds_of(20, [&] { tile({k, a, k, 1, b, cols, 1, 0, c, widest, cols}); });
  return std::max(seconds, 1e-9) / static_cast<double>(2 * kernels.MR * k);
}

/// Whether a core seems to begin two FMAs of vectors in a cycle. Another thread of the same core, of another
/// guest even, takes a part of them for microseconds or for hours, but none of the cycles of a chain: the
/// most of several attempts counts.
bool seems_to_have_two_fmas() {
  // The tile's own overhead and a lower clock for FMAs make 1.4 to 1.6 of two FMAs in a cycle, and never
  // more than 1 of one.
  constexpr double more_than_one = 1.05;
  constexpr int attempts = 50;  // together half a millisecond
  for (int i = 0; i < attempts; ++i) {
    if (cycle_seconds() / fma_seconds() > more_than_one) return true;
  }
  return false;
}

/// Known by the CPU's model, or measured.
double fmas_in_cycle() {
  const int bits = static_cast<int>(32 * cpu::masked_kernels<float>().lanes);
  if (const auto known = cpu::fmas_per_cycle(cpu::cpu_model(), bits)) return *known;
  return seems_to_have_two_fmas() ? 2 : 1;
}

/// Of a loop in which both threads have a part: each waits for the other to begin, or else the
/// caller would do both parts before the worker sees the loop. Of the loops in which they have met:
/// the others say only that the worker was asleep, or had no processor.
double measured_handover() {
  constexpr int patience = 20000;  // some microseconds, where the machine has no processor to spare
  constexpr int attempts = 2000;   // a new thread takes a while to run: together ten milliseconds
  constexpr int enough = 20;
  double shortest = std::numeric_limits<double>::infinity();
  int meetings = 0;
  for (int i = 0; i < attempts && meetings < enough; ++i) {
    std::atomic<int> arrived = 0;
    std::atomic<int> waits = 0;
    const double seconds = seconds_of([&] {
      cpu::parallel_for(2, 2, [&](std::int64_t) {
        int wait = 0;
        for (++arrived; wait < patience && arrived.load(std::memory_order_relaxed) < 2; ++wait) {
        }
        waits += wait;
      });
    });
    if (waits >= patience) continue;
    shortest = std::min(shortest, seconds);
    ++meetings;
  }
  // A product's worker reads what the call is, and operands, from the caches of another core, too.
  constexpr double of_product = 3.5, least = 6e3, usual = 8e3, most = 1e5;
  if (meetings == 0) return usual;
  return std::clamp(of_product * shortest / cycle_seconds(), least, most);
}

}  // namespace

/// A dependent shift and addition take a cycle each.
double cycle_seconds() {
  constexpr std::int64_t steps = 500;
  static volatile std::uint64_t start = 1;
  const auto chain = [] {
    std::uint64_t x = start;
    for (std::int64_t i = 0; i < steps; ++i) {
      x += x >> 1;
#if defined(__GNUC__)
      asm volatile("" : "+r"(x));  // one step after the other
#endif
    }
    start = x | 1;
  };
  return std::max(least_seconds_of(20, chain), 1e-9) / (2 * steps);
}

const CpuRates& rates_alone() {
  static const CpuRates found = [] {
    const cpu::Caches& caches = cpu::machine().caches;
    return CpuRates{static_cast<double>(cpu::masked_kernels<float>().lanes),
                    static_cast<double>(cpu::masked_kernels<double>().lanes),
                    static_cast<double>(caches.l1),
                    static_cast<double>(caches.l2),
                    static_cast<double>(std::min(caches.l3, cpu::most_l3)),
                    0,
                    fmas_in_cycle(),
                    cpu::masked_kernels<float>().has_few_rows()};
  }();
  return found;
}

const CpuRates& rates_of_threads() {
  static const CpuRates found = [] {
    CpuRates with_threads = rates_alone();
    with_threads.handover = measured_handover();
    return with_threads;
  }();
  return found;
}

}  // namespace rung
