#include "tools/analysis/bench_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

namespace rung {
namespace {

using json::Json;
using json::Value;

/// True for the first line of a run, which names the machine; measurements do not.
bool begins_run(const Json& line) {
  return line.is_object() && line.contains("machine") && !line.contains("results");
}

/// The header of JSON Lines. Empty for a document, which may be on a single line, too.
std::optional<Json> header_of(std::string_view line) {
  if (!line.starts_with('{')) return std::nullopt;
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || json.contains("results")) return std::nullopt;
  return json;
}

/// The first line, which `text` loses.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Integers stay exact, of any size.
Json rounded(const Json& json) {
  if (json.is_number_float()) {
    const auto value = json.get<double>();
    if (!std::isfinite(value) || value == std::trunc(value)) return json;
    return std::strtod(fmt::format("{:.7e}", value).c_str(), nullptr);
  }
  Json copy = json;
  if (json.is_structured()) {
    for (Json& member : copy) member = rounded(member);
  }
  return copy;
}

/// The members, except the rung, that all results have and that are equal in all.
Json common_members(const Json& results) {
  Json common = Json::object();
  if (results.size() < 2) return common;
  for (const auto& [key, value] : results.front().items()) {
    bool is_common = key != "rung";
    for (const Json& result : results) {
      is_common = is_common && result.contains(key) && result[key] == value;
    }
    if (is_common) common[key] = value;
  }
  return common;
}

}  // namespace

BenchFile::BenchFile(Json head, std::string name, bool has_lines)
    : name_(std::move(name)), head_(std::move(head)), has_lines_(has_lines) {}

BenchFile BenchFile::of_document(Json document, std::string name) {
  return {std::move(document), std::move(name), false};
}

BenchFile BenchFile::of_header(Json header, std::string name) {
  BenchFile file(std::move(header), std::move(name), true);
  if (const auto common = file.head().find("common"))
    common->members();  // throws if it is no object
  return file;
}

void BenchFile::add_line(int number, Json line) {
  const auto common = head().find("common");
  if (common && line.is_object()) {
    Json merged = common->json();
    merged.update(line);
    line = std::move(merged);
  }
  lines_.push_back({number, std::move(line)});
}

std::vector<Value> BenchFile::values_of_lines() const {
  std::vector<Value> values;
  for (const auto& [number, json] : lines_) {
    const Value line(json, fmt::format("{}: line {}", name_, number));
    if (line.text_or_empty("record").empty()) values.push_back(line);
  }
  return values;
}

std::vector<Value> BenchFile::results() const {
  if (!has_lines_) return head().at("results").elements();
  return head().find("random") ? std::vector<Value>() : values_of_lines();
}

std::vector<Value> BenchFile::draws() const {
  const auto random = head().find("random");
  if (!random) return {};
  return has_lines_ ? values_of_lines() : random->at("draws").elements();
}

std::vector<BenchFile> bench_files(std::string_view text, const std::string& name) {
  std::string_view rest = text;
  auto header = header_of(take_line(rest));
  if (!header) return {BenchFile::of_document(json::parse(text, name), name)};
  std::vector<BenchFile> runs = {BenchFile::of_header(std::move(*header), name)};
  for (int number = 2; !rest.empty(); ++number) {
    const std::string_view line = take_line(rest);
    if (line.empty()) continue;
    Json json = json::parse(line, name, number);
    if (begins_run(json)) {
      runs.push_back(BenchFile::of_header(std::move(json), name));
    } else {
      runs.back().add_line(number, std::move(json));
    }
  }
  return runs;
}

bool is_lines_file(std::string_view path) { return path.ends_with(".jsonl"); }

std::string line_of(const Json& record) {
  // Text of a driver may be invalid UTF-8.
  return rounded(record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string lines_of(const Json& document) {
  Json header = document;
  header.erase("results");
  const Json& results = document.at("results");
  const Json common = common_members(results);
  if (!common.empty()) header["common"] = common;
  std::string text = line_of(header);
  for (Json result : results) {
    for (const auto& [key, value] : common.items()) result.erase(key);
    text += line_of(result);
  }
  return text;
}

}  // namespace rung
