// Checks that the virtual GPU sums like the tensor cores of this machine's GPU, bit for bit: 10^6
// fragments of 16 rows for each instruction, half of them hard (cases.hpp). Not part of the build;
// from the root, on a machine with an sm_90 GPU:
//
//   nvcc -std=c++20 -O3 -arch=sm_90a -I . -I include -I kernels
//        vgpu/tests/tensor_cores/check.cu -o check && ./check [FRAGMENTS]
//
// Prints the mismatches of each instruction, and the first few in hex; exits with 1 on any mismatch.
// `rung emu` compiles it as well: then it compares the engine with its own model.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "vgpu/tests/tensor_cores/instructions.hpp"
#include "vgpu/tests/tensor_cores/kernels.cuh"

namespace rung::tensor_cores {
namespace {

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

using Launch = void (*)(std::uint64_t first, std::uint64_t count, std::uint32_t* results);

/// In the order of `instructions`.
constexpr Launch launches[] = {
    launch_mma<MmaF16, f16, 8>,        launch_mma<MmaF16K8, f16, 4>,
    launch_mma<MmaBf16, bf16, 8>,      launch_mma<MmaTf32, tf32, 8>,
    launch_mma<MmaTf32K4, tf32, 4>,    launch_mma<MmaE4m3, e4m3, 8>,
    launch_mma<MmaE5m2, e5m2, 8>,      launch_mma<MmaF16Half, f16, 8>,
    launch_wgmma<WgmmaF16, f16>,       launch_wgmma<WgmmaBf16, bf16>,
    launch_wgmma<WgmmaTf32, tf32>,     launch_wgmma<WgmmaE4m3, e4m3>,
    launch_wgmma<WgmmaE5m2, e5m2>,     launch_wgmma<WgmmaF16Half, f16>,
    launch_wgmma<WgmmaE4m3Half, e4m3>, launch_wgmma<WgmmaE5m2Half, e5m2>};

/// Compares `count` fragments with the model, on all CPUs. Returns the number of mismatches.
std::uint64_t compare(const Instruction& instruction, std::uint64_t first, std::uint64_t count,
                      const std::uint32_t* got, std::atomic<int>& shown) {
  const int results = instruction.rows() * 8;
  std::atomic<std::uint64_t> next = 0, wrong = 0;
  const auto work = [&] {
    for (std::uint64_t i; (i = next++) < count;) {
      std::vector<std::uint32_t> expected;
      append_results(instruction, first + i, expected);
      for (int at = 0; at < results; ++at) {
        const std::uint32_t bits = got[i * results + at];
        if (bits == expected[at]) continue;
        ++wrong;
        if (shown++ < 5) {
          std::printf("  fragment %llu, row %d, column %d: %08x, model %08x\n",
                      static_cast<unsigned long long>(first + i), at / 8, at % 8, bits,
                      expected[at]);
        }
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

int check(std::uint64_t fragments) {
  constexpr std::uint64_t rows_at_a_time = 65536 * 16;
  std::uint32_t* on_device = nullptr;
  require(cudaMalloc(&on_device, rows_at_a_time * 8 * sizeof(std::uint32_t)), "cudaMalloc");
  std::vector<std::uint32_t> results(rows_at_a_time * 8);
  int failures = 0;
  for (std::size_t i = 0; i < std::size(instructions); ++i) {
    const Instruction& instruction = instructions[i];
    const auto rows = static_cast<std::uint64_t>(instruction.rows());
    const std::uint64_t count = fragments * 16 / rows;
    std::uint64_t wrong = 0;
    std::atomic<int> shown = 0;
    for (std::uint64_t first = 0; first < count; first += rows_at_a_time / rows) {
      const std::uint64_t some = std::min(rows_at_a_time / rows, count - first);
      launches[i](first, some, on_device);
      require(cudaGetLastError(), "launch");
      require(cudaMemcpy(results.data(), on_device, some * rows * 8 * sizeof(std::uint32_t),
                         cudaMemcpyDeviceToHost),
              "cudaMemcpy");
      wrong += compare(instruction, first, some, results.data(), shown);
    }
    std::printf("%-26s %llu results, %llu wrong\n", instruction.name.data(),
                static_cast<unsigned long long>(count * rows * 8),
                static_cast<unsigned long long>(wrong));
    failures += wrong > 0 ? 1 : 0;
  }
  require(cudaFree(on_device), "cudaFree");
  return failures > 0 ? 1 : 0;
}

}  // namespace
}  // namespace rung::tensor_cores

int main(int argc, char** argv) {
  return rung::tensor_cores::check(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000);
}
