#include "device/cpu/thread_limit.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/ignored_variable.hpp"
#include "device/cpu/machine.hpp"

namespace rung::cpu {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Parses a number from 1 to INT_MAX; returns 0 for any other text.
int positive_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? std::max(number, 0) : 0;
}

/// The limit in a variable; 0 if it is not set, empty or invalid. OpenMP's may be a list with one
/// number per nesting level.
int limit_in(const char* variable, bool may_be_list) {
  const char* const value = std::getenv(variable);
  const std::string_view text = trimmed(value == nullptr ? "" : value);
  if (text.empty()) return 0;
  const int number = positive_number(trimmed(may_be_list ? text.substr(0, text.find(',')) : text));
  if (number == 0) {
    ignore_variable(variable, value, "is ignored; expected a number of threads, at least 1");
  }
  return number;
}

int limit_of_environment() {
  static const int found = [] {
    const int own = limit_in("RUNG_NUM_THREADS", false);
    return own != 0 ? own : limit_in("OMP_NUM_THREADS", true);
  }();
  return found;
}

std::atomic<int> limit_of_program = 0;

}  // namespace

int thread_limit() {
  const int limit = limit_of_program.load(std::memory_order_relaxed);
  return limit != 0 ? limit : limit_of_environment();
}

void set_thread_limit(int threads) { limit_of_program.store(threads, std::memory_order_relaxed); }

int default_threads() {
  const int limit = thread_limit();
  if (limit == 1) return 1;  // saves a system call
  const int processors = available_threads();
  return limit == 0 ? processors : std::min(limit, processors);
}

}  // namespace rung::cpu
