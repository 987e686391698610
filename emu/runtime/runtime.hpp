#pragma once
// The state of the CUDA runtime API: registered kernels and variables, the device's primary
// context, each thread's last error, and live allocations.

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cuda_driver/api.hpp"
#include "cuda_runtime_api.h"
#include "emu/runtime/devices.hpp"

namespace rung::emu {

/// The driver that everything below uses, configured from the environment (emu/runtime/options.hpp).
const cuda::DriverApi& driver();
/// Why the driver's last call in this thread failed; empty if the error code says it all.
std::string driver_message();
/// True if the driver is not the virtual one: its owner reports.
bool uses_given_driver();

/// The device code of a translation unit.
struct Image {
  explicit Image(const char* text) : ptx(text) {}

  const char* ptx;
  std::array<cuda::Module, max_devices> modules{};  // loaded when they are first needed
  bool is_broken = false;                           // has been reported
  std::vector<std::string> managed_names;           // __managed__ variables and their addresses
  std::vector<void*> managed_addresses;
};

/// A kernel, identified on the host by the address of its stub.
struct KernelEntry {
  Image* image;
  std::string name;
  std::array<cuda::Function, max_devices> functions{};
  bool is_broken = false;  // as of an image
};

/// A __device__ or __constant__ variable, identified on the host by the address of its shadow.
struct VariableEntry {
  Image* image;
  std::string name;
};

/// An allocation that has not been freed.
struct LiveAllocation {
  std::size_t bytes;
  std::string call;  // "cudaMalloc"
  std::string file;  // as the compiler was given it; empty if unknown
  int line;
  int device = 0;
};

class Runtime {
 public:
  /// Lives until the process ends, because destructors of the program may still call it.
  static Runtime& get();

  // Registration, before main. It cannot fail.
  Image* add_image(const char* ptx);
  void remove_image(Image* image);
  void add_kernel(const void* stub, Image* image, const char* name);
  void add_variable(void* shadow, Image* image, const char* name);
  /// Variables between these addresses are __managed__: the device's memory of them is the host's.
  void add_managed_range(const void* begin, const void* end);
  /// Managed variables have their initial values before main.
  void start_managed(Image& image);

  /// Makes the primary context current in this thread.
  cuda::Result enter();
  /// Destroys everything on the device; modules are loaded again when needed.
  cuda::Result reset();
  /// The context is already gone: modules are loaded again when needed.
  void forget_context();

  /// cudaErrorInvalidDeviceFunction if `stub` is not a kernel.
  cudaError_t find_kernel(const void* stub, cuda::Function& function);
  /// As registered; empty if `stub` is no kernel.
  std::string kernel_name(const void* stub) const;
  /// The same, valid until the process ends; null if `stub` is no kernel.
  const char* stable_kernel_name(const void* stub) const;
  /// cudaErrorInvalidSymbol if `shadow` is no variable of the device.
  cudaError_t find_variable(const void* shadow, cuda::DevicePointer& address, std::size_t& bytes);
  /// As registered; empty if `shadow` is no variable.
  std::string variable_name(const void* shadow) const;

  void add_allocation(const void* pointer, std::size_t bytes, const char* call);
  void remove_allocation(const void* pointer);
  /// The device that was current when this memory was allocated.
  int device_of(const void* pointer) const;
  std::vector<LiveAllocation> live_allocations() const;

  /// The context was destroyed by a fault and not reset since.
  bool is_lost() const { return is_lost_; }
  void set_lost() { is_lost_ = true; }

 private:
  /// The image's module on the current device.
  cuda::Result load(Image& image, cuda::Module& module);

  mutable std::mutex mutex_;
  unsigned generation_ = 1;  // counts resets
  std::atomic<bool> is_lost_ = false;
  std::vector<std::unique_ptr<Image>> images_;
  std::unordered_map<const void*, KernelEntry> kernels_;
  std::unordered_map<const void*, VariableEntry> variables_;
  std::map<const void*, LiveAllocation> allocations_;
  std::vector<std::pair<const void*, const void*>> managed_ranges_;
};

/// The numbers are intentionally those of CUDA.
inline cudaError_t to_error(cuda::Result result) { return static_cast<cudaError_t>(result); }

/// Returns the error after recording it as this thread's last one. A reason goes into the report.
cudaError_t finish(cudaError_t error, const std::string& reason = {});
void clear_last_error();
/// Records a result of the driver; its reason goes into the report.
cudaError_t finish(cuda::Result result);

/// Runs a call that needs the context.
template <class Call>
cudaError_t with_context(Call&& call) {
  const cuda::Result entered = Runtime::get().enter();
  if (entered != cuda::Result::success) return finish(entered);
  return finish(call(driver()));
}

inline cuda::DevicePointer device_pointer(const void* pointer) {
  return reinterpret_cast<cuda::DevicePointer>(pointer);
}
inline cuda::Stream to_driver(cudaStream_t stream) {
  return reinterpret_cast<cuda::Stream>(stream);
}
inline cuda::Event to_driver(cudaEvent_t event) { return reinterpret_cast<cuda::Event>(event); }
inline cuda::Graph to_driver(cudaGraph_t graph) { return reinterpret_cast<cuda::Graph>(graph); }
inline cuda::GraphExec to_driver(cudaGraphExec_t graph) {
  return reinterpret_cast<cuda::GraphExec>(graph);
}

}  // namespace rung::emu
