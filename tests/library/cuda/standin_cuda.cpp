// A libcuda.so.1 whose first count of GPUs fails, and then returns one.

#include <string_view>

#include "core/cuda_driver/api.hpp"

namespace {

constexpr int success = 0, not_ready = 600;

int answer(std::string_view symbol, int* first) {
  static int counts = 0;
  if (symbol.starts_with("cuGetError")) return not_ready;
  if (symbol != "cuDeviceGetCount") return success;
  if (++counts == 1) return not_ready;
  *first = 1;
  return success;
}

}  // namespace

#define RUNG_STANDIN(member, symbol, ...)                                                    \
  extern "C" [[gnu::visibility("default")]] int member##_of_standin(int* first) asm(symbol); \
  int member##_of_standin(int* first) { return answer(symbol, first); }
RUNG_CUDA_DRIVER_FUNCTIONS(RUNG_STANDIN)
