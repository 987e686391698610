// Launches, and queries about kernels.

#include <fmt/format.h>

#include <array>
#include <string>

#include "cuda_runtime_api.h"
#include "emu/runtime/failed_calls.hpp"
#include "emu/runtime/kernel_calls.hpp"
#include "emu/runtime/locate.hpp"
#include "emu/runtime/program_source.hpp"
#include "emu/runtime/report.hpp"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

// call(api, Function) -> Result, for the kernel of a stub.
template <class Call>
cudaError_t with_kernel(const void* stub, Call&& call) {
  const cuda::Result entered = Runtime::get().enter();
  if (entered != cuda::Result::success) return finish(entered);
  cuda::Function function = nullptr;
  const cudaError_t error = Runtime::get().find_kernel(stub, function);
  if (error != cudaSuccess) return finish(error);
  return finish(call(driver(), function));
}

unsigned limit(cudaDeviceAttr attribute) {
  int value = 0;
  driver().cuDeviceGetAttribute(&value, static_cast<cuda::DeviceAttribute>(attribute), 0);
  return static_cast<unsigned>(value);
}

bool fits(unsigned extent, cudaDeviceAttr most) { return extent >= 1 && extent <= limit(most); }

// The runtime has an error of its own for extents that no kernel could have. Empty if they are
// fine.
std::string wrong_with(dim3 grid, dim3 block) {
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  const unsigned max_threads = limit(cudaDevAttrMaxThreadsPerBlock);
  if (!fits(grid.x, cudaDevAttrMaxGridDimX) || !fits(grid.y, cudaDevAttrMaxGridDimY) ||
      !fits(grid.z, cudaDevAttrMaxGridDimZ)) {
    return fmt::format("a grid of {}x{}x{} blocks: 1 to {}x{}x{} are allowed", grid.x, grid.y,
                       grid.z, limit(cudaDevAttrMaxGridDimX), limit(cudaDevAttrMaxGridDimY),
                       limit(cudaDevAttrMaxGridDimZ));
  }
  if (!fits(block.x, cudaDevAttrMaxBlockDimX) || !fits(block.y, cudaDevAttrMaxBlockDimY) ||
      !fits(block.z, cudaDevAttrMaxBlockDimZ) || threads > max_threads) {
    return fmt::format("blocks of {}x{}x{} = {} threads: 1 to {}x{}x{} are allowed, and {} in all",
                       block.x, block.y, block.z, threads, limit(cudaDevAttrMaxBlockDimX),
                       limit(cudaDevAttrMaxBlockDimY), limit(cudaDevAttrMaxBlockDimZ), max_threads);
  }
  return {};
}

// Notes why a launch failed: many programs do not ask.
cudaError_t refuse(const void* stub, const CallSite& site, cudaError_t error,
                   const std::string& reason) {
  const std::string kernel = Runtime::get().kernel_name(stub), where = site.known_line();
  report_error(fmt::format("{}: launch of {}{}{}: {}", cudaGetErrorName(error), kernel,
                           where.empty() ? "" : " at ", where, reason));
  return fail(error, reason, kernel, where.empty() ? CallSite::here() : site);
}

}  // namespace

cudaError_t rung::emu::launch_kernel(const void* stub, dim3 grid, dim3 block,
                                     std::size_t shared_bytes, const LaunchCall& call) {
  const auto [file, line] = take_file_and_line();
  const CallSite site = file.empty() ? CallSite() : CallSite::at(file, line);
  const cuda::Result entered = Runtime::get().enter();
  if (entered != cuda::Result::success) return finish(entered);
  cuda::Function function = nullptr;
  if (const cudaError_t error = Runtime::get().find_kernel(stub, function)) return finish(error);
  if (const std::string wrong = wrong_with(grid, block); !wrong.empty()) {
    return refuse(stub, site, cudaErrorInvalidConfiguration, wrong);
  }
  if (const unsigned most = limit(cudaDevAttrMaxSharedMemoryPerBlockOptin); shared_bytes > most) {
    return refuse(stub, site, cudaErrorInvalidValue,
                  fmt::format("{} bytes of dynamic shared memory: at most {} are allowed",
                              shared_bytes, most));
  }
  const LaunchSite known(site);
  const cuda::Result result = call(driver(), function);
  if (result == cuda::Result::success) return finish(result);
  const std::string reason = driver_message();
  return reason.empty() ? finish(result) : refuse(stub, site, to_error(result), reason);
}

