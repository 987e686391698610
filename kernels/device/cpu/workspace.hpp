#pragma once
// Scratch memory for packed operands. Kept by each thread from call to call, because fresh pages
// cost more than small products: the kernel clears each one at its first touch.

#include <cstddef>
#include <cstdint>

namespace rung::cpu {

/// At least that much memory of this thread, aligned to 64 bytes, contents undefined. Valid until
/// the thread asks again. Throws std::bad_alloc.
void* scratch_bytes(std::size_t bytes);

template <class T>
T* scratch(std::int64_t elements) {
  return static_cast<T*>(scratch_bytes(static_cast<std::size_t>(elements) * sizeof(T)));
}

}  // namespace rung::cpu
