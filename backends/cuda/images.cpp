#include "backends/cuda/images.hpp"

#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

#include "backends/cuda/pack/differences.hpp"
#include "backends/cuda/pack/packed.hpp"
#include "core/dtype.hpp"

namespace rung::cuda {
namespace {

[[noreturn]] void refuse(std::string_view why) {
  throw std::runtime_error(std::string("packed CUDA code is damaged: ").append(why));
}

bool is_packed(std::string_view data) {
  const auto& magic = PackedHeader::first_bytes;
  return data.size() >= sizeof magic && std::memcmp(data.data(), magic, sizeof magic) == 0;
}

std::uint64_t size_of_code(const PackedHeader& header) {
  std::uint64_t size = 0;
  for (int byte = 7; byte >= 0; --byte) size = size << 8 | header.size[byte];
  return size;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

using Options = std::unique_ptr<lzma_options_lzma, Free>;

/// The LZMA options with which the code was packed, with `other` as the dictionary.
Options options_of(const PackedHeader& header, const std::string& other) {
  lzma_filter filter = {LZMA_FILTER_LZMA1, nullptr};
  const lzma_ret result =
      lzma_properties_decode(&filter, nullptr, header.properties, sizeof header.properties);
  if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
  if (result != LZMA_OK) refuse("its properties are none of LZMA");
  Options options(static_cast<lzma_options_lzma*>(filter.options));
  set_dictionary(*options, other);
  return options;
}

PackedHeader header_of(std::string_view data) {
  PackedHeader header;
  if (data.size() < sizeof header) refuse("its header is cut");
  std::memcpy(&header, data.data(), sizeof header);
  if (header.form > PackedHeader::of_differences) refuse("its form is unknown");
  return header;
}

/// The decompressed code in its packed form (PackedHeader::form).
std::string decompressed(const Unit& unit) {
  const std::string_view data = unit.data;
  if (!is_packed(data)) return std::string(data);
  const PackedHeader header = header_of(data);
  const std::string other = unit.like == nullptr ? std::string() : decompressed(*unit.like);
  const Options options = options_of(header, other);
  const std::uint64_t size = size_of_code(header);
  if (size > options->dict_size) refuse("its size exceeds its window");
  std::string code(static_cast<std::size_t>(size), '\0');
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA1, options.get()}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::size_t from = sizeof header;
  std::size_t to = 0;
  const lzma_ret result = lzma_raw_buffer_decode(
      filters, nullptr, reinterpret_cast<const std::uint8_t*>(data.data()), &from, data.size(),
      reinterpret_cast<std::uint8_t*>(code.data()), &to, code.size());
  if (result == LZMA_MEM_ERROR) throw std::bad_alloc();
  if (result != LZMA_OK) refuse("its stream is not that of its header");
  if (to != code.size()) refuse("it is shorter than its header says");
  return code;
}

}  // namespace

const Unit& Image::unit(Dtype dtype) const {
  const auto has_dtype = [&](const Unit& unit) { return unit.dtype.value_or(dtype) == dtype; };
  const auto found = std::ranges::find_if(units, has_dtype);
  if (found == units.end()) {
    throw std::out_of_range(std::string(id).append(" has no code for ").append(name(dtype)));
  }
  return *found;
}

std::string unpack(const Unit& unit) {
  const std::string_view data = unit.data;
  if (!is_packed(data)) return std::string(data);
  std::string code = decompressed(unit);
  return header_of(data).form == PackedHeader::of_differences ? without_differences(code) : code;
}

std::string_view unpacked(const Unit& unit) {
  // Never destroyed: statics that refer to the texts may be destroyed later.
  static auto* const mutex = new std::mutex;
  static auto* const texts = new std::map<const Unit*, std::string>;
  const std::lock_guard lock(*mutex);
  const auto [at, is_new] = texts->try_emplace(&unit);
  if (is_new) at->second = unpack(unit);
  return at->second;
}

}  // namespace rung::cuda
