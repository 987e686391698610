#pragma once
// Which bytes of an allocation have been written: its shadow has a byte for each, 0 until then.
// Blocks on several threads note and ask at the same time; what is noted stays, so that no order
// between them is needed.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rung::vgpu {

namespace written_bytes {

using Word = std::uint64_t;
constexpr Word all_written = 0x0101'0101'0101'0101;

inline bool has_word(const std::uint8_t* shadow, const std::uint8_t* end) {
  return reinterpret_cast<std::uintptr_t>(shadow) % sizeof(Word) == 0 &&
         static_cast<std::size_t>(end - shadow) >= sizeof(Word);
}

inline std::atomic_ref<Word> word(std::uint8_t* shadow) {
  return std::atomic_ref(*reinterpret_cast<Word*>(shadow));
}

}  // namespace written_bytes

inline void note_written(std::uint8_t* shadow, std::size_t bytes) {
  namespace in = written_bytes;
  for (std::uint8_t* const end = shadow + bytes; shadow != end;) {
    if (in::has_word(shadow, end)) {
      in::word(shadow).store(in::all_written, std::memory_order_relaxed);
      shadow += sizeof(in::Word);
    } else {
      std::atomic_ref(*shadow++).store(1, std::memory_order_relaxed);
    }
  }
}

/// The offset of the first byte that nobody has written, or `bytes`.
inline std::size_t find_unwritten(std::uint8_t* shadow, std::size_t bytes) {
  namespace in = written_bytes;
  std::uint8_t* at = shadow;
  for (std::uint8_t* const end = shadow + bytes; at != end;) {
    if (in::has_word(at, end) && in::word(at).load(std::memory_order_relaxed) == in::all_written) {
      at += sizeof(in::Word);
    } else if (std::atomic_ref(*at).load(std::memory_order_relaxed) != 0) {
      ++at;
    } else {
      break;
    }
  }
  return static_cast<std::size_t>(at - shadow);
}

}  // namespace rung::vgpu
