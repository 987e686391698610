// rung::gemm_batched on device memory: a single launch, correct for strides, and for pointers that
// only the kernel can read.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "../public_call.hpp"
#include "backends/cuda/device_matrix.hpp"
#include "backends/cuda/virtual_gpu.hpp"
#include "core/dtype.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "fixture.hpp"
#include "select/cuda/select.hpp"

namespace rung {
namespace {

using Floats = std::vector<float>;

class CudaBatch : public CudaLibrary {
 protected:
  std::unique_ptr<cuda::Gpu> gpu() const {
    if (cuda::on_real_gpu()) return std::make_unique<cuda::Gpu>(api, std::nullopt);
    return std::make_unique<cuda::VirtualGpu>(api, std::nullopt, true, nullptr);
  }

  static int launches() {
    const auto& calls = cuda::driver_calls();
    int launches = 0;
    for (const auto& [name, count] : calls) launches += name.starts_with("cuLaunch") ? count : 0;
    return launches;
  }

  /// Copies the operands of a call to the device, computes there, and copies the result back.
  void run(cuda::Gpu& gpu, GemmCall call, Form form, bool at_pointers) {
    const auto in = static_cast<std::int64_t>(input_bytes(call.dtype));
    const auto out = static_cast<std::int64_t>(output_bytes(call.dtype));
    using cuda::DeviceMatrix, cuda::storage_of;
    const DeviceMatrix a(gpu, storage_of(call.a, call.m, call.k, in, call.batch), call.a.data);
    const DeviceMatrix b(gpu, storage_of(call.b, call.k, call.n, in, call.batch), call.b.data);
    const DeviceMatrix c(gpu, storage_of(call.c, call.m, call.n, out, call.batch), call.c.data);
    call.a.data = reinterpret_cast<const void*>(a.data());
    call.b.data = reinterpret_cast<const void*>(b.data());
    call.c.data = reinterpret_cast<void*>(c.data());
    if (at_pointers) {
      call.a.pointers = on_device(addresses(call.a, call.batch, input_bytes(call.dtype)));
      call.b.pointers = on_device(addresses(call.b, call.batch, input_bytes(call.dtype)));
      call.c.pointers = on_device(addresses(call.c, call.batch, output_bytes(call.dtype)));
    }
    cuda::driver_calls().clear();
    public_gemm_batched(call, form, default_stream);
    EXPECT_LE(launches(), max_launches_);
    c.download();
  }

