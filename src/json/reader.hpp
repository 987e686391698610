#pragma once
// Reading JSON that other programs, or a user's editor, may have written: every value is checked
// for its type and range before it is used, and an error names the file and the field.

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rung::json {

using Json = nlohmann::ordered_json;

/// One line: the file, the field, what is wrong with it.
struct ReadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The text of a file. Throws ReadError with the reason of the system.
std::string read_text(const std::string& path);

/// The document in `text`; `file` is for messages. Throws ReadError for what is not JSON, with line
/// and column, and for more than 32 levels or 4096 members of one object, which no writer here
/// needs: readers recurse, and look members up one by one.
Json parse(std::string_view text, const std::string& file);

/// A range of numbers, both ends included.
struct Range {
  double least, most;
};

/// What a time, a rate or a ratio may be. Products and quotients of several of them stay finite.
inline constexpr Range quantity = {1e-30, 1e30};

/// A value of a document, with its place for messages. The document must outlive it.
class Value {
 public:
  Value(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {}

  const Json& json() const { return *json_; }
  /// Throws ReadError: place and what is wrong there.
  [[noreturn]] void fail(const std::string& what) const;

  /// A member that has to be there. Throws ReadError if this is no object, or has no such member.
  Value at(std::string_view key) const;
  /// The member; nothing if it is absent or null. Throws ReadError if this is no object.
  std::optional<Value> find(std::string_view key) const;

  /// Name and value of every member. Throws ReadError if this is no object.
  std::vector<std::pair<std::string, Value>> members() const;
  /// Throws ReadError if this is no array.
  std::vector<Value> elements() const;

  /// These throw ReadError if the value is of another type or out of range.
  std::string text() const;
  bool flag() const;
  double number(const Range& range) const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;

  /// The member as text; empty if it is absent or null.
  std::string text_or_empty(std::string_view key) const;
  /// The member as a number; nothing if it is absent or null.
  std::optional<double> find_number(std::string_view key, const Range& range) const;

 private:
  const Json* json_;
  std::string place_;
};

}  // namespace rung::json
