// rung::gemm_grouped on device memory: ragged groups in one launch, without access to offsets by
// the host, and correct at every boundary between groups.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "fixture.hpp"
#include "product.hpp"

namespace rung {
namespace {

using Offsets = std::vector<std::int32_t>;
using cuda::DeviceArray;
constexpr float untouched = 17;

/// The type of alpha and beta.
template <class Out>
using ScaleOf = std::conditional_t<std::is_arithmetic_v<Out>, Out, float>;

/// A value that no result may depend on.
template <class T>
T poison() {
  if constexpr (std::is_integral_v<T>) return 101;
  return T(std::numeric_limits<float>::quiet_NaN());
}

struct Shape {
  std::int64_t tokens, n, k;
  Offsets offsets;
  bool k_major = true;     // each matrix of B is stored as n x k
  std::int64_t shift = 0;  // elements from an aligned address, for each operand
  float beta = 0;
  std::int64_t gap = 0;  // elements between two matrices of B
  bool turns_a = false;  // A is MN-major for groups of rows, K-major for groups of k
};

/// Small integers, so that every sum is exact.
template <class T>
std::vector<T> numbers(std::int64_t count, int seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(T(static_cast<float>((i * 7 + i / 13 + seed) % 5 - 2)));
  }
  return values;
}

class CudaGrouped : public CudaLibrary {
 protected:
  static int launches() {
    int launches = 0;
    for (const auto& [name, count] : cuda::driver_calls()) {
      launches += name.starts_with("cuLaunch") ? count : 0;
      EXPECT_FALSE(name.find("Synchronize") != name.npos || name.starts_with("cuMemcpy")) << name;
    }
    return launches;
  }

  /// Rows of A outside every group are NaN, and so are matrices of empty groups.
  template <class In, class Out>
  void expect_rows(const Shape& shape) {
    const auto& [tokens, n, k, offsets, k_major, shift, beta, gap, turns_a] = shape;
    const auto in_a = [&](std::int64_t i, std::int64_t x) {
      return turns_a ? x * tokens + i : i * k + x;
    };
    const std::int64_t apart = n * k + gap;
    const std::int64_t count = std::ssize(offsets) - 1;
    std::vector<In> a = numbers<In>(tokens * k, 1), b = numbers<In>(count * apart, 2);
    std::vector<Out> expected(static_cast<std::size_t>(tokens * n), Out(untouched));
    for (std::int64_t i = 0; i < tokens; ++i) {
      if (i >= offsets.front() && i < offsets.back()) continue;
      for (std::int64_t x = 0; x < k; ++x) a[in_a(i, x)] = poison<In>();
    }
    for (std::int64_t g = 0; g < count; ++g) {
      if (offsets[g] == offsets[g + 1]) {
        for (std::int64_t x = 0; x < n * k; ++x) b[g * apart + x] = poison<In>();
      }
      for (std::int64_t i = offsets[g]; i < offsets[g + 1]; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          float sum = beta * untouched;
          for (std::int64_t x = 0; x < k; ++x) {
            sum += float(a[in_a(i, x)]) * float(b[g * apart + (k_major ? j * k + x : x * n + j)]);
          }
          expected[i * n + j] = Out(sum);
        }
      }
    }
    const cuda::Placement place = {.offset = shift};
    const DeviceArray<In> on_a(api, a, place), on_b(api, b, place);
    const DeviceArray<Out> on_c(
        api, std::vector<Out>(static_cast<std::size_t>(tokens * n), Out(untouched)), place);
    const DeviceArray<std::int32_t> on_offsets(api, offsets);
    int* const status = on_device(std::vector<int>{0});
    const MatrixView<const In> matrix =
        k_major ? col_major<const In>(on_b.data(), k, n) : row_major<const In>(on_b.data(), k, n);
    cuda::driver_calls().clear();
    using S = ScaleOf<Out>;
    gemm_grouped(S(1),
                 turns_a ? col_major<const In>(on_a.data(), tokens, k)
                         : row_major<const In>(on_a.data(), tokens, k),
                 strided(matrix, count, apart), S(beta), row_major(on_c.data(), tokens, n),
                 on_offsets.data(), default_stream, {.status = status});
    const bool needs_k_major = sizeof(In) == 1 || std::is_same_v<In, tfloat32>;
    const bool is_packed = shift != 0 || turns_a || (needs_k_major && !k_major);
    EXPECT_LE(launches(), is_packed ? 3 : 1);
    expect_equal(on_c.read(), expected, n);
    EXPECT_EQ(from_device(status, 1), std::vector<int>{0});
  }

