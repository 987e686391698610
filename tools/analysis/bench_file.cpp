#include "tools/analysis/bench_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace rung {
namespace {

using json::Json;
using json::Value;

/// A document of results on a single line is valid JSON, too.
bool is_header(std::string_view line) {
  if (!line.starts_with('{') || !Json::accept(line)) return false;
  return !Json::parse(line).contains("results");
}

/// Measurements name no machine.
bool begins_run(std::string_view line) {
  return line.find("\"machine\"") != line.npos && is_header(line) &&
         Json::parse(line).contains("machine");
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

BenchFile::BenchFile(std::string_view text, std::string name, int first_line)
    : name_(std::move(name)) {
  const std::string_view first = text.substr(0, text.find('\n'));
  has_lines_ = is_header(first);
  head_ = json::parse(has_lines_ ? first : text, name_);
  if (has_lines_) read_lines(text, first_line);
}

BenchFile BenchFile::of_document(Json document, std::string name) {
  BenchFile file;
  file.name_ = std::move(name);
  file.head_ = std::move(document);
  return file;
}

void BenchFile::read_lines(std::string_view text, int first_line) {
  const auto common = head().find("common");
  if (common) common->members();  // throws if it is no object
  take_line(text);
  for (int number = first_line + 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    Json json = json::parse(line, name_, number);
    if (common && json.is_object()) {
      Json merged = common->json();
      merged.update(json);
      json = std::move(merged);
    }
    lines_.push_back({number, std::move(json)});
  }
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
  std::vector<BenchFile> runs;
  int number = 1, first_line = 1;
  std::string_view rest = text;
  if (is_header(take_line(rest))) {
    while (!rest.empty()) {
      const std::string_view before = rest;
      ++number;
      if (!begins_run(take_line(rest))) continue;
      const auto size = static_cast<std::size_t>(before.data() - text.data());
      runs.emplace_back(text.substr(0, size), name, std::exchange(first_line, number));
      text = before;
    }
  }
  runs.emplace_back(text, name, first_line);
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
