#include "backends/cuda/driver_error.hpp"

#include <new>
#include <string>

namespace rung::cuda {

std::string describe(const DriverApi& api, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName(result, &name) != Result::success) {
    return std::string("error ").append(std::to_string(static_cast<int>(result)));
  }
  if (api.cuGetErrorString(result, &text) != Result::success) return name;
  return std::string(name).append(" (").append(text).append(")");
}

void check(const DriverApi& api, Result result, std::string_view call) {
  if (result == Result::success) return;
  if (result == Result::out_of_memory) throw std::bad_alloc();
  throw DriverError(std::string(call).append(": ").append(describe(api, result)));
}

}  // namespace rung::cuda
