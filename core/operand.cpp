#include "core/operand.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define RUNG_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUNG_ADDRESS_SANITIZER
#endif
#endif
#ifdef RUNG_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

#include "core/chunks.hpp"
#include "core/dtype.hpp"
#include "core/random.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

constexpr std::int64_t guard_elements = 64;  // at each end of a row
constexpr std::int64_t chunk = 1 << 20;      // elements that one thread fills or reads at a time

template <std::size_t bytes>
using Word = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// The bit pattern of guards: a quiet NaN for floating-point types.
template <class T>
Word<sizeof(T)> guard_pattern() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, tfloat32>) return 0x7FE5A5A5u;
  if constexpr (std::is_same_v<T, double>) return 0x7FFCA5A5A5A5A5A5u;
  if constexpr (std::is_same_v<T, std::uint32_t>) return 0xA5C3965Au;
  if constexpr (std::is_same_v<T, bfloat16>) return 0x7FE5u;
  if constexpr (std::is_same_v<T, float16>) return 0x7E5Au;
  if constexpr (std::is_same_v<T, std::int8_t>) return 0xA5u;
  if constexpr (sizeof(T) == 1 && std::is_class_v<T>) {
    return T(std::numeric_limits<float>::quiet_NaN()).bits;
  }
}

std::size_t bytes_to_map(Dtype type, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                         int offset) {
  if (rows < 0 || cols < 0) {
    throw std::invalid_argument(
        fmt::format("an operand of {}x{}: sizes must be at least 0", rows, cols));
  }
  if (ld < cols) {
    throw std::invalid_argument(fmt::format(
        "a leading dimension of {} for rows of {}: it must be at least that", ld, cols));
  }
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, ld, &elements) ||
      __builtin_add_overflow(elements, 2 * guard_elements + offset, &elements) ||
      __builtin_mul_overflow(elements, static_cast<std::int64_t>(input_bytes(type)), &bytes)) {
    throw std::length_error(fmt::format(
        "an operand of {}x{} with leading dimension {}: its size must be below 2^63 bytes", rows,
        cols, ld));
  }
  // The last row needs no padding, and an empty operand consists of guards only.
  const std::int64_t unused = rows == 0 || cols == 0 ? rows * ld : ld - cols;
  return static_cast<std::size_t>(bytes) - static_cast<std::size_t>(unused) * input_bytes(type);
}

}  // namespace

void Operand::Unmap::operator()(void* mapped) const {
  set_readable(mapped, true);
  munmap(mapped, bytes);
}

void Operand::Unmap::set_readable([[maybe_unused]] void* mapped,
                                  [[maybe_unused]] bool readable) const {
#ifdef RUNG_ADDRESS_SANITIZER
  std::byte* const end = static_cast<std::byte*>(mapped) + bytes;
  if (readable) {
    __asan_unpoison_memory_region(mapped, guard_before);
    __asan_unpoison_memory_region(end - guard_after, guard_after);
  } else {
    __asan_poison_memory_region(mapped, guard_before);
    __asan_poison_memory_region(end - guard_after, guard_after);
  }
#endif
}

void Operand::set_guards_readable(bool readable) const {
  mapped_.get_deleter().set_readable(mapped_.get(), readable);
}

Operand::Operand(Dtype type, std::int64_t rows, std::int64_t cols, std::int64_t ld, int offset)
    : type_(type), rows_(rows), cols_(cols), ld_(ld) {
  const std::size_t bytes = bytes_to_map(type, rows, cols, ld, offset);
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const std::size_t guard_after = guard_elements * input_bytes(type);
  const std::size_t guard_before = guard_after + offset * input_bytes(type);
  mapped_ = {mapped, Unmap{bytes, guard_before, guard_after}};
  data_ = static_cast<std::byte*>(mapped) + guard_before;
}

Storage Operand::storage() const {
  const Unmap& mapping = mapped_.get_deleter();
  const auto size = static_cast<std::int64_t>(input_bytes(type_));
  auto* begin = static_cast<std::byte*>(mapped_.get());
  auto bytes = static_cast<std::int64_t>(mapping.bytes);
  auto guards = static_cast<std::int64_t>(mapping.guard_before + mapping.guard_after);
  // If rows are far apart, describe each row with its guards separately: the memory between them is
  // not allocated.
  const bool apart = rows_ > 1 && cols_ > 0 && ld_ * size > cols_ * size + guards;
#ifdef RUNG_ADDRESS_SANITIZER  // AddressSanitizer poisons the outer guards
  begin += mapping.guard_before;
  bytes -= guards;
  guards = 0;
#endif
  const std::int64_t row_bytes = cols_ * size + guards;
  return apart ? Storage{begin, rows_, row_bytes, ld_ * size} : Storage{begin, 1, bytes, bytes};
}

