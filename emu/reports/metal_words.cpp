#include "emu/reports/metal_words.hpp"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace rung::emu {
namespace {

constexpr auto words = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"metal::rung_detail::threadgroup_arguments", "threadgroup arguments"},
    {"__syncthreads()", "threadgroup_barrier(mem_flags::mem_threadgroup)"},
    {"__syncwarp()", "simdgroup_barrier(mem_flags::mem_threadgroup)"},
    {"shared-memory", "threadgroup-memory"},
    {"shared memory", "threadgroup memory"},
    {"global-memory", "device-memory"},
    {"global memory", "device memory"},
    {"host allocation", "allocation"},
    {"the host", "the CPU"},
    {"blocks", "threadgroups"},
    {"block", "threadgroup"},
    {"warps", "simdgroups"},
    {"warp", "simdgroup"},
    {"launches", "dispatches"},
    {"launch", "dispatch"},
});

bool is_in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The pair whose first text is a word of its own at this position; otherwise null.
const std::pair<std::string_view, std::string_view>* find(std::string_view text, std::size_t at) {
  if (at > 0 && is_in_word(text[at - 1])) return nullptr;
  for (const auto& pair : words) {
    const std::size_t end = at + pair.first.size();
    const bool names_file = end + 1 < text.size() && text[end] == '.' && is_in_word(text[end + 1]);
    const bool is_whole =
        end >= text.size() || (!is_in_word(text[end]) && !names_file) || pair.first.back() == ')';
    if (text.substr(at).starts_with(pair.first) && is_whole) return &pair;
  }
  return nullptr;
}

}  // namespace

std::string in_metal_words(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (const auto* const pair = find(text, at)) {
      result += pair->second;
      at += pair->first.size();
    } else {
      result += text[at++];
    }
  }
  return result;
}

}  // namespace rung::emu
