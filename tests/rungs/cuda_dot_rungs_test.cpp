// The CUDA rungs of dot and sum on the virtual GPU: correct in every standard case, without
// hazards, and with the memory traffic computed by hand.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "core/dtype.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "front_ends.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

constexpr int threads = 2;

std::vector<const RungInfo*> rungs() {
  std::vector<const RungInfo*> all = rungs_under_test("dot", "cuda");
  for (const RungInfo* rung : rungs_under_test("sum", "cuda")) all.push_back(rung);
  return all;
}

std::string name_of_rung(const testing::TestParamInfo<const RungInfo*>& info) {
  return info.param->op + "_" + info.param->slug;
}

std::string name_of_rung_and_dtype(const testing::TestParamInfo<RungAndDtype>& info) {
  const auto& [rung, dtype] = info.param;
  return rung->op + "_" + rung->slug + "_" + std::string(identifier(dtype));
}

/// Works for rungs of both operations.
Verdict verdict_of(const Backend& backend, const RungInfo& rung, DotSpec spec) {
  spec.sum = rung.op == "sum";
  spec.accuracy = accuracy_of(rung);
  DotCase problem(spec);
  return verify(problem, [&](const DotCall& call) { return run(backend, rung, call, threads); });
}

class CudaDotTypes : public testing::TestWithParam<RungAndDtype> {};

