// The Metal rungs on the virtual GPU: correct in every standard case, without hazards, and with the
// memory traffic computed by hand.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <new>
#include <string>
#include <vector>

#include "backends/metal/metal.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "rungs_under_test.hpp"

namespace rung {
namespace {

constexpr int threads = 2;
constexpr std::array dtypes = {Dtype::f32, Dtype::i32, Dtype::bf16, Dtype::f16};

const Backend& virtual_metal() { return *find_backend("virtual", "metal"); }

/// The counters of one call.
template <class Case, class Spec>
vgpu::Counters count(const std::string& rung, const Spec& spec) {
  vgpu::Counters counters;
  const auto backend = make_metal_virtual_backend(
      {}, [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
        refuse_hazards(report, kernel);
        counters += report.counters;
      });
  run(*backend, *select({rung}).front(), Case(spec).call(), threads);
  return counters;
}

vgpu::Counters count_gemm(const std::string& rung, const GemmSpec& spec) {
  return count<GemmCase>(rung, spec);
}

class MetalRungs : public testing::TestWithParam<RungAndDtype> {
 protected:
  void SetUp() override {
    const auto why_not = virtual_metal().why_not(rung_, dtype_);
    if (!why_not) return;
    ASSERT_EQ(*why_not, no_dtype(dtype_));
    GTEST_SKIP() << *why_not;
  }

