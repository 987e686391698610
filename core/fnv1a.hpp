#pragma once
// FNV-1a with 64 bits (Fowler, Noll, Vo: http://www.isthe.com/chongo/tech/comp/fnv).

#include <cstdint>
#include <string_view>

namespace rung {

/// The hash of `bytes`, or of `bytes` after those that gave `hash`.
inline std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = 0xCBF29CE484222325u) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
  return hash;
}

}  // namespace rung
