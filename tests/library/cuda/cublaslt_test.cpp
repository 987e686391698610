// cublasLtMatmul of librung_cublas, on the virtual GPU. The descriptors are those of a stand-in
// cuBLASLt.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "fixture.hpp"
#include "library/cublas/api.hpp"

extern "C" {
#include "../cublas/standin_cublaslt.h"
int cublasLtMatmul(void*, const void*, const void*, const void*, const void*, const void*,
                   const void*, const void*, const void*, const void*, void*, const void*,
                   const void*, void*, std::size_t, void*);
}

namespace rung {
namespace {

using namespace cublas;

constexpr int m = 5, n = 7, k = 9;
constexpr int by_columns = 0, by_rows = 1, by_columns_of_32 = 2;

/// A descriptor of the stand-in, with the attributes that matter.
class Descriptor {
 public:
  template <class Value>
  Descriptor& set(int attribute, Value value) {
    std::memcpy(&descriptor_.value[attribute], &value, sizeof value);
    descriptor_.bytes[attribute] = sizeof value;
    return *this;
  }
  const void* get() const { return &descriptor_; }

 private:
  standin_descriptor descriptor_ = {};
};

Descriptor layout(int type, std::uint64_t rows, std::uint64_t cols, int order = by_columns) {
  Descriptor made;
  const auto ld = static_cast<std::int64_t>(order == by_rows ? cols : rows);
  made.set(0, type).set(1, order).set(2, rows).set(3, cols).set(4, ld).set(5, 1);
  return made;
}

Descriptor product(int compute, int scale, bool trans_a = false, bool trans_b = false) {
  Descriptor made;
  made.set(0, compute).set(1, scale).set(2, 0).set(3, int{trans_a}).set(4, int{trans_b}).set(5, 0);
  return made.set(6, 2).set(7, 1).set(15, 0).set(17, static_cast<void*>(nullptr));
}

class CublasLt : public CudaLibrary {
 protected:
  static void SetUpTestSuite() {
    setenv("RUNG_CUBLAS", "", 1);
    setenv("RUNG_CUBLASLT", RUNG_STANDIN_CUBLASLT, 1);
  }

  static int passed_on() {
    static void* const library = dlopen(RUNG_STANDIN_CUBLASLT, RTLD_NOW);
    return reinterpret_cast<standin_count*>(dlsym(library, "standin_products"))();
  }

  /// Small integers: the element at a row and column is the same in every layout.
  static double number(int row, int col) { return (3 * row + col) % 5 - 2; }

  template <class T>
  T* matrix(int rows, int cols, int order) {
    std::vector<T> values;
    for (int i = 0; i < rows * cols; ++i) {
      const int row = order == by_rows ? i / cols : i % rows;
      const int col = order == by_rows ? i % cols : i / rows;
      values.push_back(T(static_cast<float>(number(row, col))));
    }
    return on_device(values);
  }

  /// alpha op(A) op(B) + beta D for matrices of these numbers.
  static double expected(bool trans_a, bool trans_b, double alpha, double beta, int row, int col) {
    double sum = 0;
    for (int p = 0; p < k; ++p) {
      sum +=
          (trans_a ? number(p, row) : number(row, p)) * (trans_b ? number(col, p) : number(p, col));
    }
    return alpha * sum + beta * number(row, col);
  }

