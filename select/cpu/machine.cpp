// The rates of this machine, and the factors that `rung tune gemm/cpu` has found for it.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>

#include "core/tuned_path.hpp"
#include "device/cpu/fma_units.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/streamed_a.hpp"
#include "select/cpu/select.hpp"

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

template <class Body>
double seconds_of(const Body& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The minimum of several measurements, because other work only adds to the time.
template <class Body>
double least_seconds_of(int times, const Body& body) {
  double least = seconds_of(body);
  for (int i = 1; i < times; ++i) least = std::min(least, seconds_of(body));
  return least;
}

/// Seconds for an FMA of a vector in a tile whose operands are in L1.
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

/// True if a core seems to start two FMAs of vectors per cycle. Another thread of the same core, perhaps of
/// another guest, may take a part of them for microseconds or for hours, but none of the cycles of a
/// dependent chain. So the best of several attempts counts.
bool seems_to_have_two_fmas() {
  // With the tile's own overhead and a lower clock for FMAs, two units measure 1.4 to 1.6 FMAs per cycle, and
  // one unit never more than 1.
  constexpr double more_than_one = 1.05;
  constexpr int attempts = 50;  // half a millisecond in total
  for (int i = 0; i < attempts; ++i) {
    if (cycle_seconds() / fma_seconds() > more_than_one) return true;
  }
  return false;
}

/// FMAs per cycle: known from the CPU's model, or measured.
double fmas_in_cycle() {
  const int bits = static_cast<int>(32 * cpu::masked_kernels<float>().lanes);
  if (const auto known = cpu::fmas_per_cycle(cpu::cpu_model(), bits)) return *known;
  return seems_to_have_two_fmas() ? 2 : 1;
}

/// Cycles to share a loop in which both threads have a part. Each waits for the other to begin; otherwise the
/// caller would do both parts before the worker sees the loop. Only loops in which both have begun count: in
/// the others, the worker was asleep or had no processor.
double measured_handover() {
  constexpr int patience = 20000;  // some microseconds on a machine without a spare processor
  constexpr int attempts = 2000;   // a new thread takes a while to run: together ten milliseconds
  constexpr int enough = 20;
  double shortest = std::numeric_limits<double>::infinity();
  int shared_loops = 0;
  for (int i = 0; i < attempts && shared_loops < enough; ++i) {
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
    ++shared_loops;
  }
  // A product's worker also reads the call and operands from the caches of another core.
  constexpr double of_product = 3.5, least = 6e3, usual = 8e3, most = 1e5;
  if (shared_loops == 0) return usual;
  return std::clamp(of_product * shortest / cycle_seconds(), least, most);
}

constexpr double least_factor = 0.1, max_factor = 10;

void read_line(const std::string& line, CostFactors& factors) {
  std::istringstream words(line);
  words.imbue(std::locale::classic());
  std::string rung, dtype, more;
  double factor = 0;
  const bool complete = static_cast<bool>(words >> rung >> dtype >> factor) && !(words >> more);
  const auto rungs = gemm_rungs_with_costs();
  const auto found =
      std::find_if(rungs.begin(), rungs.end(), [&](const auto& named) { return named.id == rung; });
  const bool is_known = found != rungs.end() && (dtype == "f32" || dtype == "f64");
  if (!complete || !is_known || !(factor >= least_factor && factor <= max_factor)) {
    throw std::runtime_error("'" + line +
                             "' is not 'RUNG DTYPE FACTOR', as rung tune gemm/cpu writes it");
  }
  factors.of(dtype == "f64" ? Dtype::f64
                            : Dtype::f32)[static_cast<std::size_t>(found - rungs.begin())] = factor;
}

}  // namespace

/// A dependent shift and addition take one cycle each.
double cycle_seconds() {
  constexpr std::int64_t steps = 500;
  static volatile std::uint64_t start = 1;
  const auto chain = [] {
    std::uint64_t x = start;
    for (std::int64_t i = 0; i < steps; ++i) {
      x += x >> 1;
#if defined(__GNUC__)
      asm volatile("" : "+r"(x));  // serializes the steps
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
                    static_cast<double>(std::min(caches.l3, cpu::max_l3)),
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

CostFactors parse_cost_factors(std::string_view text) {
  CostFactors factors;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') read_line(line, factors);
  }
  return factors;
}

std::string format_cost_factors(const CostFactors& factors, std::string_view cpu) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(4);
  text << "# Found by `rung tune` on " << cpu << ": rung, dtype, factor of its costs.\n";
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (std::size_t i = 0; i < rungs_with_costs; ++i) {
      text << gemm_rungs_with_costs()[i].id << (dtype == Dtype::f64 ? " f64 " : " f32 ")
           << factors.of(dtype)[i] << '\n';
    }
  }
  return text.str();
}

const CostFactors& cost_factors() noexcept {
  static const CostFactors found = []() -> CostFactors {
    try {
      std::ifstream file(tuned_path(cpu::model()));
      if (!file) return {};
      return parse_cost_factors(std::string(std::istreambuf_iterator<char>(file), {}));
    } catch (...) {  // no memory, or not a file of `rung tune`
      return {};
    }
  }();
  return found;
}

}  // namespace rung
