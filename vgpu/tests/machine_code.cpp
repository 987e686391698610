#include "vgpu/tests/machine_code.hpp"

#include <array>
#include <cstring>
#include <string_view>

namespace rung::vgpu {
namespace {

template <class T>
T read(const std::vector<std::uint8_t>& bytes, std::uint64_t at) {
  T value{};
  if (at + sizeof(T) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

struct Section {
  std::uint32_t name;
  std::uint64_t offset, size;
};

std::vector<Section> sections_of(const std::vector<std::uint8_t>& elf) {
  std::vector<Section> sections;
  const auto headers = read<std::uint64_t>(elf, 0x28);
  const auto header_size = read<std::uint16_t>(elf, 0x3A);
  const auto count = read<std::uint16_t>(elf, 0x3C);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = headers + i * header_size;
    sections.push_back({read<std::uint32_t>(elf, at), read<std::uint64_t>(elf, at + 0x18),
                        read<std::uint64_t>(elf, at + 0x20)});
  }
  return sections;
}

void add(MemoryInstructions& all, std::uint64_t low, std::uint64_t high) {
  // Bits 73 to 75 encode: signed or unsigned byte, signed or unsigned half, 4, 8 or 16 bytes.
  constexpr std::array<int, 8> bytes = {1, 1, 2, 2, 4, 8, 16, 0};
  const int width = bytes[(high >> 9) & 7];
  switch (low & 0xFFF) {
    case 0x984: all.shared_loads.push_back(width); break;
    case 0x388:
    case 0x988: all.shared_stores.push_back(width); break;
    case 0x981: all.global_loads.push_back(width); break;
    case 0x386:
    case 0x986: all.global_stores.push_back(width); break;
    default: break;
  }
}

}  // namespace

std::map<std::string, MemoryInstructions> memory_instructions(
    const std::vector<std::uint8_t>& elf) {
  constexpr std::string_view prefix = ".text.";
  std::map<std::string, MemoryInstructions> kernels;
  const std::vector<Section> sections = sections_of(elf);
  const std::size_t names_index = read<std::uint16_t>(elf, 0x3E);
  if (names_index >= sections.size()) return kernels;
  for (const Section& section : sections) {
    const std::uint64_t name_at = sections[names_index].offset + section.name;
    if (name_at >= elf.size()) continue;
    const std::string name(reinterpret_cast<const char*>(elf.data()) + name_at);
    if (!name.starts_with(prefix)) continue;
    MemoryInstructions& kernel = kernels[name.substr(prefix.size())];
    for (std::uint64_t at = 0; at + 16 <= section.size; at += 16) {
      add(kernel, read<std::uint64_t>(elf, section.offset + at),
          read<std::uint64_t>(elf, section.offset + at + 8));
    }
  }
  return kernels;
}

}  // namespace rung::vgpu