  /// Rows of A^T and B outside every group are NaN.
  template <class In, class Out>
  void expect_cut_k(const Shape& shape) {
    const auto& [tokens, n, m, offsets, k_major, shift, beta, gap, turns_a] = shape;
    const auto in_a = [&](std::int64_t t, std::int64_t x) {
      return turns_a ? x * tokens + t : t * m + x;
    };
    const std::int64_t count = std::ssize(offsets) - 1;
    std::vector<In> a = numbers<In>(tokens * m, 3), b = numbers<In>(tokens * n, 4);
    for (std::int64_t t = 0; t < tokens; ++t) {
      if (t >= offsets.front() && t < offsets.back()) continue;
      for (std::int64_t x = 0; x < m; ++x) a[in_a(t, x)] = poison<In>();
      for (std::int64_t x = 0; x < n; ++x) b[t * n + x] = poison<In>();
    }
    std::vector<Out> expected;
    for (std::int64_t g = 0; g < count; ++g) {
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          float sum = beta * untouched;
          for (std::int64_t t = offsets[g]; t < offsets[g + 1]; ++t) {
            sum += float(a[in_a(t, i)]) * float(b[t * n + j]);
          }
          expected.push_back(Out(sum));
        }
      }
    }
    const cuda::Placement place = {.offset = shift};
    const DeviceArray<In> on_a(api, a, place), on_b(api, b, place);
    const DeviceArray<Out> on_c(api, std::vector<Out>(expected.size(), Out(untouched)), place);
    const DeviceArray<std::int32_t> on_offsets(api, offsets);
    int* const status = on_device(std::vector<int>{0});
    using S = ScaleOf<Out>;
    gemm_grouped(S(1),
                 transposed(turns_a ? col_major<const In>(on_a.data(), tokens, m)
                                    : row_major<const In>(on_a.data(), tokens, m)),
                 row_major<const In>(on_b.data(), tokens, n), S(beta),
                 strided(row_major(on_c.data(), m, n), count, m * n), on_offsets.data(),
                 default_stream, {.status = status});
    expect_equal(on_c.read(), expected, n);
    EXPECT_EQ(from_device(status, 1), std::vector<int>{0});
  }

  template <class Out>
  static void expect_equal(const std::vector<Out>& got, const std::vector<Out>& expected,
                           std::int64_t n) {
    int wrong = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (float(got[i]) == float(expected[i]) || ++wrong > 3) continue;
      ADD_FAILURE() << "C(" << i / n << ", " << i % n << ") is " << float(got[i]) << ", expected "
                    << float(expected[i]);
    }
    EXPECT_EQ(wrong, 0);
  }
};

// Empty groups at the ends and in the middle; groups of one row, and of less and more than a tile.
const Offsets ragged = {3, 3, 4, 20, 20, 20, 85, 149, 150, 150};

TEST_F(CudaGrouped, RowsAreRightInEitherOrderOfB) {
  for (const bool k_major : {true, false}) {
    expect_rows<bfloat16, float>({153, 72, 72, ragged, k_major});
    expect_rows<bfloat16, bfloat16>({153, 136, 40, ragged, k_major});
    expect_rows<float16, float16>({153, 72, 136, ragged, k_major});
  }
}

TEST_F(CudaGrouped, LargeTilesAreRightToo) {
  const Offsets large = {1, 131, 131, 389, 390};
  for (const bool k_major : {true, false}) {
    expect_rows<bfloat16, float>({395, 264, 72, large, k_major});
    expect_rows<bfloat16, bfloat16>({395, 264, 72, large, k_major});
  }
  expect_cut_k<bfloat16, float>({395, 72, 136, large});
  expect_cut_k<bfloat16, bfloat16>({395, 72, 136, large});
}

TEST_F(CudaGrouped, FloatsOfEightBits) {
  for (const bool k_major : {true, false}) {
    expect_rows<float8_e4m3, float>({153, 80, 80, ragged, k_major});
    expect_rows<float8_e4m3, float>({395, 80, 80, {1, 131, 131, 390}, k_major});
  }
  expect_cut_k<float8_e4m3, float>({153, 48, 64, ragged});
}

