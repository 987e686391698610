// librung_cublas without cuBLAS, on the virtual GPU.

#include <gtest/gtest.h>

#include <cstdlib>

#include "fixture.hpp"
#include "library/cublas/api.hpp"

using rung::cublas::Handle;

extern "C" {
int cublasCreate_v2(Handle*);
int cublasDestroy_v2(Handle);
int cublasSetStream_v2(Handle, void*);
int cublasGetStream_v2(Handle, void**);
int cublasSetPointerMode_v2(Handle, int);
int cublasGetPointerMode_v2(Handle, int*);
int cublasSetMathMode(Handle, int);
int cublasGetMathMode(Handle, int*);
int cublasSgemm_v2(Handle, int, int, int, int, int, const float*, const float*, int, const float*,
                   int, const float*, float*, int);
int cublasDgemm_v2_64(Handle, int, int, std::int64_t, std::int64_t, std::int64_t, const double*,
                      const double*, std::int64_t, const double*, std::int64_t, const double*,
                      double*, std::int64_t);
int cublasSgemmStridedBatched(Handle, int, int, int, int, int, const float*, const float*, int,
                              long long, const float*, int, long long, const float*, float*, int,
                              long long, int);
int cublasGemmEx(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*,
                 int, int, const void*, void*, int, int, int, int);
int cublasGemmStridedBatchedEx(Handle, int, int, int, int, int, const void*, const void*, int, int,
                               long long, const void*, int, int, long long, const void*, void*, int,
                               int, long long, int, int, int);
int cublasSdot_v2(Handle, int, const float*, int, const float*, int, float*);
int cublasDdot_v2(Handle, int, const double*, int, const double*, int, double*);
int cublasDotEx(Handle, int, const void*, int, int, const void*, int, int, void*, int, int);
}

namespace rung {
namespace {

using namespace cublas;

constexpr int m = 5, n = 7, k = 9;

class Cublas : public CudaLibrary {
 protected:
  static void SetUpTestSuite() { setenv("RUNG_CUBLAS", "", 1); }  // no cuBLAS
  void SetUp() override {
    CudaLibrary::SetUp();
    ASSERT_EQ(cublasCreate_v2(&handle), success);
  }
  void TearDown() override {
    EXPECT_EQ(cublasDestroy_v2(handle), success);
    CudaLibrary::TearDown();
  }

  /// Small integers, so that every sum is exact.
  template <class T>
  static std::vector<T> numbers(int count, int first = 0) {
    std::vector<T> values;
    for (int i = 0; i < count; ++i) {
      values.push_back(T(static_cast<float>((i + first) % 5 - 2)));
    }
    return values;
  }

  /// alpha op(A) op(B) + beta C in column-major order, starting at element `at_*` of each.
  template <class T>
  static void multiply(bool trans_a, bool trans_b, double alpha, const std::vector<T>& a, int at_a,
                       const std::vector<T>& b, int at_b, double beta, std::vector<double>& c,
                       int at_c) {
    const auto value = [](const T& x) { return static_cast<double>(static_cast<float>(x)); };
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int p = 0; p < k; ++p) {
          sum += value(a[at_a + (trans_a ? p + i * k : i + p * m)]) *
                 value(b[at_b + (trans_b ? j + p * n : p + j * k)]);
        }
        double& element = c[at_c + i + j * m];
        element = alpha * sum + beta * element;
      }
    }
  }

  template <class T>
  static std::vector<double> wide(const std::vector<T>& values) {
    std::vector<double> converted;
    for (const T& value : values) converted.push_back(static_cast<float>(value));
    return converted;
  }

  Handle handle = nullptr;
};

TEST_F(Cublas, SgemmOfEachTranspose) {
  const float alpha = 2, beta = -1;
  const auto a = numbers<float>(m * k), b = numbers<float>(k * n, 1), c = numbers<float>(m * n, 2);
  float *const on_a = on_device(a), *const on_b = on_device(b);
  for (const int op_a : {0, 1, 2}) {
    for (const int op_b : {0, 1}) {
      float* const on_c = on_device(c);
      auto expected = wide(c);
      multiply(op_a != 0, op_b != 0, alpha, a, 0, b, 0, beta, expected, 0);
      ASSERT_EQ(cublasSgemm_v2(handle, op_a, op_b, m, n, k, &alpha, on_a, op_a == 0 ? m : k, on_b,
                               op_b == 0 ? k : n, &beta, on_c, m),
                success);
      EXPECT_EQ(wide(from_device(on_c, m * n)), expected) << op_a << op_b;
    }
  }
}

