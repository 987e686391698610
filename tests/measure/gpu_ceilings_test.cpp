// The ceilings' kernels do the work that they are credited with.

#include "measure/gpu_ceilings.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "backends/cuda/device_buffer.hpp"
#include "backends/cuda/driver_error.hpp"
#include "measure/gpu_ceiling_kernels.hpp"
#include "measure/gpu_matrix_kernels.hpp"
#include "virtual_backend.hpp"

namespace rung {
namespace {

constexpr std::int64_t threads = 64;

template <class Argument>
void launch(const char* entry, Argument argument, const cuda::Image& image = gpu_ceiling_image()) {
  cuda::Gpu& gpu = virtual_gpu();
  void* arguments[] = {&argument};
  gpu.launch(gpu.function(image, entry), entry, {{2}, {threads / 2}}, arguments, 1);
  gpu.wait(entry);
}

void upload(const cuda::DeviceBuffer& buffer, const void* from) {
  const cuda::DriverApi& api = virtual_gpu().api();
  cuda::check(api, api.cuMemcpyHtoD(buffer.address(), from, buffer.bytes()), "cuMemcpyHtoD");
}

template <class T>
std::vector<T> download(const cuda::DeviceBuffer& buffer) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  const cuda::DriverApi& api = virtual_gpu().api();
  cuda::check(api, api.cuMemcpyDtoH(values.data(), buffer.address(), buffer.bytes()),
              "cuMemcpyDtoH");
  return values;
}

template <class T>
void expect_all_multiply_adds(Dtype dtype) {
  const GpuFmaKernel kernel = gpu_fma_kernel(dtype);
  ASSERT_EQ(static_cast<std::size_t>(kernel.element_bytes), sizeof(T));
  for (const int iterations : {0, 1, 3}) {
    const cuda::DeviceBuffer sums(virtual_gpu(), threads * sizeof(T));
    launch(kernel.entry, GpuFmaKernel::Argument{sums.address(), iterations});
    // Each accumulator starts at its number and counts up by one.
    const int expected =
        kernel.chains * (kernel.chains - 1) / 2 + kernel.chains * kernel.unroll * iterations;
    for (const T sum : download<T>(sums)) ASSERT_EQ(sum, static_cast<T>(expected));
  }
}

TEST(GpuCeilings, MultiplyAddsAreAllDone) {
  expect_all_multiply_adds<float>(Dtype::f32);
  expect_all_multiply_adds<double>(Dtype::f64);
  expect_all_multiply_adds<std::int32_t>(Dtype::i32);
}

// The shapes of mma.sync; wgmma is not on the virtual GPU.
template <class T>
void expect_all_products(const GpuMatrixKernel& kernel, int k, int registers) {
  constexpr int iterations = 2;
  const cuda::DeviceBuffer sums(virtual_gpu(), threads * sizeof(T));
  launch(kernel.entry, GpuMatrixKernel::Argument{sums.address(), iterations}, *kernel.image);
  const int expected = k * mma_unroll * iterations * mma_chains * registers;
  for (const T sum : download<T>(sums)) ASSERT_EQ(sum, static_cast<T>(expected)) << kernel.entry;
  // Two a product, of which a warp does k for each of its accumulators.
  EXPECT_EQ(kernel.flops_per_iteration * iterations, 2.0 * expected) << kernel.entry;
}

TEST(GpuCeilings, MatrixUnitsDoWhatTheyAreCreditedWith) {
  expect_all_products<float>(gpu_matrix_kernels(Dtype::f16, 80, 12000).front(), 16, 4);
  expect_all_products<float>(gpu_matrix_kernels(Dtype::bf16, 80, 12000).front(), 16, 4);
  expect_all_products<double>(gpu_matrix_kernels(Dtype::f64, 80, 12000).front(), 4, 2);
}

TEST(GpuCeilings, AGpuHasTheMatrixUnitsOfItsGeneration) {
  const auto count = [](Dtype dtype, int arch, int cuda_version) {
    return gpu_matrix_kernels(dtype, arch, cuda_version).size();
  };
  EXPECT_EQ(count(Dtype::f16, 75, 13000), 0u);
  EXPECT_EQ(count(Dtype::f16, 80, 13000), 1u);
  EXPECT_EQ(count(Dtype::f16, 90, 13000), 2u);
  EXPECT_EQ(count(Dtype::f16, 90, 11080), 1u);  // its driver does not know wgmma
  EXPECT_EQ(count(Dtype::f16, 100, 13000), 1u);
  EXPECT_EQ(count(Dtype::f64, 90, 13000), 2u);
  EXPECT_EQ(count(Dtype::f32, 90, 13000), 0u);
}

std::uint32_t read_all(const cuda::DeviceBuffer& data, std::int64_t pieces) {
  const cuda::DeviceBuffer bits(virtual_gpu(), threads * sizeof(std::uint32_t));
  launch(GpuReadKernel().entry, GpuReadKernel::Argument{data.address(), bits.address(), pieces});
  const auto found = download<std::uint32_t>(bits);
  return std::accumulate(found.begin(), found.end(), 0u, std::bit_or<>());
}

// Around the number of threads, and around what they read at once. Reading past the end is an error
// of the virtual GPU's.
TEST(GpuCeilings, EveryPieceIsRead) {
  constexpr std::int64_t piece = 16;
  for (const std::int64_t pieces : {1, 63, 65, 255, 256, 257, 321}) {
    const cuda::DeviceBuffer data(virtual_gpu(), static_cast<std::size_t>(pieces * piece));
    std::vector<unsigned char> bytes(data.bytes());
    upload(data, bytes.data());
    EXPECT_EQ(read_all(data, pieces), 0u);
    for (std::int64_t at = 0; at < pieces; at += at + 3 < pieces ? 3 : 1) {
      const auto byte = static_cast<std::size_t>(at * piece + at % piece);
      bytes[byte] = 1;
      upload(data, bytes.data());
      EXPECT_NE(read_all(data, pieces), 0u) << "piece " << at << " of " << pieces;
      bytes[byte] = 0;
    }
  }
}

TEST(GpuCeilings, BatchesRunAndSayTheirWork) {
  cuda::Gpu& gpu = virtual_gpu();
  const CeilingBatch read = gpu_read_ceiling(gpu, 1000);
  EXPECT_EQ(read.work, 992);  // whole pieces
  EXPECT_NO_THROW(read.batch.run(2));
}

}  // namespace
}  // namespace rung
