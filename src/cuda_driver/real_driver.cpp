#include "cuda_driver/real_driver.hpp"

#include "cuda_driver/error.hpp"
#include "shared_library/shared_library.hpp"

namespace rung::cuda {
namespace {

constexpr const char* library_name = "libcuda.so.1";

/// The first function that the library lacks; null if the table is complete.
const char* fill(const SharedLibrary& library, DriverApi& api) {
#define RUNG_FIND(member, symbol, ...)            \
  api.member = library.find<__VA_ARGS__>(symbol); \
  if (api.member == nullptr) return symbol;
  RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_FIND)
#undef RUNG_FIND
  return nullptr;
}

RealDriver open_driver() {
  const SharedLibrary library({library_name});
  if (!library) {
    return {nullptr, std::string("no NVIDIA driver here (") + library_name + " not found)"};
  }
  static DriverApi api;
  if (const char* missing = fill(library, api)) {
    return {nullptr, std::string("the NVIDIA driver here is too old: it lacks ") + missing};
  }
  if (const Result result = api.cuInit(0); result != Result::success) {
    return {nullptr, "no GPU here: cuInit gives " + describe(api, result)};
  }
  int count = 0;
  if (api.cuDeviceGetCount(&count) != Result::success || count == 0) {
    return {nullptr, "no GPU here: the NVIDIA driver finds none"};
  }
  return {&api, ""};
}

}  // namespace

const RealDriver& real_driver() {
  // Never destroyed: statics and functions of atexit() may call the library.
  static const RealDriver* const driver = new RealDriver(open_driver());
  return *driver;
}

}  // namespace rung::cuda