  const RungInfo& rung_ = *std::get<0>(GetParam());
  const Dtype dtype_ = std::get<1>(GetParam());
};

class MetalGemmRungs : public MetalRungs {
 protected:
  void expect_right(const GemmSpec& spec) const {
    GemmCase problem(spec);
    const Verdict verdict =
        verify(problem, [&](const GemmCall& call) { run(virtual_metal(), rung_, call, threads); });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
};

TEST_P(MetalGemmRungs, AreRight) {
  const bool of_multiples = rung_.needs.find("multiples of 16") != std::string::npos;
  for (const GemmSpec& spec : standard_gemm_cases(dtype_, Effort::quick)) {
    const auto why_not = virtual_metal().why_not(rung_, GemmCase(spec).call());
    if (!why_not) {
      expect_right(spec);
      continue;
    }
    EXPECT_TRUE(of_multiples && why_not->starts_with("m, n and k must be multiples of 16"))
        << *why_not;
  }
}

// The standard cases have few such sizes.
TEST_P(MetalGemmRungs, AreRightForMultiplesOfTiles) {
  GemmSpec spec = {.dtype = dtype_, .m = 80, .n = 48, .k = 32, .c_padding = 5, .alpha = 0.5};
  if (dtype_ == Dtype::i32) spec.alpha = 3;
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      spec.a_transposed = a_transposed;
      spec.b_transposed = b_transposed;
      spec.a_padding = a_transposed ? 4 : 1;
      spec.beta = b_transposed ? 0 : -2;
      expect_right(spec);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Virtual, MetalGemmRungs,
                         testing::Combine(testing::ValuesIn(rungs_under_test("gemm", "metal")),
                                          testing::ValuesIn(dtypes)),
                         test_name);

class MetalDotRungs : public MetalRungs {};

TEST_P(MetalDotRungs, AreRight) {
  std::vector<DotSpec> specs = standard_dot_cases(dtype_, Accuracy::plain, Effort::quick);
  // Several threadgroups, several passes, and vectors with a remainder.
  for (const std::int64_t n : {511, 512, 513, 4095, 4096, 262145, 300007}) {
    specs.push_back({.dtype = dtype_, .n = n});
  }
  specs.push_back({.dtype = dtype_, .n = 300007, .incx = -2, .incy = 3});
  for (const DotSpec& spec : specs) {
    DotCase problem(spec);
    ASSERT_EQ(virtual_metal().why_not(rung_, problem.call()), std::nullopt);
    const Verdict verdict = verify(
        problem, [&](const DotCall& call) { return run(virtual_metal(), rung_, call, threads); });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Virtual, MetalDotRungs,
                         testing::Combine(testing::ValuesIn(rungs_under_test("dot", "metal")),
                                          testing::ValuesIn(dtypes)),
                         test_name);

class MetalGemmCalls : public testing::TestWithParam<const RungInfo*> {};

TEST_P(MetalGemmCalls, ReachElementsPastTwoToTheThirtyOne) {
  constexpr std::int64_t apart = (std::int64_t{1} << 27) + 3;
  for (const bool transposed : {false, true}) {
    for (const auto padding : {&GemmSpec::a_padding, &GemmSpec::b_padding, &GemmSpec::c_padding}) {
      GemmSpec spec = {.dtype = Dtype::f16,
                       .m = 32,
                       .n = 32,
                       .k = 32,
                       .a_transposed = transposed,
                       .b_transposed = transposed,
                       .beta = 1};
      spec.*padding = apart;
      try {
        GemmCase problem(spec);
        const Verdict verdict = verify(problem, [&](const GemmCall& call) {
          run(virtual_metal(), *GetParam(), call, threads);
        });
        EXPECT_TRUE(verdict.right) << verdict.message;
      } catch (const std::bad_alloc&) {
        GTEST_SKIP() << "this system grants no 17 GB of address space";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Virtual, MetalGemmCalls,
                         testing::ValuesIn(rungs_under_test("gemm", "metal")), test_name_of_rung);

class MetalDotCalls : public testing::TestWithParam<const RungInfo*> {};

TEST_P(MetalDotCalls, ReachElementsPastTwoToTheThirtyOne) {
  constexpr std::int64_t apart = (std::int64_t{1} << 30) + 3;
  try {
    DotCase problem({.dtype = Dtype::f16, .n = 3, .incx = apart, .incy = -apart});
    const Verdict verdict = verify(problem, [&](const DotCall& call) {
      return run(virtual_metal(), *GetParam(), call, threads);
    });
    EXPECT_TRUE(verdict.right) << verdict.message;
  } catch (const std::bad_alloc&) {
    GTEST_SKIP() << "this system grants no 9 GB of address space";
  }
}

// Vectors that start at different offsets from a multiple of four elements.
TEST_P(MetalDotCalls, TakeVectorsOfAnyAlignment) {
  const DotCase problem({.n = 5003, .values = Values::integers});
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) {
      DotCall call = problem.call();
      call.n -= 3;
      call.x = static_cast<const float*>(call.x) + x;
      call.y = static_cast<const float*>(call.y) + y;
      const Dot<float> d = call.typed<float>();
      float expected = 0;
      for (std::int64_t i = 0; i < d.n; ++i) expected += d.x[i] * d.y[i];
      EXPECT_EQ(run(virtual_metal(), *GetParam(), call, threads), expected) << x << " " << y;
    }
  }
}

TEST_P(MetalDotCalls, FollowEachOther) {
  const DotCase problem({.n = 30'000, .values = Values::integers});
  float once = 0, thrice = 0;
  virtual_metal().bind(*GetParam(), problem.call(), threads, &once).call();
  const BoundCall batch = virtual_metal().bind(*GetParam(), problem.call(), threads, &thrice);
  batch.run(3);
  batch.download();
  EXPECT_EQ(once, thrice);
}

INSTANTIATE_TEST_SUITE_P(Virtual, MetalDotCalls,
                         testing::ValuesIn(rungs_under_test("dot", "metal")), test_name_of_rung);

TEST(MetalBackend, RefusesWhatIsNotForIt) {
  const RungInfo& naive = *select({"gemm/metal/00"}).front();
  EXPECT_EQ(find_backend("cpu")->why_not(naive, Dtype::f32), "a metal rung");
  EXPECT_EQ(find_backend("virtual")->why_not(naive, Dtype::f32), "a metal rung");
  EXPECT_EQ(virtual_metal().why_not(*select({"gemm/cuda/00"}).front(), Dtype::f32), "a cuda rung");
  EXPECT_EQ(virtual_metal().why_not(naive, Dtype::f64), "no f64");
  EXPECT_EQ(find_backend("gpu", "metal")->why_not(naive, Dtype::f32),
            find_backend("gpu", "metal")->absent());
  EXPECT_EQ(make_metal_virtual_backend({.gpu = "", .code = "cubin"})->why_not(naive, Dtype::f32),
            "clang alone compiles Metal here");
  EXPECT_THROW(make_metal_virtual_backend({.gpu = "m9", .code = ""}), std::invalid_argument);
}

TEST(MetalBackend, IsAnM1ProUnlessTold) {
  EXPECT_EQ(virtual_metal().device(), "virtual Apple M1 Pro (16 cores, simulated by this CPU)");
  EXPECT_TRUE(make_metal_virtual_backend({.gpu = "h200", .code = ""})
                  ->device()
                  .starts_with("virtual NVIDIA"));
}

// 64 x 64 x 64 in f32: 128 simdgroups of threads with one result each. A row has 256 bytes and
// starts at a sector. A simdgroup of a 16 x 16 threadgroup covers two rows of 16.
constexpr GemmSpec cube = {.m = 64, .n = 64, .k = 64};
constexpr std::uint64_t simdgroups = 64 * 64 / 32;
constexpr std::uint64_t multiply_adds = 64 * 64 * 64;

TEST(MetalTraffic, NaiveLoadsTwiceForEachMultiplyAdd) {
  const vgpu::Counters c = count_gemm("gemm/metal/00_naive", cube);
  EXPECT_EQ(c.global_load_requests, 2 * 64 * simdgroups);
  EXPECT_EQ(c.global_load_sectors, (2 + 2) * 64 * simdgroups);
  EXPECT_EQ(c.global_store_sectors, 4 * simdgroups);
  EXPECT_EQ(c.ffma, multiply_adds);
}

TEST(MetalTraffic, TilesLoadEachElementOnceAThreadgroup) {
  for (const char* const rung : {"gemm/metal/01_shared_tile", "gemm/metal/02_guarded_tile"}) {
    const vgpu::Counters c = count_gemm(rung, cube);
    constexpr std::uint64_t tiles = 4;  // along k
    EXPECT_EQ(c.global_load_requests, 2 * tiles * simdgroups) << rung;
    EXPECT_EQ(c.global_load_sectors, 2 * 4 * tiles * simdgroups) << rung;
    EXPECT_EQ(c.shared_store_requests, 2 * tiles * simdgroups) << rung;
    EXPECT_EQ(c.shared_load_requests, 2 * 64 * simdgroups) << rung;
    EXPECT_EQ(c.barriers, 2 * tiles * simdgroups) << rung;
    EXPECT_EQ(c.ffma, multiply_adds) << rung;
  }
}

// One threadgroup of 8 simdgroups, with 4 x 4 results per thread.
TEST(MetalTraffic, ThreadTilesLoadEightElementsForSixteenMultiplyAdds) {
  const vgpu::Counters c = count_gemm("gemm/metal/03_thread_tile", cube);
  EXPECT_EQ(c.shared_load_requests, 8 * 64 * 8u);
  EXPECT_EQ(c.ffma, multiply_adds);
  const vgpu::Counters v = count_gemm("gemm/metal/04_vectors", cube);
  EXPECT_EQ(v.shared_load_requests, 2 * 64 * 8u);
  EXPECT_EQ(v.global_load_requests, 2 * 4 * 8u);
  EXPECT_EQ(v.global_load_sectors, 2 * 64 * 8u);  // each element once
  EXPECT_EQ(v.ffma, multiply_adds);
}

// 4 simdgroups with 4 x 4 matrices each: 8 loads of matrices for 16 products, with two requests per
// load.
TEST(MetalTraffic, SimdgroupMatricesLoadEightForSixteenProducts) {
  const vgpu::Counters c = count_gemm("gemm/metal/05_simdgroup_matrix", cube);
  EXPECT_EQ(c.shared_load_requests, 4 * (8 * 8 * 2 + 16 * 2u));
  EXPECT_EQ(c.ffma, 0u);
}

TEST(MetalTraffic, ADotProductReadsEachElementOnce) {
  const DotSpec spec = {.n = 1 << 16};
  constexpr std::uint64_t sectors = 2 * (1 << 16) / 8;
  for (const RungInfo* rung : select({"dot/metal"})) {
    const vgpu::Counters c = count<DotCase>(rung->id, spec);
    EXPECT_GE(c.global_load_sectors, sectors) << rung->id;
    if (rung->id < "dot/metal/06") continue;
    EXPECT_EQ(c.global_load_sectors, sectors) << rung->id;
  }
  EXPECT_EQ(count<DotCase>("dot/metal/08_shuffles", spec).global_atomics, 16u);
  EXPECT_EQ(count<DotCase>("dot/metal/09_vectors", spec).global_load_requests, sectors / 16);
}

}  // namespace
}  // namespace rung
