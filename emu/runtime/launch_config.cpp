// Launches with attributes, and what clusters and shared memory fit on a multiprocessor.

#include <algorithm>
#include <climits>

#include "cuda_runtime_api.h"
#include "emu/runtime/kernel_calls.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

// The layouts are the same, by the ABI of the driver.
static_assert(sizeof(cudaLaunchAttribute) == sizeof(cuda::LaunchAttribute));

std::size_t cluster_blocks(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& size = config.attrs[i].val.clusterDim;
      return std::max<std::size_t>(1, std::size_t{size.x} * size.y * size.z);
    }
  }
  return 1;
}

constexpr int portable_cluster_blocks = 8;

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* stub,
                                void** arguments) {
  if (config == nullptr) return finish(cudaErrorInvalidValue);
  return launch_kernel(stub, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                       [&](const cuda::DriverApi& api, cuda::Function function) {
                         const dim3 grid = config->gridDim, block = config->blockDim;
                         const cuda::LaunchConfig given = {
                             grid.x,
                             grid.y,
                             grid.z,
                             block.x,
                             block.y,
                             block.z,
                             static_cast<unsigned>(config->dynamicSmemBytes),
                             to_driver(config->stream),
                             reinterpret_cast<cuda::LaunchAttribute*>(config->attrs),
                             config->numAttrs};
                         return api.cuLaunchKernelEx(&given, function, arguments, nullptr);
                       });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* stub,
                                           const cudaLaunchConfig_t* config) {
  if (clusters == nullptr || config == nullptr) return finish(cudaErrorInvalidValue);
  int blocks = 0, multiprocessors = 0;
  const dim3 block = config->blockDim;
  const std::size_t product = std::size_t{block.x} * block.y * block.z;
  const int threads = static_cast<int>(std::min<std::size_t>(product, INT_MAX));
  cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub, threads,
                                                                    config->dynamicSmemBytes);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  }
  if (error == cudaSuccess) {
    const auto all = static_cast<std::size_t>(blocks) * static_cast<std::size_t>(multiprocessors);
    *clusters = static_cast<int>(all / cluster_blocks(*config));
  }
  return error;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* /*stub*/,
                                                 const cudaLaunchConfig_t* config) {
  if (size == nullptr || config == nullptr) return finish(cudaErrorInvalidValue);
  *size = portable_cluster_blocks;
  return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* stub, int blocks,
                                                      int /*block_threads*/) {
  if (bytes == nullptr || blocks < 1) return finish(cudaErrorInvalidValue);
  int all = 0, reserved = 0;
  cudaFuncAttributes attributes{};
  cudaError_t error = cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0);
  }
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, stub);
  if (error != cudaSuccess) return error;
  const auto share = static_cast<std::size_t>(all / blocks - reserved);
  *bytes = share > attributes.sharedSizeBytes ? share - attributes.sharedSizeBytes : 0;
  return cudaSuccess;
}

}  // extern "C"
