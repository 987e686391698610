#include "core/cuda_driver/real_driver.hpp"

#include <atomic>

#include "core/cuda_driver/error.hpp"
#include "core/shared_library/shared_library.hpp"

namespace rung::cuda {
namespace {

constexpr const char* library_name = "libcuda.so.1";

/// Fills the table. Returns the first symbol that the library lacks; null if the table is complete.
const char* fill(const SharedLibrary& library, DriverApi& api) {
#define RUNG_FIND(member, symbol, ...)            \
  api.member = library.find<__VA_ARGS__>(symbol); \
  if (api.member == nullptr) return symbol;
  RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_FIND)
#undef RUNG_FIND
  return nullptr;
}

RealDriver open_library() {
  const SharedLibrary library({library_name});
  if (!library) {
    return {nullptr, std::string("no NVIDIA driver here (") + library_name + " not found)"};
  }
  static DriverApi api;
  if (const char* missing = fill(library, api)) {
    return {nullptr, std::string("the NVIDIA driver here is too old: it lacks ") + missing};
  }
  return {&api, ""};
}

/// The reason why the driver currently has no GPU; empty if it has one.
std::string why_no_gpu(const DriverApi& api) {
  if (const Result result = api.cuInit(0); result != Result::success) {
    return "no GPU here: cuInit gives " + describe(api, result);
  }
  int count = 0;
  if (const Result result = api.cuDeviceGetCount(&count); result != Result::success) {
    return "no GPU here: cuDeviceGetCount gives " + describe(api, result);
  }
  return count > 0 ? "" : "no GPU here: the NVIDIA driver finds none";
}

}  // namespace

RealDriver real_driver() {
  // Never destroyed: destructors of statics and atexit() handlers may call the library.
  static const RealDriver& library = *new RealDriver(open_library());
  static std::atomic<bool> has_gpu = false;
  if (library.api == nullptr || has_gpu) return library;
  // A failure may be temporary: each call retries until the driver has a GPU.
  if (std::string why_not = why_no_gpu(*library.api); !why_not.empty()) return {nullptr, why_not};
  has_gpu = true;
  return library;
}

}  // namespace rung::cuda
