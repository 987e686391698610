#include "device/cpu/workspace.hpp"

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rung::cpu {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t huge_page = 2 << 20;

/// Ends the memory that it describes, so that one pointer a thread is enough.
struct Block {
  void* memory;
  std::size_t bytes;  // before this
};

void release(void* block) {
  if (block != nullptr) std::free(static_cast<Block*>(block)->memory);
}

// A key of POSIX and not a thread_local, because its memory is released after all thread_locals of
// a thread are destroyed, whose destructors may call the library, and comes back to life if a call
// follows even later. The main thread's is never released. Nor does its first use in a thread need
// memory that the C library could only abort without.
class Key {
 public:
  Key() {
    if (pthread_key_create(&key_, release) != 0) throw std::bad_alloc();
  }

  Block* get() const { return static_cast<Block*>(pthread_getspecific(key_)); }
  bool set(Block* block) const { return pthread_setspecific(key_, block) == 0; }

 private:
  pthread_key_t key_;
};

Block* allocate(std::size_t wanted) {
  if (wanted > PTRDIFF_MAX - huge_page) throw std::bad_alloc();
  const std::size_t alignment = wanted + line < huge_page ? line : huge_page;
  const std::size_t rounded = (wanted + line + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  // One TLB entry then covers a whole block of A.
  if (alignment == huge_page) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  const std::size_t bytes = rounded - line;
  return new (static_cast<std::byte*>(memory) + bytes) Block{memory, bytes};
}

}  // namespace

void* scratch_bytes(std::size_t bytes) {
  static const Key key;
  Block* block = key.get();
  if (block != nullptr && bytes <= block->bytes) return block->memory;
  key.set(nullptr);  // first: both at once may be more than there is
  release(block);
  block = allocate(bytes);
  if (!key.set(block)) {
    release(block);
    throw std::bad_alloc();
  }
  return block->memory;
}

}  // namespace rung::cpu
