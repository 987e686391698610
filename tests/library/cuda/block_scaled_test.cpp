// rung::gemm_block_scaled: 8-bit elements with one scale per block, on the CPU and on the GPU, as a
// single product and in ragged groups. Small integers and powers of two keep every sum exact.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "product.hpp"

namespace rung {
namespace {

using cuda::DeviceArray;
using Offsets = std::vector<std::int32_t>;
using Elements = std::vector<float8_e4m3>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float untouched = 17;

std::int64_t blocks_of(std::int64_t count) { return (count + 127) / 128; }

Elements numbers(std::int64_t count, int seed) {
  Elements values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(float8_e4m3(static_cast<float>((i * 7 + i / 13 + seed) % 5 - 2)));
  }
  return values;
}

std::vector<float> powers(std::int64_t count, int seed) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(std::ldexp(1.0f, static_cast<int>((i * 5 + i / 3 + seed) % 4) - 2));
  }
  return values;
}

/// B is K-major: n x k matrices, one after the other. Offsets are empty for a single product.
struct Problem {
  std::int64_t m, n, k;
  Offsets offsets = {};
  float beta = 0;
  bool scales_by_columns = false;  // scales of A are column-major
  Elements a, b;
  std::vector<float> a_scales, b_scales;

  Problem(std::int64_t rows, std::int64_t cols, std::int64_t steps, Offsets cut = {},
          float factor = 0)
      : m(rows),
        n(cols),
        k(steps),
        offsets(std::move(cut)),
        beta(factor),
        a(numbers(m * k, 1)),
        b(numbers(groups() * n * k, 2)),
        a_scales(powers(m * blocks_of(k), 3)),
        b_scales(powers(groups() * blocks_of(n) * blocks_of(k), 4)) {
    for (std::int64_t i = 0; i < m; ++i) {  // rows outside every group must not affect the result
      if (group_of(i) >= 0) continue;
      a_scales[static_cast<std::size_t>(i * blocks_of(k))] = nan;
      a[static_cast<std::size_t>(i * k)] = float8_e4m3(nan);
    }
  }

  std::int64_t groups() const { return offsets.empty() ? 1 : std::ssize(offsets) - 1; }
  std::int64_t group_of(std::int64_t row) const {
    if (offsets.empty()) return 0;
    for (std::int64_t g = 0; g < groups(); ++g) {
      if (offsets[g] <= row && row < offsets[g + 1]) return g;
    }
    return -1;
  }

  template <class Out>
  std::vector<Out> expected() const {
    std::vector<Out> c;
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t g = group_of(i);
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = beta * untouched;
        for (std::int64_t l = 0; l < k && g >= 0; ++l) {
          const std::int64_t block = l / 128;
          const float scale = a_scales[i * blocks_of(k) + block] *
                              b_scales[(g * blocks_of(n) + j / 128) * blocks_of(k) + block];
          sum +=
              scale * static_cast<float>(a[i * k + l]) * static_cast<float>(b[(g * n + j) * k + l]);
        }
        c.push_back(g < 0 ? Out(untouched) : Out(sum));
      }
    }
    return c;
  }

  /// Runs the call with operands at these addresses. `single`, `grouped`: the trailing arguments of
  /// a single product, and of groups.
  template <class Out, class Single, class Grouped>
  void run(const float8_e4m3* on_a, const float* on_a_scales, const float8_e4m3* on_b,
           const float* on_b_scales, Out* on_c, const Single& single,
           const Grouped& grouped) const {
    const BlockScaledMatrix of_a = {row_major<const float8_e4m3>(on_a, m, k),
                                    scales_by_columns
                                        ? col_major<const float>(on_a_scales, m, blocks_of(k))
                                        : row_major<const float>(on_a_scales, m, blocks_of(k))};
    const BlockScaledMatrix of_b = {
        col_major<const float8_e4m3>(on_b, k, n),
        transposed(row_major<const float>(on_b_scales, blocks_of(n), blocks_of(k)))};
    const auto c = row_major(on_c, m, n);
    if (offsets.empty()) return single(of_a, of_b, beta, c);
    const std::int64_t apart = blocks_of(n) * blocks_of(k);
    grouped(of_a,
            BlockScaledBatch{strided(of_b.elements, groups(), n * k),
                             strided(of_b.scales, groups(), apart)},
            beta, c);
  }
};

