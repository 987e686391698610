#pragma once
// The header of packed CUDA code. An LZMA stream with an end marker follows. For machine code, LZMA
// output is four fifths the size of Zstandard's; it unpacks about 200 MB of code per second.

#include <lzma.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace rung::cuda {

struct PackedHeader {
  /// No PTX or ELF file begins with these bytes.
  static constexpr std::uint8_t first_bytes[] = {0xff, 'R', 'P', 'K'};
  static constexpr std::uint8_t as_it_is = 0;
  static constexpr std::uint8_t of_differences = 1;  // pack/differences.hpp

  std::uint8_t magic[sizeof first_bytes];
  std::uint8_t form;           // as_it_is or of_differences
  std::uint8_t size[8];        // uncompressed size in bytes, little-endian
  std::uint8_t properties[5];  // of the LZMA filter, as written by lzma_properties_encode()
};
static_assert(sizeof(PackedHeader) == 18);

/// Sets `other` as the preset dictionary, unless it is empty. Packing and unpacking need the same
/// one. `other` must remain valid while the options are in use.
inline void set_dictionary(lzma_options_lzma& options, const std::string& other) {
  if (other.empty()) return;
  options.preset_dict = reinterpret_cast<const std::uint8_t*>(other.data());
  options.preset_dict_size = static_cast<std::uint32_t>(other.size());
}

}  // namespace rung::cuda