TEST_F(CudaGrouped, CutsK) {
  expect_cut_k<bfloat16, float>({153, 72, 40, ragged});
  expect_cut_k<float16, float16>({153, 72, 40, ragged});
}

TEST_F(CudaGrouped, AddsToC) {
  expect_rows<bfloat16, float>({.tokens = 153, .n = 72, .k = 72, .offsets = ragged, .beta = 2});
  expect_cut_k<bfloat16, float>({.tokens = 153, .n = 72, .k = 40, .offsets = ragged, .beta = -1});
}

// TMA reads from multiples of 16 bytes, and these groups start between them.
TEST_F(CudaGrouped, BeginAnywhereAlongARowInMemory) {
  for (const bool k_major : {true, false}) {
    expect_rows<bfloat16, float>(
        {.tokens = 160, .n = 72, .k = 72, .offsets = ragged, .k_major = k_major, .turns_a = true});
  }
  expect_cut_k<bfloat16, float>(
      {.tokens = 160, .n = 72, .k = 40, .offsets = ragged, .turns_a = true});
  expect_cut_k<float8_e4m3, float>(
      {.tokens = 160, .n = 48, .k = 64, .offsets = ragged, .turns_a = true});
}

TEST_F(CudaGrouped, PacksWhatIsNotAligned) {
  for (const bool k_major : {true, false}) {
    expect_rows<bfloat16, float>({153, 37, 71, ragged, k_major, 1});
  }
  expect_cut_k<bfloat16, bfloat16>({153, 37, 41, ragged, true, 1});
}

/// Every type, with each path of its kernels: few and many rows, both orders of B, addresses that
/// are not aligned for vectors, beta, and groups of k.
template <class T>
class CudaGroupedOf : public CudaGrouped {};
template <class In_, class Out_>
struct Types {
  using In = In_;
  using Out = Out_;
};
using AllTypes = testing::Types<Types<float, float>, Types<double, double>,
                                Types<std::int32_t, std::int32_t>, Types<tfloat32, float>,
                                Types<std::int8_t, std::int32_t>, Types<float8_e5m2, float>>;
TYPED_TEST_SUITE(CudaGroupedOf, AllTypes);

TYPED_TEST(CudaGroupedOf, IsRight) {
  using In = typename TypeParam::In;
  using Out = typename TypeParam::Out;
  this->refuse_hazards();
  const Offsets large = {1, 131, 131, 389, 390};
  for (const bool k_major : {true, false}) {
    this->template expect_rows<In, Out>({153, 48, 80, ragged, k_major});
    this->template expect_rows<In, Out>({395, 37, k_major ? 41 : 48, large, k_major, 1, 2});
  }
  this->template expect_cut_k<In, Out>({153, 48, 32, ragged});
  this->template expect_cut_k<In, Out>({153, 37, 70, ragged, true, 1, -1});
}

TEST_F(CudaGrouped, MatricesNeedNotBeInLinesWhereThreadsLoadThem) {
  for (const bool k_major : {true, false}) {
    expect_rows<bfloat16, float>(
        {.tokens = 153, .n = 72, .k = 72, .offsets = ragged, .k_major = k_major, .gap = 3});
    expect_rows<double, double>(
        {.tokens = 153, .n = 24, .k = 20, .offsets = ragged, .k_major = k_major, .gap = 3});
  }
}

TEST_F(CudaGrouped, MoreGroupsThanALaunchHas) {
  const std::int64_t count = 600;
  Offsets offsets;
  for (std::int32_t g = 0; g <= count; ++g) offsets.push_back(g / 4);
  const std::vector<bfloat16> a = numbers<bfloat16>(150 * 8, 1),
                              b = numbers<bfloat16>(count * 64, 2);
  float* const c = on_device(std::vector<float>(150 * 8));
  cuda::driver_calls().clear();
  const bfloat16 *on_a = on_device(a), *on_b = on_device(b);
  const std::int32_t* const on_offsets = on_device(offsets);
  gemm_grouped(1.0f, row_major(on_a, 150, 8), strided(row_major(on_b, 8, 8), count, 64), 0.0f,
               row_major(c, 150, 8), on_offsets, default_stream);
  const std::vector<float> got = from_device(c, 150 * 8);
  for (std::int64_t row = 0; row < 150; ++row) {
    float sum = 0;  // the row is in group 4 row + 3
    for (int x = 0; x < 8; ++x) sum += float(a[row * 8 + x]) * float(b[(4 * row + 3) * 64 + x * 8]);
    EXPECT_EQ(got[row * 8], sum) << row;
  }
}