  int max_launches_ = 1;  // three if only TMA can read the operands
};

class CudaBatchOf : public CudaBatch, public testing::WithParamInterface<Dtype> {};

TEST_P(CudaBatchOf, IsRightAndOneLaunch) {
  const Dtype dtype = GetParam();
  const bool has_pointers = input_bytes(dtype) > 1;
  if (!has_pointers || dtype == Dtype::tf32) max_launches_ = 3;
  const std::unique_ptr<cuda::Gpu> gpu = this->gpu();
  refuse_hazards();
  const std::vector<GemmSpec> specs = standard_batched_cases(dtype);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (const bool at_pointers : {false, true}) {
      if (at_pointers && !has_pointers) continue;
      GemmCase problem(specs[i]);
      const Form form = i % 2 == 0 ? Form::row_major_c : Form::col_major_c;
      const Verdict verdict =
          verify(problem, [&](const GemmCall& call) { run(*gpu, call, form, at_pointers); });
      EXPECT_TRUE(verdict.right) << verdict.message << (at_pointers ? " at pointers" : "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaBatchOf, testing::ValuesIn(all_dtypes),
                         [](const auto& test) { return std::string(identifier(test.param)); });

// TMA reads rows and matrices that start at multiples of 16 bytes.
TEST(CudaBatchChoice, IsByTmaWhereItCanRead) {
  const auto choice = [](const GemmSpec& spec, int arch = 90, bool from_pointers = false) {
    GemmCase problem(spec);
    return std::string(choose_cuda_batch(problem.call(), arch, from_pointers)->id);
  };
  const GemmSpec aligned = {.dtype = Dtype::bf16, .m = 48, .n = 40, .k = 64, .batch = 3};
  EXPECT_EQ(choice(aligned), "gemm/cuda/batched_wgmma");
  EXPECT_EQ(choice(aligned, 80), "gemm/cuda/small_mma");
  EXPECT_EQ(choice(aligned, 90, true), "gemm/cuda/small_mma");
  GemmSpec odd_rows = aligned;
  odd_rows.k = 63;
  EXPECT_EQ(choice(odd_rows), "gemm/cuda/small_mma");
  GemmSpec small = aligned;
  small.m = 32;
  EXPECT_EQ(choice(small), "gemm/cuda/small_mma");

  const GemmSpec floats = {.dtype = Dtype::f32, .m = 96, .n = 96, .k = 64, .batch = 3};
  EXPECT_EQ(choice(floats), "gemm/cuda/batched_fma");
  EXPECT_EQ(choice(floats, 80), "gemm/cuda/batched_tiles");
  EXPECT_EQ(choice(floats, 90, true), "gemm/cuda/batched_tiles");
  GemmSpec wide = floats;  // as wide as the tile of batched_tiles
  wide.n = 128;
  wide.m = 128;
  EXPECT_EQ(choice(wide), "gemm/cuda/batched_tiles");

  GemmSpec doubles = floats;
  doubles.dtype = Dtype::f64;
  EXPECT_EQ(choice(doubles), "gemm/cuda/batched_mma_f64");
  EXPECT_EQ(choice(doubles, 80), "gemm/cuda/small_matrices");
  doubles.m = 16;
  EXPECT_EQ(choice(doubles), "gemm/cuda/small_matrices");
  GemmSpec bytes = odd_rows;
  bytes.dtype = Dtype::i8;
  EXPECT_EQ(choice(bytes), "gemm/cuda/batched_wgmma");
  GemmSpec rounded = floats;
  rounded.dtype = Dtype::tf32;
  EXPECT_EQ(choice(rounded), "gemm/cuda/batched_fma");
  rounded.b_transposed = true;
  EXPECT_EQ(choice(rounded), "gemm/cuda/batched_wgmma");
  EXPECT_EQ(choice(rounded, 80), "gemm/cuda/batched_tiles");
  rounded.m = 16;
  EXPECT_EQ(choice(rounded), "gemm/cuda/small_matrices");
  EXPECT_EQ(choice(rounded, 90, true), "gemm/cuda/small_matrices");
}

TEST(CudaBatchChoice, LeavesModesWithAnOrderOfSumsToTheProducts) {
  GemmCase problem({.dtype = Dtype::f32, .m = 96, .n = 96, .k = 64, .batch = 3});
  GemmCall call = problem.call();
  for (const ComputeMode mode : {ComputeMode::reproducible, ComputeMode::batch_invariant}) {
    call.compute_mode = mode;
    EXPECT_FALSE(choose_cuda_batch(call, 90, false).has_value());
  }
  call.compute_mode = ComputeMode::split;
  EXPECT_TRUE(choose_cuda_batch(call, 90, false).has_value());
}

/// Three products of 2 x 2 matrices with the identity.
class CudaBatchOfThree : public CudaBatch {
 protected:
  static constexpr std::int64_t count = 3;

  void SetUp() override {
    CudaBatch::SetUp();
    a_ = on_device(Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    unit_ = on_device(Floats{1, 0, 0, 1});
    c_ = on_device(Floats(12, -1.0f));
  }

  const MatrixView<const float> like_ = row_major<const float>(nullptr, 2, 2);
  float *a_ = nullptr, *unit_ = nullptr, *c_ = nullptr;
  BatchView<const float> a() const { return strided(row_major<const float>(a_, 2, 2), count, 4); }
  BatchView<const float> unit() const {
    return strided(row_major<const float>(unit_, 2, 2), count, 0);
  }
  BatchView<float> c() const { return strided(row_major(c_, 2, 2), count, 4); }
};

TEST_F(CudaBatchOfThree, SharesAnOperandOfStrideZero) {
  gemm_batched(2.0f, a(), unit(), -1.0f, c(), default_stream);
  EXPECT_EQ(from_device(c_, 12), (Floats{3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25}));
}

TEST_F(CudaBatchOfThree, LeavesOutAProductWithANullPointerAndSaysSo) {
  int* const status = on_device(std::vector<int>{0});
  const float** const pointers = on_device(std::vector<const float*>{a_, nullptr, a_ + 8});
  const BatchView<const float> at = at_pointers<const float>(pointers, count, like_);
  gemm_batched(1.0f, at, unit(), 0.0f, c(), default_stream, {.status = status});
  EXPECT_EQ(from_device(c_, 12), (Floats{1, 2, 3, 4, -1, -1, -1, -1, 9, 10, 11, 12}));
  EXPECT_EQ(from_device(status, 1), std::vector<int>{1});
}

TEST_F(CudaBatchOfThree, LeavesTheStatusAloneIfNoPointerIsNull) {
  int* const status = on_device(std::vector<int>{0});
  const float** const pointers = on_device(std::vector<const float*>{a_ + 4, a_, a_ + 8});
  gemm_batched(1.0f, at_pointers<const float>(pointers, count, like_), unit(), 0.0f, c(),
               default_stream, {.status = status});
  EXPECT_EQ(from_device(c_, 12), (Floats{5, 6, 7, 8, 1, 2, 3, 4, 9, 10, 11, 12}));
  EXPECT_EQ(from_device(status, 1), std::vector<int>{0});
}

TEST_F(CudaBatchOfThree, IsReproducibleInThatMode) {
  const Floats numbers = {0.1f, 0.7f, -1.3f, 3e-4f, 5.2f, -6.1f,
                          7.9f, 1e4f, -0.9f, 0.01f, 11,   1.2f};
  const float* const from = on_device(numbers);
  const auto of = strided(row_major<const float>(from, 2, 2), count, 4);
  const CudaOptions options = {.compute_mode = ComputeMode::reproducible};
  gemm_batched(1.0f, of, of, 0.0f, c(), default_stream, {.gemm = options});
  const Floats batch = from_device(c_, 12);
  for (int i = 0; i < 3; ++i) {
    const auto one = row_major<const float>(from + 4 * i, 2, 2);
    gemm(1.0f, one, one, 0.0f, row_major(c_ + 4 * i, 2, 2), default_stream, options);
  }
  EXPECT_EQ(batch, from_device(c_, 12));
}

TEST_F(CudaBatchOfThree, RefusesAModeThatTheTypeHasNot) {
  const double* const from = on_device(std::vector<double>(4, 1));
  double* const to = on_device(std::vector<double>(4, 1));
  const auto [status, message] = refusal([&] {
    gemm_batched(1.0, strided(row_major(from, 2, 2), 1, 4), strided(row_major(from, 2, 2), 1, 4),
                 0.0, strided(row_major(to, 2, 2), 1, 4), default_stream,
                 {.gemm = {.compute_mode = ComputeMode::reproducible}});
  });
  EXPECT_EQ(status, Status::unavailable);
  EXPECT_NE(message.find("f64"), message.npos) << message;
}

// 8-bit products with a B that must be packed, and one that need not, in a workspace too small for
// all copies.
TEST_F(CudaBatchOfThree, PacksOneByOneWithoutRoomForAllCopies) {
  using Bytes = std::vector<std::int8_t>;
  const std::int8_t* const ones = on_device(Bytes(count * 64 * 64, 1));
  std::int32_t* const to = on_device(std::vector<std::int32_t>(count * 64 * 64));
  char* const workspace = on_device(std::vector<char>(128 << 10));
  const auto launches_with = [&](const MatrixView<const std::int8_t>& b, std::size_t bytes) {
    cuda::driver_calls().clear();
    gemm_batched(1, strided(row_major(ones, 64, 64), count, 64 * 64), strided(b, count, 64 * 64), 0,
                 strided(row_major(to, 64, 64), count, 64 * 64), default_stream,
                 {.gemm = {.workspace = workspace, .workspace_bytes = bytes}});
    EXPECT_EQ(from_device(to, count * 64 * 64), std::vector<std::int32_t>(count * 64 * 64, 64));
    return launches();
  };
  const MatrixView<const std::int8_t> by_columns = col_major(ones, 64, 64);
  EXPECT_EQ(launches_with(by_columns, 0), 1);
  EXPECT_EQ(launches_with(row_major(ones, 64, 64), 128 << 10), 2);
  EXPECT_GT(launches_with(row_major(ones, 64, 64), 40 << 10), 2);
}

TEST_F(CudaBatchOfThree, ScalesWithoutReadingAAndB) {
  const BatchView<const float> none = strided(like_, count, 0);
  gemm_batched(0.0f, none, none, 3.0f, c(), default_stream);
  EXPECT_EQ(from_device(c_, 12), Floats(12, -3.0f));
}

TEST_F(CudaBatchOfThree, LaunchesNothingWhereNothingChanges) {
  cuda::driver_calls().clear();
  gemm_batched(0.0f, a(), unit(), 1.0f, c(), default_stream);
  BatchView<float> empty = c();
  empty.count = 0;
  gemm_batched(1.0f, strided(like_, 0, 4), strided(like_, 0, 4), 0.0f, empty, default_stream);
  EXPECT_TRUE(cuda::driver_calls().empty());
}

TEST_F(CudaBatchOfThree, RefusesPointersToTypesWithoutAKernel) {
  const MatrixView<const float8_e4m3> like = row_major<const float8_e4m3>(nullptr, 2, 2);
  const float8_e4m3** const pointers = on_device(std::vector<const float8_e4m3*>(3));
  const auto at = at_pointers<const float8_e4m3>(pointers, count, like);
  const auto [status, message] =
      refusal([&] { gemm_batched(1.0f, at, at, 0.0f, c(), default_stream); });
  EXPECT_EQ(status, Status::unavailable);
  EXPECT_EQ(message,
            "rung: gemm_batched: no kernel for arrays of pointers to e4m3 on this GPU, sm_90; f32, "
            "tf32, f64, i32, bf16 and f16 have one from sm_80 on");
}

}  // namespace
}  // namespace rung