extern "C" {

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return launch_kernel(
      stub, grid, block, shared_bytes, [&](const cuda::DriverApi& api, cuda::Function function) {
        return api.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                  static_cast<unsigned>(shared_bytes), to_driver(stream), arguments,
                                  nullptr);
      });
}

cudaError_t cudaLaunchCooperativeKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return launch_kernel(
      stub, grid, block, shared_bytes, [&](const cuda::DriverApi& api, cuda::Function function) {
        return api.cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                             block.z, static_cast<unsigned>(shared_bytes),
                                             to_driver(stream), arguments);
      });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* stub) {
  if (attributes == nullptr) return finish(cudaErrorInvalidValue);
  return with_kernel(stub, [&](const cuda::DriverApi& api, cuda::Function function) {
    using enum cuda::FunctionAttribute;
    constexpr std::array wanted = {shared_size_bytes,
                                   const_size_bytes,
                                   local_size_bytes,
                                   max_threads_per_block,
                                   num_regs,
                                   ptx_version,
                                   binary_version,
                                   cache_mode_ca,
                                   max_dynamic_shared_size_bytes,
                                   preferred_shared_memory_carveout};
    std::array<int, wanted.size()> value{};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const cuda::Result result = api.cuFuncGetAttribute(&value[i], wanted[i], function);
      if (result != cuda::Result::success) return result;
    }
    *attributes = {static_cast<std::size_t>(value[0]),
                   static_cast<std::size_t>(value[1]),
                   static_cast<std::size_t>(value[2]),
                   value[3],
                   value[4],
                   value[5],
                   value[6],
                   value[7],
                   value[8],
                   value[9]};
    return cuda::Result::success;
  });
}

cudaError_t cudaFuncSetAttribute(const void* stub, cudaFuncAttribute attribute, int value) {
  return with_kernel(stub, [&](const cuda::DriverApi& api, cuda::Function function) {
    return api.cuFuncSetAttribute(function, static_cast<cuda::FunctionAttribute>(attribute), value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* stub, cudaFuncCache config) {
  return with_kernel(stub, [&](const cuda::DriverApi& api, cuda::Function function) {
    return api.cuFuncSetCacheConfig(function, static_cast<cuda::CacheConfig>(config));
  });
}

// See cudaDeviceSetSharedMemConfig: there is no choice.
cudaError_t cudaFuncSetSharedMemConfig(const void* stub, cudaSharedMemConfig /*config*/) {
  return with_kernel(stub, [](const auto&, cuda::Function) { return cuda::Result::success; });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* stub,
                                                                   int block_threads,
                                                                   size_t shared_bytes,
                                                                   unsigned int flags) {
  return with_kernel(stub, [&](const cuda::DriverApi& api, cuda::Function function) {
    return api.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads,
                                                                    shared_bytes, flags);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub,
                                                          int block_threads, size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, block_threads,
                                                                shared_bytes, cudaOccupancyDefault);
}

cudaError_t cudaFuncGetName(const char** name, const void* stub) {
  if (name == nullptr) return finish(cudaErrorInvalidValue);
  *name = Runtime::get().stable_kernel_name(stub);
  return *name == nullptr ? finish(cudaErrorInvalidDeviceFunction) : cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* found, const void* stub) {
  if (found == nullptr) return finish(cudaErrorInvalidValue);
  return with_kernel(stub, [&](const auto&, cuda::Function function) {
    *found = reinterpret_cast<cudaFunction_t>(function);
    return cuda::Result::success;
  });
}

}  // extern "C"
