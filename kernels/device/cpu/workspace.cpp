#include "device/cpu/workspace.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rung::cpu {
namespace {

constexpr std::size_t huge_page = 2 << 20;
// Panels of that size meet each other in the sets of L2 if their pages are scattered, and exceed the
// small pages that the first TLB holds.
constexpr std::size_t worth_huge_page = 256 << 10;

// Keys of POSIX and not thread_locals: a thread's memory is released after all of its
// thread_locals, whose destructors may call the library, and again if a call follows even later.
// The main thread's is never released. And a thread's first use of a thread_local may need memory,
// for lack of which the C library ends the program.
class Keys {
 public:
  Keys() {
    if (pthread_key_create(&memory_, std::free) != 0) throw std::bad_alloc();
    if (pthread_key_create(&bytes_, nullptr) != 0) {
      pthread_key_delete(memory_);
      throw std::bad_alloc();
    }
  }

  void* memory() const { return pthread_getspecific(memory_); }
  std::size_t bytes() const {
    return reinterpret_cast<std::uintptr_t>(pthread_getspecific(bytes_));
  }
  bool set(void* memory, std::size_t bytes) const {
    return pthread_setspecific(bytes_, reinterpret_cast<void*>(bytes)) == 0 &&
           pthread_setspecific(memory_, memory) == 0;
  }

 private:
  pthread_key_t memory_, bytes_;
};

/// Made at the first call for a use: where the process is short of keys, those that there are stay.
template <ScratchFor>
const Keys& keys_for() {
  static const Keys keys;
  return keys;
}

std::size_t rounded(std::size_t bytes, std::size_t alignment) {
  if (bytes > PTRDIFF_MAX - alignment) throw std::bad_alloc();
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

void* scratch_bytes(std::size_t wanted, ScratchFor use) {
  const Keys& keys =
      use == ScratchFor::panels ? keys_for<ScratchFor::panels>() : keys_for<ScratchFor::operands>();
  void* memory = keys.memory();
  if (memory != nullptr && wanted <= keys.bytes()) return memory;
  keys.set(nullptr, 0);
  std::free(memory);  // first: both at once may be more than there is

  const std::size_t alignment = wanted < worth_huge_page ? 64 : huge_page;
  const std::size_t bytes = rounded(std::max<std::size_t>(wanted, 1), alignment);
  memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (!keys.set(memory, bytes)) {
    std::free(memory);
    throw std::bad_alloc();
  }
#if defined(__linux__)
  // One TLB entry then covers a whole block of A.
  if (alignment == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

}  // namespace rung::cpu
