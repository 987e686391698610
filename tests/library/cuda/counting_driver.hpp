#pragma once
// The driver under test, with a count of its calls: the virtual one or, if RUNG_TEST_GPU is set,
// NVIDIA's.

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include "core/cuda_driver/real_driver.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::cuda {

inline bool on_real_gpu() { return std::getenv("RUNG_TEST_GPU") != nullptr; }

inline const DriverApi& tested_driver() {
  if (!on_real_gpu()) return vgpu::virtual_driver();
  const RealDriver real = real_driver();
  if (real.api == nullptr) throw std::runtime_error(real.why_not);
  return *real.api;
}

inline std::map<std::string, int>& driver_calls() {
  static std::map<std::string, int> calls;
  return calls;
}

inline void count(const char* name) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  ++driver_calls()[name];
}

/// The stream of the last launch.
inline std::atomic<Stream>& last_stream() {
  static std::atomic<Stream> stream = nullptr;
  return stream;
}

template <auto DriverApi::* member, class Signature>
struct Counted;

template <auto DriverApi::* member, class... Arguments>
struct Counted<member, Result(Arguments...)> {
  static inline const char* name = nullptr;

  static Result call(Arguments... arguments) {
    count(name);
    return (tested_driver().*member)(arguments...);
  }
};

inline Result launch_and_note(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned dynamic_shared_bytes, Stream stream, void** parameters,
                              void** extra) {
  count("cuLaunchKernel");
  last_stream() = stream;
  return tested_driver().cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                        dynamic_shared_bytes, stream, parameters, extra);
}

inline const DriverApi& counting_driver() {
  static const DriverApi table = [] {
    DriverApi api;
#define RUNG_COUNTED(member, symbol, ...)                   \
  Counted<&DriverApi::member, __VA_ARGS__>::name = #member; \
  api.member = Counted<&DriverApi::member, __VA_ARGS__>::call;
    RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_COUNTED)
#undef RUNG_COUNTED
    api.cuLaunchKernel = launch_and_note;
    return api;
  }();
  return table;
}

}  // namespace rung::cuda
