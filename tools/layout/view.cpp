#include "tools/layout/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace rung::layout {
namespace {

constexpr std::uint32_t bank_bytes = 4, banks = 32;

std::string element_text(const View& view, const std::vector<int>& at) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < at.size(); ++i) {
    parts.push_back(fmt::format("{} {}", view.axes[i], at[i]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The index of an element in a cell; -1 if it is in another one.
int index_in(const View& view, const Cell& cell, const std::vector<int>& at) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (i != view.along && at[i] != cell.at[i]) return -1;
  }
  const int index = at[view.along] - cell.at[view.along];
  const int count = static_cast<int>(cell.bytes) * 8 / view.element_bits;
  return index >= 0 && index < count ? index : -1;
}

std::string slot_text(const View& view, const vgpu::layout::Slot& slot) {
  const auto& fragment = *view.fragment;
  const std::string place = fmt::format("{} {}, {} {}", thread_word(fragment), slot.thread,
                                        register_word(fragment), slot.reg);
  if (fragment.per_register == 1) return place;
  return fmt::format("{}, element {} from the low bits", place, slot.index);
}

}  // namespace

const char* thread_word(const vgpu::layout::Fragment& fragment) {
  return fragment.in_tensor_memory || fragment.threads <= 32 ? "lane" : "thread";
}
const char* register_word(const vgpu::layout::Fragment& fragment) {
  return fragment.in_tensor_memory ? "column" : "register";
}

std::vector<std::string> where_is(const View& view, const std::vector<int>& at) {
  if (at.size() != view.axes.size()) {
    throw std::invalid_argument(fmt::format("{} coordinates; the matrix has {}: {}", at.size(),
                                            view.axes.size(), fmt::join(view.axes, ",")));
  }
  std::vector<std::string> lines;
  for (const Cell& cell : view.cells) {
    const int index = index_in(view, cell, at);
    if (index < 0) continue;
    const auto byte = cell.address + static_cast<std::uint32_t>(index * view.element_bits / 8);
    lines.push_back(fmt::format("{}: byte {} ({:#x}), in bank {}, chunk {} of line {}",
                                element_text(view, at), byte, byte, byte / bank_bytes % banks,
                                byte / 16 % 8, byte / 128));
  }
  if (view.fragment) {
    for (const auto& slot : view.fragment->slots) {
      if (std::vector{slot.row, slot.column} != at) continue;
      lines.push_back(fmt::format("{}: {}", element_text(view, at), slot_text(view, slot)));
    }
  }
  if (lines.empty()) {
    throw std::invalid_argument(
        fmt::format("'{}' is not among the elements of {}", fmt::join(at, ","), view.title));
  }
  return lines;
}

std::string at_byte(const View& view, std::uint32_t byte) {
  for (const Cell& cell : view.cells) {
    if (byte < cell.address || byte >= cell.address + cell.bytes) continue;
    const std::uint32_t in_cell = byte - cell.address;
    std::vector<int> at = cell.at;
    at[view.along] += static_cast<int>(in_cell * 8) / view.element_bits;
    const std::uint32_t in_element = in_cell % static_cast<std::uint32_t>(view.element_bits / 8);
    return fmt::format("byte {} ({:#x}): {}{}", byte, byte, element_text(view, at),
                       in_element == 0 ? "" : fmt::format(", byte {} of it", in_element));
  }
  return fmt::format("byte {} ({:#x}): no element of {}", byte, byte, view.title);
}

std::vector<std::string> in_thread(const View& view, int thread, std::optional<int> reg) {
  const auto& fragment = *view.fragment;
  std::vector<std::string> lines;
  for (int i = 0; i < fragment.registers; ++i) {
    if (reg && *reg != i) continue;
    std::vector<std::string> elements;
    for (const auto& slot : fragment.slots) {
      if (slot.thread != thread || slot.reg != i) continue;
      elements.push_back(fmt::format("({}, {})", slot.row, slot.column));
    }
    lines.push_back(fmt::format("{} {}, {} {}: {}", thread_word(fragment), thread,
                                register_word(fragment), i, fmt::join(elements, " ")));
  }
  return lines;
}

std::string json_of(const View& view) {
  nlohmann::ordered_json result = {
      {"title", view.title}, {"notes", view.notes}, {"axes", view.axes}};
  for (const Cell& cell : view.cells) {
    result["memory"].push_back({{"at", cell.at}, {"byte", cell.address}, {"bytes", cell.bytes}});
  }
  if (view.fragment) {
    auto& list = result["registers"];
    for (const auto& slot : view.fragment->slots) {
      list.push_back({{"at", {slot.row, slot.column}},
                      {"thread", slot.thread},
                      {"register", slot.reg},
                      {"index", slot.index}});
    }
  }
  return result.dump(1) + "\n";
}

}  // namespace rung::layout
