#pragma once
// The reduction of split-K by the block that comes last: every block of a tile writes its partial
// sums to the workspace, and the last one to do so adds up all. No block waits. It adds in the order
// of the parts, so the result has the same bits every time.

#include <cstdint>

#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/tile/block_work.cuh"

namespace rung::cuda {

/// Calls store(i, sum) for each of COUNT sums of a tile, in the only block of the tile or in the
/// last one. `sums`, in shared memory, has this block's.
template <int THREADS, int COUNT, class T, class Store>
__device__ __forceinline__ void store_by_last(void* workspace, const BlockWork& work, const T* sums,
                                              const Store& store) {
  const int thread = static_cast<int>(threadIdx.x);
  if (work.is_whole()) {
    for (int i = thread; i < COUNT; i += THREADS) store(i, sums[i]);
    return;
  }
  auto* const bytes = static_cast<unsigned char*>(workspace);
  auto* const parts = reinterpret_cast<T*>(bytes + semaphores_bytes) +
                      std::int64_t{work.cut_tile} * work.parts * COUNT;
  for (int i = thread; i < COUNT; i += THREADS) parts[work.part * COUNT + i] = sums[i];

  // sync: all threads have written theirs; then, by an increment, all blocks that came before
  __shared__ bool is_last;
  __syncthreads();
  if (thread == 0) {
    auto& semaphore = reinterpret_cast<Semaphore*>(bytes)[work.cut_tile];
    const auto others = static_cast<unsigned>(work.parts) - 1;
    is_last = ptx::atom_inc_acq_rel_gpu(&semaphore.arrived, others) == others;
  }
  __syncthreads();
  if (!is_last) return;
  for (int i = thread; i < COUNT; i += THREADS) {
    T total{};
    for (int part = 0; part < work.parts; ++part) total += parts[part * COUNT + i];
    store(i, total);
  }
}

}  // namespace rung::cuda