TEST_F(Cublas, DgemmWithIntegersOf64Bits) {
  const double alpha = 1, beta = 0;
  const auto a = numbers<double>(m * k), b = numbers<double>(k * n, 1);
  double* const on_c = on_device(std::vector<double>(m * n));
  std::vector<double> expected(m * n);
  multiply(false, false, 1, a, 0, b, 0, 0, expected, 0);
  ASSERT_EQ(cublasDgemm_v2_64(handle, 0, 0, m, n, k, &alpha, on_device(a), m, on_device(b), k,
                              &beta, on_c, m),
            success);
  EXPECT_EQ(from_device(on_c, m * n), expected);
}

TEST_F(Cublas, GemmExOfBfloat16) {
  const float alpha = 1, beta = 0;
  const auto a = numbers<bfloat16>(m * k), b = numbers<bfloat16>(k * n, 1);
  std::vector<double> expected(m * n);
  multiply(false, false, 1, a, 0, b, 0, 0, expected, 0);
  auto* const on_a = on_device(a);
  auto* const on_b = on_device(b);
  auto* const single = on_device(std::vector<float>(m * n));
  ASSERT_EQ(cublasGemmEx(handle, 0, 0, m, n, k, &alpha, on_a, r_16bf, m, on_b, r_16bf, k, &beta,
                         single, r_32f, m, compute_32f, -1),
            success);
  EXPECT_EQ(wide(from_device(single, m * n)), expected);
  auto* const rounded = on_device(std::vector<bfloat16>(m * n));
  ASSERT_EQ(cublasGemmEx(handle, 0, 0, m, n, k, &alpha, on_a, r_16bf, m, on_b, r_16bf, k, &beta,
                         rounded, r_16bf, m, compute_32f, -1),
            success);
  EXPECT_EQ(wide(from_device(rounded, m * n)), expected);
}

TEST_F(Cublas, GemmExOfBytesHasScalarsOf32Bits) {
  const std::int32_t alpha = 3, beta = 1;
  const auto a = numbers<std::int8_t>(m * k), b = numbers<std::int8_t>(k * n, 1);
  auto* const on_c = on_device(std::vector<std::int32_t>(m * n, 4));
  std::vector<double> expected(m * n, 4);
  multiply(true, false, 3, a, 0, b, 0, 1, expected, 0);
  ASSERT_EQ(cublasGemmEx(handle, 1, 0, m, n, k, &alpha, on_device(a), r_8i, k, on_device(b), r_8i,
                         k, &beta, on_c, r_32i, m, compute_32i, -1),
            success);
  EXPECT_EQ(wide(from_device(on_c, m * n)), expected);
}

TEST_F(Cublas, MathModeSelectsTf32) {
  const float alpha = 1, beta = 0;
  const float close_to_one = 1 + 0x1p-20f;  // 1 in tf32
  auto* const on_a = on_device(std::vector<float>{close_to_one});
  auto* const on_c = on_device(std::vector<float>{0});
  const auto product = [&] {
    EXPECT_EQ(cublasSgemm_v2(handle, 0, 0, 1, 1, 1, &alpha, on_a, 1, on_a, 1, &beta, on_c, 1),
              success);
    return from_device(on_c, 1)[0];
  };
  EXPECT_EQ(product(), close_to_one * close_to_one);
  ASSERT_EQ(cublasSetMathMode(handle, tf32_math), success);
  EXPECT_EQ(product(), 1);
  int mode = 0;
  EXPECT_EQ(cublasGetMathMode(handle, &mode), success);
  EXPECT_EQ(mode, tf32_math);
}

TEST_F(Cublas, BatchesStepThroughMemory) {
  constexpr int batch = 3;
  const float alpha = 1, beta = 2;
  const auto a = numbers<float>(m * k), b = numbers<float>(batch * (k * n + 1), 1);
  const auto c = numbers<float>(batch * (m * n + 2), 2);
  auto expected = wide(c);
  for (int i = 0; i < batch; ++i) {
    multiply(false, false, 1, a, 0, b, i * (k * n + 1), 2, expected, i * (m * n + 2));
  }
  float *const on_a = on_device(a), *const on_b = on_device(b);
  float* on_c = on_device(c);
  ASSERT_EQ(cublasSgemmStridedBatched(handle, 0, 0, m, n, k, &alpha, on_a, m, 0, on_b, k, k * n + 1,
                                      &beta, on_c, m, m * n + 2, batch),
            success);
  EXPECT_EQ(wide(from_device(on_c, c.size())), expected);
  on_c = on_device(c);
  ASSERT_EQ(cublasGemmStridedBatchedEx(handle, 0, 0, m, n, k, &alpha, on_a, r_32f, m, 0, on_b,
                                       r_32f, k, k * n + 1, &beta, on_c, r_32f, m, m * n + 2, batch,
                                       compute_32f, -1),
            success);
  EXPECT_EQ(wide(from_device(on_c, c.size())), expected);
}

