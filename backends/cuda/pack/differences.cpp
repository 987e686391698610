#include "backends/cuda/pack/differences.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace rung::cuda {
namespace {

constexpr std::size_t max_digits = 9;  // numbers with that many digits fit in 32 bits

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// True if the digit at `at` begins an operand's number ("%rd7", "+128", " 16", "_7") and not part
/// of a type or a hexadecimal literal ("f32", "0x10"). Rejects leading zeros, which would be lost.
bool begins_number(std::string_view line, std::size_t at) {
  if (at == 0) return false;
  const char before = line[at - 1];
  if (before != '+' && before != '-' && before != ' ' && before != '_') {
    std::size_t name = at;
    while (name > 0 && is_letter(line[name - 1])) --name;
    if (name == at || name == 0 || line[name - 1] != '%') return false;
  }
  return line[at] != '0' || at + 1 == line.size() || !is_digit(line[at + 1]);
}

/// The length of the operand's number that begins at `at`; 0 if none does.
std::size_t number_length(std::string_view line, std::size_t at) {
  if (!is_digit(line[at]) || !begins_number(line, at)) return 0;
  std::size_t end = at;
  while (end < line.size() && is_digit(line[end])) ++end;
  const bool goes_on =
      end < line.size() && (is_letter(line[end]) || line[end] == '_' || line[end] == '.');
  return goes_on || end - at > max_digits ? 0 : end - at;
}

/// The numbers of the most recent line with the same beginning.
class LastNumbers {
 public:
  /// `beginning`: the line up to its first number.
  void start(std::string_view beginning) {
    numbers_ = &of_beginning_[std::string(beginning)];
    place_ = 0;
  }
  /// The number at the next position; 0 if there was none.
  std::uint32_t& next() {
    if (place_ == numbers_->size()) numbers_->push_back(0);
    return (*numbers_)[place_++];
  }

 private:
  std::unordered_map<std::string, std::vector<std::uint32_t>> of_beginning_;
  std::vector<std::uint32_t>* numbers_ = nullptr;
  std::size_t place_ = 0;
};

/// Variable-length encoding: six bits per byte, lowest first; bit 6 is clear in the last byte.
/// Zigzag code for the sign: even values are positive, odd ones negative.
void append_difference(std::string& coded, std::uint32_t difference) {
  const bool is_negative = difference >> 31 != 0;
  std::uint32_t rest = is_negative ? ~(difference << 1) : difference << 1;
  for (; rest >= 64; rest >>= 6) coded += static_cast<char>(0xc0 | (rest & 63));
  coded += static_cast<char>(0x80 | rest);
}

/// Decodes a difference and advances `at` past it.
std::uint32_t read_difference(std::string_view coded, std::size_t& at) {
  std::uint32_t value = 0;
  for (int shift = 0; at < coded.size() && !is_ascii(coded[at]); shift += 6) {
    const auto byte = static_cast<unsigned char>(coded[at++]);
    if (shift < 32) value |= std::uint32_t{byte & 63U} << shift;
    if ((byte & 64) == 0) break;
  }
  return (value & 1) != 0 ? ~(value >> 1) : value >> 1;
}

std::uint32_t number(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char digit : digits) value = value * 10 + static_cast<std::uint32_t>(digit - '0');
  return value;
}

/// Calls `line` with each line, including its line feed.
template <class Function>
void for_each_line(std::string_view text, Function line) {
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    line(text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace

bool can_have_differences(std::string_view code) { return std::ranges::all_of(code, is_ascii); }

std::string with_differences(std::string_view ptx) {
  std::string coded;
  LastNumbers last;
  for_each_line(ptx, [&](std::string_view line) {
    bool is_first = true;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t length = number_length(line, at);
      if (length == 0) {
        coded += line[at++];
        continue;
      }
      if (is_first) last.start(line.substr(0, at));
      is_first = false;
      const std::uint32_t now = number(line.substr(at, length));
      std::uint32_t& before = last.next();
      append_difference(coded, now - before);
      before = now;
      at += length;
    }
  });
  return coded;
}

std::string without_differences(std::string_view coded) {
  std::string ptx;
  ptx.reserve(coded.size() + coded.size() / 4);
  LastNumbers last;
  for_each_line(coded, [&](std::string_view line) {
    bool is_first = true;
    for (std::size_t at = 0; at < line.size();) {
      const auto text = static_cast<std::size_t>(
          std::ranges::find_if_not(line.substr(at), is_ascii) - line.substr(at).begin());
      ptx += line.substr(at, text);
      at += text;
      if (at == line.size()) break;
      if (is_first) last.start(line.substr(0, at));
      is_first = false;
      std::uint32_t& before = last.next();
      before += read_difference(line, at);
      ptx += std::to_string(before);
    }
  });
  return ptx;
}

}  // namespace rung::cuda
