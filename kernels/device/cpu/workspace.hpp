#pragma once
// Scratch memory for packed operands. Each thread keeps it between calls, because the kernel clears
// fresh pages at first touch, which costs more than a small product.

#include <cstddef>
#include <cstdint>

namespace rung::cpu {

/// Uses of scratch memory: panels that a rung packs; operands that are passed to another rung,
/// which packs them; and the panels of one tile, reserved in advance by calls of several products
/// in case memory runs out.
enum class ScratchFor { panels, operands, last_resort };

/// Returns at least `bytes` of this thread's scratch memory, aligned to 64 bytes, with undefined
/// contents. Valid until the thread's next call for the same use. Throws std::bad_alloc.
void* scratch_bytes(std::size_t bytes, ScratchFor use = ScratchFor::panels);

/// Reserves memory for the panels of one tile in this thread. Throws std::bad_alloc.
void reserve_last_resort();
/// Returns the reserved memory. Throws std::bad_alloc if this thread has not reserved it or `bytes`
/// exceed it.
void* last_resort(std::size_t bytes);

template <class T>
T* scratch(std::int64_t elements, ScratchFor use = ScratchFor::panels) {
  return static_cast<T*>(scratch_bytes(static_cast<std::size_t>(elements) * sizeof(T), use));
}

}  // namespace rung::cpu