  float alpha = 2, beta = -1;
  int a_handle = 0;
  void* const handle = &a_handle;
};

TEST_F(CublasLt, OperandsOfEachOrderAndTranspose) {
  const int before = passed_on();
  for (int cases = 0; cases < 32; ++cases) {
    const bool trans_a = (cases & 1) != 0, trans_b = (cases & 2) != 0;
    const int a_order = cases >> 2 & 1, b_order = cases >> 3 & 1, d_order = cases >> 4 & 1;
    const int a_rows = trans_a ? k : m, b_rows = trans_b ? n : k;
    float* const d = matrix<float>(m, n, d_order);
    ASSERT_EQ(cublasLtMatmul(handle, product(compute_32f, r_32f, trans_a, trans_b).get(), &alpha,
                             matrix<float>(a_rows, m + k - a_rows, a_order),
                             layout(r_32f, a_rows, m + k - a_rows, a_order).get(),
                             matrix<float>(b_rows, k + n - b_rows, b_order),
                             layout(r_32f, b_rows, k + n - b_rows, b_order).get(), &beta, d,
                             layout(r_32f, m, n, d_order).get(), d,
                             layout(r_32f, m, n, d_order).get(), nullptr, nullptr, 0, nullptr),
              success);
    const auto result = from_device(d, m * n);
    for (int i = 0; i < m * n; ++i) {
      const int row = d_order == by_rows ? i / n : i % m, col = d_order == by_rows ? i % n : i / m;
      ASSERT_EQ(result[i], expected(trans_a, trans_b, alpha, beta, row, col)) << cases;
    }
  }
  EXPECT_EQ(passed_on(), before);
}

TEST_F(CublasLt, ElementTypes) {
  const int before = passed_on();
  beta = 0;
  auto* const d = on_device(std::vector<bfloat16>(m * n));
  ASSERT_EQ(
      cublasLtMatmul(handle, product(compute_32f, r_32f).get(), &alpha,
                     matrix<bfloat16>(m, k, by_columns), layout(r_16bf, m, k).get(),
                     matrix<bfloat16>(k, n, by_columns), layout(r_16bf, k, n).get(), &beta, nullptr,
                     nullptr, d, layout(r_16bf, m, n).get(), nullptr, nullptr, 0, nullptr),
      success);
  EXPECT_EQ(static_cast<float>(from_device(d, m * n)[1]), expected(false, false, alpha, 0, 1, 0));
  const double one = 1, zero = 0;
  double* const wide = on_device(std::vector<double>(m * n));
  ASSERT_EQ(
      cublasLtMatmul(handle, product(compute_64f, r_64f).get(), &one,
                     matrix<double>(m, k, by_columns), layout(r_64f, m, k).get(),
                     matrix<double>(k, n, by_columns), layout(r_64f, k, n).get(), &zero, nullptr,
                     nullptr, wide, layout(r_64f, m, n).get(), nullptr, nullptr, 0, nullptr),
      success);
  EXPECT_EQ(from_device(wide, m * n)[m], expected(false, false, 1, 0, 0, 1));
  EXPECT_EQ(passed_on(), before);
}

TEST_F(CublasLt, WhatRungHasNotIsPassedOn) {
  float* const a = matrix<float>(m, k, by_columns);
  float* const b = matrix<float>(k, n, by_columns);
  float *const c = matrix<float>(m, n, by_columns), *const d = matrix<float>(m, n, by_columns);
  struct Change {
    const char* what;
    std::function<void(Descriptor& of_product, Descriptor& of_a, Descriptor& of_c,
                       Descriptor& of_d)>
        change;
  };
  int scale = 0;
  const Change changes[] = {
      {"a bias", [](auto& of, auto&, auto&, auto&) { of.set(7, 4); }},
      {"scalars in GPU memory", [](auto& of, auto&, auto&, auto&) { of.set(2, 1); }},
      {"a transposed C", [](auto& of, auto&, auto&, auto&) { of.set(5, 1); }},
      {"a triangle", [](auto& of, auto&, auto&, auto&) { of.set(6, 0); }},
      {"a limit of SMs", [](auto& of, auto&, auto&, auto&) { of.set(15, 8); }},
      {"a scale of A",
       [&](auto& of, auto&, auto&, auto&) { of.set(17, static_cast<void*>(&scale)); }},
      {"sums of another type", [](auto& of, auto&, auto&, auto&) { of.set(0, int{compute_64f}); }},
      {"scalars of another type", [](auto& of, auto&, auto&, auto&) { of.set(1, int{r_64f}); }},
      {"another element type", [](auto&, auto& of, auto&, auto&) { of.set(0, 4); }},
      {"another order", [](auto&, auto& of, auto&, auto&) { of.set(1, by_columns_of_32); }},
      {"a batch", [](auto&, auto& of, auto&, auto&) { of.set(5, 2); }},
      {"shapes that do not fit",
       [](auto&, auto& of, auto&, auto&) { of.set(2, std::uint64_t{m + 1}); }},
      {"a C of another layout",
       [](auto&, auto&, auto& of, auto&) { of.set(4, std::int64_t{m + 1}); }},
  };
  for (const Change& each : changes) {
    Descriptor of_product = product(compute_32f, r_32f), of_a = layout(r_32f, m, k),
               of_c = layout(r_32f, m, n), of_d = of_c;
    each.change(of_product, of_a, of_c, of_d);
    const int before = passed_on();
    EXPECT_EQ(cublasLtMatmul(handle, of_product.get(), &alpha, a, of_a.get(), b,
                             layout(r_32f, k, n).get(), &beta, d, of_c.get(), d, of_d.get(),
                             nullptr, nullptr, 0, nullptr),
              success);
    EXPECT_EQ(passed_on(), before + 1) << each.what;
  }
  const int before = passed_on();
  EXPECT_EQ(cublasLtMatmul(handle, product(compute_32f, r_32f).get(), &alpha, a,
                           layout(r_32f, m, k).get(), b, layout(r_32f, k, n).get(), &beta, c,
                           layout(r_32f, m, n).get(), d, layout(r_32f, m, n).get(), nullptr,
                           nullptr, 0, nullptr),
            success);
  EXPECT_EQ(passed_on(), before + 1) << "C apart from D";
  EXPECT_EQ(from_device(d, 1)[0], number(0, 0));
}

TEST_F(CublasLt, WrongArguments) {
  const auto call = [&](void* of, const void* descriptor) {
    return cublasLtMatmul(of, descriptor, &alpha, nullptr, nullptr, nullptr, nullptr, &beta,
                          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr);
  };
  EXPECT_EQ(call(nullptr, product(compute_32f, r_32f).get()), not_initialized);
  const int before = passed_on();
  EXPECT_EQ(call(handle, nullptr), success);  // handled by the stand-in
  EXPECT_EQ(call(handle, product(compute_32f, r_32f).get()), success);
  EXPECT_EQ(passed_on(), before + 2);
}

}  // namespace
}  // namespace rung
