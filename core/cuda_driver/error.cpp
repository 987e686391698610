#include "core/cuda_driver/error.hpp"

#include <new>
#include <string>

namespace rung::cuda {

namespace {

/// The name and text of a result, for use if the driver itself no longer provides them.
std::string describe(Result result) {
  switch (result) {
#define RUNG_DESCRIBE(enumerator, value, name, text) \
  case Result::enumerator: return name " (" text ")";
    RUNG_CUDA_RESULTS(RUNG_DESCRIBE)
#undef RUNG_DESCRIBE
  }
  return std::string("error ").append(std::to_string(static_cast<int>(result)));
}

}  // namespace

std::string describe(const DriverApi& api, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName(result, &name) != Result::success) return describe(result);
  if (api.cuGetErrorString(result, &text) != Result::success) return name;
  return std::string(name).append(" (").append(text).append(")");
}

void check(const DriverApi& api, Result result, std::string_view call) {
  if (result == Result::success) return;
  if (result == Result::out_of_memory) throw std::bad_alloc();
  throw DriverError(std::string(call).append(": ").append(describe(api, result)));
}

}  // namespace rung::cuda
