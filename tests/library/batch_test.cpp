// rung::gemm_batched on the CPU: correct for strides, pointers and every layout; rejected
// arguments.

#include "rung/batch.hpp"
#include "core/dtype.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "../cpu_dtypes.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "public_call.hpp"

namespace rung {
namespace {

constexpr float unset = std::numeric_limits<float>::quiet_NaN();
using Floats = std::vector<float>;

class BatchOf : public testing::TestWithParam<std::tuple<Dtype, Form>> {};

TEST_P(BatchOf, PassesTheStandardCases) {
  const auto [dtype, form] = GetParam();
  for (const int threads : {1, 3}) {
    for (const GemmSpec& spec : standard_batched_cases(dtype)) {
      GemmCase problem(spec);
      const Verdict verdict = verify(problem, [&](const GemmCall& call) {
        public_gemm_batched(call, form, GemmOptions{.threads = threads});
      });
      ASSERT_TRUE(verdict.right) << verdict.message;
    }
  }
}

TEST_P(BatchOf, PassesThemAtPointers) {
  const auto [dtype, form] = GetParam();
  for (const GemmSpec& spec : standard_batched_cases(dtype)) {
    GemmCase problem(spec);
    const Verdict verdict = verify(problem, [&](GemmCall call) {
      const auto a = addresses(call.a, call.batch, input_bytes(dtype));
      const auto b = addresses(call.b, call.batch, input_bytes(dtype));
      const auto c = addresses(call.c, call.batch, output_bytes(dtype));
      call.a.pointers = a.data();
      call.b.pointers = b.data();
      call.c.pointers = c.data();
      public_gemm_batched(call, form, GemmOptions{.threads = 2});
    });
    ASSERT_TRUE(verdict.right) << verdict.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Library, BatchOf,
                         testing::Combine(testing::ValuesIn(cpu_dtypes),
                                          testing::Values(Form::row_major_c, Form::col_major_c)),
                         [](const auto& test) {
                           return std::string(name(std::get<0>(test.param))) +
                                  (std::get<1>(test.param) == Form::row_major_c ? "_row_major"
                                                                                : "_col_major");
                         });

/// Two products of 1 x 2 by 2 x 1.
struct Two {
  Floats a = {1, 2, 3, 4}, b = {1, 10, 100, 1000}, c = {7, 7};
  BatchView<const float> batch_a = strided(row_major<const float>(a.data(), 1, 2), 2, 2);
  BatchView<const float> batch_b = strided(row_major<const float>(b.data(), 2, 1), 2, 2);
  BatchView<float> batch_c = strided(row_major(c.data(), 1, 1), 2, 1);

  void run(float alpha = 1, float beta = 0) {
    gemm_batched(alpha, batch_a, batch_b, beta, batch_c);
  }
  std::string refusal() {
    try {
      run();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Status::invalid_argument);
      EXPECT_EQ(c, (Floats{7, 7}));
      return error.what();
    }
    return "no error";
  }
};

TEST(Batch, SharesAnOperandOfStrideZero) {
  Two two;
  two.batch_b.stride = 0;
  two.run(1, 1);
  EXPECT_EQ(two.c, (Floats{28, 50}));
}

TEST(Batch, OfManyThreadsComputesEachProductOnce) {
  constexpr std::int64_t count = 1003, size = 16;
  const Floats ones(count * size * size, 1.0f);
  Floats c(ones.size(), 0.0f);
  const auto all = strided(row_major(ones.data(), size, size), count, size * size);
  gemm_batched(1.0f, all, all, 1.0f, strided(row_major(c.data(), size, size), count, size * size),
               {.threads = 4});
  EXPECT_EQ(c, Floats(c.size(), static_cast<float>(size)));
}

TEST(Batch, WithoutProductsScalesAndReadsNeitherAnorB) {
  Two two;
  two.a = two.b = Floats(4, unset);
  two.run(0, 2);
  EXPECT_EQ(two.c, (Floats{14, 14}));
  const BatchView<const float> nothing = strided(row_major<const float>(nullptr, 1, 0), 2, 0);
  two.c = {unset, unset};
  gemm_batched(1.0f, nothing, strided(row_major<const float>(nullptr, 0, 1), 2, 0), 0.0f,
               two.batch_c);
  EXPECT_EQ(two.c, (Floats{0, 0}));
}

TEST(Batch, OfNothingNeedsNoMemory) {
  Two two;
  for (auto* const count : {&two.batch_a.count, &two.batch_b.count}) *count = 0;
  two.batch_c.count = 0;
  two.batch_c.matrix.data = nullptr;
  two.run();
  EXPECT_EQ(two.c, (Floats{7, 7}));
}

TEST(Batch, RefusesWhatDoesNotFit) {
  const auto refused = [](const auto& change) {
    Two two;
    change(two);
    return two.refusal();
  };
  EXPECT_EQ(refused([](Two& two) { two.batch_b.count = 3; }),
            "rung: gemm_batched: A has 2 matrices, B 3, C 2; they must have the same number");
  EXPECT_EQ(refused([](Two& two) { two.batch_a.count = -1; }),
            "rung: gemm_batched: A: count is -1; it must be at least 0");
  EXPECT_EQ(refused([](Two& two) { two.batch_a.stride = -2; }),
            "rung: gemm_batched: A: stride is -2; it must be at least 0");
  EXPECT_EQ(refused([](Two& two) { two.batch_c.stride = 0; }),
            "rung: gemm_batched: C: the stride is 0; it must be at least 1, the elements from the "
            "first to the last one of a matrix");
  EXPECT_EQ(refused([](Two& two) { two.batch_b.stride = std::int64_t{1} << 62; }),
            "rung: gemm_batched: B has 2 matrices at a stride of 4611686018427387904; it must take "
            "at most 9223372036854775807 bytes");
  EXPECT_EQ(refused([](Two& two) { two.batch_b.matrix.data = nullptr; }),
            "rung: gemm_batched: B is null; it must point to 2 matrices");
  EXPECT_EQ(refused([](Two& two) { two.batch_b.matrix.ld = 0; }),
            "rung: gemm_batched: B: the leading dimension is 0; it must be at least 1, the columns "
            "(row-major)");
  EXPECT_EQ(refused([](Two& two) { two.batch_a.matrix.cols = 1; }),
            "rung: gemm: A is 1 x 1, B is 2 x 1, C is 1 x 1; they must be m x k, k x n and m x n");
}

TEST(Batch, RefusesANullPointerInAnArrayBeforeWriting) {
  Two two;
  const float* const pointers[] = {two.a.data(), nullptr};
  two.batch_a = at_pointers(pointers, 2, two.batch_a.matrix);
  EXPECT_EQ(two.refusal(),
            "rung: gemm_batched: A: pointer 1 of 2 is null; it must point to a matrix");
}

TEST(Batch, IsReproducibleAsGemmIs) {
  constexpr std::int64_t m = 5, n = 7, k = 3000, count = 3;
  constexpr GemmOptions options = {.threads = 2, .compute_mode = ComputeMode::reproducible};
  Floats a(m * k), b(count * k * n), c(count * m * n), one(m * n);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = random_element<float>(Values::reals, 1, std::ssize(a) - static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = random_element<float>(Values::reals, 2, static_cast<std::int64_t>(i));
  const auto of_a = row_major<const float>(a.data(), m, k);
  gemm_batched(1, strided(of_a, count, 0),
               strided(row_major<const float>(b.data(), k, n), count, k * n), 0,
               strided(row_major(c.data(), m, n), count, m * n), options);
  for (std::int64_t i = 0; i < count; ++i) {
    gemm(of_a, row_major<const float>(b.data() + i * k * n, k, n), row_major(one.data(), m, n),
         options);
    EXPECT_EQ(Floats(c.begin() + i * m * n, c.begin() + (i + 1) * m * n), one) << i;
  }
  double x = 1, y = 7;
  const auto of_x = strided(row_major<const double>(&x, 1, 1), 1, 1);
  EXPECT_THROW(gemm_batched(1, of_x, of_x, 0, strided(row_major(&y, 1, 1), 1, 1), options), Error);
  EXPECT_EQ(y, 7);
}

}  // namespace
}  // namespace rung
