#include "backends/cuda/driver_error.hpp"

#include <fmt/format.h>

#include <new>

namespace rung::cuda {

std::string describe(const DriverApi& api, Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName(result, &name) != Result::success) {
    return fmt::format("error {}", static_cast<int>(result));
  }
  if (api.cuGetErrorString(result, &text) != Result::success) return name;
  return fmt::format("{} ({})", name, text);
}

void check(const DriverApi& api, Result result, std::string_view call) {
  if (result == Result::success) return;
  if (result == Result::out_of_memory) throw std::bad_alloc();
  throw DriverError(fmt::format("{}: {}", call, describe(api, result)));
}

}  // namespace rung::cuda
