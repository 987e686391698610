// An .eh_frame section with one entry, generated at run time (DWARF 5, section 6.4; Linux Standard
// Base Core, chapter 10.6).

#include "vgpu/native/unwind_table.hpp"

#include <cstddef>

// Registration functions of the compiler's run-time library.
extern "C" void __register_frame(void* begin);
extern "C" void __deregister_frame(void* begin);

namespace rung::vgpu::native {
namespace {

constexpr std::uint8_t def_cfa = 0x0c, offset = 0x80, nop = 0;
constexpr std::uint8_t stack_pointer = 7, return_address = 16;  // DWARF register numbers
constexpr std::uint8_t minus_eight = 0x78;                      // in SLEB128

void append(std::vector<std::uint8_t>& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

/// Appends the entry, preceded by its length.
void append_entry(std::vector<std::uint8_t>& to, std::vector<std::uint8_t> entry) {
  while ((entry.size() + 4) % 8 != 0) entry.push_back(nop);
  append(to, entry.size(), 4);
  to.insert(to.end(), entry.begin(), entry.end());
}

}  // namespace

UnwindTable::UnwindTable(std::span<const std::uint8_t> code, std::span<const std::uint8_t> pushed,
                         std::uint8_t frame_bytes) {
  // The common entry: offsets are in words of eight bytes, downward from the frame.
  std::vector<std::uint8_t> common;
  append(common, 0, 4);
  for (const std::uint8_t byte :
       {std::uint8_t{1} /* version */, std::uint8_t{0} /* no augmentation */, std::uint8_t{1},
        minus_eight, return_address, def_cfa, stack_pointer, frame_bytes}) {
    common.push_back(byte);
  }
  std::uint8_t words = 1;
  common.insert(common.end(), {static_cast<std::uint8_t>(offset | return_address), words});
  for (const std::uint8_t reg : pushed) {
    common.insert(common.end(), {static_cast<std::uint8_t>(offset | reg), ++words});
  }
  append_entry(table_, common);

  std::vector<std::uint8_t> function;
  append(function, table_.size() + 4, 4);  // distance back to the common entry
  append(function, reinterpret_cast<std::uintptr_t>(code.data()), 8);
  append(function, code.size(), 8);
  append_entry(table_, function);
  append(table_, 0, 4);
  __register_frame(table_.data());
}

UnwindTable::~UnwindTable() { __deregister_frame(table_.data()); }

}  // namespace rung::vgpu::native
