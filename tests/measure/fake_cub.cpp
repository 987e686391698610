// librung_cub.so for the virtual GPU, whose addresses are addresses of this process. Requires the
// workspace size that it returned.

#include <cstddef>
#include <cstdint>

#include "tools/measure/peers/cub/shim.h"

namespace {

constexpr std::size_t wanted_bytes = 48;

template <class T>
void sum(std::int64_t n, const void* x, const void* y, void* result) {
  T sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T factor = y == nullptr ? T{1} : static_cast<const T*>(y)[i];
    sum += static_cast<const T*>(x)[i] * factor;
  }
  *static_cast<T*>(result) = sum;
}

}  // namespace

extern "C" {

int rung_cub_version() { return 300102; }
const char* rung_cub_status_name(int) { return "cudaErrorFake"; }

int rung_cub_dot(RungCubType type, std::int64_t n, const void* x, const void* y, void* result,
                 void* workspace, std::size_t* workspace_bytes, void* stream) {
  if (workspace == nullptr) {
    *workspace_bytes = wanted_bytes;
    return 0;
  }
  if (*workspace_bytes != wanted_bytes || stream == nullptr) return 1;
  if (type == rung_cub_f32) sum<float>(n, x, y, result);
  if (type == rung_cub_f64) sum<double>(n, x, y, result);
  if (type == rung_cub_i32) sum<std::uint32_t>(n, x, y, result);
  return 0;
}

}  // extern "C"