/// Three groups of 8 x 8 matrices.
class CudaGroupedOfThree : public CudaGrouped {
 protected:
  void SetUp() override {
    CudaGrouped::SetUp();
    a_ = on_device(numbers<bfloat16>(9 * 8, 1));
    b_ = on_device(numbers<bfloat16>(3 * 64, 2));
    c_ = on_device(std::vector<float>(9 * 8, untouched));
    status_ = on_device(std::vector<int>{0});
  }

  void run(const Offsets& offsets, float alpha = 1, float beta = 0) {
    const std::int32_t* const at = on_device(offsets);
    gemm_grouped(alpha, row_major(a_, 9, 8), strided(row_major(b_, 8, 8), 3, 64), beta,
                 row_major(c_, 9, 8), at, default_stream, {.status = status_});
  }

  const bfloat16 *a_ = nullptr, *b_ = nullptr;
  float* c_ = nullptr;
  int* status_ = nullptr;
};

TEST_F(CudaGroupedOfThree, SaysWhichOffsetsAreWrongAndWritesNothing) {
  for (const Offsets& wrong : {Offsets{0, 5, 4, 9}, Offsets{0, 3, 6, 10}, Offsets{-1, 3, 6, 9}}) {
    status_ = on_device(std::vector<int>{0});
    run(wrong);
    EXPECT_EQ(from_device(status_, 1), std::vector<int>{1}) << wrong[0] << wrong[1];
    EXPECT_EQ(from_device(c_, 72), std::vector<float>(72, untouched));
  }
}

TEST_F(CudaGroupedOfThree, ScalesTheRowsOfGroupsAlone) {
  run({1, 3, 3, 8}, 0, 2);
  std::vector<float> expected(72, 2 * untouched);
  for (int i = 0; i < 8; ++i) expected[i] = expected[64 + i] = untouched;
  EXPECT_EQ(from_device(c_, 72), expected);
}

TEST_F(CudaGroupedOfThree, ScalesEachCIfNoKIsCut) {
  gemm_grouped(0.0f, transposed(row_major(a_, 9, 4)), row_major(a_, 9, 8), 3.0f,
               strided(row_major(c_, 4, 8), 2, 32), on_device(Offsets{0, 4, 9}), default_stream);
  std::vector<float> expected(72, 3 * untouched);
  for (int i = 64; i < 72; ++i) expected[i] = untouched;
  EXPECT_EQ(from_device(c_, 72), expected);
}

TEST_F(CudaGroupedOfThree, LaunchesNothingWhereNothingChanges) {
  const std::int32_t* const offsets = on_device(Offsets{0, 1, 2, 3});
  cuda::driver_calls().clear();
  gemm_grouped(0.0f, row_major(a_, 9, 8), strided(row_major(b_, 8, 8), 3, 64), 1.0f,
               row_major(c_, 9, 8), offsets, default_stream);
  gemm_grouped(1.0f, row_major(a_, 0, 8), strided(row_major(b_, 8, 8), 3, 64), 0.0f,
               row_major(c_, 0, 8), offsets, default_stream);
  EXPECT_EQ(launches(), 0);
}

TEST_F(CudaGroupedOfThree, SaysSoOfFloatsToo) {
  const std::vector<float> a(72, 1), b(192, 1);
  const float *on_a = on_device(a), *on_b = on_device(b);
  for (const Offsets& wrong : {Offsets{0, 5, 4, 9}, Offsets{0, 3, 6, 10}, Offsets{-1, 3, 6, 9}}) {
    const std::int32_t* const at = on_device(wrong);
    int* const status = on_device(std::vector<int>{0});
    gemm_grouped(1.0f, row_major(on_a, 9, 8), strided(row_major(on_b, 8, 8), 3, 64), 0.0f,
                 row_major(c_, 9, 8), at, default_stream, {.status = status});
    EXPECT_EQ(from_device(status, 1), std::vector<int>{1}) << wrong[0] << wrong[1];
    gemm_grouped(1.0f, transposed(row_major(on_a, 9, 4)), row_major(on_b, 9, 4), 0.0f,
                 strided(row_major(c_, 4, 4), 3, 16), at, default_stream);
    EXPECT_EQ(from_device(c_, 72), std::vector<float>(72, untouched));
  }
}

