// rung_gemm of the C interface on a GPU, and the budget of SMs.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "rung/rung.h"

namespace rung {
namespace {

constexpr std::int64_t m = 5, n = 7, k = 9;

/// Small integers, so that every sum is exact.
template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(T(static_cast<float>(i % 5 - 2)));
  return values;
}

rung_tensor on_gpu(void* data, rung_dtype dtype, const std::int64_t* shape,
                   const std::int64_t* strides = nullptr) {
  return {data, RUNG_DEVICE_CUDA, 0, 2, dtype, shape, strides};
}

class CudaTensor : public CudaLibrary {
 protected:
  /// Expects the same bits from the typed function and rung_gemm(). A is column-major.
  template <class In, class Out>
  void compare(rung_dtype in, rung_dtype out) {
    In* const a = on_device(numbers<In>(m * k));
    In* const b = on_device(numbers<In>(k * n));
    Out* const typed = on_device(std::vector<Out>(m * n, Out(2.0f)));
    Out* const untyped = on_device(std::vector<Out>(m * n, Out(2.0f)));
    using S = std::conditional_t<std::is_same_v<Out, bfloat16> || std::is_same_v<Out, float16>,
                                 float, Out>;
    const MatrixView<const In> left = col_major<const In>(a, m, k);
    const MatrixView<const In> right = row_major<const In>(b, k, n);
    gemm(S{3}, left, right, S{-1}, row_major(typed, m, n), default_stream);
    const std::int64_t of_a[] = {m, k}, of_b[] = {k, n}, of_c[] = {m, n}, by_columns[] = {1, m};
    const rung_tensor ta = on_gpu(a, in, of_a, by_columns), tb = on_gpu(b, in, of_b),
                      tc = on_gpu(untyped, out, of_c);
    EXPECT_EQ(rung_gemm(&ta, &tb, &tc, 3, -1, nullptr), RUNG_OK) << rung_last_error();
    const auto expected = from_device(typed, m * n), got = from_device(untyped, m * n);
    const auto is_same = [](const Out& x, const Out& y) {
      return static_cast<float>(x) == static_cast<float>(y);
    };
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), is_same)) << in << " " << out;
    EXPECT_FALSE(is_same(got[0], Out(2.0f)) && is_same(got[1], Out(2.0f)));
  }
};

TEST_F(CudaTensor, OfEveryTypeIsTheProductOfItsFunction) {
  compare<float, float>(RUNG_DTYPE_F32, RUNG_DTYPE_F32);
  compare<double, double>(RUNG_DTYPE_F64, RUNG_DTYPE_F64);
  compare<std::int32_t, std::int32_t>(RUNG_DTYPE_I32, RUNG_DTYPE_I32);
  compare<bfloat16, float>(RUNG_DTYPE_BF16, RUNG_DTYPE_F32);
  compare<float16, float>(RUNG_DTYPE_F16, RUNG_DTYPE_F32);
  compare<tfloat32, float>(RUNG_DTYPE_TF32, RUNG_DTYPE_F32);
  compare<std::int8_t, std::int32_t>(RUNG_DTYPE_I8, RUNG_DTYPE_I32);
  compare<float8_e4m3, float>(RUNG_DTYPE_E4M3, RUNG_DTYPE_F32);
  compare<float8_e5m2, float>(RUNG_DTYPE_E5M2, RUNG_DTYPE_F32);
  compare<bfloat16, bfloat16>(RUNG_DTYPE_BF16, RUNG_DTYPE_BF16);
  compare<float16, float16>(RUNG_DTYPE_F16, RUNG_DTYPE_F16);
}

TEST_F(CudaTensor, OnAnotherDeviceThanTheContextIsRefused) {
  float* const data = on_device(std::vector<float>(1, 7));
  const std::int64_t shape[] = {1, 1};
  rung_tensor matrix = on_gpu(data, RUNG_DTYPE_F32, shape);
  matrix.device_id = 1;
  EXPECT_EQ(rung_gemm(&matrix, &matrix, &matrix, 1, 0, nullptr), RUNG_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(rung_last_error()),
            "rung: gemm: the operands are on GPU 1; the current context is of GPU 0");
  EXPECT_EQ(from_device(data, 1), std::vector<float>{7});
}

/// Number of blocks of the largest launch.
std::int64_t max_blocks = 0;

TEST_F(CudaTensor, PersistentKernelsStayWithinTheBudgetOfSms) {
  constexpr std::int64_t size = 1024;  // 64 tiles or more
  bfloat16* const a = on_device(std::vector(size * 64, bfloat16(1.0f)));
  float* const c = on_device(std::vector<float>(size * size));
  vgpu::set_launch_observer([](const vgpu::LaunchReport& report, const vgpu::Kernel&) {
    max_blocks = std::max(max_blocks, static_cast<std::int64_t>(report.grid.x));
  });
  const auto blocks = [&](const CudaOptions& options) {
    max_blocks = 0;
    gemm(row_major(a, size, 64), col_major(a, 64, size), row_major(c, size, size), default_stream,
         options);
    const std::vector<float> result = from_device(c, size * size);
    EXPECT_EQ(std::count(result.begin(), result.end(), 64.0f), size * size);
    return max_blocks;
  };
  EXPECT_LE(blocks({.multiprocessors = 10}), 10);
  EXPECT_GT(blocks({}), 10);
  EXPECT_EQ(blocks({.multiprocessors = 100000}), blocks({}));
}

TEST_F(CudaTensor, UnknownComputeModesAreRefused) {
  EXPECT_EQ(refusal([] {
              gemm(row_major<const float>(nullptr, 0, 0), row_major<const float>(nullptr, 0, 0),
                   row_major<float>(nullptr, 0, 0), default_stream,
                   {.compute_mode = static_cast<ComputeMode>(4)});
            }),
            std::pair(Status::invalid_argument,
                      std::string("rung: gemm: compute_mode is 4; it must be 0 (standard), 1 "
                                  "(split), 2 (reproducible) or 3 (batch_invariant)")));
}

}  // namespace
}  // namespace rung
