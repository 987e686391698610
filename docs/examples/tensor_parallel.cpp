/* A layer of a model on all GPUs of this machine: y = (x W1) W2, of which each GPU has some columns of W1,
   some rows of W2, and some rows of x and y. One process, a thread for each GPU.

   cmake --build build --target rung_nccl && \
   g++ -std=c++20 docs/examples/tensor_parallel.cpp -Iinclude -I/usr/local/cuda/include \
     -Lbuild/library/dist -Lbuild/library -L/usr/local/cuda/lib64 \
     -lrung_nccl -lrung -lnccl -lcudart -pthread -o tensor_parallel && \
   LD_LIBRARY_PATH=build/library/dist:build/library:/usr/local/cuda/lib64 ./tensor_parallel */

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <rung/nccl.hpp>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t tokens = 4096, width = 2048, hidden = 8192;

/// A matrix on the current GPU, all of one number.
rung::MatrixView<rung::bfloat16> filled(std::int64_t rows, std::int64_t cols, float value) {
  const std::vector<rung::bfloat16> host(static_cast<std::size_t>(rows * cols),
                                         rung::bfloat16(value));
  void* memory = nullptr;
  cudaMalloc(&memory, host.size() * sizeof(rung::bfloat16));
  cudaMemcpy(memory, host.data(), host.size() * sizeof(rung::bfloat16), cudaMemcpyHostToDevice);
  return rung::row_major(static_cast<rung::bfloat16*>(memory), rows, cols);
}

void run(int rank, int ranks, ncclComm_t comm) {
  cudaSetDevice(rank);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  const auto x = filled(tokens / ranks, width, 1), y = filled(tokens / ranks, width, 0);
  const auto w1 = filled(width, hidden / ranks, 1.0f / width);
  const auto w2 = filled(hidden / ranks, width, 1.0f / hidden);
  const auto h = filled(tokens, hidden / ranks, 0);

  rung::dist::TensorParallel parallel(comm, {.timeout = 60});
  parallel.all_gather_gemm(1, x, w1, 0, h, rung::CudaStream(stream));
  parallel.gemm_reduce_scatter(1, h, w2, 0, y, rung::CudaStream(stream));
  parallel.synchronize(rung::CudaStream(stream));

  rung::bfloat16 first;
  cudaMemcpy(&first, y.data, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("rank %d of %d: y[0, 0] is %g\n", rank, ranks, static_cast<double>(float(first)));
}

}  // namespace

int main() {
  int ranks = 0;
  cudaGetDeviceCount(&ranks);
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
  if (ranks == 0 || ncclCommInitAll(comms.data(), ranks, nullptr) != ncclSuccess) return 1;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        run(rank, ranks, comms[static_cast<std::size_t>(rank)]);
      } catch (const std::exception& error) {
        std::printf("rank %d: %s\n", rank, error.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
