#pragma once
// Scratch memory for packed operands. Each thread keeps it from call to call, because the kernel
// clears fresh pages at first touch, which costs more than a small product.

#include <cstddef>
#include <cstdint>

namespace rung::cpu {

/// At least `bytes` of this thread's scratch memory, aligned to 64 bytes, with undefined contents.
/// Valid until the thread's next call. Throws std::bad_alloc.
void* scratch_bytes(std::size_t bytes);

template <class T>
T* scratch(std::int64_t elements) {
  return static_cast<T*>(scratch_bytes(static_cast<std::size_t>(elements) * sizeof(T)));
}

}  // namespace rung::cpu
