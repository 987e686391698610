#include "tools/measure/quiet_machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "device/cpu/machine.hpp"
#include "tools/measure/ceilings.hpp"
#include "tools/measure/statistics.hpp"
#include "tools/measure/timing.hpp"

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double window = 0.2;           // seconds: 20 ticks of the kernel's clock
constexpr double ceiling_budget = 0.15;  // seconds

/// The total busy time in seconds of this process's CPUs since boot, including stolen time
/// (proc(5), /proc/stat). Empty if the file does not exist.
std::optional<double> busy_seconds() {
#if defined(__linux__)
  cpu_set_t ours;
  if (sched_getaffinity(0, sizeof ours, &ours) != 0) return std::nullopt;
  std::ifstream stat("/proc/stat");
  std::int64_t ticks = 0;
  bool any = false;
  for (std::string line; std::getline(stat, line);) {
    std::istringstream fields(line);
    std::string name;
    std::int64_t user, nice, system, idle, iowait, irq, softirq, steal;
    fields >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    if (!fields || !name.starts_with("cpu") || name == "cpu") continue;
    if (!CPU_ISSET(std::stoul(name.substr(3)), &ours)) continue;
    ticks += user + nice + system + irq + softirq + steal;
    any = true;
  }
  if (any) return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
#endif
  return std::nullopt;
}

/// The mean number of CPUs used by other programs during an interval in which this process sleeps.
double used_by_others() {
  const LoadByOthers load;
  std::this_thread::sleep_for(std::chrono::duration<double>(window));
  return load.mean();
}

double own_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double ceiling_spread(Dtype dtype, int threads) {
  TimingOptions options;
  options.seconds = ceiling_budget;
  const auto timings = time_interleaved({{fma_ceiling(dtype, threads).batch}}, options);
  return summarize(timings.front().seconds).spread();
}

}  // namespace

LoadByOthers::LoadByOthers()
    : start_(Clock::now()), busy_(busy_seconds()), own_(own_cpu_seconds()) {}

double LoadByOthers::mean() const {
  const std::optional<double> busy = busy_seconds();
  if (!busy_ || !busy) return 0;
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  return std::max(0.0, *busy - *busy_ - (own_cpu_seconds() - own_)) / elapsed;
}

std::string wait_for_quiet_machine(Dtype dtype, int threads, double seconds) {
  if (seconds < 1) return "";
  const auto start = Clock::now();
  const auto waited = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  double others, spread;
  do {
    others = used_by_others();
    spread = ceiling_spread(dtype, threads);
    if (others <= disturbing_load && spread <= noisy_spread) return "";
  } while (waited() < seconds);
  const int processors = cpu::available_threads();
  return fmt::format(
      "machine still busy after {:.0f} s: other programs use {:.1f} of {} processor{}, and "
      "the FMA ceiling varies by {:.0f}%; figures with ~ are uncertain",
      waited(), others, processors, processors == 1 ? "" : "s", 100 * spread);
}

}  // namespace rung