TEST_F(CudaGroupedOfThree, TellsOfWrongOffsetsWhereNothingIsComputed) {
  const float* const on = on_device(std::vector<float>(192, 1));
  const auto* const bytes = reinterpret_cast<const float8_e4m3*>(on);
  for (const bool is_wrong : {false, true}) {
    const std::int32_t* const at = on_device(is_wrong ? Offsets{0, 5, 4, 9} : Offsets{0, 4, 5, 9});
    int* const status = on_device(std::vector<int>{0});
    const auto expect_status = [&](const char* call) {
      EXPECT_EQ(from_device(status, 1), std::vector<int>{is_wrong ? 1 : 0}) << call;
      EXPECT_EQ(api.cuMemsetD8(reinterpret_cast<cuda::DevicePointer>(status), 0, 4),
                cuda::Result::success);
    };
    const auto rows = [&](float alpha, std::int64_t n, float beta) {
      gemm_grouped(alpha, row_major(on, 9, 8), strided(row_major(on, 8, n), 3, 64), beta,
                   row_major(c_, 9, n), at, default_stream, {.status = status});
    };
    rows(0, 8, 1);
    expect_status("alpha = 0, beta = 1");
    rows(1, 0, 0);
    expect_status("n = 0");
    gemm_grouped(0.0f, transposed(row_major(on, 9, 4)), row_major(on, 9, 4), 1.0f,
                 strided(row_major(c_, 4, 4), 3, 16), at, default_stream, {.status = status});
    expect_status("cut k, alpha = 0");
    gemm_block_scaled(0.0f, {row_major(bytes, 9, 8), row_major(on, 9, 1)},
                      BlockScaledBatch{strided(row_major(bytes, 8, 8), 3, 64),
                                       strided(row_major(on, 1, 1), 3, 1)},
                      1.0f, row_major(c_, 9, 8), at, default_stream, {.status = status});
    expect_status("block scales, alpha = 0");
    EXPECT_EQ(from_device(c_, 72), std::vector<float>(72, untouched));
  }
}

TEST_F(CudaGroupedOfThree, RefusesMatricesThatAreNotInLines) {
  const std::vector<std::int8_t> bytes(9 * 16);
  const std::int8_t* const a = on_device(bytes);
  std::int32_t* const c = on_device(std::vector<std::int32_t>(9 * 8));
  const auto [status, message] = refusal([&] {
    gemm_grouped(1, row_major(a, 9, 8), strided(col_major(a, 8, 8), 2, 65), 0, row_major(c, 9, 8),
                 on_device(Offsets{0, 1, 2}), default_stream);
  });
  EXPECT_EQ(status, Status::unavailable);
  EXPECT_EQ(
      message,
      "rung: gemm_grouped: no kernel for i8 on this GPU, sm_90; f32, tf32, f64, i32, bf16 and "
      "f16 have one from sm_80 on; i8, e4m3 and e5m2 on sm_90, for matrices of C, and of B by "
      "columns, a multiple of their leading dimension apart");
}

TEST_F(CudaGroupedOfThree, RefusesModesWithoutAKernel) {
  const std::vector<float> numbers(192, 1);
  const float* const on = on_device(numbers);
  const auto [status, message] = refusal([&] {
    gemm_grouped(1.0f, row_major(on, 9, 8), strided(row_major(on, 8, 8), 3, 64), 0.0f,
                 row_major(c_, 9, 8), on_device(Offsets{0, 1, 2, 3}), default_stream,
                 {.gemm = {.compute_mode = ComputeMode::reproducible}});
  });
  EXPECT_EQ(status, Status::unavailable);
  EXPECT_EQ(message,
            "rung: gemm_grouped: no kernel for f32 in mode reproducible on GPUs; batches have one");
}

}  // namespace
}  // namespace rung
