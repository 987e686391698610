#include "report/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "report/numbers.hpp"

namespace rung {
namespace {

/// An object of the file, with its location for messages.
class Object {
 public:
  Object(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) fail("no object");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}: {}; not what rung bench writes", place_, what));
  }

  std::string text(const char* key, bool required = true) const {
    const Json* found = find(key, required);
    if (found == nullptr) return "";
    if (!found->is_string()) fail(fmt::format("'{}' is no text", key));
    return found->get<std::string>();
  }

  /// Empty for null.
  std::optional<double> number(const char* key, bool required = true) const {
    const Json* found = find(key, required);
    if (found == nullptr || found->is_null()) return std::nullopt;
    if (!found->is_number()) fail(fmt::format("'{}' is no number", key));
    return found->get<double>();
  }

  bool flag(const char* key) const {
    const Json* found = find(key, true);
    if (!found->is_boolean()) fail(fmt::format("'{}' is neither true nor false", key));
    return found->get<bool>();
  }

  std::optional<Object> object(const char* key) const {
    const Json* found = find(key, false);
    if (found == nullptr || found->is_null()) return std::nullopt;
    return Object(*found, fmt::format("{}: {}", place_, key));
  }

  const Json& json() const { return json_; }

 private:
  const Json* find(const char* key, bool required) const {
    const auto found = json_.find(key);
    if (found != json_.end()) return &*found;
    if (required) fail(fmt::format("no '{}'", key));
    return nullptr;
  }

  const Json& json_;
  std::string place_;
};

std::int64_t extent(const Object& entry, const char* key) {
  return static_cast<std::int64_t>(entry.number(key, false).value_or(0));
}

std::vector<PeerResult> peers_of(const Object& entry) {
  std::vector<PeerResult> peers;
  const auto object = entry.object("peers");
  if (!object) return peers;
  for (const auto& [name, json] : object->json().items()) {
    const Object peer = *object->object(name.c_str());
    peers.push_back({name, peer.number("seconds"), peer.number("ratio")});
  }
  return peers;
}

void read_problem(const Object& entry, Result& result) {
  result.op = entry.text("op");
  result.dtype = entry.text("dtype");
  result.device = entry.text("device");
  result.layout = entry.text("layout", false);
  result.operands = entry.text("operands", false);
  result.threads = static_cast<int>(entry.number("threads", false).value_or(1));
  result.alpha = entry.number("alpha", false).value_or(1);
  result.beta = entry.number("beta", false).value_or(0);
  result.m = extent(entry, "m");
  result.n = extent(entry, "n");
  result.k = extent(entry, "k");
}

void read_times(const Object& entry, Result& result) {
  if (const auto seconds = entry.object("seconds")) {
    result.seconds = seconds->number("median");
    result.q1 = seconds->number("q1", false);
    result.q3 = seconds->number("q3", false);
  }
  if (const auto seconds = entry.object("graph_seconds")) {
    result.graph_seconds = seconds->number("median");
  }
  result.gflops = entry.number("gflops");
  result.gbps = entry.number("gbps");
  if (const auto ceiling = entry.object("ceiling")) {
    result.ceiling = ceiling->text("name");
    result.ceiling_rate = ceiling->number(result.counts_flops() ? "gflops" : "gbps");
    result.ceiling_ratio = ceiling->number("ratio");
  }
  if (const auto previous = entry.object("previous")) {
    result.previous = previous->text("rung");
    result.previous_ratio = previous->number("ratio");
  }
}

Result read_entry(const Object& entry) {
  Result result;
  result.rung = entry.text("rung");
  result.chose = entry.text("chose", false);
  read_problem(entry, result);
  read_times(entry, result);
  result.peers = peers_of(entry);
  result.verified = entry.flag("verified");
  result.skipped = entry.text("skipped", false);
  result.wrong = entry.text("wrong", false);
  return result;
}

}  // namespace

void Results::add(const std::string& file, const Json& bench) {
  const Object whole(bench, file);
  const auto machine = whole.object("machine");
  const auto found = bench.find("results");
  if (!machine || found == bench.end() || !found->is_array()) {
    whole.fail("no 'machine' and 'results'");
  }
  sources.push_back({file, std::make_shared<const Json>(machine->json())});
  for (std::size_t i = 0; i < found->size(); ++i) {
    entries.push_back(read_entry(Object((*found)[i], fmt::format("{}: results[{}]", file, i))));
    entries.back().source = sources.size() - 1;
  }
}

Results read_results(const std::vector<std::string>& files) {
  Results results;
  for (const std::string& file : files) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error(fmt::format("'{}' cannot be read", file));
    const Json json = Json::parse(stream, nullptr, false);
    if (json.is_discarded()) throw std::runtime_error(fmt::format("{}: not JSON", file));
    results.add(file, json);
  }
  return results;
}

std::string size_name(const Result& result) {
  if (result.m == 0) return format_grouped(static_cast<double>(result.n));
  if (result.m == result.n && result.n == result.k) return fmt::format("{}³", result.n);
  return fmt::format("{}×{}×{}", result.m, result.n, result.k);
}

bool is_square(const Result& result) {
  if (result.m == 0) return true;
  const auto [least, most] = std::minmax({result.m, result.n, result.k});
  return static_cast<double>(most) <= 1.1 * static_cast<double>(least);
}

double volume(const Result& result) {
  const auto factor = [](std::int64_t extent) {
    return static_cast<double>(std::max<std::int64_t>(extent, 1));
  };
  return factor(result.m) * factor(result.n) * factor(result.k);
}

std::string slug_of(std::string_view id) { return std::string(id.substr(id.rfind('/') + 1)); }

}  // namespace rung
