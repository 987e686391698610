#pragma once
// Tracks which bytes of an allocation have been written, with one shadow byte each: 0 until then.
// Blocks on several threads read and write the shadow concurrently. Bytes are only ever set, so no
// ordering is needed.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vgpu/memory/device_memory.hpp"

namespace rung::vgpu {

/// Eight aligned shadow bytes. `all`: all eight bytes were written.
struct ShadowWord {
  static constexpr std::uint64_t all = 0x0101'0101'0101'0101;

  static bool starts_at(const std::uint8_t* shadow, const std::uint8_t* end) {
    return reinterpret_cast<std::uintptr_t>(shadow) % sizeof(all) == 0 &&
           static_cast<std::size_t>(end - shadow) >= sizeof(all);
  }
  static std::atomic_ref<std::uint64_t> at(std::uint8_t* shadow) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(shadow));
  }
};

/// Four aligned shadow bytes, for an access to a word.
struct HalfShadowWord {
  static constexpr std::size_t bytes = 4;
  static constexpr std::uint32_t all = 0x0101'0101;

  static bool starts_at(const std::uint8_t* shadow, const std::uint8_t* end) {
    return reinterpret_cast<std::uintptr_t>(shadow) % bytes == 0 &&
           static_cast<std::size_t>(end - shadow) >= bytes;
  }
  static std::atomic_ref<std::uint32_t> at(std::uint8_t* shadow) {
    return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(shadow));
  }
  static bool are_written(std::uint8_t* shadow) {
    return at(shadow).load(std::memory_order_relaxed) == all;
  }
  static void write(std::uint8_t* shadow) { at(shadow).store(all, std::memory_order_relaxed); }
};

/// Marks `bytes` bytes at `address` as written. They must be within the allocation.
inline void note_written(const Allocation& allocation, std::uint64_t address, std::size_t bytes) {
  std::uint8_t* at = allocation.shadow(address);
  for (std::uint8_t* const end = at + bytes; at != end;) {
    if (ShadowWord::starts_at(at, end)) {
      ShadowWord::at(at).store(ShadowWord::all, std::memory_order_relaxed);
      at += sizeof(ShadowWord::all);
    } else if (HalfShadowWord::starts_at(at, end)) {
      HalfShadowWord::write(at);
      at += HalfShadowWord::bytes;
    } else {
      std::atomic_ref(*at++).store(1, std::memory_order_relaxed);
    }
  }
}

/// True if all bytes of eight aligned words of the shadow were written.
inline bool are_written(std::uint8_t* shadow) {
  std::uint64_t both = ShadowWord::all;
  for (std::size_t i = 0; i < 8; ++i) {
    both &= ShadowWord::at(shadow + i * sizeof both).load(std::memory_order_relaxed);
  }
  return both == ShadowWord::all;
}

/// Size of a line in bytes. is_line_written() caches which lines have been written completely, in
/// one byte per line: 0 until then. These bytes are stored before `initialised`, in descending
/// order.
inline constexpr std::size_t bytes_of_line = 64;

/// True if all bytes of the line at this address were written.
inline bool is_line_written(const Allocation& allocation, std::uint64_t address) {
  const std::uint64_t line = (address - allocation.address) / bytes_of_line;
  const std::atomic_ref known(*(allocation.initialised - 1 - line));
  if (known.load(std::memory_order_relaxed) != 0) return true;
  const bool whole = (line + 1) * bytes_of_line <= allocation.bytes;
  if (!whole || !are_written(allocation.initialised + line * bytes_of_line)) return false;
  known.store(1, std::memory_order_relaxed);
  return true;
}

/// Called when at least one of these bytes becomes unwritten.
inline void forget_lines(const Allocation& allocation, std::uint64_t address, std::size_t bytes) {
  const std::uint64_t begin = address - allocation.address;
  const std::uint64_t first = begin / bytes_of_line, last = (begin + bytes - 1) / bytes_of_line;
  std::memset(allocation.initialised - 1 - last, 0, last - first + 1);
}

/// Offset from `address` of the first byte that was never written; `bytes` if all were written.
inline std::size_t find_unwritten(const Allocation& allocation, std::uint64_t address,
                                  std::size_t bytes) {
  std::uint8_t* const begin = allocation.shadow(address);
  std::uint8_t* at = begin;
  for (std::uint8_t* const end = begin + bytes; at != end;) {
    constexpr auto many = std::ptrdiff_t{bytes_of_line};
    const auto done = static_cast<std::uint64_t>(at - begin);
    const bool is_line = end - at >= many && (address + done) % bytes_of_line == 0;
    if (is_line && is_line_written(allocation, address + done)) {
      at += many;
    } else if (ShadowWord::starts_at(at, end) &&
               ShadowWord::at(at).load(std::memory_order_relaxed) == ShadowWord::all) {
      at += sizeof(ShadowWord::all);
    } else if (HalfShadowWord::starts_at(at, end) && HalfShadowWord::are_written(at)) {
      at += HalfShadowWord::bytes;
    } else if (std::atomic_ref(*at).load(std::memory_order_relaxed) != 0) {
      ++at;
    } else {
      break;
    }
  }
  return static_cast<std::size_t>(at - begin);
}

/// True if any byte of the range was written.
inline bool has_written(const Allocation& allocation, std::uint64_t address, std::size_t bytes) {
  std::uint8_t* const begin = allocation.shadow(address);
  for (std::uint8_t* at = begin; at != begin + bytes; ++at) {
    if (std::atomic_ref(*at).load(std::memory_order_relaxed) != 0) return true;
  }
  return false;
}

}  // namespace rung::vgpu
