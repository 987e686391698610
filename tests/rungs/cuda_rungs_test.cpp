// The CUDA rungs on the virtual GPU: correct in every standard case, without hazards, and with the
// same memory traffic from both compilers.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/gemm_call.hpp"
#include "backends/rungs/cuda.hpp"
#include "core/dtype.hpp"
#include "core/quantize.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "front_ends.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

constexpr int threads = 2;

// A fifth of them in a sanitized build, in which the virtual GPU is twenty times slower.
#ifdef RUNG_SANITIZED
constexpr std::size_t each_of_cases = 5;
#else
constexpr std::size_t each_of_cases = 1;
#endif

class CudaGemmRungs : public testing::TestWithParam<RungAndDtype> {
 protected:
  const RungInfo& rung_ = *std::get<0>(GetParam());
  const Dtype dtype_ = std::get<1>(GetParam());
};

TEST_P(CudaGemmRungs, AreRight) {
  for (const std::string& front_end : front_ends()) {
    const auto backend = backend_of(front_end);
    if (const auto why_not = backend->why_not(rung_, dtype_)) {
      ASSERT_EQ(*why_not, no_dtype(dtype_));
      GTEST_SKIP() << *why_not;
    }
    const std::vector<GemmSpec> specs = standard_gemm_cases(dtype_, Effort::quick);
    for (std::size_t i = 0; i < specs.size(); i += each_of_cases) {
      GemmCase problem(specs[i]);
      problem.set_compute_mode(rung_.compute_mode);
      problem.set_format(block_format(rung_.needs));
      const Verdict verdict =
          verify(problem, [&](const GemmCall& call) { run(*backend, rung_, call, threads); });
      EXPECT_TRUE(verdict.right) << verdict.message << " by " << front_end;
    }
  }
}

TEST_P(CudaGemmRungs, AreRightForBatches) {
  for (const std::string& front_end : front_ends()) {
    const auto backend = backend_of(front_end);
    for (const GemmSpec& spec : standard_batched_cases(dtype_)) {
      GemmCase problem(spec);
      if (backend->why_not(rung_, problem.call())) GTEST_SKIP();
      const Verdict verdict =
          verify(problem, [&](const GemmCall& call) { run(*backend, rung_, call, threads); });
      EXPECT_TRUE(verdict.right) << verdict.message << " by " << front_end;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Virtual, CudaGemmRungs,
                         testing::Combine(testing::ValuesIn(rungs_under_test("gemm", "cuda")),
                                          testing::ValuesIn(all_dtypes)),
                         test_name);

class CudaGemmCalls : public testing::TestWithParam<const RungInfo*> {
 protected:
  /// A type that the rung supports; nullopt if it multiplies by packed weights.
  static std::optional<Dtype> dtype_with(const Backend& backend) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::e4m3, Dtype::f64}) {
      if (!backend.why_not(*GetParam(), dtype)) return dtype;
    }
    return std::nullopt;
  }
};

TEST_P(CudaGemmCalls, ReachElementsPastTwoToTheThirtyOne) {
  constexpr std::int64_t apart = (std::int64_t{1} << 30) + 3;
  const auto backend = backend_of("clang");
  const std::optional<Dtype> dtype = dtype_with(*backend);
  if (!dtype) GTEST_SKIP() << "a rung of packed weights";
  for (const bool transposed : {false, true}) {
    for (const auto padding : {&GemmSpec::a_padding, &GemmSpec::b_padding, &GemmSpec::c_padding}) {
      GemmSpec spec = {.dtype = *dtype,
                       .m = 3,
                       .n = 3,
                       .k = 3,
                       .a_transposed = transposed,
                       .b_transposed = transposed,
                       .beta = 1};
      spec.*padding = apart;
      try {
        GemmCase problem(spec);
        problem.set_compute_mode(GetParam()->compute_mode);
        problem.set_format(block_format(GetParam()->needs));
        const Verdict verdict = verify(
            problem, [&](const GemmCall& call) { run(*backend, *GetParam(), call, threads); });
        EXPECT_TRUE(verdict.right) << verdict.message;
      } catch (const std::bad_alloc&) {
        GTEST_SKIP() << "this system grants no 9 GB of address space";
      }
    }
  }
}

