// D (128 x 64) = A (128 x 256) B^T (64 x 256) in bf16 by tcgen05: TMA loads two stages of 64 steps of k in turn, one
// thread multiplies, all read the sums from tensor memory. An argument chooses a mutant, which breaks one rule.
#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int m = 128, n = 64, k = 256, step = 64, stages = 2;

enum Mutant {
  right,
  without_load_wait,      // tcgen05.mma reads a stage before TMA has filled it
  without_free_wait,      // TMA fills a stage that tcgen05.mma may still read
  flipped_phase,          // the sums are read after the phase before their commit
  without_register_wait,  // columns are released before tcgen05.wait::ld
  wrong_swizzle,          // the descriptors have the 64-byte swizzle, the boxes the 128-byte one
  wrong_stride,           // eight rows are not 1024 bytes apart
  off_by_one,             // the descriptor of A starts 16 bytes late
  without_release,        // no tcgen05.dealloc
  mutants
};

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void wait(std::uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nWAIT%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], "
      "%1;\n@!done bra WAIT%=;\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

__device__ void load_tile(void* to, const CUtensorMap* map, int column, std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(map), "r"(column), "r"(0), "r"(shared_address(barrier))
      : "memory");
}

__device__ void commit(std::uint64_t* barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
                   shared_address(barrier))
               : "memory");
}

// K-major, 128-byte swizzle.
template <Mutant mutant>
__device__ std::uint64_t descriptor(std::uint32_t address) {
  const std::uint64_t stride = mutant == wrong_stride    ? 1024 - 128
                               : mutant == wrong_swizzle ? 512
                                                         : 1024;
  const std::uint64_t swizzle = mutant == wrong_swizzle ? 4 : 2;
  return address >> 4 | std::uint64_t{1} << 16 | stride >> 4 << 32 | std::uint64_t{1} << 46 |
         swizzle << 61;
}

template <Mutant mutant>
__global__ void multiply(const __grid_constant__ CUtensorMap a,
                         const __grid_constant__ CUtensorMap b, float* d) {
#if __CUDA_ARCH__ >= 1000
  __shared__ alignas(1024) __nv_bfloat16 as[stages][m * step];
  __shared__ alignas(1024) __nv_bfloat16 bs[stages][n * step];
  __shared__ std::uint64_t full[stages], empty[stages], done;
  __shared__ std::uint32_t allocated;
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                     shared_address(&allocated)),
                 "r"(n));
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[i])));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&empty[i])));
    }
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&done)));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  asm volatile("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;");
  const std::uint32_t sums = allocated;
  if (threadIdx.x == 32) {
    for (int i = 0; i < k / step; ++i) {
      const int stage = i % stages;
      if (mutant != without_free_wait && i >= stages) wait(&empty[stage], (i / stages - 1) % 2);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                       shared_address(&full[stage])),
                   "r"((m + n) * step * 2));
      load_tile(as[stage], &a, i * step, &full[stage]);
      load_tile(bs[stage], &b, i * step, &full[stage]);
    }
  }
  if (threadIdx.x == 64) {
    constexpr std::uint32_t form = 1u << 4 | 1u << 7 | 1u << 10 | n / 8 << 17 | m / 16 << 24;
    for (int i = 0; i < k / step; ++i) {
      const int stage = i % stages;
      if (mutant != without_load_wait) wait(&full[stage], i / stages % 2);
      for (int inner = 0; inner < step / 16; ++inner) {
        const int shift = mutant == off_by_one ? 16 : 0;
        const std::uint64_t of_a =
            descriptor<mutant>(shared_address(as[stage]) + 32 * inner + shift);
        const std::uint64_t of_b = descriptor<mutant>(shared_address(bs[stage]) + 32 * inner);
        asm volatile(
            "{\n.reg .pred adds;\nsetp.ne.u32 adds, %4, 0;\n"
            "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, {%5, %5, %5, %5}, adds;\n}" ::"r"(
                sums),
            "l"(of_a), "l"(of_b), "r"(form), "r"(i + inner), "r"(0)
            : "memory");
      }
      commit(&empty[stage]);
    }
    commit(&done);
  }
  __syncwarp();
  wait(&done, mutant == flipped_phase ? 1 : 0);
  asm volatile("tcgen05.fence::after_thread_sync;");
  for (int column = 0; column < n; column += 4) {
    std::uint32_t cells[4];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(cells[0]), "=r"(cells[1]), "=r"(cells[2]), "=r"(cells[3])
                 : "r"(sums + (warp * 32 << 16) + column));
    if (mutant != without_register_wait) asm volatile("tcgen05.wait::ld.sync.aligned;");
    for (int i = 0; i < 4; ++i) d[threadIdx.x * n + column + i] = __uint_as_float(cells[i]);
  }
  asm volatile("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  if (warp == 0 && mutant != without_release) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(sums), "r"(n));
  }
#endif
}

CUtensorMap map_of(void* data, int rows) {
  CUtensorMap map;
  const cuuint64_t sizes[] = {k, static_cast<cuuint64_t>(rows)}, strides[] = {k * 2};
  const cuuint32_t box[] = {step, static_cast<cuuint32_t>(rows)}, steps[] = {1, 1};
  if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, strides, box,
                             steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE,
                             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::exit(2);
  }
  return map;
}

template <int mutant>
void launch(const CUtensorMap& a, const CUtensorMap& b, float* d, int wanted) {
  if (mutant == wanted) {
    multiply<static_cast<Mutant>(mutant)><<<1, 128>>>(a, b, d);
  } else if constexpr (mutant + 1 < mutants) {
    launch<mutant + 1>(a, b, d, wanted);
  }
}

int main(int argc, char** argv) {
  std::vector<__nv_bfloat16> a(m * k), b(n * k);
  for (int i = 0; i < m * k; ++i) a[i] = __float2bfloat16(static_cast<float>(i * 7 % 11 - 5));
  for (int i = 0; i < n * k; ++i) b[i] = __float2bfloat16(static_cast<float>(i * 5 % 13 - 6));
  __nv_bfloat16 *on_a, *on_b;
  float* on_d;
  cudaMalloc(&on_a, a.size() * 2);
  cudaMalloc(&on_b, b.size() * 2);
  cudaMalloc(&on_d, m * n * sizeof(float));
  cudaMemcpy(on_a, a.data(), a.size() * 2, cudaMemcpyHostToDevice);
  cudaMemcpy(on_b, b.data(), b.size() * 2, cudaMemcpyHostToDevice);
  launch<0>(map_of(on_a, m), map_of(on_b, n), on_d, argc > 1 ? std::atoi(argv[1]) : right);
  std::vector<float> d(m * n);
  if (cudaMemcpy(d.data(), on_d, d.size() * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess)
    return 1;
  int wrong = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += __bfloat162float(a[i * k + l]) * __bfloat162float(b[j * k + l]);
      wrong += sum != d[i * n + j];
    }
  }
  std::printf("%d wrong\n", wrong);
  cudaFree(on_a);
  cudaFree(on_b);
  cudaFree(on_d);
  return wrong != 0 && argc == 1;
}
