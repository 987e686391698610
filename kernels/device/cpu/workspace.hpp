#pragma once
// Scratch memory for packed operands. Each thread keeps it from call to call, because the kernel
// clears fresh pages at first touch, which costs more than a small product.

#include <cstddef>
#include <cstdint>

namespace rung::cpu {

/// What a rung packs; or the operands that it hands to another rung, which packs them.
enum class ScratchFor { panels, operands };

/// At least `bytes` of this thread's scratch memory, aligned to 64 bytes, with undefined contents.
/// Valid until the thread's next call for the same use. Throws std::bad_alloc.
void* scratch_bytes(std::size_t bytes, ScratchFor use = ScratchFor::panels);

template <class T>
T* scratch(std::int64_t elements, ScratchFor use = ScratchFor::panels) {
  return static_cast<T*>(scratch_bytes(static_cast<std::size_t>(elements) * sizeof(T), use));
}

}  // namespace rung::cpu
