#pragma once
// Shared memory whose size the launch gives: more than 48 KiB are possible no other way.

#include "device/cuda/keywords.cuh"

namespace rung::cuda {

#ifdef RUNG_HOST
template <class Tiles>
Tiles& dynamic_shared();  // declared for kernel templates to name, defined nowhere
#else
/// The block's dynamic shared memory as a struct of arrays; Launch::shared_bytes is its size.
template <class Tiles>
__device__ __forceinline__ Tiles& dynamic_shared() {
  // As the swizzled tiles of tensor cores need it.
  alignas(1024) extern __shared__ unsigned char dynamic_shared_memory[];
  return *reinterpret_cast<Tiles*>(dynamic_shared_memory);
}
#endif

}  // namespace rung::cuda
