#include "device/cpu/workspace.hpp"

#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rung::cpu {
namespace {

constexpr std::size_t huge_page = 2 << 20;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct Block {
  std::unique_ptr<void, Free> memory;
  std::size_t bytes = 0;

  void* at_least(std::size_t wanted) {
    if (wanted <= bytes) return memory.get();
    memory.reset();
    bytes = 0;
    const std::size_t alignment = wanted < huge_page ? 64 : huge_page;
    const std::size_t rounded = (wanted + alignment - 1) / alignment * alignment;
    memory.reset(std::aligned_alloc(alignment, rounded));
    if (!memory) throw std::bad_alloc();
    bytes = rounded;
#if defined(__linux__)
    // With a huge page, one TLB entry covers a whole block of A.
    if (alignment == huge_page) madvise(memory.get(), rounded, MADV_HUGEPAGE);
#endif
    return memory.get();
  }
};

}  // namespace

void* scratch_bytes(std::size_t bytes) {
  thread_local Block block;
  return block.at_least(bytes);
}

}  // namespace rung::cpu