TEST_F(Cublas, DotByPointerMode) {
  const auto x = numbers<float>(1000), y = numbers<float>(1000, 1);
  double expected = 0;
  for (int i = 0; i < 1000; ++i) expected += static_cast<double>(x[i] * y[i]);
  float *const on_x = on_device(x), *const on_y = on_device(y);
  float result = 0;
  ASSERT_EQ(cublasSdot_v2(handle, 1000, on_x, 1, on_y, 1, &result), success);
  EXPECT_EQ(result, expected);
  float* const on_result = on_device(std::vector<float>{0});
  ASSERT_EQ(cublasSetPointerMode_v2(handle, 1), success);
  ASSERT_EQ(cublasDotEx(handle, 1000, on_x, r_32f, 1, on_y, r_32f, 1, on_result, r_32f, r_32f),
            success);
  EXPECT_EQ(from_device(on_result, 1)[0], expected);
  double none = 1;
  ASSERT_EQ(cublasSetPointerMode_v2(handle, 0), success);
  ASSERT_EQ(cublasDdot_v2(handle, -1, nullptr, 1, nullptr, 1, &none), success);
  EXPECT_EQ(none, 0);
}

TEST_F(Cublas, CallsGoToTheHandlesStream) {
  void* const stream = new_stream();
  ASSERT_EQ(cublasSetStream_v2(handle, stream), success);
  void* read = nullptr;
  ASSERT_EQ(cublasGetStream_v2(handle, &read), success);
  EXPECT_EQ(read, stream);
}

TEST_F(Cublas, WhatRungHasNotIsNotSupported) {
  const float one = 1;
  float* const on_c = on_device(std::vector<float>(1, 7));
  EXPECT_EQ(cublasGemmEx(handle, 0, 0, 1, 1, 1, &one, on_c, 4, 1, on_c, 4, 1, &one, on_c, 4, 1,
                         compute_32f, -1),
            not_supported);
  EXPECT_EQ(cublasDotEx(handle, 1, on_c, r_16f, 1, on_c, r_16f, 1, on_c, r_16f, r_32f),
            not_supported);
  ASSERT_EQ(cublasSetPointerMode_v2(handle, 1), success);  // scalars in GPU memory
  EXPECT_EQ(cublasSgemm_v2(handle, 0, 0, 1, 1, 1, on_c, on_c, 1, on_c, 1, on_c, on_c, 1),
            not_supported);
  EXPECT_EQ(from_device(on_c, 1)[0], 7);
}

TEST_F(Cublas, ArgumentsThatCublasRefuses) {
  const float one = 1;
  float* const on_c = on_device(std::vector<float>(1, 7));
  const auto gemm = [&](int op_a, int op_b, const float* alpha, const float* beta) {
    return cublasSgemm_v2(handle, op_a, op_b, 1, 1, 1, alpha, on_c, 1, on_c, 1, beta, on_c, 1);
  };
  EXPECT_EQ(gemm(4, 0, &one, &one), invalid_value);
  EXPECT_EQ(gemm(0, -1, &one, &one), invalid_value);
  EXPECT_EQ(gemm(0, 0, nullptr, &one), invalid_value);
  EXPECT_EQ(gemm(0, 0, &one, nullptr), invalid_value);
  EXPECT_EQ(cublasSgemmStridedBatched(handle, 0, 0, 1, 1, 1, &one, on_c, 1, 1, on_c, 1, 1, &one,
                                      on_c, 1, 1, -1),
            invalid_value);
  // Types without a kernel are checked, too.
  EXPECT_EQ(cublasGemmEx(handle, 0, 0, 1, 1, -1, &one, on_c, 4, 1, on_c, 4, 1, &one, on_c, 4, 1,
                         compute_32f, -1),
            invalid_value);
  EXPECT_EQ(from_device(on_c, 1)[0], 7);
}

TEST_F(Cublas, WrongArguments) {
  const float one = 1;
  float* const on_c = on_device(std::vector<float>(1, 7));
  EXPECT_EQ(cublasSgemm_v2(nullptr, 0, 0, 1, 1, 1, &one, on_c, 1, on_c, 1, &one, on_c, 1),
            not_initialized);
  EXPECT_EQ(cublasSgemm_v2(handle, 0, 0, 2, 1, 1, &one, on_c, 1, on_c, 1, &one, on_c, 1),
            invalid_value);
  EXPECT_EQ(cublasSetPointerMode_v2(handle, 2), invalid_value);
  EXPECT_EQ(cublasGetPointerMode_v2(handle, nullptr), invalid_value);
  EXPECT_EQ(cublasCreate_v2(nullptr), invalid_value);
  EXPECT_EQ(from_device(on_c, 1)[0], 7);
}

}  // namespace
}  // namespace rung
