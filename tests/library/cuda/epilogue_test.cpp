// Products with an epilogue on the virtual GPU: by the fused kernel, and by two kernels.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "../epilogue_case.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "device/cuda/library/fused_epilogue.hpp"
#include "fixture.hpp"
#include "rung/rung.h"
#include "select/cuda/select.hpp"

namespace rung {
namespace {

using enum ElementType;

class CudaEpilogue : public CudaLibrary {
 protected:
  void check(const EpilogueSpec& spec, const CudaOptions& options = {}, unsigned seed = 1) {
    EpilogueCase problem(spec, seed);
    const TestDevice device = {[&](std::vector<std::byte>& bytes) { return on_device(bytes); },
                               [&](std::byte* from, std::vector<std::byte>& bytes) {
                                 bytes = from_device(from, bytes.size());
                                 api.cuMemFree(reinterpret_cast<cuda::DevicePointer>(from));
                               }};
    const auto call = [&](double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                          const OutputMatrix& c, const Epilogue& epilogue) {
      cuda::driver_calls().clear();
      gemm_epilogue(alpha, a, b, beta, c, epilogue, default_stream, options);
    };
    EXPECT_EQ(problem.verdict(device, call), "");
  }
};

TEST_F(CudaEpilogue, HasRandomPartsInAnyType) {
  std::mt19937 random(3);
  for (unsigned i = 0; i < 90 && !HasFailure(); ++i) {
    check(random_spec(random, {f32, f64, i32, bf16, f16, tf32, i8, e4m3, e5m2}, 40), {}, i);
  }
}

/// A random spec that the fused kernel supports.
EpilogueSpec fused_spec(std::mt19937& random, std::int64_t most) {
  EpilogueSpec s = random_spec(random, {bf16, f16, e4m3}, most);
  constexpr ElementType outs[] = {f32, bf16, f16, e4m3, e5m2};
  s.out = outs[random() % 5];
  s.extra = random() % 2 == 0 ? bf16 : f16;
  s.extra_order = s.c;
  // The second kernel pairs rows of a column-major C.
  s.gated = s.gated && s.c == Order::row_major && bytes_of(s.out) > 1 &&
            s.activation != Activation::gelu_erf;
  if (bytes_of(s.out) != 2) s.beta = 0;
  s.padding = s.padding / 3 * 16;
  for (std::int64_t* size : {&s.m, &s.n, &s.k}) *size = (*size + 15) / 16 * 16;
  return s;
}

TEST_F(CudaEpilogue, IsOneLaunchForNarrowFloats) {
  std::mt19937 random(5);
  for (unsigned i = 0; i < 60 && !HasFailure(); ++i) {
    EpilogueSpec spec = fused_spec(random, 150);
    (spec.c == Order::row_major ? spec.m : spec.n) -= i % 16;
    spec.a = Order::row_major;
    spec.b = Order::col_major;
    check(spec, {}, i);
    EXPECT_EQ(cuda::driver_calls()["cuLaunchKernelEx"] + cuda::driver_calls()["cuLaunchKernel"], 1)
        << testing::PrintToString(spec);
  }
}

/// The configuration of a bf16 product with bf16 results, among tiles for all parts of an epilogue.
cuda::GemmConfig config_of(const cuda::GemmSize& size, int multiprocessors, bool gated = false) {
  const cuda::Limits limits = {.shared_bytes = 227 << 10, .multiprocessors = multiprocessors};
  return cuda::fused_config(Dtype::bf16, size, bf16, gated, {}, limits);
}

// On one or two SMs, each block computes several tiles in turn, of each size.
TEST_F(CudaEpilogue, OfManyTiles) {
  struct Shape {
    std::int64_t m, n, k;
    int multiprocessors;
  };
  std::mt19937 random(6);
  std::set<int> used;
  for (const auto& [m, n, k, multiprocessors] : {Shape{300, 560, 144, 2},
                                                 {250, 512, 144, 2},
                                                 {64, 256, 144, 2},
                                                 {228, 80, 72, 1},
                                                 {264, 80, 1544, 2}}) {
    // Results of 4, 2 and 1 bytes use different paths through shared memory.
    for (const auto& [in, out] : {std::pair{bf16, f32}, {bf16, bf16}, {bf16, e4m3}, {e4m3, e5m2}}) {
      EpilogueSpec spec = fused_spec(random, 16);
      spec.in = in;
      spec.out = out;
      if (bytes_of(out) != 2) spec.beta = 0;
      spec.m = spec.c == Order::row_major ? m : n;
      spec.n = spec.c == Order::row_major ? n : m / 16 * 16;
      spec.k = k;
      spec.column_bias = spec.amax = true;
      check(spec, {.multiprocessors = multiprocessors});
      const cuda::GemmSize size = spec.c == Order::row_major
                                      ? cuda::GemmSize{spec.m, spec.n, spec.k}
                                      : cuda::GemmSize{spec.n, spec.m, spec.k};
      if (in == bf16 && out == bf16) used.insert(config_of(size, multiprocessors).tile);
    }
  }
  const cuda::GemmSize square = {100, 100, 100};  // as in the previous test
  used.insert(config_of(square, 132).tile);
  EXPECT_EQ(used.size(), std::size_t{cuda::first_common_tile});
}

TEST_F(CudaEpilogue, OfGatedPairsIsOneLaunchOfEachTileThatHasThem) {
  struct Shape {
    std::int64_t m, n, k;
    int multiprocessors;
  };
  std::mt19937 random(8);
  std::set<int> used;
  for (const auto& [m, n, k, multiprocessors] :
       {Shape{200, 112, 72, 1}, {40, 272, 72, 2}, {100, 400, 72, 1}}) {
    used.insert(config_of({m, n, k}, multiprocessors, true).tile);
    for (const auto& [in, out] : {std::pair{bf16, f32}, {f16, bf16}, {e4m3, f16}}) {
      EpilogueSpec spec = fused_spec(random, 16);
      spec.in = in;
      spec.out = out;
      spec.a = spec.c = spec.extra_order = Order::row_major;
      spec.b = Order::col_major;
      spec.m = m;
      spec.n = n;
      spec.k = k / 16 * 16;
      spec.gated = true;
      spec.beta = 0;
      spec.aux = out == bf16;
      spec.activation = Activation::silu;
      check(spec, {.multiprocessors = multiprocessors});
      EXPECT_EQ(cuda::driver_calls()["cuLaunchKernelEx"], 1) << testing::PrintToString(spec);
    }
  }
  EXPECT_EQ(used, (std::set{0, 1, 5}));
}

// Results of each type, with tiles cut off at the edges of C.
TEST_F(CudaEpilogue, OfAnyPartsCutsK) {
  struct Shape {
    std::int64_t m, n, k;
    int multiprocessors;
  };
  std::mt19937 random(9);
  int max_splits = 1;
  for (const auto& [m, n, k, multiprocessors] :
       {Shape{40, 48, 1800, 4}, {24, 80, 2000, 4}, {264, 16, 1544, 2}}) {
    max_splits = std::max(max_splits, config_of({m, n, k}, multiprocessors).splits);
    for (const ElementType out : {f32, bf16, f16, e4m3, e5m2}) {
      for (const bool gated : {false, true}) {
        if (gated && bytes_of(out) == 1) continue;
        EpilogueSpec spec = fused_spec(random, 16);
        spec.out = out;
        spec.c = spec.extra_order = Order::row_major;
        spec.gated = gated;
        spec.alpha = 1.0 / 64;
        if (gated || bytes_of(out) != 2) spec.beta = 0;
        spec.m = m;
        spec.n = n;
        spec.k = k;
        spec.amax = true;
        check(spec, {.multiprocessors = multiprocessors});
      }
    }
  }
  EXPECT_GT(max_splits, 3);
}

/// Random epilogues with only the parts that the tiles for common parts support.
EpilogueSpec common_spec(std::mt19937& random) {
  constexpr Activation activations[] = {Activation::none, Activation::relu, Activation::gelu_tanh,
                                        Activation::silu};
  EpilogueSpec s;
  s.in = s.out = s.extra = random() % 2 == 0 ? bf16 : f16;
  s.a = random() % 2 == 0 ? Order::row_major : Order::col_major;
  s.b = random() % 2 == 0 ? Order::row_major : Order::col_major;
  s.padding = random() % 2 * 16;
  s.alpha = random() % 2 == 0 ? 1 : 0.5;
  s.activation = activations[random() % 4];
  s.column_bias = random() % 4 != 0;
  const unsigned other = random() % 3;
  s.aux = other == 1;
  s.residual = other == 2;
  return s;
}

// Each block has several tiles, which are cut off at the edges of C, and splits of some.
TEST_F(CudaEpilogue, OfCommonPartsHasTilesOfItsOwn) {
  struct Shape {
    std::int64_t m, n, k;
    int multiprocessors;
  };
  std::mt19937 random(7);
  std::set<int> used;
  int max_splits = 1;
  for (const auto& [m, n, k, multiprocessors] : {Shape{70, 40, 72, 1},
                                                 {40, 328, 136, 1},
                                                 {300, 136, 72, 1},
                                                 {330, 40, 72, 1},
                                                 {68, 168, 968, 1},
                                                 {9, 16, 1800, 4},
                                                 {8, 72, 1800, 6},
                                                 {70, 312, 1800, 2}}) {
    const cuda::Limits limits = {.shared_bytes = 227 << 10, .multiprocessors = multiprocessors};
    const cuda::GemmConfig config = cuda::common_config(Dtype::bf16, {m, n, k}, {}, limits);
    used.insert(config.tile);
    max_splits = std::max(max_splits, config.splits);
    for (unsigned i = 0; i < 4 && !HasFailure(); ++i) {
      EpilogueSpec spec = common_spec(random);
      spec.m = m;
      spec.n = n;
      spec.k = k;
      check(spec, {.multiprocessors = multiprocessors}, i);
    }
  }
  for (std::size_t tile = cuda::first_common_tile;
       tile < tiles_of(*cuda::fused_epilogue.rung, Dtype::bf16).size(); ++tile) {
    EXPECT_TRUE(used.contains(static_cast<int>(tile))) << tile;
  }
  EXPECT_EQ(max_splits, 6);
}

TEST_F(CudaEpilogue, SiluOfLargeSumsIsThem) {
  check({.in = bf16,
         .out = bf16,
         .m = 16,
         .n = 64,
         .k = 32,
         .b = Order::col_major,
         .alpha = 0x1p100,
         .activation = Activation::silu});
}

TEST_F(CudaEpilogue, PacksOperandsOfTheFusedKernel) {
  check({.in = e4m3, .out = bf16, .m = 40, .n = 48, .k = 40, .activation = Activation::gelu_tanh});
  check({.in = bf16, .out = f16, .m = 40, .n = 48, .k = 41, .padding = 0, .row_bias = true});
}

TEST_F(CudaEpilogue, Saturates) {
  for (const ElementType in : {f32, bf16}) {
    for (const ElementType out : {e4m3, e5m2, i8}) {
      check({.in = in,
             .out = out,
             .m = 16,
             .n = 64,
             .k = 32,
             .result_factor = out == e5m2 ? 1e4 : 100});
    }
  }
}

TEST_F(CudaEpilogue, OfNoProductDoesNotReadAAndB) {
  const float bias[] = {1, -2, 3};
  float* const c = on_device(std::vector<float>(6, std::nanf("")));
  const float* const on_gpu = on_device(std::vector<float>(bias, bias + 3));
  gemm_epilogue(0, {nullptr, bf16, 2, 4, 4}, {nullptr, bf16, 4, 3, 3}, 0, row_major(c, 2, 3),
                {.column_bias = {on_gpu, 3}, .activation = Activation::relu}, default_stream);
  EXPECT_EQ(from_device(c, 6), (std::vector<float>{1, 0, 3, 1, 0, 3}));
}

TEST_F(CudaEpilogue, RunsSomeRowsAtATimeInAWorkspaceOfTheCallers) {
  constexpr std::size_t bytes = 1 << 18;
  void* const workspace = on_device(std::vector<char>(bytes));
  check({.m = 200, .n = 500, .k = 8, .activation = Activation::silu, .gated = true, .amax = true},
        {.workspace = workspace, .workspace_bytes = bytes});
  EXPECT_EQ(cuda::driver_calls()["cuMemAllocFromPoolAsync"], 0);
}

TEST_F(CudaEpilogue, NamesThePartThatTheGpuLacks) {
  double* const x = on_device(std::vector<double>(4, 1));
  double* const y = on_device(std::vector<double>(4, 1));
  const auto call = [&](const Epilogue& epilogue, const CudaOptions& options = {}) {
    return refusal([&] {
      gemm_epilogue(1, row_major(x, 2, 2), row_major(x, 2, 2), 0, row_major(y, 2, 2), epilogue,
                    default_stream, options);
    });
  };
  EXPECT_EQ(call({.activation = Activation::silu}),
            std::pair(Status::unavailable,
                      std::string("rung: gemm_epilogue: activation is 4; on GPUs, for products of "
                                  "f64, it must be 0 (none) or 1 (relu)")));
  void* const workspace = on_device(std::vector<char>(256));
  EXPECT_EQ(
      call({}, {.workspace = workspace, .workspace_bytes = 16}),
      std::pair(Status::invalid_argument,
                std::string("rung: gemm_epilogue: the workspace has room for 0 bytes of sums; "
                            "it must have room for 32, two rows")));
}

TEST_F(CudaEpilogue, IsTheSameFromC) {
  float* const a = on_device(std::vector<float>{1, 2, 3, 4});
  float* const c = on_device(std::vector<float>(4, 7));
  const std::int64_t extents[] = {2, 2};
  const rung_tensor ta = {a, RUNG_DEVICE_CUDA, 0, 2, RUNG_DTYPE_F32, extents, nullptr},
                    tc = {c, RUNG_DEVICE_CUDA, 0, 2, RUNG_DTYPE_F32, extents, nullptr};
  rung_epilogue epilogue = RUNG_EPILOGUE_INIT;
  epilogue.residual = &ta;
  ASSERT_EQ(rung_gemm_epilogue(&ta, &ta, &tc, 1, 0, &epilogue, nullptr), RUNG_OK)
      << rung_last_error();
  EXPECT_EQ(from_device(c, 4), (std::vector<float>{8, 12, 18, 26}));
}

}  // namespace
}  // namespace rung
