#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/cache_folder.hpp"
#include "core/fnv1a.hpp"
#include "core/json/reader.hpp"
#include "device/cpu/machine.hpp"
#include "rung/version.hpp"
#include "tools/measure/ceilings.hpp"

namespace rung {
namespace {

using json::Json;
using json::Value;
namespace fs = std::filesystem;

// Everything that affects the ceilings or their measurement.
std::string machine_key() {
  const auto& [isa, caches] = cpu::machine();
  std::string key = cpu::model();
  for (const std::string& part : {std::string(name(isa)), std::to_string(caches.l1),
                                  std::to_string(caches.l2), std::to_string(caches.l3),
                                  std::to_string(cpu::available_threads()), std::string(version)}) {
    key += "|" + part;
  }
  return key;
}

std::string hash(const std::string& text) {
  const std::uint64_t value = fnv1a(text);
  constexpr const char* digits = "0123456789abcdef";
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += digits[(value >> shift) & 15];
  return out;
}

Json to_json(const std::vector<Ceiling>& ceilings) {
  Json json = Json::array();
  for (const auto& [ceiling_name, one, all] : ceilings) {
    json.push_back({{"name", ceiling_name}, {"one_thread", one}, {"all_threads", all}});
  }
  return json;
}

/// The plausible range of a thread's rate in 10^9 per second: from a small ARM core to AVX-512 or
/// L1 rates in the next decade.
constexpr json::Range of_one_thread = {0.1, 10'000};

/// The rate of all threads is at most the sum of single rates, plus 50% for noise and for a clock
/// that was reduced while one thread was measured.
std::vector<Ceiling> read_ceilings(const Value& list) {
  const double threads = cpu::available_threads();
  std::vector<Ceiling> ceilings;
  for (const Value& entry : list.elements()) {
    const double one = entry.at("one_thread").number(of_one_thread);
    const double all = entry.at("all_threads").number({of_one_thread.least, 1.5 * threads * one});
    ceilings.push_back({entry.at("name").text(), one, all});
  }
  return ceilings;
}

bool has(const std::vector<Ceiling>& ceilings, std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return std::any_of(ceilings.begin(), ceilings.end(),
                       [&](const Ceiling& ceiling) { return ceiling.name == name; });
  });
}

/// Empty if the file is missing, corrupt or implausible; the ceilings are measured again in that
/// case.
std::optional<Ceilings> load(const fs::path& path) {
  try {
    const Json document = json::parse(json::read_text(path.string()), path.string());
    const Value file(document, path.string());
    if (file.at("machine").text() != machine_key()) return std::nullopt;
    Ceilings found{read_ceilings(file.at("multiply_add")), read_ceilings(file.at("read"))};
    if (!has(found.multiply_add, {"f32", "f64", "i32", "i8"})) return std::nullopt;
    if (!has(found.read, {"L1", "L2", "DRAM"})) return std::nullopt;
    return found;
  } catch (const json::ReadError&) {
    return std::nullopt;
  }
}

// Writes a temporary file and renames it, so that a concurrent reader never sees a partial file.
void store(const fs::path& path, const Ceilings& ceilings) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const fs::path draft = path.string() + "." + std::to_string(getpid());
  std::ofstream file(draft);
  file << Json{{"machine", machine_key()},
               {"multiply_add", to_json(ceilings.multiply_add)},
               {"read", to_json(ceilings.read)}}
              .dump(2)
       << '\n';
  file.close();
  if (file) fs::rename(draft, path, ignored);
  if (!file || ignored) fs::remove(draft, ignored);
}

double& rate(Ceiling& ceiling, int threads) {
  return threads == 1 ? ceiling.one_thread : ceiling.all_threads;
}

bool passes(const ReachedRate& reached, Ceilings& ceilings) {
  constexpr double noise = 1.05;
  for (Ceiling& ceiling : ceilings.multiply_add) {
    if (ceiling.name != reached.name) continue;
    return reached.rate > noise * rate(ceiling, reached.threads);
  }
  return false;
}

/// Keeps the higher of two measurements, because noise only reduces rates.
void keep_higher(std::vector<Ceiling>& ceilings, const std::vector<Ceiling>& others) {
  for (Ceiling& ceiling : ceilings) {
    for (const Ceiling& other : others) {
      if (other.name != ceiling.name) continue;
      ceiling.one_thread = std::max(ceiling.one_thread, other.one_thread);
      ceiling.all_threads = std::max(ceiling.all_threads, other.all_threads);
    }
  }
}

}  // namespace

Ceilings cached_ceilings(bool remeasure, std::span<const ReachedRate> reached,
                         const std::function<Ceilings()>& measure) {
  const std::optional<fs::path> folder = cache_folder();
  const fs::path path =
      folder ? *folder / ("ceilings-" + hash(machine_key()) + ".json") : fs::path();
  std::optional<Ceilings> known;
  if (folder && !remeasure) known = load(path);
  const bool is_busy = known && std::any_of(reached.begin(), reached.end(),
                                            [&](const auto& one) { return passes(one, *known); });
  if (known && !is_busy) return *known;
  Ceilings found = measure();
  if (known) {
    keep_higher(found.multiply_add, known->multiply_add);
    keep_higher(found.read, known->read);
  }
  if (folder) store(path, found);
  return found;
}

}  // namespace rung