TEST_P(CudaDotTypes, AreRight) {
  const auto& [rung, dtype] = GetParam();
  for (const std::string& front_end : front_ends()) {
    const auto backend = backend_of(front_end);
    if (const auto why_not = backend->why_not(*rung, dtype)) {
      ASSERT_EQ(*why_not, no_dtype(dtype));
      GTEST_SKIP() << *why_not;
    }
    for (const DotSpec& spec : standard_dot_cases(dtype, accuracy_of(*rung), Effort::quick)) {
      const Verdict verdict = verdict_of(*backend, *rung, spec);
      EXPECT_TRUE(verdict.right) << verdict.message << " by " << front_end;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Virtual, CudaDotTypes,
                         testing::Combine(testing::ValuesIn(rungs()),
                                          testing::ValuesIn(all_dtypes)),
                         name_of_rung_and_dtype);

class CudaDotCalls : public testing::TestWithParam<const RungInfo*> {};

TEST_P(CudaDotCalls, AreRightWhereBlocksAreMany) {
  const auto backend = backend_of("clang");
  // The second takes three passes of 512 terms per block. The third takes several passes of a whole
  // grid of the H200 for rungs with a limited grid.
  std::vector<DotSpec> specs = {
      {.n = 65536}, {.n = 300'007}, {.n = 300'007, .incx = -2, .incy = 3}};
  if (GetParam()->slug >= "13") {
    specs.push_back({.n = 4'000'003});  // more pieces per block than can be in flight
  } else if (GetParam()->slug >= "09") {
    specs.push_back({.n = 2'500'003});
  }
  for (const DotSpec& spec : specs) {
    const Verdict verdict = verdict_of(*backend, *GetParam(), spec);
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

TEST_P(CudaDotCalls, ReachElementsPastTwoToTheThirtyOne) {
  constexpr std::int64_t apart = (std::int64_t{1} << 30) + 3;
  const auto backend = backend_of("clang");
  try {
    const Verdict verdict =
        verdict_of(*backend, *GetParam(), {.n = 3, .incx = apart, .incy = -apart});
    EXPECT_TRUE(verdict.right) << verdict.message;
  } catch (const std::bad_alloc&) {
    GTEST_SKIP() << "this system grants no 18 GB of address space";
  }
}

// Vectors that start at different offsets in a sector: neither may be read with the alignment of
// the other.
TEST_P(CudaDotCalls, TakeVectorsOfAnyAlignment) {
  const auto backend = backend_of("clang");
  DotCase problem({.n = 1003, .sum = GetParam()->op == "sum", .values = Values::integers});
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) {
      DotCall call = problem.call();
      call.n -= 3;
      call.x = static_cast<const float*>(call.x) + x;
      if (call.y != nullptr) call.y = static_cast<const float*>(call.y) + y;
      const Dot<float> d = call.typed<float>();
      float expected = 0;
      for (std::int64_t i = 0; i < d.n; ++i) expected += d.x[i] * (d.y == nullptr ? 1 : d.y[i]);
      EXPECT_EQ(run(*backend, *GetParam(), call, threads), expected) << x << " " << y;
    }
  }
}

TEST_P(CudaDotCalls, FollowEachOtherOnOneWorkspace) {
  const auto backend = backend_of("clang");
  const DotCase problem({.n = 30'000, .sum = GetParam()->op == "sum", .values = Values::integers});
  float once = 0, thrice = 0;
  backend->bind(*GetParam(), problem.call(), threads, &once).call();
  const BoundCall batch = backend->bind(*GetParam(), problem.call(), threads, &thrice);
  batch.run(3);
  batch.download();
  EXPECT_EQ(once, thrice);
}

TEST_P(CudaDotCalls, AreOfOneOp) {
  const auto backend = backend_of("clang");
  const bool is_sum = GetParam()->op == "sum";
  const DotCase other({.n = 3, .sum = !is_sum});
  EXPECT_EQ(backend->why_not(*GetParam(), other.call()),
            is_sum ? "not a dot rung" : "not a sum rung");
  EXPECT_EQ(backend->why_not(*GetParam(), GemmCase({.m = 1, .n = 1, .k = 1}).call()),
            "not a gemm rung");
}

INSTANTIATE_TEST_SUITE_P(Virtual, CudaDotCalls, testing::ValuesIn(rungs()), name_of_rung);

// Too many terms for a simulation. Every term reads the same element.
TEST(CudaDotOnAGpu, EveryRungCountsPastTwoToTheThirtyTwo) {
  const auto gpu = make_backend("gpu", {});
  if (const auto absent = gpu->absent()) GTEST_SKIP() << *absent;
  const std::uint32_t one = 1;
  for (const RungInfo* rung : rungs()) {
    DotCall call{.dtype = Dtype::i32,
                 .n = (std::int64_t{1} << 32) + 5,
                 .x = &one,
                 .incx = 0,
                 .y = rung->op == "sum" ? nullptr : &one,
                 .incy = 0};
    if (gpu->why_not(*rung, call)) continue;
    EXPECT_EQ(run(*gpu, *rung, call, threads), 5) << rung->id;
  }
}

// The result has the same bits even if blocks finish in another order.
TEST(CudaDotBits, OfOneLaunchAreTheSameEachTime) {
  const auto backend = backend_of("clang");
  const DotCase problem({.n = 300'007});
  std::set<std::uint64_t> bits;
  for (int run = 0; run < 6; ++run) {
    const double sum =
        rung::run(*backend, *select({"dot/cuda/10"}).front(), problem.call(), 1 + run % 3);
    bits.insert(std::bit_cast<std::uint64_t>(sum));
  }
  EXPECT_EQ(bits.size(), 1u);
}

// 4096 terms of f32: 128 warps of 32 threads, 16 blocks of 256 threads.
constexpr std::uint64_t warps = 4096 / 32;
vgpu::Counters count(const std::string& rung) {
  return count(rung, DotCase({.n = 4096}).call(), "clang");
}

TEST(CudaDotTraffic, ProductsGoToMemory) {
  const vgpu::Counters c = count("dot/cuda/00_multiply");
  EXPECT_EQ(c.global_load_requests, 2 * warps);
  EXPECT_EQ(c.global_load_sectors, 2 * 4 * warps);
  EXPECT_EQ(c.global_store_sectors, 4 * warps);
}

TEST(CudaDotTraffic, OneThreadOfABlockReadsAllItsTerms) {
  const vgpu::Counters c = count("dot/cuda/02_atomic");
  EXPECT_EQ(c.global_load_sectors, 2 * 4 * warps);
  EXPECT_EQ(c.shared_store_requests, warps);
  EXPECT_EQ(c.shared_load_requests, 4096u);
  EXPECT_EQ(c.barriers, warps);
}

// A block has 512 terms: 8 blocks, whose sums a last block adds. The active threads of a step are
// spread over fewer and fewer lanes of each warp, or over fewer and fewer warps.
TEST(CudaDotTraffic, ContiguousStridesHaveNoConflictsAndNoDivergenceAboveAWarp) {
  const vgpu::Counters tree = count("dot/cuda/04_shared_tree");
  const vgpu::Counters contiguous = count("dot/cuda/05_contiguous");
  EXPECT_EQ(contiguous.shared_load_wavefronts, contiguous.shared_load_requests);
  EXPECT_GT(tree.shared_load_wavefronts, tree.shared_load_requests);
  EXPECT_LT(3 * contiguous.shared_load_requests, 2 * tree.shared_load_requests);
  EXPECT_EQ(tree.barriers, 9 * 72u);  // nine steps, nine blocks of eight warps
  EXPECT_EQ(contiguous.barriers, 8 * 72u);
}

TEST(CudaDotTraffic, ShufflesLeaveOneBarrier) {
  EXPECT_EQ(count("dot/cuda/07_coarsened").barriers, 8 * 8u);  // eight steps, eight warps
  EXPECT_EQ(count("dot/cuda/08_shuffles").barriers, 8u);
}

// 16 bytes per lane are 512 per warp, i.e. 16 sectors.
TEST(CudaDotTraffic, VectorsComeByWideLoads) {
  const vgpu::Counters c = count("dot/cuda/09_vectors");
  EXPECT_EQ(c.global_load_requests, 2 * warps / 4);
  EXPECT_EQ(c.global_load_sectors, 2 * 4 * warps);
}

TEST(CudaDotTraffic, TheLastBlockReadsTheSumsOfAll) {
  const vgpu::Counters c = count("dot/cuda/10_one_launch");
  EXPECT_EQ(c.global_load_sectors, 2 * 4 * warps + 1);  // two blocks
  EXPECT_EQ(c.global_store_requests, 2 + 1u);
}

}  // namespace
}  // namespace rung
