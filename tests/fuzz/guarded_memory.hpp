#pragma once
// Memory between two inaccessible guard pages.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace rung {

/// Holds a copy of an operand that ends right before the guard page after it, or starts right after
/// the guard page before it.
class GuardedMemory {
 public:
  enum class Place { ends_at_guard, starts_at_guard };

  /// Throws std::bad_alloc.
  explicit GuardedMemory(std::size_t bytes)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        bytes_((bytes + page_ - 1) / page_ * page_) {
    void* mapped = mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(mapped) + page_;
    if (mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  ~GuardedMemory() { munmap(begin_ - page_, bytes_ + 2 * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::size_t bytes() const { return bytes_; }

  /// Copies `bytes` bytes here, with a known pattern on the side without a guard page.
  std::byte* copy(const void* from, std::size_t bytes, Place place) {
    place_ = place;
    copy_bytes_ = bytes;
    copy_ = place == Place::ends_at_guard ? begin_ + bytes_ - bytes : begin_;
    std::memset(pattern(), 0xFF, pattern_bytes());  // NaN in every type that has one
    if (bytes != 0) std::memcpy(copy_, from, bytes);
    return copy_;
  }

  /// True if the pattern next to the copy is unchanged.
  bool pattern_intact() const {
    return std::all_of(pattern(), pattern() + pattern_bytes(),
                       [](std::byte value) { return value == std::byte{0xFF}; });
  }

  /// The first byte past the memory: a pointer that must not be dereferenced.
  std::byte* forbidden() const { return begin_ + bytes_; }

 private:
  std::size_t pattern_bytes() const { return std::min<std::size_t>(512, bytes_ - copy_bytes_); }
  std::byte* pattern() const {
    return place_ == Place::ends_at_guard ? copy_ - pattern_bytes() : copy_ + copy_bytes_;
  }

  std::size_t page_;
  std::size_t bytes_;
  std::byte* begin_ = nullptr;
  std::byte* copy_ = nullptr;
  std::size_t copy_bytes_ = 0;
  Place place_ = Place::starts_at_guard;
};

}  // namespace rung