// If elements are copied one by one, both compilers make the same accesses. From rung 05 on, they
// are copied as vectors, and clang leaves some of these scalar: if an edge would access the same
// elements one by one, it merges the common parts of both paths. nvcc sometimes repeats a shared
// load instead of keeping its result.
TEST_P(CudaGemmCalls, FrontEndsMakeTheSameTraffic) {
  if (front_ends().size() == 1) GTEST_SKIP() << "no nvcc at build time";
  const bool vectors = GetParam()->id >= "gemm/cuda/05";
  // In skinny_mma, nvcc also loads the sums beyond the edges.
  const std::uint64_t least = GetParam()->id == "gemm/cuda/skinny_mma" ? 7 : 9;
  for (const Dtype dtype : all_dtypes) {
    if (backend_of("clang")->why_not(*GetParam(), dtype)) continue;
    GemmSpec spec = {.dtype = dtype, .m = 97, .n = 130, .k = 70, .alpha = 2, .beta = 1};
    const vgpu::Counters clang = count(GetParam()->id, spec, "clang");
    const vgpu::Counters nvcc = count(GetParam()->id, spec, "nvcc");
    const auto expect_alike = [&](const char* what, std::uint64_t vgpu::Counters::* counter) {
      SCOPED_TRACE(fmt::format("{} of {}", what, name(dtype)));
      if (vectors) {
        EXPECT_GE(10 * clang.*counter, least * (nvcc.*counter));
        EXPECT_LE(clang.*counter, 3 * (nvcc.*counter));
      } else {
        EXPECT_EQ(clang.*counter, nvcc.*counter);
      }
    };
    const bool polls =
        GetParam()->id == "gemm/cuda/fma_tiles" ||  // until other blocks have arrived
        GetParam()->id == "gemm/cuda/11_split_k";
    if (!polls) {
      expect_alike("global load requests", &vgpu::Counters::global_load_requests);
      expect_alike("global load sectors", &vgpu::Counters::global_load_sectors);
    }
    expect_alike("global store requests", &vgpu::Counters::global_store_requests);
    expect_alike("global store sectors", &vgpu::Counters::global_store_sectors);
    expect_alike("shared load requests", &vgpu::Counters::shared_load_requests);
    expect_alike("shared load wavefronts", &vgpu::Counters::shared_load_wavefronts);
    if (GetParam()->id == "gemm/cuda/batched_tiles" ||  // whose staged rows clang takes apart
        GetParam()->id == "gemm/cuda/skinny_mma") {     // whose elements it stores on two paths
      expect_alike("shared store requests", &vgpu::Counters::shared_store_requests);
    } else {
      EXPECT_EQ(clang.shared_store_requests, nvcc.shared_store_requests) << name(dtype);
      EXPECT_EQ(clang.shared_store_wavefronts, nvcc.shared_store_wavefronts) << name(dtype);
    }
    if (GetParam()->id == "gemm/cuda/residues") {  // some of whose factors are 1
      expect_alike("FMAs", &vgpu::Counters::ffma);
    } else {
      EXPECT_EQ(clang.ffma, nvcc.ffma) << name(dtype);
    }
    EXPECT_EQ(clang.tensor_multiply_adds, nvcc.tensor_multiply_adds) << name(dtype);
    EXPECT_EQ(clang.bulk_load_sectors, nvcc.bulk_load_sectors) << name(dtype);
    EXPECT_EQ(clang.bulk_store_sectors, nvcc.bulk_store_sectors) << name(dtype);
    EXPECT_EQ(clang.barriers, nvcc.barriers) << name(dtype);
  }
}

