#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "device/cpu/machine.hpp"
#include "measure/ceilings.hpp"
#include "rung/version.hpp"

namespace rung {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::optional<fs::path> cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') {
    return fs::path(xdg) / "rung";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache" / "rung";
  }
  return std::nullopt;
}

// Everything that changes the ceilings, or how they are measured.
std::string machine_key() {
  const auto& [model, isa, caches, threads] = cpu::machine();
  std::string key = model;
  for (const std::string& part :
       {std::string(name(isa)), std::to_string(caches.l1), std::to_string(caches.l2),
        std::to_string(caches.l3), std::to_string(threads), std::string(version)}) {
    key += "|" + part;
  }
  return key;
}

std::string hash(const std::string& text) {  // FNV-1a
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char character : text) {
    value = (value ^ static_cast<unsigned char>(character)) * 0x100000001b3;
  }
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

std::vector<Ceiling> from_json(const Json& json) {
  std::vector<Ceiling> ceilings;
  for (const Json& entry : json) {
    ceilings.push_back({entry.at("name"), entry.at("one_thread"), entry.at("all_threads")});
  }
  return ceilings;
}

std::optional<Ceilings> load(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  try {
    const Json json = Json::parse(file);
    if (json.at("machine") != machine_key()) return std::nullopt;
    return Ceilings{from_json(json.at("multiply_add")), from_json(json.at("read"))};
  } catch (const Json::exception&) {
    return std::nullopt;  // truncated or of another version: measure again
  }
}

// Writes a second file first, so that a concurrent reader sees all or nothing.
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

}  // namespace

Ceilings cached_ceilings(bool remeasure) {
  const std::optional<fs::path> folder = cache_folder();
  const fs::path path =
      folder ? *folder / ("ceilings-" + hash(machine_key()) + ".json") : fs::path();
  if (folder && !remeasure) {
    if (const auto known = load(path)) return *known;
  }
  const Ceilings found = measure_ceilings();
  if (folder) store(path, found);
  return found;
}

}  // namespace rung