template <class Out>
void expect_equal(const std::vector<Out>& got, const std::vector<Out>& expected, std::int64_t n) {
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (static_cast<float>(got[i]) == static_cast<float>(expected[i]) || ++wrong > 3) continue;
    ADD_FAILURE() << "C(" << static_cast<std::int64_t>(i) / n << ", "
                  << static_cast<std::int64_t>(i) % n << ") is " << static_cast<float>(got[i])
                  << ", expected " << static_cast<float>(expected[i]);
  }
  EXPECT_EQ(wrong, 0);
}

std::vector<float> by_columns(const std::vector<float>& x, std::int64_t rows) {
  const std::int64_t cols = std::ssize(x) / rows;
  std::vector<float> result(x.size());
  for (std::int64_t i = 0; i < std::ssize(x); ++i) result[i % cols * rows + i / cols] = x[i];
  return result;
}

template <class Out>
void expect_on_cpu(Problem p) {
  for (const bool by_cols : {false, true}) {
    p.scales_by_columns = by_cols;
    std::vector<Out> c(static_cast<std::size_t>(p.m * p.n), Out(untouched));
    const std::vector<float> a_scales = by_cols ? by_columns(p.a_scales, p.m) : p.a_scales;
    const GemmOptions options = {.threads = 2};
    p.run(
        p.a.data(), a_scales.data(), p.b.data(), p.b_scales.data(), c.data(),
        [&](const auto& a, const auto& b, float factor, const auto& to) {
          gemm_block_scaled(1.0f, a, b, factor, to, options);
        },
        [&](const auto& a, const auto& b, float factor, const auto& to) {
          gemm_block_scaled(1.0f, a, b, factor, to, p.offsets.data(), options);
        });
    expect_equal(c, p.expected<Out>(), p.n);
  }
}

TEST(BlockScaled, OnCpus) {
  expect_on_cpu<float>({300, 200, 300});
  expect_on_cpu<bfloat16>({33, 130, 128, {}, 0.5f});
  expect_on_cpu<bfloat16>({90, 130, 257, {2, 2, 40, 41, 88}});
  expect_on_cpu<float>({5, 7, 0, {}, 0.5f});
  expect_on_cpu<bfloat16>({9, 7, 0, {0, 4, 9}, 0.5f});
}

class CudaBlockScaled : public CudaLibrary {
 protected:
  template <class Out>
  void expect(Problem p, int multiprocessors = 0, bool by_cols = false) {
    p.scales_by_columns = by_cols;
    const DeviceArray<float8_e4m3> a(api, p.a), b(api, p.b);
    const DeviceArray<float> a_scales(api, by_cols ? by_columns(p.a_scales, p.m) : p.a_scales),
        b_scales(api, p.b_scales);
    const DeviceArray<Out> c(api,
                             std::vector<Out>(static_cast<std::size_t>(p.m * p.n), Out(untouched)));
    const CudaOptions options = {.multiprocessors = multiprocessors};
    int* const status = on_device(std::vector<int>{0});
    p.run(
        a.data(), a_scales.data(), b.data(), b_scales.data(), c.data(),
        [&](const auto& of_a, const auto& of_b, float factor, const auto& to) {
          gemm_block_scaled(1.0f, of_a, of_b, factor, to, default_stream, options);
        },
        [&](const auto& of_a, const auto& of_b, float factor, const auto& to) {
          gemm_block_scaled(1.0f, of_a, of_b, factor, to, on_device(p.offsets), default_stream,
                            {.gemm = options, .status = status});
        });
    expect_equal(c.read(), p.expected<Out>(), p.n);
    EXPECT_EQ(from_device(status, 1), std::vector<int>{0});
  }
};

