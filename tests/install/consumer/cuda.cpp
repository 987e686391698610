// The library's GPU part on a machine that may have no GPU. Prints why it cannot be used, or
// "usable".

#include <cstdio>
#include <rung/cuda.hpp>

int main() {
  const auto nothing = rung::row_major<float>(nullptr, 2, 2);
  try {
    rung::gemm(nothing, nothing, nothing, rung::CudaStream(nullptr));
    return 1;
  } catch (const rung::Error& error) {
    if (error.code() != rung::Status::invalid_argument) return 1;
  }
  try {
    rung::release_cuda_workspace(rung::CudaStream(nullptr));
  } catch (const rung::Error& error) {
    std::puts(error.what());
    return error.code() == rung::Status::unavailable ? 0 : 1;
  }
  std::puts("usable");
}
