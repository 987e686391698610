#pragma once
// An allocator of page-locked host memory, which CCCL 3 has removed and older programs have.

#include <cuda_runtime_api.h>
#include <thrust/version.h>

#include <cstddef>
#include <new>

THRUST_NAMESPACE_BEGIN
namespace system::cuda::experimental {

template <class T>
struct pinned_allocator {
  using value_type = T;

  pinned_allocator() = default;
  template <class Other>
  pinned_allocator(const pinned_allocator<Other>&) {}

  T* allocate(std::size_t count) {
    void* memory = nullptr;
    if (cudaMallocHost(&memory, count * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { cudaFreeHost(memory); }

  friend bool operator==(const pinned_allocator&, const pinned_allocator&) { return true; }
  friend bool operator!=(const pinned_allocator&, const pinned_allocator&) { return false; }
};

}  // namespace system::cuda::experimental
namespace cuda::experimental {
using system::cuda::experimental::pinned_allocator;
}
THRUST_NAMESPACE_END
