#pragma once
// What both programs write beside their results.

#include <fmt/chrono.h>
#include <sys/utsname.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "measure/statistics.hpp"

namespace rung::dist_bench {

using Json = nlohmann::ordered_json;

inline Json environment() {
  utsname system = {};
  uname(&system);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return {{"os", fmt::format("{} {}", system.sysname, system.release)},
          {"compiler", __VERSION__},
          {"version", RUNG_VERSION},
          {"commit", RUNG_COMMIT},
          {"date", fmt::format("{:%FT%TZ}", fmt::gmtime(now))}};
}

inline Json to_json(const Summary& s) {
  return {{"median", s.median}, {"min", s.min}, {"max", s.max},
          {"q1", s.q1},         {"q3", s.q3},   {"samples", s.count}};
}

}  // namespace rung::dist_bench
