#pragma once
// What packed CUDA code begins with. An LZMA stream with an end mark follows. LZMA leaves four fifths of
// what Zstandard leaves of machine code, and unpacks some 200 MB of code a second.

#include <lzma.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace rung::cuda {

struct PackedHeader {
  /// Neither PTX nor an ELF file begins with these.
  static constexpr std::uint8_t first_bytes[] = {0xff, 'R', 'P', 'K'};
  static constexpr std::uint8_t as_it_is = 0;
  static constexpr std::uint8_t of_differences = 1;  // pack/differences.hpp

  std::uint8_t magic[sizeof first_bytes];
  std::uint8_t form;           // of what LZMA packed
  std::uint8_t size[8];        // of that in bytes, little-endian
  std::uint8_t properties[5];  // of the LZMA filter, as lzma_properties_encode() writes them
};
static_assert(sizeof(PackedHeader) == 18);

/// Code is packed and unpacked with other code, in its form, as what came before it; none if empty. The memory of
/// `other` has to stay until the options are used.
inline void set_dictionary(lzma_options_lzma& options, const std::string& other) {
  if (other.empty()) return;
  options.preset_dict = reinterpret_cast<const std::uint8_t*>(other.data());
  options.preset_dict_size = static_cast<std::uint32_t>(other.size());
}

}  // namespace rung::cuda
