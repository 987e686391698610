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
// From this size on, panels in scattered pages conflict in L2 sets and exceed the small-page
// entries of the L1 TLB.
constexpr std::size_t worth_huge_page = 256 << 10;

// POSIX keys instead of thread_local variables. A thread's memory is released after all of its
// thread_locals, whose destructors may call the library, and again if a later call allocates. The
// main thread's memory is never released. In addition, the first use of a thread_local may
// allocate, and the C library ends the program if that fails.
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

/// Created at the first call for a use. If the process runs out of keys, existing ones are kept.
template <ScratchFor>
const Keys& keys_of() {
  static const Keys keys;
  return keys;
}

const Keys& keys_for(ScratchFor use) {
  if (use == ScratchFor::panels) return keys_of<ScratchFor::panels>();
  return use == ScratchFor::operands ? keys_of<ScratchFor::operands>()
                                     : keys_of<ScratchFor::last_resort>();
}

/// 512 steps of the widest tile (14 rows and 16 columns of double), plus a cache line.
constexpr std::size_t last_resort_bytes = 128 << 10;

std::size_t rounded(std::size_t bytes, std::size_t alignment) {
  if (bytes > PTRDIFF_MAX - alignment) throw std::bad_alloc();
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

void* scratch_bytes(std::size_t wanted, ScratchFor use) {
  const Keys& keys = keys_for(use);
  void* memory = keys.memory();
  if (memory != nullptr && wanted <= keys.bytes()) return memory;
  keys.set(nullptr, 0);
  std::free(memory);  // free first: both blocks together may exceed the available memory

  const std::size_t alignment = wanted < worth_huge_page ? 64 : huge_page;
  const std::size_t bytes = rounded(std::max<std::size_t>(wanted, 1), alignment);
  memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (!keys.set(memory, bytes)) {
    std::free(memory);
    throw std::bad_alloc();
  }
#if defined(__linux__)
  // A single TLB entry then covers a whole block of A.
  if (alignment == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

void reserve_last_resort() {
  if (keys_of<ScratchFor::last_resort>().memory() == nullptr) {
    scratch_bytes(last_resort_bytes, ScratchFor::last_resort);
  }
}

void* last_resort(std::size_t bytes) {
  void* const memory = keys_for(ScratchFor::last_resort).memory();
  if (memory == nullptr || bytes > last_resort_bytes) throw std::bad_alloc();
  return memory;
}

}  // namespace rung::cpu
