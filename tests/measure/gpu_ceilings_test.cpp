// The kernels of the ceilings do the work that their rates are computed from.

#include "tools/measure/gpu_ceilings.hpp"
#include "core/dtype.hpp"
#include "rung/types.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "backends/cuda/device_buffer.hpp"
#include "core/cuda_driver/error.hpp"
#include "tools/measure/gpu_ceiling_kernels.hpp"
#include "tools/measure/gpu_matrix_kernels.hpp"
#include "virtual_backend.hpp"

namespace rung {
namespace {

constexpr std::int64_t threads = 64;

template <class Argument>
void launch(const char* entry, Argument argument, const cuda::Unit& module = gpu_ceiling_module(),
            const cuda::Launch& grid = {{2}, {threads / 2}}) {
  cuda::Gpu& gpu = virtual_gpu();
  void* arguments[] = {&argument};
  gpu.launch(gpu.function(module, entry), entry, grid, arguments, 1);
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
    // Each accumulator starts at its index and counts up by one.
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

// The shapes of mma.sync, with all elements 1.
template <class T>
void expect_all_products(const GpuMatrixKernel& kernel, int k, int registers) {
  constexpr int iterations = 2;
  const cuda::DeviceBuffer sums(virtual_gpu(), threads * sizeof(T));
  launch(kernel.entry, GpuMatrixKernel::Argument{sums.address(), iterations}, *kernel.module);
  const int expected = k * mma_unroll * iterations * mma_chains * registers;
  for (const T sum : download<T>(sums)) ASSERT_EQ(sum, static_cast<T>(expected)) << kernel.entry;
  // Two flops per product. The warp does k of them for each of its accumulators.
  EXPECT_EQ(kernel.flops_per_iteration * iterations, 2.0 * expected) << kernel.entry;
}

TEST(GpuCeilings, MatrixUnitsDoWhatTheyAreCreditedWith) {
  expect_all_products<float>(gpu_matrix_kernels(Dtype::f16, 80, 12000).front(), 16, 4);
  expect_all_products<float>(gpu_matrix_kernels(Dtype::bf16, 80, 12000).front(), 16, 4);
  expect_all_products<float>(gpu_matrix_kernels(Dtype::tf32, 80, 12000).front(), 8, 4);
  expect_all_products<std::uint32_t>(gpu_matrix_kernels(Dtype::i8, 80, 12000).front(), 32, 4);
  expect_all_products<double>(gpu_matrix_kernels(Dtype::f64, 80, 12000).front(), 4, 2);
}

// The operands of wgmma: A of 64 rows, followed by B of 256 rows, each row of 128 bytes. They are
// hashed words with some bits set to constants.
template <class In>
class HashedOperands {
 public:
  static constexpr int a_rows = 64, b_rows = 256;

  HashedOperands(std::uint32_t random, std::uint32_t constant) : words_((a_rows + b_rows) * 32) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      std::uint32_t word = 4 * static_cast<std::uint32_t>(i) * 0x9E3779B1;
      word ^= word >> 13;
      words_[i] = (word & random) | constant;
    }
  }

  /// An element of row `row`, where the rows of B are numbered after those of A. The 16-byte chunks
  /// of each group of eight rows are swizzled.
  double at(int row, int k) const {
    const int byte = k * static_cast<int>(sizeof(In));
    const int piece = byte / 16 ^ row % 8;
    In value;
    const char* const start = reinterpret_cast<const char*>(words_.data());
    std::memcpy(&value, start + row * 128 + piece * 16 + byte % 16, sizeof(In));
    return static_cast<double>(static_cast<float>(value));
  }

 private:
  std::vector<std::uint32_t> words_;
};

// One iteration multiplies the rows four times. Out is the type of the sums: each thread sums its
// own elements of 64 x 256, so the total of all threads equals the sum of all elements of A B.
template <class In, class Out>
void expect_random_products(Dtype dtype, std::uint32_t random, std::uint32_t constant) {
  const GpuMatrixKernel kernel = gpu_matrix_kernels(dtype, 90, 12000).back();
  constexpr int K = 128 / sizeof(In), passes = 4, groups = 2;
  ASSERT_EQ(kernel.block, 128 * groups);
  const cuda::DeviceBuffer sums(virtual_gpu(), 128 * groups * sizeof(Out));
  launch(kernel.entry, GpuMatrixKernel::Argument{sums.address(), 1}, *kernel.module,
         {{1}, {kernel.block}});
  const std::vector<Out> found = download<Out>(sums);

  const HashedOperands<In> operands(random, constant);
  double expected = 0, magnitude = 0;
  for (int k = 0; k < K; ++k) {
    double a = 0, b = 0, abs_a = 0, abs_b = 0;
    for (int row = 0; row < operands.a_rows + operands.b_rows; ++row) {
      const double value = operands.at(row, k);
      (row < operands.a_rows ? a : b) += value;
      (row < operands.a_rows ? abs_a : abs_b) += std::abs(value);
    }
    expected += passes * a * b;
    magnitude += passes * abs_a * abs_b;
  }
  // For 8-bit floats, wgmma keeps 13 bits below the largest exponent.
  const double of_magnitude = is_integer(dtype) ? 0 : sizeof(In) == 1 ? 1e-5 : 1e-6;
  const double rounding = of_magnitude * magnitude;
  for (int group = 0; group < groups; ++group) {
    const auto first = found.begin() + 128 * group;
    EXPECT_NEAR(std::accumulate(first, first + 128, 0.0), expected, rounding) << kernel.entry;
  }
  EXPECT_GT(std::abs(expected), 2 * rounding) << kernel.entry;
  constexpr double products = double{passes} * operands.a_rows * operands.b_rows * K;
  EXPECT_EQ(kernel.flops_per_iteration * 128, 2 * products) << kernel.entry;
}

TEST(GpuCeilings, WgmmaDoesWhatItIsCreditedWith) {
  expect_random_products<float16, float>(Dtype::f16, 0x83FF83FF, 0x38003800);
  expect_random_products<bfloat16, float>(Dtype::bf16, 0x807F807F, 0x3F003F00);
  expect_random_products<tfloat32, float>(Dtype::tf32, 0x807FE000, 0x3F000000);
  expect_random_products<std::int8_t, std::int32_t>(Dtype::i8, 0xFFFFFFFF, 0);
  expect_random_products<float8_e4m3, float>(Dtype::e4m3, 0x87878787, 0x30303030);
  expect_random_products<float8_e5m2, float>(Dtype::e5m2, 0x83838383, 0x38383838);
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
  EXPECT_EQ(count(Dtype::tf32, 80, 13000), 1u);
  EXPECT_EQ(count(Dtype::i8, 90, 13000), 2u);
  EXPECT_EQ(count(Dtype::e4m3, 80, 13000), 0u);
  EXPECT_EQ(count(Dtype::e5m2, 90, 13000), 1u);
  EXPECT_EQ(count(Dtype::f32, 90, 13000), 0u);
  for (const Dtype dtype : all_dtypes) {
    const bool in_threads = dtype == Dtype::f32 || dtype == Dtype::i32;
    EXPECT_EQ(count(dtype, 90, 13000) == 0, in_threads) << name(dtype);
  }
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