TEST_P(CudaGemmCalls, AreRefusedWhereTheyDoNotRun) {
  const auto cpu = make_backend("cpu", {});
  EXPECT_EQ(cpu->why_not(*GetParam(), Dtype::f32), "a cuda rung");
  const auto on_virtual = backend_of("clang");
  EXPECT_EQ(on_virtual->why_not(*select({"gemm/cpu/00"}).front(), Dtype::f32), "a cpu rung");
  EXPECT_NE(backend_of("cubin")->why_not(*GetParam(), Dtype::f32), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Virtual, CudaGemmCalls,
                         testing::ValuesIn(rungs_under_test("gemm", "cuda")), test_name_of_rung);

/// Verifies a product by a kernel in one configuration, which runs `times` times.
Verdict verify_config(cuda::Gpu& gpu, std::string_view id, const cuda::GemmConfig& config,
                      GemmCase& problem, int times = 1) {
  return verify(problem, [&](const GemmCall& call) {
    gpu.make_current();
    cuda::GemmCallOnGpu bound(gpu, cuda::configured_gemm(id, config), call, threads);
    bound.enqueue(times);
    bound.wait();
    bound.download();
  });
}

// C passes through the stages of the pipeline: two tiles of each kind, to one block or a pair. The
// second tile is cut off at its last rows and columns.
void add_c(Dtype dtype) {
  const auto backend = backend_of("clang");
  cuda::Gpu& gpu = *gpu_of(*backend);
  const auto tiles = cuda::tiles_of(*cuda::find_gemm_rung("gemm/cuda/wgmma_tiles"), dtype);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    GemmCase problem({.dtype = dtype,
                      .m = 2 * tiles[i].BM - 3,
                      .n = tiles[i].BN - 8,
                      .k = 2 * tiles[i].BK + 8,
                      .alpha = 2,
                      .beta = 3});
    const Verdict verdict =
        verify_config(gpu, "gemm/cuda/wgmma_tiles", {static_cast<int>(i)}, problem);
    EXPECT_TRUE(verdict.right) << name(dtype) << ", tile " << i << ": " << verdict.message;
  }
}

TEST(CudaTensorCores, TilesOfEachSizeAddC) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::bf16_bf16, Dtype::i8}) add_c(dtype);
}

// Tiles of 64 rows or columns: only rows and columns inside the matrix are loaded; the rest is
// zeros. A is loaded whole if C passes through its stages.
void load_in_part(Dtype dtype) {
  constexpr std::string_view id = "gemm/cuda/wgmma_tiles";
  const auto backend = backend_of("clang");
  cuda::Gpu& gpu = *gpu_of(*backend);
  const auto tiles = cuda::tiles_of(*cuda::find_gemm_rung(id), dtype);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (tiles[i].BM != 64 && tiles[i].BN != 64) continue;
    for (int layout = 0; layout < 4; ++layout) {
      GemmCase problem({.dtype = dtype,
                        .m = tiles[i].BM == 64 ? 21 : 2 * tiles[i].BM - 3,
                        .n = tiles[i].BN == 64 ? 40 : tiles[i].BN + 8,
                        .k = 5 * tiles[i].BK + 8,
                        .a_transposed = layout % 2 == 1,
                        .b_transposed = layout / 2 == 1,
                        .beta = layout == 0 ? 2.0 : 0.0});
      const Verdict verdict = verify_config(gpu, id, {static_cast<int>(i)}, problem);
      EXPECT_TRUE(verdict.right) << name(dtype) << ", tile " << i << ": " << verdict.message;
    }
  }
}

TEST(CudaTensorCores, TilesOfFewRowsOrColumnsAreLoadedInPart) {
  for (const Dtype dtype : {Dtype::bf16_bf16, Dtype::tf32, Dtype::e4m3}) load_in_part(dtype);
}

// A tile that would reach beyond C begins earlier, and leaves what it shares with its neighbours to
// these: rows, columns, or both, stored by TMA, by threads or, in splits, by several blocks.
void overlap_neighbours(std::string_view id, Dtype dtype, int splits = 1, std::size_t most = 99) {
  const auto backend = backend_of("clang");
  cuda::Gpu& gpu = *gpu_of(*backend);
  auto tiles = cuda::tiles_of(*cuda::find_gemm_rung(id), dtype);
  tiles = tiles.first(std::min(most, tiles.size()));
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    for (std::size_t layout = i % 2; layout < 4; layout += 2) {
      GemmCase problem({.dtype = dtype,
                        .m = (layout == 0 ? 3 : 1) * tiles[i].BM + 9,
                        .n = tiles[i].BN + (layout == 3 ? 37 : 40),
                        .k = 2 * tiles[i].BK + 8,
                        .a_transposed = layout % 2 == 1,
                        .b_transposed = layout / 2 == 1});
      const Verdict verdict = verify_config(gpu, id, {static_cast<int>(i), splits}, problem);
      EXPECT_TRUE(verdict.right) << id << ' ' << name(dtype) << ", tile " << i << ", layout "
                                 << layout << ": " << verdict.message;
    }
  }
}

TEST(CudaTensorCores, TilesOverlapTheirNeighbours) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::bf16_bf16, Dtype::e4m3}) {
    overlap_neighbours("gemm/cuda/wgmma_tiles", dtype);
  }
  overlap_neighbours("gemm/cuda/wgmma_tiles", Dtype::bf16, 3);
  overlap_neighbours("gemm/cuda/ping_pong", Dtype::bf16_bf16);
  overlap_neighbours("gemm/cuda/wgmma_multicast", Dtype::f16, 1, 1);  // the tile of 64 x 64
}

