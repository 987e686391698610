#pragma once
// Output that both programs share.

#include <fmt/chrono.h>
#include <sys/utsname.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tools/measure/statistics.hpp"

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

/// Call it before measuring: throws std::runtime_error if a file, unless the path is empty, cannot be written.
inline void require_writable(const std::string& path) {
  if (!path.empty() && !std::ofstream(path, std::ios::app)) {
    throw std::runtime_error(fmt::format("{} cannot be written", path));
  }
}
/// The document, or for a name that ends in .jsonl a header and one result per line.
inline std::string text_of(const Json& json, const std::string& path) {
  if (!path.ends_with(".jsonl") || !json.contains("results")) return json.dump(1) + "\n";
  Json header = json;
  header.erase("results");
  std::string text = header.dump() + "\n";
  for (const Json& result : json["results"]) text += result.dump() + "\n";
  return text;
}

inline void write(const Json& json, const std::string& path) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << text_of(json, path);
  file.close();
  if (!file) throw std::runtime_error(fmt::format("{} could not be written", path));
}

inline Json to_json(const Summary& s) {
  return {{"median", s.median}, {"min", s.min}, {"max", s.max},
          {"q1", s.q1},         {"q3", s.q3},   {"samples", s.count}};
}

}  // namespace rung::dist_bench
