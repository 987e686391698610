// librung_blas computes correct results without any memory: BLAS has no way to report a failure.

#include <gtest/gtest.h>

#include <vector>

#include "../rungs/failing_allocations.hpp"

extern "C" {
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
float cblas_sdot(int n, const float* x, int incx, const float* y, int incy);
}

namespace rung {
namespace {

class NoMemory {
 public:
  NoMemory() { fail_allocation(1, true); }
  ~NoMemory() {
    const bool failed = allocation_failed();
    fail_allocation(0);
    EXPECT_TRUE(failed) << "the product needed no memory";
  }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

TEST(BlasOutOfMemory, GemmIsRight) {
  // Sizes that need packing.
  for (const auto& [n, k] : {std::pair{700, 500}, std::pair{1200, 1100}}) {
    const std::vector<double> a(static_cast<std::size_t>(n) * k, 1), b(a.size(), 2);
    std::vector<double> c(static_cast<std::size_t>(n) * n, 3);
    const double one = 1, ten = 10;
    {
      const NoMemory none;
      dgemm_("N", "T", &n, &n, &k, &one, a.data(), &n, b.data(), &n, &ten, c.data(), &n);
    }
    EXPECT_EQ(c, std::vector<double>(c.size(), 2 * k + 30)) << k;
  }
}

TEST(BlasOutOfMemory, RowMajorGemmIsRight) {
  constexpr int n = 650;
  const std::vector<float> a(n * n, 1), b(n * n, 2);
  std::vector<float> c(n * n, 3);
  {
    const NoMemory none;
    cblas_sgemm(101, 111, 111, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
  }
  EXPECT_EQ(c, std::vector<float>(n * n, 2 * n));
}

TEST(BlasOutOfMemory, DotIsRight) {
  constexpr int n = 300'000;
  const std::vector<float> x(n, 1), y(n, 2);
  float sum = 0;
  {
    const NoMemory none;
    sum = cblas_sdot(n, x.data(), 1, y.data(), 1);
  }
  EXPECT_EQ(sum, 2.0f * n);
}

}  // namespace
}  // namespace rung
