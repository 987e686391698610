#include "emu/runtime/repetitions.hpp"

#include <fmt/format.h>

namespace rung::emu {

std::optional<std::string> Repetitions::add(const std::string& kernel, double seconds) {
  constexpr double long_seconds = 20;
  constexpr double most = 0.75;  // of the time
  if (told_) return std::nullopt;
  seconds_ += seconds;
  if (launches_[kernel]++ > 0) repeated_seconds_ += seconds;
  if (seconds_ < long_seconds || repeated_seconds_ < most * seconds_) return std::nullopt;
  told_ = true;
  std::uint64_t all = 0;
  for (const auto& [name, count] : launches_) all += count;
  return fmt::format(
      "{} launches of {} kernels have taken {:.0f} s of CPU time so far; with --launches 1 (or "
      "RUNG_EMU_LAUNCHES=1) only the first launch of each kernel runs, if the program only "
      "measures with the others{}",
      all, launches_.size(), seconds_,
      in_ci_ ? "" : "; --ci (RUNG_EMU_CI=1) runs all, and checks only the first ones");
}

}  // namespace rung::emu