// Rows of odd lengths are loaded element by element, rows of whole words by words. C is aligned or
// not, and read or not.
void load_any_operands(Dtype dtype) {
  constexpr std::string_view id = "gemm/cuda/any_operands";
  const auto backend = backend_of("clang");
  cuda::Gpu& gpu = *gpu_of(*backend);
  const auto tiles = cuda::tiles_of(*cuda::find_gemm_rung(id), dtype);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    for (int number = 0; number < 8; ++number) {
      const bool is_odd = number / 4 == 1;
      GemmCase problem({.dtype = dtype,
                        .m = tiles[i].BM + 3,
                        .n = tiles[i].BN + (is_odd ? 5 : 8),
                        .k = tiles[i].BK + (is_odd ? 9 : 12),
                        .a_transposed = number % 2 == 1,
                        .b_transposed = number / 2 % 2 == 1,
                        .beta = number % 4 == 0 ? 2.0 : 0.0});
      const Verdict verdict = verify_config(gpu, id, {static_cast<int>(i)}, problem);
      EXPECT_TRUE(verdict.right) << name(dtype) << ", tile " << i << ", problem " << number << ": "
                                 << verdict.message;
    }
  }
}

TEST(CudaTensorCores, TilesOfEachSizeLoadAnyOperands) {
  for (const Dtype dtype : {Dtype::bf16_bf16, Dtype::tf32, Dtype::i8}) load_any_operands(dtype);
}

// Two tiles of each kind, or a pair of them, in three splits, after `whole` whole tiles. Runs
// twice, so that counters must be restored.
void share_tiles(std::string_view id, Dtype dtype, int whole = 0) {
  const auto backend = backend_of("clang");
  cuda::Gpu& gpu = *gpu_of(*backend);
  const cuda::GemmRung& rung = *cuda::find_gemm_rung(id);
  const auto tiles = cuda::tiles_of(rung, dtype);
  ASSERT_FALSE(tiles.empty());
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    GemmCase problem({.dtype = dtype,
                      .m = (2 + whole) * tiles[i].BM - 3,
                      .n = tiles[i].BN - 5,
                      .k = 3 * tiles[i].BK + 8,
                      .b_transposed = i % 2 == 1});
    const Verdict verdict = verify_config(gpu, id, {static_cast<int>(i), 3, whole}, problem, 2);
    EXPECT_TRUE(verdict.right) << "tile " << i << ": " << verdict.message;
  }
}

TEST(CudaTensorCores, SeveralBlocksShareATile) {
  share_tiles("gemm/cuda/30_split_k", Dtype::bf16);
  share_tiles("gemm/cuda/31_dependent_launch", Dtype::bf16);
  share_tiles("gemm/cuda/wgmma_tiles", Dtype::bf16);
  share_tiles("gemm/cuda/any_operands", Dtype::bf16);
}

TEST(CudaTensorCores, SeveralBlocksShareATileOfAnyType) {
  for (const Dtype dtype : {Dtype::tf32, Dtype::i8, Dtype::e4m3, Dtype::f16_f16}) {
    share_tiles("gemm/cuda/31_dependent_launch", dtype);
    share_tiles("gemm/cuda/wgmma_tiles", dtype);
  }
  share_tiles("gemm/cuda/split_f16", Dtype::f32);
}

TEST(CudaSplitK, SeveralBlocksShareATile) {
  share_tiles("gemm/cuda/11_split_k", Dtype::f32);
  share_tiles("gemm/cuda/fma_tiles", Dtype::f32);
  share_tiles("gemm/cuda/mma_f64", Dtype::f64);
  share_tiles("gemm/cuda/mma_f64_warp_specialized", Dtype::f64);
}

TEST(CudaSplitK, TheFirstTilesMayBeWhole) {
  share_tiles("gemm/cuda/11_split_k", Dtype::f32, 1);
  share_tiles("gemm/cuda/fma_tiles", Dtype::f32, 1);
  share_tiles("gemm/cuda/fma_tiles", Dtype::i32, 2);
  share_tiles("gemm/cuda/mma_f64", Dtype::f64, 1);
  share_tiles("gemm/cuda/mma_f64_warp_specialized", Dtype::f64, 1);
}

}  // namespace
}  // namespace rung
