#pragma once
// Reads JSON from files that other programs or users may have edited. Every value is checked for
// type and range before use, and errors name the file and the field.

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

/// what() is one line: the file, the field and the error.
struct ReadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads a whole file. Throws ReadError with the system's error message.
std::string read_text(const std::string& path);

/// Parses `text`; `file` is used in messages. Throws ReadError, with line and column, for invalid
/// JSON, and for more than 32 levels or 4096 members in one object: readers recurse and search
/// members linearly, and no valid file needs more. `first_line` is the number of the text's first line.
Json parse(std::string_view text, const std::string& file, int first_line = 1);

/// A range of numbers, both ends included.
struct Range {
  double least, most;
};

/// The accepted range of a time, a rate or a ratio. Products and quotients of several such numbers
/// remain finite.
inline constexpr Range quantity = {1e-30, 1e30};

/// A value in a document and its path for messages. The document must outlive it.
class Value {
 public:
  Value(const Json& json, std::string place) : json_(&json), place_(std::move(place)) {}

  const Json& json() const { return *json_; }
  /// Throws ReadError with the path and `what`.
  [[noreturn]] void fail(const std::string& what) const;

  /// A required member. Throws ReadError if this is not an object or lacks the member.
  Value at(std::string_view key) const;
  /// An optional member: nothing if it is absent or null. Throws ReadError if this is not an
  /// object.
  std::optional<Value> find(std::string_view key) const;

  /// Name and value of every member. Throws ReadError if this is not an object.
  std::vector<std::pair<std::string, Value>> members() const;
  /// Throws ReadError if this is not an array.
  std::vector<Value> elements() const;

  /// These throw ReadError if the value has another type or is out of range.
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