/// Calls f(row, first, count) for each guard zone: elements [first, first + count) relative to the
/// start of the row (negative: before it).
template <class F>
void Operand::for_each_guard(F f) const {
  f(0, -guard_elements, guard_elements);
  if (rows_ == 0 || cols_ == 0) {
    f(0, 0, guard_elements);
    return;
  }
  const std::int64_t gap = ld_ - cols_;
  const std::int64_t after = std::min(gap, guard_elements);
  const std::int64_t before = std::min(gap - after, guard_elements);
  for (std::int64_t row = 0; gap > 0 && row + 1 < rows_; ++row) {
    f(row, cols_, after);
    f(row + 1, -before, before);
  }
  f(rows_ - 1, cols_, guard_elements);
}

/// Calls f(element, index) for elements [first, last) in row-major order of the whole operand.
template <class T, class F>
void Operand::for_each_element(std::int64_t first, std::int64_t last, const F& f) const {
  for (std::int64_t index = first; index < last;) {
    const std::int64_t row = index / cols_;
    T* const begin = static_cast<T*>(data_) + row * ld_;
    for (const std::int64_t end = std::min(last, (row + 1) * cols_); index < end; ++index) {
      f(begin[index - row * cols_], index);
    }
  }
}

void Operand::write_guards() {
  visit(type_, [&]<class T, class Out>(Elements<T, Out>) {
    T* const data = static_cast<T*>(data_);
    for_each_guard([&](std::int64_t row, std::int64_t first, std::int64_t count) {
      T* const begin = data + row * ld_ + first;
      std::fill(begin, begin + count, std::bit_cast<T>(guard_pattern<T>()));
    });
  });
  set_guards_readable(false);
}

std::optional<std::string> Operand::broken_guard() const {
  set_guards_readable(true);
  std::optional<std::string> place;
  visit(type_, [&]<class T, class Out>(Elements<T, Out>) {
    for_each_guard([&](std::int64_t row, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count && !place; ++i) {
        const T& element = static_cast<const T*>(data_)[row * ld_ + i];
        if (std::bit_cast<Word<sizeof(T)>>(element) == guard_pattern<T>()) continue;
        place = i < 0 ? fmt::format("{} before the start of row {}", -i, row)
                      : fmt::format("{} past the end of row {}", i - cols_ + 1, row);
      }
    });
  });
  return place;
}

void Operand::fill(Values values, std::uint64_t seed) {
  set_guards_readable(true);
  visit(type_, [&]<class T, class Out>(Elements<T, Out>) {
    for_each_chunk(rows_ * cols_, chunk, [&](std::int64_t first, std::int64_t last, auto) {
      for_each_element<T>(first, last, [&](T& element, std::int64_t index) {
        element = random_element<T>(values, seed, index);
      });
    });
    if constexpr (!std::is_integral_v<T>) {
      if ((values == Values::nan || values == Values::infinity) && rows_ * cols_ > 0) {
        const std::int64_t at = random_below(rows_ * cols_, seed, ~std::uint64_t{0});
        using Limits = std::numeric_limits<float>;
        static_cast<T*>(data_)[at / cols_ * ld_ + at % cols_] =
            T(values == Values::nan ? Limits::quiet_NaN() : Limits::infinity());
      }
    }
  });
  write_guards();
}

void Operand::poison() {
  set_guards_readable(true);
  visit(type_, [&]<class T, class Out>(Elements<T, Out>) {
    for_each_chunk(rows_ * cols_, chunk, [&](std::int64_t first, std::int64_t last, auto) {
      for_each_element<T>(first, last, [](T& element, std::int64_t /*index*/) {
        element = std::bit_cast<T>(guard_pattern<T>());
      });
    });
  });
  write_guards();
}

void Operand::poison_row(std::int64_t row) {
  visit(type_, [&]<class T, class Out>(Elements<T, Out>) {
    T* const begin = static_cast<T*>(data_) + row * ld_;
    std::fill(begin, begin + cols_, std::bit_cast<T>(guard_pattern<T>()));
  });
}

bool Operand::is_poisoned(std::int64_t row) const {
  return visit(type_, [&]<class T, class Out>(Elements<T, Out>) {
    const T* const begin = static_cast<const T*>(data_) + row * ld_;
    return std::all_of(begin, begin + cols_, [](const T& element) {
      return std::bit_cast<Word<sizeof(T)>>(element) == guard_pattern<T>();
    });
  });
}

std::uint64_t Operand::fingerprint() const {
  const auto mix = [](std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  };
  std::vector<std::uint64_t> hashes(chunks_of(rows_ * cols_, chunk));
  visit(type_, [&]<class T, class Out>(Elements<T, Out>) {
    for_each_chunk(rows_ * cols_, chunk, [&](std::int64_t first, std::int64_t last, auto i) {
      std::uint64_t hash = 0;
      for_each_element<T>(first, last, [&](const T& element, std::int64_t /*index*/) {
        mix(hash, std::bit_cast<Word<sizeof(T)>>(element));
      });
      hashes[i] = hash;
    });
  });
  std::uint64_t hash = 0;
  for (const std::uint64_t of_chunk : hashes) mix(hash, of_chunk);
  return hash;
}

}  // namespace rung
