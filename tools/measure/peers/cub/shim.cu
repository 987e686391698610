// librung_cub.so, which requires nvcc: cub::DeviceReduce::Sum as C functions.

#include "tools/measure/peers/cub/shim.h"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

namespace {

template <class T>
struct Product {
  const T* x;
  const T* y;

  __device__ T operator()(std::int64_t i) const { return x[i] * y[i]; }
};

template <class T>
cudaError_t dot(std::int64_t n, const void* x, const void* y, void* result, void* workspace,
                std::size_t& bytes, cudaStream_t stream) {
  auto* const sum = static_cast<T*>(result);
  if (y == nullptr) {
    return cub::DeviceReduce::Sum(workspace, bytes, static_cast<const T*>(x), sum, n, stream);
  }
  const auto products = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{0}),
      Product<T>{static_cast<const T*>(x), static_cast<const T*>(y)});
  return cub::DeviceReduce::Sum(workspace, bytes, products, sum, n, stream);
}

}  // namespace

int rung_cub_version() { return CUB_VERSION; }

const char* rung_cub_status_name(int status) {
  return cudaGetErrorName(static_cast<cudaError_t>(status));
}

int rung_cub_dot(RungCubType type, std::int64_t n, const void* x, const void* y, void* result,
                 void* workspace, std::size_t* workspace_bytes, void* stream) {
  auto* const on = static_cast<cudaStream_t>(stream);
  switch (type) {
    case rung_cub_f32: return dot<float>(n, x, y, result, workspace, *workspace_bytes, on);
    case rung_cub_f64: return dot<double>(n, x, y, result, workspace, *workspace_bytes, on);
    case rung_cub_i32: return dot<std::uint32_t>(n, x, y, result, workspace, *workspace_bytes, on);
  }
  return cudaErrorInvalidValue;
}
