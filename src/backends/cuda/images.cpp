#include "backends/cuda/images.hpp"

#include <zstd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>

namespace rung::cuda {
namespace {

/// The first bytes of a Zstandard frame. Neither PTX nor an ELF file begins with them.
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";

[[noreturn]] void refuse(std::string_view why) {
  throw std::runtime_error(std::string("packed CUDA code is damaged: ").append(why));
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
  if (!data.starts_with(zstd_magic)) return std::string(data);
  const unsigned long long bytes = ZSTD_getFrameContentSize(data.data(), data.size());
  if (bytes == ZSTD_CONTENTSIZE_ERROR || bytes == ZSTD_CONTENTSIZE_UNKNOWN) {
    refuse("its frame does not give its size");
  }
  const std::string other = unit.like == nullptr ? std::string() : unpack(*unit.like);
  std::string text(static_cast<std::size_t>(bytes), '\0');
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     ZSTD_freeDCtx);
  if (context == nullptr) throw std::bad_alloc();
  const std::size_t got =
      ZSTD_decompress_usingDict(context.get(), text.data(), text.size(), data.data(), data.size(),
                                other.data(), other.size());
  if (ZSTD_isError(got)) refuse(ZSTD_getErrorName(got));
  if (got != text.size()) refuse("it is shorter than its frame says");
  return text;
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