TEST_F(CudaBlockScaled, EveryTile) {
  expect<bfloat16>({20, 72, 400});             // 64 x 64
  expect<float>({100, 200, 272}, 4);           // 128 x 64
  expect<bfloat16>({130, 136, 656}, 1);        // 128 x 128
  expect<bfloat16>({128, 192, 400}, 1, true);  // 128 x 192
  expect<float>({129, 384, 144}, 2, true);     // likewise, across blocks of 128 columns
}

TEST_F(CudaBlockScaled, BetaUnalignedRowsOfCAndShortK) {
  expect<bfloat16>({70, 67, 144, {}, 0.5f});
  expect<float>({70, 67, 16});
  expect<bfloat16>({65, 64, 0, {}, 0.5f});
}

TEST_F(CudaBlockScaled, RaggedGroups) {
  expect<bfloat16>({90, 136, 272, {2, 2, 40, 41, 88}});
  expect<float>({200, 192, 144, {0, 150, 150, 200}}, 1);
  expect<float>({90, 64, 0, {0, 20, 90}, 0.5f});  // B has a leading dimension of 0
}

template <class F>
std::string message_of(const F& f) {
  return refusal(f).second;
}

TEST(BlockScaled, Errors) {
  const Elements x(4096);
  const std::vector<float> scales(64);
  std::vector<float> c(1024);
  const auto call = [&](std::int64_t a_blocks, std::int64_t b_blocks, const OutputMatrix& to,
                        ComputeMode mode = ComputeMode::standard) {
    return message_of([&] {
      gemm_block_scaled(1.0f,
                        {row_major<const float8_e4m3>(x.data(), 8, 130),
                         row_major<const float>(scales.data(), 8, a_blocks)},
                        BlockScaledMatrix{col_major<const float8_e4m3>(x.data(), 130, 16),
                                          row_major<const float>(scales.data(), b_blocks, 1)},
                        0.0f, to, GemmOptions{.compute_mode = mode});
    });
  };
  const OutputMatrix to = row_major(c.data(), 8, 16);
  EXPECT_EQ(call(2, 2, to), "no error");
  EXPECT_EQ(call(2, 2, to, ComputeMode::batch_invariant), "no error");
  EXPECT_EQ(call(1, 2, to),
            "rung: gemm_block_scaled: the scales of A are 8 x 1; they must be 8 x 2");
  EXPECT_EQ(call(2, 1, to),
            "rung: gemm_block_scaled: the scales of B are 1 x 1; they must be 2 x 1");
  EXPECT_EQ(call(2, 2, col_major(c.data(), 8, 16)),
            "rung: gemm_block_scaled: C is column-major; it must be row-major");
  EXPECT_EQ(call(2, 2, row_major(c.data(), 9, 16)),
            "rung: gemm_block_scaled: A is 8 x 130, B is 130 x 16, C is 9 x 16; they must be m x "
            "k, k x n and m x n");
  EXPECT_EQ(call(2, 2, row_major(reinterpret_cast<std::int32_t*>(c.data()), 8, 16)),
            "rung: gemm_block_scaled: C is of another type; it must be float or bfloat16");
  EXPECT_EQ(call(2, 2, to, ComputeMode::reproducible),
            "rung: gemm_block_scaled: compute_mode is 2; it must be 0 (standard) or 3 "
            "(batch_invariant)");
  const Offsets wrong = {0, 5, 3};
  EXPECT_EQ(
      message_of([&] {
        gemm_block_scaled(
            1.0f,
            {row_major<const float8_e4m3>(x.data(), 8, 130),
             row_major<const float>(scales.data(), 8, 2)},
            BlockScaledBatch{strided(col_major<const float8_e4m3>(x.data(), 130, 16), 2, 1000),
                             strided(row_major<const float>(scales.data(), 2, 1), 2, 2)},
            0.0f, to, wrong.data());
      }),
      "rung: gemm_grouped: offset 2 is 3; it must be from 5, the one before, to 8");
}

}  // namespace
}  // namespace rung
