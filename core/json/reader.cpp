#include "core/json/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

namespace rung::json {
namespace {

constexpr int max_levels = 32;
constexpr int max_members = 4096;

/// Parser callback that rejects documents deeper or wider than the readers support.
class Limits {
 public:
  explicit Limits(const std::string& file) : file_(file) {}

  bool operator()(int depth, Json::parse_event_t event, const Json& /*parsed*/) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= max_levels) {
      throw ReadError(fmt::format("{}: more than {} levels", file_, max_levels));
    }
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start) members_[level] = 0;
    if (event == Json::parse_event_t::key && ++members_[level - 1] > max_members) {
      throw ReadError(fmt::format("{}: more than {} members of one object", file_, max_members));
    }
    return true;
  }

 private:
  const std::string& file_;
  std::array<int, max_levels> members_ = {};
};

std::string line_and_column(std::string_view text, std::size_t byte, int first_line) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 on the first line
  return fmt::format("line {}, column {}",
                     first_line + std::count(before.begin(), before.end(), '\n'),
                     before.size() - line_start + 1);
}

const char* type_name(const Json& json) {
  if (json.is_null()) return "null";
  if (json.is_object()) return "an object";
  if (json.is_array()) return "an array";
  if (json.is_string()) return "text";
  return json.is_boolean() ? "true or false" : "a number";
}

/// A key for use in an error message: one line of printable ASCII, shortened if necessary.
std::string shown(std::string_view key) {
  constexpr std::size_t most = 40;
  std::string text;
  for (const char character : key.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(character);
    text += byte < 0x20 || byte >= 0x7f ? '?' : character;
  }
  return key.size() > most ? text + "..." : text;
}

}  // namespace

std::string read_text(const std::string& path) {
  const auto fail = [&] {
    throw ReadError(fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "rb"), [](std::FILE* open) { return std::fclose(open); });
  if (file == nullptr) fail();
  std::string text;
  std::array<char, 1 << 16> block;
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), count);
  }
  if (std::ferror(file.get()) != 0) fail();  // fopen succeeds for a folder; fread fails
  return text;
}

Json parse(std::string_view text, const std::string& file, int first_line) {
  try {
    return Json::parse(text, Limits(file));
  } catch (const Json::parse_error& error) {
    throw ReadError(
        fmt::format("{}: not JSON: {}", file, line_and_column(text, error.byte, first_line)));
  } catch (const Json::out_of_range&) {
    throw ReadError(fmt::format("{}: a number is too large", file));
  }
}

void Value::fail(const std::string& what) const {
  throw ReadError(fmt::format("{}: {}", place_, what));
}

std::optional<Value> Value::find(std::string_view key) const {
  if (!json_->is_object()) fail(fmt::format("{}, not an object", type_name(*json_)));
  const auto found = json_->find(key);
  if (found == json_->end() || found->is_null()) return std::nullopt;
  return Value(*found, fmt::format("{}: {}", place_, shown(key)));
}

Value Value::at(std::string_view key) const {
  if (auto found = find(key)) return *found;
  fail(fmt::format("{} '{}'", json_->contains(key) ? "null is not allowed for" : "no", shown(key)));
}

std::vector<std::pair<std::string, Value>> Value::members() const {
  if (!json_->is_object()) fail(fmt::format("{}, not an object", type_name(*json_)));
  std::vector<std::pair<std::string, Value>> members;
  for (const auto& [key, value] : json_->items()) {
    members.emplace_back(key, Value(value, fmt::format("{}: {}", place_, shown(key))));
  }
  return members;
}

std::vector<Value> Value::elements() const {
  if (!json_->is_array()) fail(fmt::format("{}, not an array", type_name(*json_)));
  std::vector<Value> elements;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    elements.emplace_back((*json_)[i], fmt::format("{}[{}]", place_, i));
  }
  return elements;
}

std::string Value::text() const {
  if (!json_->is_string()) fail(fmt::format("{}, not text", type_name(*json_)));
  return json_->get<std::string>();
}

bool Value::flag() const {
  if (!json_->is_boolean()) fail(fmt::format("{}, not true or false", type_name(*json_)));
  return json_->get<bool>();
}

double Value::number(const Range& range) const {
  if (!json_->is_number()) fail(fmt::format("{}, not a number", type_name(*json_)));
  const auto value = json_->get<double>();
  if (value >= range.least && value <= range.most) return value;
  fail(fmt::format("{} is not from {:g} to {:g}", value, range.least, range.most));
}

std::int64_t Value::integer(std::int64_t least, std::int64_t most) const {
  const double value = number({static_cast<double>(least), static_cast<double>(most)});
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) == value) return whole;
  fail(fmt::format("{} is not a whole number", value));
}

std::string Value::text_or_empty(std::string_view key) const {
  const auto found = find(key);
  return found ? found->text() : "";
}

std::optional<double> Value::find_number(std::string_view key, const Range& range) const {
  const auto found = find(key);
  if (!found) return std::nullopt;
  return found->number(range);
}

}  // namespace rung::json
