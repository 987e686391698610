#pragma once
// What packed CUDA code begins with. An LZMA stream with an end mark follows. LZMA leaves four fifths of
// what Zstandard leaves of machine code, and unpacks some 200 MB of code a second.

#include <cstddef>
#include <cstdint>

namespace rung::cuda {

struct PackedHeader {
  /// Neither PTX nor an ELF file begins with these.
  static constexpr std::uint8_t first_bytes[] = {0xff, 'R', 'P', 'K'};

  std::uint8_t magic[sizeof first_bytes];
  std::uint8_t size[8];        // of the code in bytes, little-endian
  std::uint8_t properties[5];  // of the LZMA filter, as lzma_properties_encode() writes them
};
static_assert(sizeof(PackedHeader) == 17);

}  // namespace rung::cuda
